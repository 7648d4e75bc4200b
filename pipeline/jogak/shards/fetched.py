"""Shards of an output, brought here from its store where they do not lie on a disk."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

from jogak.output import Output
from jogak.plan.storage import is_url
from jogak.store import Store, check_finished

MOST_FETCHED = 16
"""Shards of a store that are kept on the disk at once."""


class Fetched:
    """The files of an output: those of a folder, or copies of those in a store.

    Copies lie in a temporary folder, which goes with this object.
    """

    def __init__(self, place: str) -> None:
        """Take a folder or an URL, of which the manifest is copied."""
        self._place = place
        self.output = self._open()

    def _open(self) -> Output:
        if not is_url(self._place):
            return Output(Path(self._place))
        folder = tempfile.mkdtemp(prefix="jogak-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        output = Output(Path(folder), self._place.rstrip("/"))
        store = Store(str(output.url))
        for path in (output.manifest, output.shard_table):
            check_finished(output, store.get(path.name, path))
        return output

    def most(self, mapped: int) -> int:
        """Return how many shards to keep open."""
        return mapped if self.output.url is None else MOST_FETCHED

    def prefix(self, name: str) -> Path:
        """Return the path of a shard's .bin and .idx without their ends; copies them if need be."""
        prefix = self.output.tokens / name
        if self.output.url is not None:
            store = Store(self.output.url)
            for end in (".bin", ".idx"):
                path = prefix.with_name(name + end)
                if not path.exists():
                    store.get(f"tokens/{name}{end}", path)
        return prefix

    def drop(self, name: str) -> None:
        """Remove the copies of a shard; what is mapped stays mapped."""
        if self.output.url is not None:
            for end in (".bin", ".idx"):
                (self.output.tokens / f"{name}{end}").unlink(missing_ok=True)

    def __getstate__(self) -> dict[str, Any]:
        """Return the place alone: another process makes copies of its own."""
        return {"place": self._place}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open the same place."""
        self._place = state["place"]
        self.output = self._open()

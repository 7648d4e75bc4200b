"""A run's local folder and its output in a store: state is brought here, what is whole goes there.

The store is the truth: a run begins with a copy of all that is finished there but the shards, and
drops what its folder holds of another run. What a stage has made is put there when it is done, and
what vouches for it last. Two runs of one job write the same bytes, so they only waste work; another
job finds the claim, an object that is created if it is not there, and is refused.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path

from jogak.errors import ConfigError, ShardError
from jogak.output import Output, file_sha256, remove
from jogak.run.restart import OWN_COUNTS, OWN_NAMES, OWN_TOKENIZER, OWN_TOKENS, own_files
from jogak.store import CLAIM, Store

logger = logging.getLogger(__name__)

VOUCHERS = {"counts": "pretokens.json", "tokenizer": "training.json", "": "manifest.json"}
"""By folder, the file that says that the others are whole."""
REPORTS = ("report.json", "report.md", "report.html", "timings.json")
"""What follows from a manifest, and so comes after it."""


class Mirror:
    """The output of one run."""

    def __init__(self, output: Output) -> None:
        """Take an output that lies in a store."""
        self._output = output
        self._store = Store(str(output.url))
        self._known: dict[str, tuple[tuple[int, int], str]] = {}
        self.claim = b""
        self.shards: dict[str, int] = {}

    def bring(self, *, restart: bool) -> None:
        """Make the local folder what the store says; remove all of both first for a restart.

        Raises:
            ShardError: for a restart, the store has files of Jogak's names but no claim.
        """
        names = self._store.names()
        if restart:
            names = self._cleared(names)
        if self._store.read("job.yaml") != _content(self._output.job):
            for path in own_files(self._output):
                remove(path)
        for path in self._output.tokens.glob("shard-*"):
            remove(path)  # an earlier run had no time to put it there
        for name, size in names.items():
            path = self._output.folder / name
            if _is_state(name) and not (name.endswith(".parquet") and _size(path) == size):
                self._store.get(name, path)
        for name in filter(_is_state, names):
            self._note(name)
        self.shards = {
            name.removeprefix("tokens/"): size
            for name, size in names.items()
            if name.startswith("tokens/")
        }

    def _cleared(self, names: dict[str, int]) -> dict[str, int]:
        """Remove what Jogak wrote into the store; what vouches goes first, the claim last."""
        own = [name for name in names if _is_own(name)]
        if own and "job.yaml" not in names and CLAIM not in names:
            message = (
                f"{self._store.url}: no job.yaml of a run, so nothing says that Jogak wrote what "
                f"is there (found {own[0]}); remove it yourself, or use another output"
            )
            raise ShardError(message)
        claims = ("job.yaml", "inputs.json", CLAIM)
        own.sort(
            key=lambda name: (name in claims, name != "manifest.json", not name.endswith(".json"))
        )
        self._store.delete(*own)
        logger.info("restart: %d files removed from %s", len(own), self._store.url)
        return {name: size for name, size in names.items() if name not in own}

    def hold(self, identity: dict[str, str]) -> None:
        """Claim the output in the store for what a run is made from.

        Raises:
            ConfigError: another run has claimed it meanwhile.
        """
        text = json.dumps(identity, ensure_ascii=False, sort_keys=True, indent=2)
        self.claim = f"{text}\n".encode()
        self._store.create(CLAIM, self.claim)
        found = self._store.read(CLAIM)
        if found != self.claim:
            message = (
                f"{self._store.url}: another run has claimed this output; use another, or remove "
                "what is there with --restart when that run is done"
            )
            raise ConfigError(message)

    def put(self) -> None:
        """Put what is new in the local folder, shards and counts of single units aside."""
        changed: dict[str, list[str]] = {}
        for path in own_files(self._output):
            name = str(path.relative_to(self._output.folder))
            if _is_state(name) and not self._is_known(name):
                changed.setdefault(name.rpartition("/")[0], []).append(name)
        # The manifest comes when all it vouches for is there.
        for folder in sorted(changed, reverse=True):
            voucher = f"{folder}/{VOUCHERS[folder]}".lstrip("/")
            if any(name not in REPORTS for name in changed[folder]) and voucher in self._known:
                self._store.delete(voucher)
                self._known.pop(voucher)
                changed[folder] = sorted({*changed[folder], voucher})
            for name in sorted(changed[folder], key=lambda name: _turn(name, voucher)):
                path = self._output.folder / name
                if path.exists():
                    self._store.put(path, name)
                    self._note(name)

    def drop_manifest(self) -> None:
        """Remove the manifest, before a shard that it vouches for is made anew."""
        self._store.delete("manifest.json")
        self._known.pop("manifest.json", None)

    def _note(self, name: str) -> None:
        """Remember what is the same here and there."""
        path = self._output.folder / name
        if path.exists():
            self._known[name] = _stamp(path), file_sha256(path)

    def _is_known(self, name: str) -> bool:
        """Tell whether a file here is the one in the store; one made anew may well be."""
        stamp, sha256 = self._known.get(name, ((0, 0), ""))
        path = self._output.folder / name
        if stamp == _stamp(path):
            return True
        if sha256 != file_sha256(path):
            return False
        self._note(name)
        return True


def _turn(name: str, voucher: str) -> tuple[int, str]:
    return (name == voucher) + 2 * (name in REPORTS), name


def _is_state(name: str) -> bool:
    """Tell what a run needs here from shards, and from what a store alone has."""
    return _is_own(name) and name != CLAIM and not name.startswith("tokens/")


def _is_own(name: str) -> bool:
    """Tell whether Jogak writes an object of this name into a store."""
    folder, _, file = name.rpartition("/")
    if not folder:
        return file in OWN_NAMES or file == CLAIM
    pattern = {"counts": OWN_COUNTS, "tokenizer": OWN_TOKENIZER, "tokens": OWN_TOKENS}.get(folder)
    is_unit = folder == "counts" and file.startswith("unit-")
    return pattern is not None and pattern.fullmatch(file) is not None and not is_unit


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.exists() else None


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns

"""Outputs in object stores: put, get, list, delete, and an output's files brought here and back.

A run works in a local folder (`work`) and puts into the store what is whole: an object appears in
a store when all of it is there, and what vouches for others (a sidecar, a record, the manifest) is
put last and deleted first. Where a store has files that grow (file://, sftp://), they are written
under a temporary name and renamed.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from jogak.errors import JogakError, ShardError
from jogak.output import Output, temporary_path
from jogak.plan.storage import is_url, open_store, retried

Result = TypeVar("Result")

WHOLE = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "hf", "memory"})
"""Schemes whose objects appear when they are whole."""
SHARD_ENDS = (".bin", ".idx", ".usage.parquet", ".rejected.jsonl", ".json")
"""The ends of a shard's files."""
CLAIM = ".claim.json"
"""The object that says whose output it is."""


class Store:
    """A prefix in a store; names are relative to it."""

    def __init__(self, url: str) -> None:
        """Prepare; makes no request."""
        self.url = url.rstrip("/")
        self._files, root = open_store(self.url)
        self._root = root.rstrip("/")

    def names(self, folder: str = "") -> dict[str, int]:
        """List what lies under a folder, with sizes. One request for a thousand objects."""

        def find() -> dict[str, int]:
            self._files.invalidate_cache()
            found = self._files.find(self._path(folder), detail=True)
            cut = len(self._root.lstrip("/")) + 1
            return {name.lstrip("/")[cut:]: int(each["size"]) for name, each in found.items()}

        return self._retried(find, folder, "listed")

    def read(self, name: str) -> bytes | None:
        """Return the content of a small object, or None where there is none."""

        def ask() -> bytes | None:
            self._files.invalidate_cache()
            try:
                return bytes(self._files.cat_file(self._path(name)))
            except FileNotFoundError:
                return None

        return self._retried(ask, name, "read")

    def get(self, name: str, path: Path) -> bool:
        """Copy an object to a local file, which appears when it is whole; False without object."""
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = temporary_path(path)

        def copy() -> bool:
            self._files.invalidate_cache()
            try:
                self._files.get_file(self._path(name), str(temporary))
            except (FileNotFoundError, IsADirectoryError):
                return False
            return temporary.is_file()

        try:
            found = self._retried(copy, name, "read")
            if found:
                temporary.replace(path)
            return found
        finally:
            temporary.unlink(missing_ok=True)

    def put(self, path: Path, name: str) -> None:
        """Copy a local file to an object, which appears when it is whole."""
        target = self._path(name)

        def send() -> None:
            self._make_folder(target)
            if self._is_whole:
                self._files.put_file(str(path), target)
            else:
                self._files.put_file(str(path), f"{target}.tmp")
                self._files.mv(f"{target}.tmp", target)
            self._files.invalidate_cache()
            size = path.stat().st_size
            try:
                found = self._files.info(target)["size"]
            except FileNotFoundError as error:
                # Another run of the job may just have deleted it, to put the same again.
                message = "it is gone again"
                raise OSError(message) from error
            if found != size:
                message = f"{found} bytes are there, {size} were sent"
                raise OSError(message)

        self._retried(send, name, "written")

    def create(self, name: str, data: bytes) -> bool:
        """Write an object unless it is there; tell whether it was written.

        Where a store cannot do both at once, two that create at the same moment both may.
        """

        def send() -> bool:
            target = self._path(name)
            self._files.invalidate_cache()
            if self._files.exists(target):
                return False
            self._make_folder(target)
            try:
                self._files.pipe_file(target, data, mode="create")
            except FileExistsError:
                return False
            except OSError as error:
                # What S3 says when the object came into being meanwhile.
                if error.errno == errno.EINVAL and self._files.exists(target):
                    return False
                raise
            return True

        return self._retried(send, name, "written")

    def delete(self, *names: str) -> None:
        """Remove objects, in this order; those that are not there are none."""
        for name in names:

            def drop(name: str = name) -> None:
                with suppress(FileNotFoundError):
                    self._files.rm_file(self._path(name))

            self._retried(drop, name, "deleted")

    def _make_folder(self, target: str) -> None:
        if not self._is_whole or self.url.startswith("memory:"):
            self._files.makedirs(target.rpartition("/")[0], exist_ok=True)

    @property
    def _is_whole(self) -> bool:
        return self.url.partition("://")[0] in WHOLE

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def _retried(self, request: Callable[[], Result], name: str, what: str) -> Result:
        return retried(request, f"{self.url}/{name}".rstrip("/"), what=what, kind=ShardError)


def publish_shard(url: str, prefix: Path, claim: bytes) -> None:
    """Put a shard's files, then its sidecar, and remove the local ones.

    Raises:
        ShardError: the store does not take them, or the output is another run's by now.
    """
    store = Store(url)
    if store.read(CLAIM) != claim:
        message = (
            f"{url}: claimed by another run meanwhile; give each job an output of its own, or run "
            "this one again when the other is done"
        )
        raise ShardError(message)
    sidecar = f"tokens/{prefix.name}.json"
    store.delete(sidecar)
    files = sorted(prefix.parent.glob(f"{prefix.name}.*"), key=lambda path: path.suffix == ".json")
    ordered = [path for path in files if path.name != f"{prefix.name}.json"]
    for path in ordered:
        store.put(path, f"tokens/{path.name}")
    store.put(prefix.with_name(f"{prefix.name}.json"), sidecar)
    for path in files:
        path.unlink()


def token_files(output: Output) -> Iterator[str]:
    """Yield the names of all files in the folder of shards."""
    if output.url is None:
        with os.scandir(output.tokens) as entries:
            yield from (entry.name for entry in entries)
    else:
        names = Store(output.url).names("tokens")
        yield from (name.removeprefix("tokens/") for name in names)


@contextmanager
def shard_files(output: Output, name: str, ends: Sequence[str]) -> Iterator[None]:
    """Have files of a shard in `output.tokens` within the block, those that the store has.

    Args:
        output: the output; one on a disk has its files.
        name: of the shard.
        ends: of its files, such as `.bin`.
    """
    if output.url is None:
        yield
        return
    store = Store(output.url)
    with ExitStack() as fetched:
        for end in ends:
            path = output.tokens / f"{name}{end}"
            if not path.exists() and store.get(f"tokens/{name}{end}", path):
                fetched.callback(path.unlink, missing_ok=True)
        yield


@contextmanager
def opened(place: Path | str, *, counts: bool = False) -> Iterator[Output]:
    """Open a finished output for reading, wherever it lies.

    Of one in a store, all but the shards is copied to a temporary folder; `shard_files` brings
    those one by one.

    Args:
        place: a folder, or the URL of one.
        counts: whether the counts are needed.

    Raises:
        ShardError: an output in a store is not finished.
    """
    if not is_url(str(place)):
        yield Output(Path(place))
        return
    with tempfile.TemporaryDirectory(prefix="jogak-") as folder:
        output = Output(Path(folder), str(place).rstrip("/"))
        try:
            fetch_state(output, counts=counts)
            yield output
        except JogakError as error:
            raise type(error)(told(output, str(error))) from error


def told(output: Output, message: str) -> str:
    """Return a message that names the store instead of the copies of its files."""
    return message if output.url is None else message.replace(str(output.folder), output.url)


@contextmanager
def local_copy(place: str) -> Iterator[str]:
    """Give a file or folder a local path; of an URL, a copy in a temporary folder.

    Raises:
        ShardError: there is nothing at the URL.
    """
    if not is_url(place):
        yield place
        return
    parent, _, last = place.rstrip("/").rpartition("/")
    with tempfile.TemporaryDirectory(prefix="jogak-") as folder:
        target = Path(folder) / last
        if not Store(parent).get(last, target):
            fetch_folder(Store(place), "", target)
        if not target.exists():
            message = f"{place}: no such file or folder; check the name"
            raise ShardError(message)
        yield str(target)


def fetch_folder(store: Store, folder: str, target: Path) -> None:
    """Copy what lies in a folder of a store."""
    for name in store.names(folder):
        store.get(name, target / name.rpartition("/")[2])


def check_finished(output: Output, is_there: bool) -> None:
    """Make sure that an output in a store has a manifest.

    Raises:
        ShardError: it has none.
    """
    if not is_there:
        message = f"{output.url}/manifest.json: no such file; run the job to its end (jogak run)"
        raise ShardError(message)


def fetch_state(output: Output, *, counts: bool = False) -> None:
    """Copy all but the shards of a finished output in a store to its local folder."""
    store = Store(str(output.url))
    output.tokens.mkdir(parents=True, exist_ok=True)
    names = store.names()
    check_finished(output, "manifest.json" in names)
    for name in names:
        if name.startswith("tokens/") or (name.startswith("counts/") and not counts):
            continue
        store.get(name, output.folder / name)

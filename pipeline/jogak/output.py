"""The output folder: where each result lies, how a file appears in it, and who may write to it.

A result is written to a temporary name in its own folder, flushed to disk and renamed, so a file
under its final name is always whole. One process at a time owns the folder.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import logging
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from jogak.errors import ShardError
from jogak.threads import in_threads

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")

HASH_BYTES = 2**20
"""How much of a file is hashed at a time."""


TEMPORARY = re.compile(r"\..+\.\d+\.tmp|(pretokens|(unit|merge)-[\d-]+)\..+\.tmp")
"""Names under which results are written: of `temporary_path`, and those of counts."""

JOB_HEADER = "# The resolved job of this output, written by jogak run.\n"
"""The first line of job.yaml, which tells it from a job file of the user's own."""


@dataclass(frozen=True, slots=True)
class Output:
    """The paths of a run's results.

    Attributes:
        folder: where they lie, or are worked on.
        url: the prefix in a store that they go to, or None.
    """

    folder: Path
    url: str | None = None

    @property
    def job(self) -> Path:
        """The resolved job."""
        return self.folder / "job.yaml"

    @property
    def inputs(self) -> Path:
        """The input files as the run found them, and the version that reads them."""
        return self.folder / "inputs.json"

    @property
    def counts(self) -> Path:
        """The folder of pretoken counts."""
        return self.folder / "counts"

    @property
    def tokenizer(self) -> Path:
        """The folder of the tokenizer."""
        return self.folder / "tokenizer"

    @property
    def tokens(self) -> Path:
        """The folder of token shards and their sidecars."""
        return self.folder / "tokens"

    @property
    def manifest(self) -> Path:
        """Totals, and the checksum of the table of shards; there only when every shard is."""
        return self.folder / "manifest.json"

    @property
    def shard_table(self) -> Path:
        """The records of all shards; what it holds counts once the manifest vouches for it."""
        return self.folder / "shards.parquet"

    @property
    def rejected(self) -> Path:
        """The rows that were not encoded as they stand."""
        return self.folder / "rejected.jsonl"

    @property
    def timings(self) -> Path:
        """What differs between equal runs: seconds, workers, memory."""
        return self.folder / "timings.json"

    def shard(self, index: int) -> Path:
        """Return the prefix of unit `index`'s shard: add .bin, .idx, .json or .rejected.jsonl."""
        return self.tokens / f"shard-{index:05d}"

    def create(self) -> None:
        """Make the folders and remove what an interrupted run left under temporary names."""
        for folder in (self.folder, self.counts, self.tokens):
            with explained(folder):
                folder.mkdir(parents=True, exist_ok=True)
        self.sweep()

    def sweep(self) -> None:
        """Remove files under temporary names."""
        for folder in (self.folder, self.counts, self.tokens, self.tokenizer):
            for leftover in folder.glob("*.tmp"):
                if TEMPORARY.fullmatch(leftover.name):
                    remove(leftover)


def temporary_path(path: Path) -> Path:
    """Return the name under which `path` is written: hidden, and this process's own."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an operating system's refusal to write `path` into a ShardError that says what to do."""
    try:
        yield
    except OSError as error:
        advice = {
            errno.ENOSPC: "free space on that disk and run again; finished units are kept",
            errno.EDQUOT: "the disk quota is used up; free space and run again",
            errno.EFBIG: "raise the file size limit (ulimit -f) or lower encode.shard_bytes",
        }.get(error.errno or 0, "check that the folder exists and may be written")
        message = f"{path}: cannot be written ({error.strerror or error}); {advice}"
        raise ShardError(message) from error


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make renames in `folder` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a small file so that it is either there as a whole or not at all."""
    temporary = temporary_path(path)
    data = content.encode() if isinstance(content, str) else content
    with explained(path):
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a small JSON file; equal values give equal bytes."""
    write_file(path, _json_text(value))


def _json_text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def read_json(path: Path) -> dict[str, Any] | None:
    """Return a JSON object, or None where there is none or it is damaged."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write_sealed(path: Path, value: Mapping[str, Any]) -> None:
    """Write a small JSON file with a checksum of itself in it."""
    write_json(path, {**value, "seal": digest_of(value)})


def read_sealed(path: Path) -> dict[str, Any] | None:
    """Return what `write_sealed` wrote, or None where it is missing or not the same to the byte."""
    try:
        return parse_sealed(path.read_bytes())
    except OSError:
        return None


def parse_sealed(data: bytes) -> dict[str, Any] | None:
    """Return the content of a sealed file from its bytes, or None where one of them is wrong."""
    try:
        value = json.loads(data)
    except ValueError:
        return None
    if not isinstance(value, dict) or data != _json_text(value).encode():
        return None
    return value if value.pop("seal", None) == digest_of(value) else None


def file_sha256(path: Path) -> str:
    """Return a file's sha256 (hex). O(size), constant memory, without the GIL."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while block := file.read(HASH_BYTES):
            digest.update(block)
    return digest.hexdigest()


def hashed_at_once(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Apply a function that mostly hashes to every item, in threads; yield results in order.

    Checksums are computed without the GIL, so threads keep all processors busy.
    """
    return in_threads(function, items, os.cpu_count() or 1)


def digest_of(value: object) -> str:
    """Return the sha256 (hex) of a value's JSON, keys sorted: its fingerprint."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@contextlib.contextmanager
def owned(output: Output) -> Iterator[None]:
    """Hold the output folder against other processes.

    The lock is the kernel's (flock), so it ends with its owner however that dies; the file only
    says who holds it.

    Raises:
        ShardError: another process works on the folder.
    """
    with explained(output.folder):
        output.folder.mkdir(parents=True, exist_ok=True)
    path = output.folder / ".lock"
    descriptor = _lock(path)
    try:
        owner = json.dumps({"host": socket.gethostname(), "pid": os.getpid()})
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, owner.encode(), 0)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _lock(path: Path) -> int:
    while True:
        with explained(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(descriptor, 1000, 0).decode(errors="replace") or "not yet named"
            os.close(descriptor)
            message = (
                f"{path.parent}: another process works on this output (owner: {owner}); "
                "wait for it, or give this job another output"
            )
            raise ShardError(message) from None
        except OSError as error:
            # Some network file systems have no locks; a run is still possible there.
            logger.warning("%s: the file system has no locks (%s)", path, error.strerror)
            return descriptor
        # The previous owner may have removed the file between our open and our lock.
        with contextlib.suppress(FileNotFoundError):
            if os.fstat(descriptor).st_ino == path.stat().st_ino:
                return descriptor
        os.close(descriptor)

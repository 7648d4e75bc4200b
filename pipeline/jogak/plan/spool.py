"""Datasets that are not files of their own: Arrow files that hold their text, and an index of them.

SPOOL/source-N/index.json lists the files of source N in order, each with its blocks of rows: how
many, and how many bytes of text. The files were written by the run (`run/datasets.py`), or they are
those of a memory-mapped dataset, read where they lie. They are streams of the Arrow IPC format,
mapped into memory: text is read without a copy.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jogak.errors import BadFileError, SourceError
from jogak.output import digest_of, read_sealed, write_sealed

if TYPE_CHECKING:
    import pyarrow as pa

    from jogak.config import ReadOptions, Source

GIVEN = "given"
"""What a job says of a dataset that Python is still to hand over."""


@dataclass(frozen=True, slots=True)
class KeptFile:
    """One Arrow file.

    Attributes:
        path: where it lies; relative to the index, or absolute.
        size: bytes.
        mtime_ns: time of change; 0 for a file of Jogak's own.
        rows: documents.
        blocks: rows, and bytes of their text, of each record batch in order.
    """

    path: str
    size: int
    mtime_ns: int
    rows: int
    blocks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """The text of one source.

    Attributes:
        folder: where the index lies.
        source: what of the job's source decides the text; another source does not use it.
        made_from: tells whether the files that a stream was read from are still the same; nothing
            for what Python handed over.
        digest: tells one content from another.
        text, language: the columns of the files; no language where the source has no such column.
        files: in order.
    """

    folder: Path
    source: dict[str, Any]
    made_from: str
    digest: str
    text: str
    language: str | None
    files: tuple[KeptFile, ...]

    @property
    def rows(self) -> int:
        """Documents in all files."""
        return sum(file.rows for file in self.files)

    @property
    def text_bytes(self) -> int:
        """Bytes of text in all files."""
        return sum(size for file in self.files for _, size in file.blocks)

    @property
    def version(self) -> str:
        """What differs when the documents do, or where units may be cut."""
        return digest_of([self.digest, [file.blocks for file in self.files]])

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """Yield first row, rows and bytes of text of each block."""
        row = 0
        for file in self.files:
            for rows, size in file.blocks:
                yield row, rows, size
                row += rows

    def batches(self, start: int, stop: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield rows [start, stop) as record batches, each with the number of its first row."""
        row = 0
        for file in self.files:
            if row < stop and row + file.rows > start:
                for first, batch in _mapped(self.folder / file.path, row, start):
                    low, high = max(start - first, 0), min(stop - first, len(batch))
                    if low < high:
                        yield first + low, batch.slice(low, high - low)
            row += file.rows


def index_path(spool: Path | str, number: int) -> Path:
    """Return where the index of a source lies."""
    return Path(spool) / f"source-{number}" / "index.json"


def source_key(source: Source) -> dict[str, Any]:
    """Return what of a source decides which text is kept."""
    names = ("hf", "config", "split", "revision", "text", "language_column")
    return {name: getattr(source, name) for name in names}


def find_kept(read: ReadOptions, number: int) -> Kept | None:
    """Return the text that is kept for a source, or None where none is, or another's."""
    source = read.sources[number]
    if read.spool is None or source.path is not None:
        return None
    path = index_path(read.spool, number)
    if not path.is_file():
        return None
    kept = _load(path, path.stat().st_mtime_ns)
    if kept is None or kept.source != source_key(source):
        return None
    return kept if source.dataset in (None, GIVEN, kept.digest) else None


def require_kept(read: ReadOptions, number: int) -> Kept:
    """Return the text of a source that is a dataset of Python's.

    Raises:
        SourceError: it is not there.
    """
    kept = find_kept(read, number)
    if kept is None:
        message = (
            f"read.sources[{number}]: the dataset '{read.sources[number].dataset}' is not in "
            f"{read.spool}; hand it over: jogak.run(job, dataset=...)"
        )
        raise SourceError(message)
    return kept


def write_index(path: Path, kept: Kept) -> None:
    """Write an index; all files must be on disk."""
    value = asdict(kept)
    del value["folder"]
    write_sealed(path, value)


@functools.lru_cache(maxsize=16)
def _load(path: Path, _changed_ns: int) -> Kept | None:
    """Load an index; None if it is damaged, or one of its files is not what it was."""
    value = read_sealed(path)
    if value is None:
        return None
    files = tuple(_file(each) for each in value.pop("files"))
    kept = Kept(path.parent, **value, files=files)
    for file in files:
        try:
            status = (kept.folder / file.path).stat()
        except OSError:
            return None
        if status.st_size != file.size or file.mtime_ns not in (0, status.st_mtime_ns):
            return None
    return kept


def _file(value: Mapping[str, Any]) -> KeptFile:
    return KeptFile(**{**value, "blocks": tuple((rows, size) for rows, size in value["blocks"])})


def _mapped(path: Path, row: int, start: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the batches of a file that end behind row `start`; the file begins with row `row`."""
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as data, pa.ipc.open_stream(data) as batches:
            for batch in batches:
                if row + len(batch) > start:
                    yield row, batch
                row += len(batch)
    except (pa.ArrowException, OSError) as error:
        message = f"{path}: not a readable Arrow file ({error}); run the job again"
        raise BadFileError(message) from error

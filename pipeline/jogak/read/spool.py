"""Writes the text of a dataset into Arrow files, or finds those of one that is mapped already.

Rows are written as they come, good or bad: what becomes of bad ones is decided when they are read
back. Where a file or a block ends follows from the rows alone, not from how they were delivered.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jogak.config import Source
from jogak.errors import SourceError
from jogak.output import explained, sync_folder, temporary_path
from jogak.plan.inputs import source_columns
from jogak.plan.spool import KeptFile
from jogak.read.columns import select_field, split_by_bytes

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 4 * 2**20
"""Text of a block: a record batch, and the finest that units are cut without looking at rows."""
BLOCK_ROWS = 2**16
FILE_BLOCKS = 128
"""Blocks of a file: to reach one, those before it are passed by."""
TEXTS_AT_ONCE = 1024


def text_tables(texts: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401 - iterables, Arrow arrays
    """Yield texts that are no table as tables of one column.

    Raises:
        SourceError: one is neither str nor bytes nor None.
    """
    import pyarrow as pa

    if isinstance(texts, str | bytes):
        message = f"dataset: one {type(texts).__name__}, not several documents; give a list"
        raise SourceError(message)
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        yield from pa.table({"text": texts}).to_batches()
        return
    held: list[bytes | None] = []
    size = 0
    for number, text in enumerate(texts):
        held.append(_as_bytes(text, number))
        size += len(held[-1] or b"")
        if len(held) >= TEXTS_AT_ONCE or size >= BLOCK_BYTES:
            yield pa.record_batch({"text": pa.array(held, pa.large_binary())})
            held, size = [], 0
    yield pa.record_batch({"text": pa.array(held, pa.large_binary())})


def _as_bytes(text: object, number: int) -> bytes | None:
    if text is None or isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        message = (
            f"dataset: row {number}: not a str or bytes (found {type(text).__name__}); give texts, "
            "or a table with a column of them"
        )
        raise SourceError(message)
    # A lone surrogate becomes bytes that are no UTF-8: a bad row like any other.
    return text.encode("utf-8", "surrogatepass")


def is_mapped(dataset: Any) -> bool:  # noqa: ANN401 - anything
    """Tell whether a dataset is a datasets.Dataset of Arrow files, mapped as they are.

    Rows that were chosen or put in another order, columns that were renamed or cast, and tables in
    memory are not.
    """
    datasets = sys.modules.get("datasets")  # a Dataset cannot be there without it
    if datasets is None or not isinstance(dataset, datasets.Dataset) or dataset._indices:
        return False
    return all(
        len(row) == 1
        and isinstance(row[0], datasets.table.MemoryMappedTable)
        and all(name in ("select", "drop") for name, *_ in row[0].replays or ())
        for row in _blocks(dataset)
    )


def _blocks(dataset: Any) -> list[list[Any]]:  # noqa: ANN401 - datasets'
    blocks: list[list[Any]] = getattr(dataset.data, "blocks", [[dataset.data]])
    return blocks


def mapped_files(dataset: Any, text: str) -> list[KeptFile]:  # noqa: ANN401 - datasets'
    """Describe the Arrow files of a mapped dataset, by the bytes of their text column."""
    return [_mapped_file(Path(row[0].path), text) for row in _blocks(dataset)]


def _mapped_file(path: Path, text: str) -> KeptFile:
    import pyarrow as pa

    status = path.stat()
    with pa.memory_map(str(path)) as data, pa.ipc.open_stream(data) as batches:
        blocks = tuple((len(batch), batch.column(text).nbytes) for batch in batches)
    rows = sum(count for count, _ in blocks)
    return KeptFile(str(path), status.st_size, status.st_mtime_ns, rows, blocks)


def write_files(
    folder: Path,
    stem: str,
    batches: Iterable[pa.RecordBatch],
    source: Source,
    number: int,
    label: str,
) -> tuple[list[KeptFile], str]:
    """Write the text and language columns of a dataset into files STEM-NNNNN.arrow.

    Returns:
        The files, and the sha256 (hex) of what they hold.

    Raises:
        SourceError: there is no such column, or it is not text.
        ShardError: the disk refuses.
    """
    writer = _Writer(folder, stem)
    try:
        iterator = iter(batches)
        head = next(iterator, None)
        if head is not None:
            columns = source_columns(head.schema, source, number, label)
            for batch in chain([head], iterator):
                for piece in _narrowed(batch, columns):
                    writer.add(piece)
        return writer.close()
    finally:
        writer.discard()


def _narrowed(batch: pa.RecordBatch, columns: list[list[str]]) -> Iterator[pa.Table]:
    """Yield the text and the languages of a batch as binary columns."""
    import pyarrow as pa

    text = select_field(batch, columns[0])
    named = select_field(batch, columns[1]) if len(columns) > 1 else None
    start = 0
    for piece in split_by_bytes(text, BLOCK_BYTES):
        values = {"text": _binary(piece)}
        if named is not None:
            values["language"] = _binary(named.slice(start, len(piece)))
        yield pa.table(values)
        start += len(piece)


def _binary(array: pa.Array) -> pa.Array:
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array.cast(pa.large_binary())


class _Writer:
    """Gathers rows into blocks, and blocks into files."""

    def __init__(self, folder: Path, stem: str) -> None:
        self._folder = folder
        self._stem = stem
        self._held: list[pa.Table] = []
        self._size = self._rows = 0
        self._files: list[KeptFile] = []
        self._blocks: list[tuple[int, int]] = []
        self._sink: Any = None
        self._file: Any = None
        self._digest = hashlib.sha256()

    def add(self, table: pa.Table) -> None:
        self._held.append(table)
        self._size += _text_bytes(table)
        self._rows += len(table)
        while self._size >= BLOCK_BYTES or self._rows >= BLOCK_ROWS:
            self._write_block()

    def _write_block(self) -> None:
        """Write the first rows that reach the size of a block."""
        import pyarrow as pa
        import pyarrow.compute as pc

        held = pa.concat_tables(self._held)
        lengths = pc.fill_null(pc.binary_length(held.column("text")), 0)
        ends = np.cumsum(np.concatenate([np.from_dlpack(each) for each in lengths.chunks]))
        reached = int(np.searchsorted(ends, BLOCK_BYTES)) + 1
        count = min(reached, BLOCK_ROWS, len(held))
        # Blocks are far below what one array can hold.
        block = held.slice(0, count).combine_chunks().to_batches()[0]
        self._emit(block, int(ends[count - 1]))
        rest = held.slice(count)
        self._held, self._rows = ([rest] if len(rest) else []), len(rest)
        self._size = int(ends[-1] - ends[count - 1])

    def _emit(self, block: pa.RecordBatch, size: int) -> None:
        import pyarrow as pa

        path = self._path()
        with explained(path):
            if self._sink is None:
                self._file = temporary_path(path).open("wb")
                self._sink = pa.ipc.new_stream(self._file, block.schema)
            self._sink.write_batch(block)
        self._blocks.append((len(block), size))
        for column in block.columns:
            # The same rows give the same digest, whatever lies around them in memory.
            plain = column.fill_null(b"\xff")
            self._digest.update(np.from_dlpack(column.is_valid().cast(pa.uint8())).tobytes())
            offsets = np.frombuffer(plain.buffers()[1], np.int64)
            offsets = offsets[plain.offset : plain.offset + len(plain) + 1]
            self._digest.update(np.diff(offsets).tobytes())
            data = plain.buffers()[2]
            if data is not None:
                self._digest.update(memoryview(data)[int(offsets[0]) : int(offsets[-1])])
        if len(self._blocks) == FILE_BLOCKS:
            self._finish()

    def _path(self) -> Path:
        return self._folder / f"{self._stem}-{len(self._files):05d}.arrow"

    def _finish(self) -> None:
        path = self._path()
        with explained(path):
            self._sink.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            temporary_path(path).replace(path)
            sync_folder(self._folder)
        rows = sum(count for count, _ in self._blocks)
        self._files.append(KeptFile(path.name, path.stat().st_size, 0, rows, tuple(self._blocks)))
        self._blocks, self._sink = [], None

    def close(self) -> tuple[list[KeptFile], str]:
        while self._rows:
            self._write_block()
        if self._sink is not None:
            self._finish()
        return self._files, self._digest.hexdigest()

    def discard(self) -> None:
        """Remove the file that is not finished, if there is one."""
        if self._sink is not None:
            self._file.close()
            temporary_path(self._path()).unlink(missing_ok=True)


def _text_bytes(table: pa.Table) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(pc.binary_length(table.column("text"))).as_py() or 0)

"""Parquet rows: only the columns asked for, one row group at a time, batches bounded by bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from jogak.config import Source
from jogak.errors import BadFileError, SourceError
from jogak.plan import Part
from jogak.plan.footer import column_sizes
from jogak.plan.inputs import damage, open_parquet, source_columns
from jogak.read.columns import (
    language_codes,
    null_rows,
    select_field,
    split_by_bytes,
    text_buffers,
)
from jogak.read.rows import Fault, Rows

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROWS_PER_BATCH = 2**15
"""Most rows decoded at once: the footer understates text that pages store by dictionary."""


def read_parquet(part: Part, source: Source, number: int, batch_bytes: int) -> Iterator[Rows]:
    """Read rows [part.start, part.stop) of a Parquet file."""
    with open_parquet(part.path) as file:
        columns = source_columns(file.schema_arrow, source, number, part.path)
        sizes = column_sizes(part.path, file, columns[0])
        if part.stop > file.metadata.num_rows or part.stop == 0:
            message = (
                f"{part.path}: the file changed since it was planned (found "
                f"{file.metadata.num_rows} rows, planned up to {part.stop}); run the job again"
            )
            raise SourceError(message)
        first = 0
        for group, text_bytes in enumerate(sizes):
            rows = file.metadata.row_group(group).num_rows
            start, stop = max(part.start, first), min(part.stop, first + rows)
            if start < stop:
                batch_rows = _batch_rows(text_bytes, rows, batch_bytes)
                yield from _read_group(file, group, (start - first, stop - first), columns, first,
                                       source, part.path, batch_rows, batch_bytes)  # fmt: skip
            first += rows


def table_rows(
    batch: pa.RecordBatch, columns: list[list[str]], language: str | None, first: int, limit: int
) -> Iterator[Rows]:
    """View a record batch as Rows; `first` is the row of the file that it starts with."""
    text = select_field(batch, columns[0])
    named = select_field(batch, columns[1]) if len(columns) > 1 else None
    start = 0
    for piece in split_by_bytes(text, limit):
        data, offsets, plain = text_buffers(piece)
        piece_named = None if named is None else named.slice(start, len(piece))
        languages, names = language_codes(piece_named, language, len(piece))
        nulls = null_rows(plain)
        rows = np.arange(first + start, first + start + len(piece), dtype=np.int64)
        faults = {index: Fault("null text") for index in nulls}
        yield Rows(data, offsets, languages, names, rows, faults)
        start += len(piece)


def _read_group(
    file: pq.ParquetFile,
    group: int,
    wanted: tuple[int, int],
    columns: list[list[str]],
    first: int,
    source: Source,
    path: str,
    batch_rows: int,
    batch_bytes: int,
) -> Iterator[Rows]:
    """Read the wanted rows of a row group, whose first row is row `first` of the file."""
    paths = [".".join(names) for names in columns]
    batches = file.iter_batches(batch_rows, [group], paths, use_threads=False)
    position = 0
    while position < wanted[1]:
        batch = _next_batch(batches, f"{path}: row group {group}", first + position)
        start, stop = max(wanted[0] - position, 0), min(wanted[1] - position, len(batch))
        if start < stop:
            chosen = batch.slice(start, stop - start)
            row = first + position + start
            yield from table_rows(chosen, columns, source.language, row, batch_bytes)
        position += len(batch)


def _batch_rows(text_bytes: int, rows: int, batch_bytes: int) -> int:
    """Rows whose text has about `batch_bytes`, by the mean of the row group."""
    mean = text_bytes // max(rows, 1)
    return min(max(batch_bytes // max(mean, 1), 1), ROWS_PER_BATCH)


def _next_batch(batches: Iterator[pa.RecordBatch], where: str, row: int) -> pa.RecordBatch:
    import pyarrow as pa

    try:
        batch = next(batches, None)
    except (pa.ArrowException, OSError) as error:
        what = f"{where}: damaged at row {row} or behind it ({error})"
        raise damage(what, error) from error
    if batch is None or len(batch) == 0:
        message = f"{where}: ends at row {row}, before its footer says; restore the file"
        raise BadFileError(message)
    return batch

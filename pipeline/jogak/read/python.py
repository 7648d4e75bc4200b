"""Python objects -> TextBatches: iterables of str or bytes, Arrow arrays and tables, datasets."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.config import BadRow, ReadOptions, Source, options_from
from jogak.detect import DETECT, detect_batch
from jogak.documents import RejectedRow, TextBatch
from jogak.errors import SourceError
from jogak.plan.inputs import source_columns
from jogak.read.columns import language_codes
from jogak.read.parquet import ROWS_PER_BATCH, table_rows
from jogak.read.rows import Judge, Rows

if TYPE_CHECKING:
    import datasets
    import pyarrow as pa

BATCH_BYTES: int = ReadOptions.model_fields["batch_bytes"].default
MAX_BAD_ROWS: int = ReadOptions.model_fields["max_bad_rows"].default
BLOCK_BYTES = 2**19
"""Bytes of lines read at once: what is read is counted while it is in the processor's cache."""
LINE_BYTES = 2**12
"""The rest of a line of so many bytes fits behind a block, which then need not be copied."""
STREAMED_ROWS = 256
"""Rows asked of a streaming dataset at once; it does not say how long its documents are."""


def batch_texts(
    texts: Iterable[str | bytes] | pa.Array | pa.ChunkedArray, *, batch_bytes: int = BATCH_BYTES
) -> Iterator[TextBatch]:
    """Batch documents given as Python objects or as Arrow text; their language is `und`.

    Args:
        texts: str, bytes of UTF-8, the lines of a binary file, or any Arrow string or binary
            array, dictionaries included.
        batch_bytes: bytes of text per batch, unless one document has more.

    Raises:
        SourceError: a document is neither str nor bytes, is null, has a lone surrogate, or is not
            valid UTF-8; the message names it by its number, from 0.
    """
    if isinstance(texts, (str, bytes)):
        message = f"texts: one {type(texts).__name__}, not several documents; give a list of texts"
        raise SourceError(message)
    judge = Judge("texts", 0, batch_bytes, "error", 0, [], advice="")
    for rows in _pieces(texts, batch_bytes):
        yield from judge.batches(rows)


def _pieces(texts: Any, batch_bytes: int) -> Iterator[Rows]:  # noqa: ANN401 - as `batch_texts`
    if isinstance(texts, io.BufferedIOBase):  # before Arrow, which takes 25 MB, is imported
        return _file_pieces(texts, batch_bytes)
    import pyarrow as pa

    if isinstance(texts, (pa.Array, pa.ChunkedArray)):
        table = pa.table({"text": texts})
        columns = source_columns(table.schema, Source(path="texts"), 0, "texts")
        return _table_pieces(table.to_batches(), columns, None, batch_bytes)
    return _text_pieces(texts, batch_bytes)


def is_dataset(value: object) -> bool:
    """Tell a dataset or a table from texts."""
    import pyarrow as pa

    tables = pa.Table | pa.RecordBatch | pa.RecordBatchReader
    return isinstance(value, tables) or hasattr(value, "with_format")


def read_dataset(
    dataset: Any,  # noqa: ANN401 - datasets.Dataset or IterableDataset, pyarrow Table or reader
    *,
    text: str = "text",
    language: str | None = None,
    language_column: str | None = None,
    on_bad_row: BadRow = "error",
    max_bad_rows: int = MAX_BAD_ROWS,
    batch_bytes: int = BATCH_BYTES,
    rejected: list[RejectedRow] | None = None,
) -> Iterator[TextBatch]:
    """Batch a dataset that is an object already.

    Args:
        dataset: datasets.Dataset or IterableDataset, pyarrow.Table, RecordBatch or
            RecordBatchReader; or whatever `batch_texts` takes.
        text: the column of text, or the path `a.b` of a field in structs.
        language: the language of all documents, or `detect`.
        language_column: the column of languages, instead of `language`.
        on_bad_row: what becomes of bad rows, as `read.on_bad_row`.
        max_bad_rows: more than this stop the run.
        batch_bytes: bytes of text per batch, unless one document has more.
        rejected: bad rows are appended.

    Raises:
        ConfigError: the names of the columns contradict each other.
        SourceError: a column is missing or is not text, or a row is bad.
    """
    if isinstance(dataset, io.BufferedIOBase):
        yield from batch_texts(dataset, batch_bytes=batch_bytes)
        return
    record = [] if rejected is None else rejected
    judge = Judge("dataset", 0, batch_bytes, on_bad_row, max_bad_rows, record)
    given = {"text": text, "language": language, "language_column": language_column}
    source = options_from(Source, {"path": "dataset", **given}, "dataset")
    if not is_dataset(dataset):
        yield from batch_texts(dataset, batch_bytes=batch_bytes)
        return
    batches = dataset_batches(dataset)
    head = next(batches, None)
    if head is None:
        return
    columns = source_columns(head.schema, source, 0, "dataset")
    for rows in _table_pieces(chain([head], batches), columns, language, batch_bytes):
        judged = judge.batches(rows)
        yield from map(detect_batch, judged) if language == DETECT else judged


def dataset_batches(dataset: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401 - as `read_dataset`
    """Yield the record batches of a dataset or a table.

    Raises:
        SourceError: it is a dictionary of splits.
    """
    import pyarrow as pa

    if isinstance(dataset, pa.RecordBatch):
        return iter([dataset])
    if isinstance(dataset, pa.Table):
        return iter(dataset.to_batches())
    if isinstance(dataset, pa.RecordBatchReader):
        return iter(dataset)
    if isinstance(dataset, dict):
        message = f"dataset: several splits ({', '.join(dataset)}); give one, as dataset['train']"
        raise SourceError(message)
    return _dataset_batches(dataset, STREAMED_ROWS)


def dataset_rows(
    dataset: datasets.Dataset,
    columns: list[list[str]],
    language: str | None,
    first: int,
    batch_bytes: int,
) -> Iterator[Rows]:
    """Read a map-style dataset by Arrow batches; `first` is the number of its first row."""
    chosen = dataset.select_columns(list(dict.fromkeys(names[0] for names in columns)))
    mean = chosen.data.nbytes // max(chosen.data.num_rows, 1)
    batches = _dataset_batches(chosen, min(max(batch_bytes // max(mean, 1), 1), ROWS_PER_BATCH))
    yield from _table_pieces(batches, columns, language, batch_bytes, first)


def _dataset_batches(dataset: Any, rows: int) -> Iterator[pa.RecordBatch]:  # noqa: ANN401 - datasets'
    for table in dataset.with_format("arrow").iter(batch_size=rows):
        yield from table.to_batches()


def _table_pieces(
    batches: Iterable[pa.RecordBatch],
    columns: list[list[str]],
    language: str | None,
    limit: int,
    first: int = 0,
) -> Iterator[Rows]:
    for batch in batches:
        yield from table_rows(batch, columns, language, first, limit)
        first += len(batch)


def _text_pieces(texts: Iterable[str | bytes], limit: int) -> Iterator[Rows]:
    """Gather documents up to `limit` bytes."""
    held: list[bytes] = []
    size, first = 0, 0
    for number, text in enumerate(texts):
        held.append(_to_bytes(text, number))
        size += len(held[-1])
        if size >= limit:
            yield _join(held, first)
            held, size, first = [], 0, number + 1
    if held:
        yield _join(held, first)


def _file_pieces(file: io.BufferedIOBase, limit: int) -> Iterator[Rows]:
    """Read the lines of a binary file: what iterating over it gives, but faster."""
    first = 0
    size = min(limit, BLOCK_BYTES)
    while len(data := _block(file, size)):
        offsets = _core.line_offsets(data)
        count = len(offsets) - 1
        languages, names = language_codes(None, None, count)
        rows = np.arange(first, first + count, dtype=np.int64)
        yield Rows(data, offsets, languages, names, rows)
        first += count


def _block(file: io.BufferedIOBase, size: int) -> NDArray[np.uint8]:
    """Read about so many bytes, up to the end of a line; nothing at the end of the file."""
    block = np.empty(size + LINE_BYTES, np.uint8)
    end = file.readinto(block[:size].data)
    line = np.frombuffer(file.readline(), np.uint8)
    if len(line) > LINE_BYTES:
        return np.concatenate((block[:end], line))
    block[end : end + len(line)] = line
    return block[: end + len(line)]


def _to_bytes(text: str | bytes, number: int) -> bytes:
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        message = f"texts: row {number}: not a str or bytes (found {type(text).__name__})"
        raise SourceError(message)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        message = (
            f"texts: row {number}: lone surrogate U+{code:04X} at character {error.start} of the "
            "document; replace it by U+FFFD"
        )
        raise SourceError(message) from error


def _join(held: list[bytes], first: int) -> Rows:
    languages, names = language_codes(None, None, len(held))
    return Rows(
        data=np.frombuffer(b"".join(held), np.uint8),
        offsets=np.cumsum([0, *map(len, held)], dtype=np.int64),
        languages=languages,
        language_names=names,
        rows=np.arange(first, first + len(held), dtype=np.int64),
    )

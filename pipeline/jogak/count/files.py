"""Counts as Arrow tables and Parquet files, and the header that both counts and runs carry."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jogak.arrow import number_array, numbers
from jogak.config import NormalizeOptions
from jogak.count.counts import LanguageTotals, PretokenCounts
from jogak.errors import ShardError, SourceError

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
METADATA_KEY = b"jogak.counts"
LANGUAGE_COLUMN = "count[{}]"

GROUP_ROWS = 2**16
"""Rows of a row group of a counts file."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a file of counts says of itself.

    Attributes:
        pattern: the pattern that cut the text, as configured.
        normalize: how the text was normalized.
        totals: what was counted, by language.
        sample: which documents were counted; empty for all.
    """

    pattern: str
    normalize: NormalizeOptions
    totals: Mapping[str, LanguageTotals]
    sample: str = ""

    def metadata(self) -> dict[bytes, bytes]:
        """Return the header as the metadata of an Arrow schema."""
        header = {
            "format": FORMAT,
            "jogak": _library_version(),
            "pattern": self.pattern,
            "normalize": self.normalize.model_dump(),
            "sample": self.sample,
            "totals": {language: asdict(totals) for language, totals in self.totals.items()},
        }
        return {METADATA_KEY: json.dumps(header).encode()}

    @classmethod
    def of(cls, schema: pa.Schema, path: Path) -> Header:
        """Read the header back.

        Raises:
            SourceError: there is none, or it is of another format.
        """
        header = json.loads((schema.metadata or {}).get(METADATA_KEY, b"{}"))
        if header.get("format") != FORMAT:
            found = header.get("format", "no header")
            message = f"{path}: not a counts file of format {FORMAT} (found: {found}); count again"
            raise SourceError(message)
        return cls(
            header["pattern"],
            NormalizeOptions(**header["normalize"]),
            {name: LanguageTotals(**totals) for name, totals in header["totals"].items()},
            header.get("sample", ""),
        )


def _library_version() -> str:
    try:
        return version("jogak")
    except PackageNotFoundError:  # the source tree is used without being installed
        return "0"


@contextmanager
def new_file(target: Path, *, durable: bool = True) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only once it is whole and, if durable, on disk.

    Raises:
        ShardError: it cannot be written.
    """
    temporary = target.with_name(target.name + ".tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        message = f"{target}: cannot be written ({error}); free space or choose another folder"
        raise ShardError(message) from error
    finally:
        if temporary.is_file():
            temporary.unlink()


def text_array(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> pa.Array[Any]:
    """View pretokens as an Arrow array, without a copy."""
    import pyarrow as pa

    buffers = [None, pa.py_buffer(offsets.data), pa.py_buffer(data.data)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)


def read_text(array: pa.Array[Any]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """View an Arrow large_binary array as pretokens, without a copy."""
    _, offsets, data = array.buffers()
    begin, end = array.offset, array.offset + len(array) + 1
    return (
        np.frombuffer(memoryview(data or b""), dtype=np.uint8),
        np.frombuffer(memoryview(offsets or bytes(8)), dtype=np.int64)[begin:end],
    )


def table_of(counts: PretokenCounts) -> pa.Table:
    """Return counts as a table: pretoken, count, first, and `count[ko]` for each of several."""
    import pyarrow as pa

    columns: dict[str, pa.Array[Any]] = {"pretoken": text_array(counts.data, counts.offsets)}
    columns["count"] = number_array(counts.counts)
    columns["first"] = number_array(counts.first)
    for language in counts.rows:
        columns[LANGUAGE_COLUMN.format(language)] = number_array(counts.language_counts(language))
    header = Header(counts.pattern, counts.normalize, counts.totals, counts.sample)
    return pa.table(columns, metadata=header.metadata())


def counts_of(column: Callable[[str], pa.ChunkedArray[Any]], header: Header) -> PretokenCounts:
    """Return what `table_of` made as counts again.

    Args:
        column: gives a column by its name. Each is asked for once, so that a file's columns need
            not all be in memory: those of many languages would take more than all the rest.
        header: what the file says of itself.
    """
    import pyarrow as pa

    text = column("pretoken").combine_chunks().cast(pa.large_binary())
    data, offsets = read_text(text.chunk(0) if isinstance(text, pa.ChunkedArray) else text)
    rows, row_counts = {}, {}
    for language in header.totals if len(header.totals) > 1 else ():
        dense = numbers(column(LANGUAGE_COLUMN.format(language)))
        rows[language] = np.flatnonzero(dense).astype(np.uint32)
        row_counts[language] = dense[rows[language]]
    return PretokenCounts(
        data=data,
        offsets=offsets,
        counts=numbers(column("count")),
        first=numbers(column("first")),
        pattern=header.pattern,
        normalize=header.normalize,
        totals=header.totals,
        rows=rows,
        row_counts=row_counts,
        sample=header.sample,
    )


def write_table(path: Path, schema: pa.Schema, tables: Iterator[pa.Table]) -> int:
    """Write tables to one Parquet file, under a temporary name first; return its rows."""
    import pyarrow.parquet as pq

    rows = 0
    options = {"compression": "zstd", "use_dictionary": False}
    with new_file(path) as file, pq.ParquetWriter(file, schema, **options) as writer:
        for table in tables:
            writer.write_table(table.combine_chunks(), row_group_size=GROUP_ROWS)
            rows += len(table)
    return rows


def read_counts(path: Path) -> PretokenCounts:
    """Read a counts file.

    Raises:
        SourceError: the file is missing or is not a counts file of this format.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            header = Header.of(file.schema_arrow, path)
            return counts_of(lambda name: file.read(columns=[name])[name], header)
    except (OSError, pa.ArrowInvalid) as error:
        message = f"{path}: cannot be read as a counts file ({error}); count again"
        raise SourceError(message) from error

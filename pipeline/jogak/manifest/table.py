"""shards.parquet: the records of all shards, a row each, written and read in bounded memory.

A row group is in memory at a time, so ten million shards cost a reader no more than a few thousand.
Equal records give equal bytes, with the same pyarrow. Pages carry checksums, so that no reader
takes a damaged record for a right one, though only `verify` reads the whole file's checksum.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from jogak.arrow import number_array, numbers, string_array
from jogak.documents import SkippedFile
from jogak.errors import ShardError
from jogak.manifest.records import Compared, ShardRecord, Tally, UnitPart
from jogak.manifest.totals import Adder, Totals
from jogak.measures import Sums, TokenSums
from jogak.output import explained, sync_folder, temporary_path

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

GROUP_ROWS = 2**14
"""Shards of a row group: what writing holds in memory, about 2 KiB each."""
READ_ROWS = 2**10
"""Shards that reading holds in memory."""


def write_table(path: Path, records: Iterable[ShardRecord]) -> Totals:
    """Write the records of all shards, which come in order; return their totals.

    Raises:
        ShardError: the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema()
    adder = Adder()
    temporary = temporary_path(path)
    options = {"compression": "zstd", "write_statistics": False, "write_page_checksum": True}
    with explained(path):
        try:
            with temporary.open("wb") as file:
                with pq.ParquetWriter(file, schema, **options) as writer:
                    rest = iter(records)
                    while group := list(itertools.islice(rest, GROUP_ROWS)):
                        for record in group:
                            adder.add(record)
                        columns = [
                            _column(field.type, [getattr(each, field.name) for each in group])
                            for field in schema
                        ]
                        writer.write_batch(pa.record_batch(columns, schema=schema))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
    return adder.totals()


class ShardTable(Sequence[ShardRecord]):
    """The records in a table on disk; each walk over them reads the file anew."""

    def __init__(self, path: Path, count: int) -> None:
        """Take the table at `path`, of which the manifest says how many rows it has."""
        self.path = path
        self._count = count

    def __len__(self) -> int:
        """Return the number of shards that the manifest tells."""
        return self._count

    def __iter__(self) -> Iterator[ShardRecord]:
        """Yield every record, in order.

        Raises:
            ShardError: the table is missing or damaged.
        """
        with self._opened() as file:
            # Asked for all groups at once, pyarrow keeps some of each until the end.
            for group in range(file.num_row_groups):
                for batch in file.iter_batches(READ_ROWS, row_groups=[group]):
                    yield from map(ShardRecord.from_json, batch.to_pylist())

    @overload
    def __getitem__(self, index: int) -> ShardRecord: ...
    @overload
    def __getitem__(self, index: slice) -> list[ShardRecord]: ...
    def __getitem__(self, index: int | slice) -> ShardRecord | list[ShardRecord]:
        """Return the record of one shard; O(row group). Or of several."""
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        with self._opened() as file:
            group = file.read_row_group(place // GROUP_ROWS).slice(place % GROUP_ROWS, 1)
        return ShardRecord.from_json(group.to_pylist()[0])

    def numbers(self, name: str) -> NDArray[np.int64]:
        """Return a column of numbers, such as `documents`, int64 (shards,)."""
        with self._opened() as file:
            return numbers(file.read(columns=[name])[name])

    @contextmanager
    def _opened(self) -> Iterator[pq.ParquetFile]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(
                self.path, buffer_size=2**20, page_checksum_verification=True
            ) as file:
                yield file
        # A damaged footer may lack columns or rows, or hold other types.
        except (pa.ArrowException, OSError, KeyError, IndexError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())
            message = (
                f"{self.path}: missing or damaged ({reason}); run the job again to make it anew"
            )
            raise ShardError(message) from error

    def __repr__(self) -> str:
        """Return where it lies and how many shards it lists."""
        return f"ShardTable('{self.path}', {self._count:,} shards)"


def _schema() -> pa.Schema:
    """Return the columns: the fields of ShardRecord, in their order."""
    import pyarrow as pa

    kinds = {"int": pa.int64(), "str": pa.string(), "str | None": pa.string()}
    for sums in (Sums, TokenSums):
        kinds[sums.__name__] = _struct(sums, kinds)
    for kind in (SkippedFile, UnitPart, Tally, Compared):
        kinds[f"tuple[{kind.__name__}, ...]"] = pa.list_(_struct(kind, kinds))
    return pa.schema(list(_struct(ShardRecord, kinds)))


def _struct(kind: type, kinds: dict[str, pa.DataType]) -> pa.StructType:
    import pyarrow as pa

    # Annotations are strings here, and name what `kinds` knows.
    return pa.struct([(name, kinds[each]) for name, each in kind.__annotations__.items()])


def _column(kind: pa.DataType, values: list[Any]) -> pa.Array[Any]:
    """Return numbers, strings, objects, or tuples of objects as an array of their type."""
    import pyarrow as pa

    if pa.types.is_struct(kind):
        fields = list(kind)
        parts = [_column(each.type, [getattr(v, each.name) for v in values]) for each in fields]
        return pa.StructArray.from_arrays(parts, fields=fields)
    if pa.types.is_list(kind):
        ends = np.cumsum([0, *map(len, values)], dtype=np.int32)
        items = _column(kind.value_type, list(itertools.chain.from_iterable(values)))
        return pa.ListArray.from_arrays(number_array(ends), items, type=kind)
    if pa.types.is_string(kind):
        return string_array(values)
    return number_array(np.array(values, np.int64))

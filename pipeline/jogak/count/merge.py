"""From runs to the counts of the whole corpus: in memory, or into a file within a budget.

Each part of the hash space is summed and sorted by itself; then all parts are merged by count and
position. On disk, that merge holds a few rows of every part at a time.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jogak import _core
from jogak.arrow import number_array, numbers
from jogak.count.counts import LanguageTotals, PretokenCounts
from jogak.count.files import GROUP_ROWS, Header, counts_of, new_file, table_of, write_table
from jogak.count.runs import Run, assemble, common_header, sum_part
from jogak.documents import UNDETERMINED

if TYPE_CHECKING:
    import pyarrow as pa

ROW_BYTES = 256
"""What a row is taken to need while it is merged, to turn a budget into rows: text and copies."""

LEAST_ROWS = 512
"""Fewer rows of each part at a time would be slow and save next to nothing."""


@dataclass(frozen=True, slots=True)
class MergedCounts:
    """What a counts file holds, and what making it took.

    Attributes:
        path: the file.
        distinct: its pretokens.
        totals: what was counted, by language.
        temporary_bytes: the disk that merging used besides.
        sample: which of the documents were counted; empty for all.
    """

    path: str
    distinct: int
    totals: Mapping[str, LanguageTotals]
    temporary_bytes: int
    sample: str = ""


def gather_parts(paths: Sequence[Path], totals: Mapping[str, LanguageTotals]) -> PretokenCounts:
    """Add up runs that have these totals together, in memory."""
    import pyarrow as pa

    with ExitStack() as stack:
        runs = [Run(path, stack) for path in paths]
        header = replace(common_header([run.header for run in runs]), totals=totals)
        tables = [table_of(part) for part in _sorted_parts(runs, header)]
    table = _in_order(pa.concat_tables(tables))
    return counts_of(lambda name: table[name], replace(header, totals=dict(sorted(totals.items()))))


def merge_units(paths: Sequence[Path], target: Path, *, memory_bytes: int) -> MergedCounts:
    """Merge the runs of all units into one counts file.

    Args:
        paths: the runs, one for each unit.
        target: the Parquet file to write; `PretokenCounts.load` reads it.
        memory_bytes: what the rows held at a time may need. A part of the hash space
            (1 / _core.count_parts of the distinct pretokens) must fit in any case.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(working_folder(target.with_name(target.name + ".parts.tmp")))
        runs = [Run(path, stack) for path in paths]
        header = common_header([run.header for run in runs])
        if not header.totals:
            header = replace(header, totals={UNDETERMINED: LanguageTotals()})
        sorted_paths = []
        for index, part in enumerate(_sorted_parts(runs, header)):
            sorted_paths.append(folder / f"part-{index:02d}.arrow")
            write_batches(sorted_paths[-1], table_of(part), rows_at_once(memory_bytes))
        return join_parts(sorted_paths, target)


def join_parts(paths: Sequence[Path], target: Path) -> MergedCounts:
    """Merge sorted parts, all that there are, into the counts file."""
    with ExitStack() as stack:
        streams = [_Stream(path, stack) for path in paths]
        schema = streams[0].table.schema
        header = Header.of(schema, paths[0])
        distinct = write_table(target, schema, _grouped(_merge(streams), GROUP_ROWS))
        temporary_bytes = sum(path.stat().st_size for path in paths)
    return MergedCounts(str(target), distinct, header.totals, temporary_bytes, header.sample)


def rows_at_once(memory_bytes: int) -> int:
    """Return how many rows of each part a merge within a budget holds."""
    return max(memory_bytes // (_core.count_parts * ROW_BYTES), LEAST_ROWS)


@contextmanager
def working_folder(path: Path) -> Iterator[Path]:
    """Lend a folder of this name; what a killed run left in it goes first."""
    shutil.rmtree(path, ignore_errors=True)
    yield path
    shutil.rmtree(path, ignore_errors=True)


def _sorted_parts(runs: Sequence[Run], header: Header) -> Iterator[PretokenCounts]:
    for index in range(_core.count_parts):
        yield sorted_part(runs, index, header)


def sorted_part(runs: Sequence[Run], index: int, header: Header) -> PretokenCounts:
    """Sum up one part of the hash space over runs, in the order of the counts file."""
    counter = sum_part(runs, index, list(header.totals))
    return assemble(partial(counter.finish, keep=False), header)


def write_batches(path: Path, table: pa.Table, rows: int) -> None:
    """Write a sorted part so that it can be read a few rows at a time."""
    import pyarrow as pa

    with new_file(path, durable=False) as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)


class _Stream:
    """The rows of one sorted part, a batch at a time."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        import pyarrow as pa

        self._reader = pa.ipc.open_file(stack.enter_context(pa.OSFile(str(path))))
        self._next = 0
        self.table = pa.Table.from_batches([], self._reader.schema)
        self._refill()

    @property
    def more(self) -> bool:
        """Whether rows follow those in `table`."""
        batches: int = self._reader.num_record_batches
        return self._next < batches

    @property
    def last(self) -> tuple[int, int]:
        """The place in the order of the last row in `table`."""
        return -self.table["count"][-1].as_py(), self.table["first"][-1].as_py()

    def take_up_to(self, last: tuple[int, int] | None) -> pa.Table:
        """Take the rows up to a place in the order, or all of them."""
        taken = len(self.table)
        if last is not None:
            counts, first = numbers(self.table["count"]), numbers(self.table["first"])
            count = np.uint64(-last[0])
            before = (counts > count) | ((counts == count) & (first <= np.uint64(last[1])))
            taken = int(np.count_nonzero(before))
        rows = self.table.slice(0, taken)
        self.table = self.table.slice(taken)
        self._refill()
        return rows

    def _refill(self) -> None:
        import pyarrow as pa

        while len(self.table) == 0 and self.more:
            self.table = pa.Table.from_batches([self._reader.get_batch(self._next)])
            self._next += 1


def _merge(streams: Sequence[_Stream]) -> Iterator[pa.Table]:
    """Yield the rows of all streams in order, as far as the rows at hand decide it."""
    import pyarrow as pa

    while any(len(stream.table) for stream in streams):
        last = min((stream.last for stream in streams if stream.more), default=None)
        yield _in_order(pa.concat_tables([stream.take_up_to(last) for stream in streams]))


def _grouped(tables: Iterator[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Cut tables anew, `rows` rows each, so that the file does not show the budget."""
    import pyarrow as pa

    held: list[pa.Table] = []
    for table in tables:
        held.append(table)
        while sum(map(len, held)) >= rows:
            joined = pa.concat_tables(held)
            yield joined.slice(0, rows)
            held = [joined.slice(rows)]
    if held:
        yield pa.concat_tables(held)


def _in_order(table: pa.Table) -> pa.Table:
    """Sort rows by count descending, then first position, which no two share in one corpus."""
    order = np.lexsort((numbers(table["first"]), ~numbers(table["count"])))
    return table.take(number_array(order))

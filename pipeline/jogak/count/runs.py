"""Runs: what a counter held when it was full or at its end, on disk, divided by hash.

A run is an Arrow IPC file with one record batch for each part and language: parts first, since
merging goes part by part and needs that part alone in memory. Equal pretokens are in equal parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.arrow import number_array
from jogak.count.combine import merge_counts, sample_of_all
from jogak.count.counts import LanguageTotals, PretokenCounts, sum_totals
from jogak.count.files import Header, new_file, read_text, text_array
from jogak.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa

Arrays = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint64]]
"""data, offsets, counts, first; see PretokenCounts."""


def write_run(path: Path, header: Header, parts: Iterator[Arrays], *, durable: bool = True) -> None:
    """Write a run under a temporary name, then rename it.

    Args:
        path: the file.
        header: what it says of itself.
        parts: for each part of the hash space, one item for each language.
        durable: wait until it is on disk.
    """
    import pyarrow as pa

    fields = [("pretoken", pa.large_binary()), ("count", pa.uint64()), ("first", pa.uint64())]
    schema = pa.schema(fields, metadata=header.metadata())
    with new_file(path, durable=durable) as file, pa.ipc.new_file(file, schema) as writer:
        for data, offsets, counts, first in parts:
            columns = [text_array(data, offsets), number_array(counts), number_array(first)]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def table_parts(counter: _core.PretokenCounter, languages: int) -> Iterator[Arrays]:
    """Yield what a counter holds, as `write_run` takes it."""
    for part in range(_core.count_parts):
        for language in range(languages):
            yield counter.part(language, part)


class Run:
    """A run open for reading; parts are read when asked for, and not kept."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        """Open a run; `stack` closes it.

        Raises:
            SourceError: the file is missing or no run.
        """
        import pyarrow as pa

        try:
            file = stack.enter_context(pa.OSFile(str(path)))
            self._reader = pa.ipc.open_file(file)
        except (OSError, pa.ArrowInvalid) as error:
            message = f"{path}: cannot be read as a run of counts ({error}); count again"
            raise SourceError(message) from error
        self.header = Header.of(self._reader.schema, path)

    def part(self, index: int) -> Iterator[tuple[str, Arrays]]:
        """Yield for each language its pretokens in one part."""
        for number, language in enumerate(self.header.totals):
            batch: pa.RecordBatch = self._reader.get_batch(index * len(self.header.totals) + number)
            data, offsets = read_text(batch.column(0))
            yield language, (data, offsets, _uint64(batch.column(1)), _uint64(batch.column(2)))


def _uint64(column: pa.Array[Any]) -> NDArray[np.uint64]:
    return np.asarray(np.from_dlpack(column))


def common_header(headers: Sequence[Header]) -> Header:
    """Return the header of several runs together; they must have been made alike."""
    head = headers[0]
    for other in headers[1:]:
        for name in ("pattern", "normalize"):
            if getattr(other, name) != getattr(head, name):
                message = (
                    f"counts: units differ in {name} (found: {getattr(head, name)!r} and "
                    f"{getattr(other, name)!r}); count them alike"
                )
                raise SourceError(message)
    return replace(
        head,
        totals=sum_totals([header.totals for header in headers]),
        sample=sample_of_all([header.sample for header in headers]),
    )


def sum_part(runs: Sequence[Run], index: int, languages: Sequence[str]) -> _core.PretokenCounter:
    """Add up one part of several runs, one table for each language."""
    codes = {language: code for code, language in enumerate(languages)}
    counter = _core.PretokenCounter(single_part=True)
    for run in runs:
        for language, arrays in run.part(index):
            counter.add_counts(codes[language], *arrays)
    return counter


def merge_runs(
    paths: Sequence[Path], target: Path, totals: Mapping[str, LanguageTotals] | None = None
) -> None:
    """Merge runs into one, a part at a time.

    Args:
        paths: the runs.
        target: the run to write.
        totals: what they have together; the sums of what each says of itself when left out.
    """
    with ExitStack() as stack:
        runs = [Run(path, stack) for path in paths]
        header = common_header([run.header for run in runs])
        if totals is not None:
            header = replace(header, totals=totals)

        def parts() -> Iterator[Arrays]:
            for index in range(_core.count_parts):
                counter = sum_part(runs, index, list(header.totals))
                for code in range(len(header.totals)):
                    yield counter.part(code, index)

        write_run(target, header, parts())


def assemble(arrays: Callable[[int], Arrays], header: Header) -> PretokenCounts:
    """Make counts; `arrays` gives those of each language of the header, by its number."""
    parts = [
        PretokenCounts(
            *arrays(code),
            pattern=header.pattern,
            normalize=header.normalize,
            totals={language: LanguageTotals()},
            sample=header.sample,
        )
        for code, language in enumerate(header.totals)
    ]
    counts = parts[0] if len(parts) == 1 else merge_counts(parts)
    return replace(counts, totals=dict(sorted(header.totals.items())))

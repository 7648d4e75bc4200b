"""Known sizes: what a sample is extrapolated by, summing to the plan's `text_bytes` of a source.

A ratio estimate needs a size of each sampled unit and the total of all sizes, both without error.
Uncompressed files have their bytes. Compressed files, which are units whole, have their compressed
bytes, scaled as the plan does. A Parquet footer states the size of the text column by row group;
of one that is cut, a unit gets the share that its text has of the row group's text: as much as its
rows would be wrong by as much as documents differ in length.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace

from jogak.config import ReadOptions, Source
from jogak.errors import BadFileError
from jogak.plan import Part, Unit
from jogak.plan.inputs import classify, open_dataset, open_parquet, row_groups, source_columns
from jogak.read.unit import part_rows


def unit_size(unit: Unit, options: ReadOptions) -> float:
    """Return the size of a unit, in the plan's `text_bytes`. Reads row groups that are cut."""
    source = options.sources[unit.source]
    return sum(_part_size(part, source, unit.source, options) for part in unit.parts)


def size_basis(source: Source, path: str) -> str:
    """Say what is known of a source's size beforehand, by one of its files."""
    if source.hf is not None:
        return "stored text of the dataset"
    kind, compression = classify(path)
    if kind == "parquet":
        return "text column as Parquet footers state it"
    return f"compressed bytes ({compression}): text bytes are estimated" if compression else "bytes"


def _part_size(part: Part, source: Source, number: int, options: ReadOptions) -> float:
    if source.hf is None and classify(part.path)[0] != "parquet":
        return part.text_bytes
    size = 0.0
    try:
        for first, stop, group_bytes in _row_groups(part.path, source, number):
            start, end = max(first, part.start), min(stop, part.stop)
            if (start, end) == (first, stop):
                size += group_bytes
            elif start < end:
                group = replace(part, start=first, stop=stop)
                whole = _text_bytes(group, source, number, options.batch_bytes)
                some = _text_bytes(
                    replace(part, start=start, stop=end), source, number, options.batch_bytes
                )
                share = some / whole if whole else (end - start) / (stop - first)
                size += group_bytes * share
    except BadFileError:
        if options.on_bad_file == "error":
            raise
        return part.text_bytes  # left out by `read`, but part of what was planned
    return size


@functools.lru_cache(maxsize=64)
def _row_groups(path: str, source: Source, number: int) -> list[tuple[int, int, int]]:
    """Return first row, last row + 1 and text bytes of each row group; a dataset is one."""
    if source.hf is not None:
        dataset = open_dataset(path, source, number)
        names = source_columns(dataset.features.arrow_schema, source, number, path)[0]
        stored = dataset.data.column(names[0])
        return [(0, len(dataset), stored.nbytes * len(dataset) // max(len(stored), 1))]
    with open_parquet(path) as file:
        groups = list(row_groups(file, source, number, path))
    stops = list(itertools.accumulate(rows for rows, _ in groups))
    return [(stop - rows, stop, size) for stop, (rows, size) in zip(stops, groups, strict=True)]


@functools.lru_cache(maxsize=256)
def _text_bytes(part: Part, source: Source, number: int, batch_bytes: int) -> int:
    """Return the bytes of text of a range of rows, read for this alone."""
    rows = part_rows(part, source, number, batch_bytes)
    return sum(int(each.offsets[-1] - each.offsets[0]) for each in rows)

"""Merging counts in steps, each of which any process can do: a tree of runs, then part by part.

Runs are divided by hash, so no step holds more than a part of the distinct pretokens: a group of
runs becomes one run, a part at a time; when few are left, each part is summed and sorted by itself;
the sorted parts are merged, a few rows of each at a time. Sums are exact, so that neither the
grouping nor who does a step can change a byte of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from jogak import _core
from jogak.count.counts import LanguageTotals
from jogak.count.files import table_of
from jogak.count.merge import MergedCounts, join_parts, rows_at_once, sorted_part, write_batches
from jogak.count.runs import Run, common_header, merge_runs
from jogak.documents import UNDETERMINED

Advance = Callable[[int], None]

MERGED_AT_ONCE = 128
"""Runs that one step reads: each is an open file."""
PART_NAME = "part-{:02d}.arrow"


@dataclass(frozen=True, slots=True)
class GroupTask:
    """Runs that become one."""

    paths: tuple[str, ...]
    target: str


def group_task(paths: Sequence[str], index: int, target: str) -> GroupTask:
    """Return one of the steps that make a level of the tree out of the one below."""
    start = index * MERGED_AT_ONCE
    return GroupTask(tuple(paths[start : start + MERGED_AT_ONCE]), target)


def merge_group(task: GroupTask, _: Advance = lambda _: None) -> str:
    """Merge runs into one. Memory: a part of their pretokens."""
    merge_runs([Path(path) for path in task.paths], Path(task.target))
    return task.target


@dataclass(frozen=True, slots=True)
class PartTask:
    """One part of the hash space, of a few runs, to be summed and sorted into a folder."""

    paths: tuple[str, ...]
    part: int
    folder: str
    memory_bytes: int


def part_tasks(paths: Sequence[str], folder: str, memory_bytes: int) -> list[PartTask]:
    """Return a task for each part of the hash space."""
    return [PartTask(tuple(paths), part, folder, memory_bytes) for part in range(_core.count_parts)]


def sort_part(task: PartTask, _: Advance = lambda _: None) -> int:
    """Sum and sort a part; return its bytes on disk. Memory: the part."""
    path = Path(task.folder) / PART_NAME.format(task.part)
    with ExitStack() as stack:
        runs = [Run(Path(each), stack) for each in task.paths]
        header = common_header([run.header for run in runs])
        if not header.totals:
            header = replace(header, totals={UNDETERMINED: LanguageTotals()})
        table = table_of(sorted_part(runs, task.part, header))
        write_batches(path, table, rows_at_once(task.memory_bytes))
    return path.stat().st_size


@dataclass(frozen=True, slots=True)
class JoinTask:
    """The sorted parts in a folder, to be merged into the counts file."""

    folder: str
    target: str


def join_sorted(task: JoinTask, _: Advance = lambda _: None) -> MergedCounts:
    """Merge sorted parts into the counts file. Memory: a few rows of each part."""
    paths = [Path(task.folder) / PART_NAME.format(part) for part in range(_core.count_parts)]
    return join_parts(paths, Path(task.target))

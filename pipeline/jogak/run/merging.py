"""Merging the counts of units into those of the corpus: here, or as tasks of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jogak.count import (
    MERGED_AT_ONCE,
    JoinTask,
    MergedCounts,
    group_task,
    join_sorted,
    merge_group,
    merge_units,
    part_tasks,
    sort_part,
    working_folder,
)
from jogak.run.context import Context
from jogak.run.lazy import Made


def merge_all(context: Context, paths: Sequence[str], target: Path) -> MergedCounts:
    """Merge the runs of all units into one counts file, the same whatever the way.

    On a cluster every step is a task, the last one too: what is merged never comes here.
    """
    level = 0
    while len(paths) > MERGED_AT_ONCE:
        level += 1
        paths = _next_level(context, paths, target.parent, level)
    memory_bytes = context.job.count.memory
    if context.job.engine.kind == "local":
        return merge_units([Path(path) for path in paths], target, memory_bytes=memory_bytes)
    with working_folder(target.with_name(target.name + ".parts.tmp")) as folder:
        parts = part_tasks(paths, str(folder), memory_bytes)
        _run(context, sort_part, parts, "part")
        join = [JoinTask(str(folder), str(target))]
        (counts,) = _run(context, join_sorted, join, "join")
    merged: MergedCounts = counts
    return merged


def _next_level(context: Context, paths: Sequence[str], folder: Path, level: int) -> Sequence[str]:
    """Merge groups of runs into one each, and forget the level below, but for that of units."""

    def target(index: int) -> str:
        return str(folder / f"merge-{level}-{index:05d}.arrow")

    numbers = np.arange(-(-len(paths) // MERGED_AT_ONCE))
    tasks = Made(lambda index: group_task(paths, index, target(index)), numbers)
    _run(context, merge_group, tasks, "merge")
    for path in folder.glob(f"merge-{level - 1}-*"):
        path.unlink(missing_ok=True)
    return Made(target, numbers)


def _run(
    context: Context, function: Callable[..., Any], tasks: Sequence[Any], name: str
) -> list[Any]:
    """Run steps on the job's engine; return their results in any order."""
    results: list[Any] = []
    numbers = np.arange(len(tasks))
    context.run_units(
        function,
        tasks,
        names=Made(lambda number: f"counts, {name} {number}", numbers),
        weights=np.ones(len(tasks), np.int64),
        on_result=results.append,
        on_progress=lambda _: None,
    )
    return results

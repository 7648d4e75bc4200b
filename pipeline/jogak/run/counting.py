"""The stage `count` of a run: one file for each unit, merged in the order of the units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jogak.count import (
    CountedUnit,
    CountTask,
    MergedCounts,
    Sample,
    count_unit,
)
from jogak.errors import ShardError
from jogak.output import Output, explained, file_sha256, read_sealed, remove, write_sealed
from jogak.run.context import Context
from jogak.run.lazy import Made
from jogak.run.merging import merge_all
from jogak.run.naming import check_bad_rows, unit_name


@dataclass(frozen=True, slots=True)
class _Task:
    count: CountTask
    identity: dict[str, str]


def merged_counts(output: Output) -> Path:
    """Return the path of the counts of the whole corpus."""
    return output.counts / "pretokens.parquet"


def count(context: Context) -> None:
    """Count every unit that is not counted yet, and merge."""
    identity = context.claim.identity()
    merged = merged_counts(context.output)
    inputs = f"{len(context.units):,} units"
    with context.stage("count", inputs, total=context.text_bytes) as stage:
        if _finished(merged, identity) is not None:
            stage.outputs = f"{merged} is there already"
            context.reused["count"] = context.text_bytes
            _drop_units(context.output)
            return
        tasks = _tasks(context, identity)
        rejected = _count_units(context, tasks, stage.advance)
        paths = Made(lambda index: str(_unit_file(context, index)), np.arange(len(tasks)))
        counts = merge_all(context, paths, merged)
        context.timings["count"]["unit_bytes"] = sum(Path(path).stat().st_size for path in paths)
        context.timings["count"]["merge_bytes"] = counts.temporary_bytes
        _declare(merged, identity, {"rejected_rows": rejected, **_summary(counts)})
        _drop_units(context.output)
        context.note_peak("count")
        pretokens = sum(totals.pretokens for totals in counts.totals.values())
        stage.outputs = f"{pretokens:,} pretokens, {counts.distinct:,} distinct{_on_disk(context)}"


def _tasks(context: Context, identity: dict[str, str]) -> Made[_Task]:
    job, memory_bytes = context.job, _unit_memory(context)
    sample = Sample.of(job.count, context.text_bytes)

    def task(index: int) -> _Task:
        count = CountTask(
            unit=context.units[index],
            read=job.read,
            normalize=job.normalize,
            pattern=job.pretokenize.pattern,
            path=str(_unit_file(context, index)),
            memory_bytes=memory_bytes,
            word_marker=job.train.word_marker if job.train else "none",
            sample=sample,
        )
        return _Task(count, identity)

    return Made(task, np.arange(len(context.units)))


def _unit_file(context: Context, index: int) -> Path:
    return context.output.counts / f"unit-{index:05d}.arrow"


def _unit_memory(context: Context) -> int:
    """Return what the tables of one unit may hold; the counts do not depend on it."""
    engine = context.job.engine
    if engine.kind == "ray":
        # Half of what Ray keeps for the process: reading and the interpreter need the rest.
        return engine.memory_per_unit // 2
    return context.job.count.memory // min(context.workers, len(context.units))


def _on_disk(context: Context) -> str:
    """Say how much went to disk since the budget of memory was full; nothing where none did."""
    spilled = context.timings["count"].get("spilled_bytes", 0)
    return f", {spilled / 2**20:,.1f} MiB spilled to disk" if spilled else ""


def _drop_units(output: Output) -> None:
    """Remove the counts of single units, once they are merged."""
    for path in output.counts.iterdir():
        if path.name.startswith(("unit-", "merge-")):
            remove(path)


def _count_units(context: Context, tasks: Made[_Task], advance: Callable[[int], None]) -> int:
    """Count units; return how many rows were not counted as they stand."""
    rejected = spilled = 0
    absent = np.ones(len(tasks), bool)

    def keep(found: tuple[int, int] | None) -> None:
        nonlocal rejected
        if found is not None:
            absent[found[0]] = False
            rejected += found[1]

    if next(context.output.counts.iterdir(), None) is not None:
        context.check_units(_counted, tasks, keep)
    numbers = np.flatnonzero(absent)
    weights = context.units.sizes[numbers]
    reused = context.text_bytes - int(weights.sum())
    context.reused["count"] = reused
    advance(reused)

    def take(done: CountedUnit) -> None:
        nonlocal rejected, spilled
        rejected += len(done.rejected)
        spilled += done.spilled_bytes
        check_bad_rows(context.job, rejected)

    peak = context.run_units(
        _count,
        tasks.chosen(numbers),
        names=Made(lambda index: unit_name(context.units[index]), numbers),
        weights=weights,
        on_result=take,
        on_progress=advance,
    )
    timing = context.timings.setdefault("count", {})
    timing["units"] = len(numbers)
    timing["spilled_bytes"] = spilled
    context.note_peak("count", peak)
    return rejected


def _count(task: _Task, advance: Callable[[int], None]) -> CountedUnit:
    """Count one unit and declare it finished; runs in a worker."""
    path = Path(task.count.path)
    _sidecar(path).unlink(missing_ok=True)
    done = count_unit(task.count, advance)
    _declare(path, task.identity, {"rejected_rows": len(done.rejected)})
    return done


def _counted(task: _Task) -> tuple[int, int] | None:
    """Return a unit's number and how many of its rows were rejected, once it is counted."""
    done = _finished(Path(task.count.path), task.identity)
    return None if done is None else (task.count.unit.index, done["rejected_rows"])


def finished_counts(context: Context) -> Path:
    """Return the file of the counts of the whole corpus.

    Raises:
        ShardError: they were not made yet.
    """
    path = merged_counts(context.output)
    if _finished(path, context.claim.identity()) is None:
        message = f"{path}: the corpus is not counted yet; run `jogak count` on the job first"
        raise ShardError(message)
    return path


def _summary(counts: MergedCounts) -> dict[str, Any]:
    return {
        "distinct": counts.distinct,
        "sample": counts.sample or "all",
        "languages": {name: asdict(totals) for name, totals in counts.totals.items()},
    }


def _sidecar(path: Path) -> Path:
    return path.with_suffix(".json")


def _declare(path: Path, identity: dict[str, str], result: dict[str, Any]) -> None:
    """Write a counts file's sidecar, which makes it count as finished."""
    with explained(path):
        sha256 = file_sha256(path)
    write_sealed(_sidecar(path), {"identity": identity, "sha256": sha256, **result})


def _finished(path: Path, identity: dict[str, str]) -> dict[str, Any] | None:
    """Return a counts file's sidecar if both are whole; None when it must be made (anew)."""
    kept = read_sealed(_sidecar(path))
    if kept is None or not path.is_file() or kept.get("sha256") != file_sha256(path):
        return None
    if kept.get("identity") != identity:
        message = f"{path}: counted by another job; use another output, or --restart"
        raise ShardError(message)
    return kept

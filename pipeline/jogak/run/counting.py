"""The stage `count` of a run: one file for each unit, merged in the order of the units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jogak.count import (
    CountedUnit,
    CountTask,
    MergedCounts,
    PretokenCounts,
    Sample,
    count_unit,
    merge_units,
)
from jogak.errors import ShardError
from jogak.output import Output, explained, file_sha256, read_sealed, remove, write_sealed
from jogak.run.context import Context
from jogak.run.naming import check_bad_rows, unit_names


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
        paths = [Path(task.count.path) for task in tasks]
        counts = merge_units(paths, merged, memory_bytes=context.job.count.memory)
        context.timings["count"]["unit_bytes"] = sum(path.stat().st_size for path in paths)
        context.timings["count"]["merge_bytes"] = counts.temporary_bytes
        _declare(merged, identity, {"rejected_rows": rejected, **_summary(counts)})
        _drop_units(context.output)
        context.note_peak("count")
        pretokens = sum(totals.pretokens for totals in counts.totals.values())
        stage.outputs = f"{pretokens:,} pretokens, {counts.distinct:,} distinct{_on_disk(context)}"


def _tasks(context: Context, identity: dict[str, str]) -> list[_Task]:
    workers = min(context.workers, len(context.units))
    sample = Sample.of(context.job.count, context.text_bytes)
    return [
        _Task(
            CountTask(
                unit=unit,
                read=context.job.read,
                normalize=context.job.normalize,
                pattern=context.job.pretokenize.pattern,
                path=str(context.output.counts / f"unit-{unit.index:05d}.arrow"),
                memory_bytes=context.job.count.memory // workers,
                word_marker=context.job.train.word_marker if context.job.train else "none",
                sample=sample,
            ),
            identity,
        )
        for unit in context.units
    ]


def _on_disk(context: Context) -> str:
    """Say how much went to disk since the budget of memory was full; nothing where none did."""
    spilled = context.timings["count"].get("spilled_bytes", 0)
    return f", {spilled / 2**20:,.1f} MiB spilled to disk" if spilled else ""


def _drop_units(output: Output) -> None:
    """Remove the counts of single units, once they are merged."""
    for path in output.counts.glob("unit-*"):
        remove(path)


def _count_units(context: Context, tasks: list[_Task], advance: Callable[[int], None]) -> int:
    """Count units; return how many rows were not counted as they stand."""
    rejected = spilled = 0
    left = []
    for task in tasks:
        done = _finished(Path(task.count.path), task.identity)
        if done is None:
            left.append(task)
        else:
            rejected += done["rejected_rows"]
    reused = context.text_bytes - sum(task.count.unit.text_bytes for task in left)
    context.reused["count"] = reused
    advance(reused)

    def take(done: CountedUnit) -> None:
        nonlocal rejected, spilled
        rejected += len(done.rejected)
        spilled += done.spilled_bytes
        check_bad_rows(context.job, rejected)

    peak = context.run_units(
        _count,
        left,
        names=unit_names(task.count.unit for task in left),
        weights=[task.count.unit.text_bytes for task in left],
        on_result=take,
        on_progress=advance,
    )
    timing = context.timings.setdefault("count", {})
    timing["units"] = len(left)
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


def load_counts(context: Context) -> PretokenCounts:
    """Load the counts of the whole corpus.

    Raises:
        ShardError: they were not made yet.
    """
    path = merged_counts(context.output)
    if _finished(path, context.claim.identity()) is None:
        message = f"{path}: the corpus is not counted yet; run `jogak count` on the job first"
        raise ShardError(message)
    return PretokenCounts.load(path)


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

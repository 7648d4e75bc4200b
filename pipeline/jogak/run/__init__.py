"""The stages of a job in order: plan, count, train, encode, report; what is done is not redone.

Every result is kept with the identity of what it was made from, and appears under its name only
when it is whole. So a run may stop at any moment and another goes on from there, with the same
bytes in the end, whatever the number of workers. Only timings.json differs between equal runs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from jogak.config import Job
from jogak.detect import DETECT, describe_detector
from jogak.engine.local import refuse_inside_worker, stop_early
from jogak.errors import ConfigError, ShardError
from jogak.manifest import Manifest, read_manifest
from jogak.output import Output, owned
from jogak.plan import list_inputs, plan_units
from jogak.report import Report, write_report
from jogak.run.claim import check_options, claim_output
from jogak.run.context import Context, resolve_job, worker_count
from jogak.run.counting import count
from jogak.run.encoding import describe, encode
from jogak.run.restart import clear
from jogak.run.training import finished_tokenizer, train

__all__ = ["STAGES", "report_output", "run", "run_stage"]

logger = logging.getLogger(__name__)

Stage = Literal["plan", "count", "train", "encode", "report"]
STAGES: tuple[Stage, ...] = ("plan", "count", "train", "encode", "report")
"""The stages of a run, in order."""

AnyJob = Job | Mapping[str, Any] | Path | str
"""A job, what its file says, or the file's path."""
OnReport = Callable[[Report], None]
"""Called with what the report tells, when it is written."""


def run(
    job: AnyJob,
    *,
    stop_after: str | None = None,
    workers: int | None = None,
    progress: bool = True,
    restart: bool = False,
    on_report: OnReport = lambda _: None,
) -> Manifest:
    """Run a job from wherever it stands to its end.

    Args:
        job: the job; paths in a mapping or a Job are relative to the current folder.
        stop_after: the last stage to run; all of them when left out.
        workers: processes to use instead of the job's `engine.workers`.
        progress: whether to draw bars on a terminal.
        restart: whether to remove first what an earlier run, whatever its job, left in the output.
            Only files that Jogak writes go; a folder that no run has claimed is refused.
        on_report: called with what the report tells.

    Returns:
        What was made. Without shards if the run stops before `encode`.

    Raises:
        JogakError: as the stages do. Whatever is finished by then is kept for the next run.
    """
    last = STAGES.index(_stage("report" if stop_after is None else stop_after))
    return _run(job, STAGES[: last + 1], workers, progress, on_report, restart=restart)


def run_stage(
    job: AnyJob,
    stage: str,
    *,
    workers: int | None = None,
    progress: bool = True,
    on_report: OnReport = lambda _: None,
) -> Manifest:
    """Run one stage of a job, on what the stages before it left in the output.

    Args:
        job: as for `run`.
        stage: `count`, `train`, `encode` or `report`; the last reads no input.
        workers: as for `run`.
        progress: as for `run`.
        on_report: as for `run`.

    Raises:
        ShardError: the stage before it is not finished, or was run on other inputs.
        ConfigError: the output is another job's.
    """
    if _stage(stage) != "report":
        return _run(job, ("plan", _stage(stage)), workers, progress, on_report)
    resolved = resolve_job(job)
    output = Output(Path(resolved.output))
    check_options(output, resolved)
    return _report(output, on_report)


def report_output(folder: Path | str, *, on_report: OnReport = lambda _: None) -> Manifest:
    """Write the report of a finished output anew, whatever its job; reads neither text nor ids.

    Args:
        folder: the output.
        on_report: as for `run`.

    Raises:
        ShardError: there is no finished output, or a file of it is damaged.
    """
    output = Output(Path(folder))
    read_manifest(output)  # before anything is written into a folder that is no output
    return _report(output, on_report)


def _report(output: Output, on_report: OnReport) -> Manifest:
    with owned(output):
        manifest = read_manifest(output)
        on_report(write_report(output, manifest))
    return manifest


def _stage(name: str) -> Stage:
    for stage in STAGES:
        if stage == name:
            return stage
    message = f"no stage '{name}' (known: {', '.join(STAGES)})"
    raise ConfigError(message)


def _run(
    job: AnyJob,
    stages: tuple[Stage, ...],
    workers: int | None,
    progress: bool,
    on_report: OnReport,
    *,
    restart: bool = False,
) -> Manifest:
    refuse_inside_worker()
    resolved = resolve_job(job)
    output = Output(Path(resolved.output))
    units, inputs = plan_units(resolved), list_inputs(resolved)
    text_bytes = units.text_bytes
    processes = worker_count(resolved, workers, text_bytes)
    logger.info(
        "plan: %d files, %d units, %d bytes of text, %d workers",
        len(inputs),
        len(units),
        text_bytes,
        processes,
    )
    if any(source.language == DETECT for source in resolved.read.sources):
        logger.info("plan: %s", describe_detector())
    with owned(output):
        if restart:
            clear(output)
        claim = claim_output(output, resolved, inputs)
        output.create()
        encodes = "encode" in stages
        context = Context(resolved, output, units, claim, processes, progress, encodes)
        manifest = Manifest(resolved.name, claim.job_sha256, claim.versions)
        try:
            return _stages(context, stages, manifest, on_report)
        finally:
            stop_early()
            output.sweep()


def _stages(
    context: Context, stages: tuple[Stage, ...], manifest: Manifest, on_report: OnReport
) -> Manifest:
    tokenizer = None
    if "count" in stages and context.job.train is not None:
        count(context)
    if "train" in stages:
        tokenizer = train(context)
    elif "encode" in stages:
        tokenizer = finished_tokenizer(context)
        if tokenizer is None:
            message = (
                f"{context.output.tokenizer}: there is no tokenizer yet; run `jogak train` on "
                "the job first"
            )
            raise ShardError(message)
    if tokenizer is not None:
        manifest = describe(context, manifest, tokenizer)
        if "encode" in stages:
            manifest = encode(context, manifest, tokenizer)
    if "report" in stages:
        shards = len(manifest.shards)
        with context.stage("report", f"{shards:,} shards", total=shards, unit=" shards") as stage:
            on_report(write_report(context.output, manifest, tokenizer))
            stage.outputs = f"{context.output.folder / 'report.md'}"
    context.write_timings()
    return manifest

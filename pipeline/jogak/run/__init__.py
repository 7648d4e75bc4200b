"""The stages of a job in order: plan, count, train, encode, report; what is done is not redone.

Every result is kept with the identity of what it was made from, and appears under its name only
when it is whole. So a run may stop at any moment and another goes on from there, with the same
bytes in the end, whatever the number of workers. Only timings.json differs between equal runs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from jogak.config import Job
from jogak.detect import DETECT, describe_detector
from jogak.engine.local import refuse_inside_worker, stop_early
from jogak.errors import ConfigError, ShardError
from jogak.manifest import Manifest, read_manifest
from jogak.output import Output, owned
from jogak.plan import list_inputs, plan_units
from jogak.plan.storage import is_url
from jogak.report import Report, write_report
from jogak.run.claim import check_options, claim_output
from jogak.run.context import Context
from jogak.run.counting import count
from jogak.run.datasets import keep_datasets
from jogak.run.encoding import describe, encode
from jogak.run.jobs import WORKER_BYTES, resolve_job, worker_count
from jogak.run.mirror import Mirror
from jogak.run.restart import clear
from jogak.run.training import finished_tokenizer, train
from jogak.store import Store, opened

__all__ = ["STAGES", "report_output", "run", "run_stage"]

logger = logging.getLogger(__name__)

Stage = Literal["plan", "count", "train", "encode", "report"]
STAGES: tuple[Stage, ...] = ("plan", "count", "train", "encode", "report")
"""The stages of a run, in order."""

MOST_READERS = 64
"""Processes that read the shards of a streamed dataset, unless the job names a number."""

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
    dataset: object = None,
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
        dataset: documents that are no files: datasets.Dataset or IterableDataset, pyarrow Table,
            RecordBatch or RecordBatchReader, Arrow text, or an iterable of str or bytes of UTF-8.
            The source that says `dataset: given` reads it, or it is the only source of a job
            without `read`. Its text is kept (`read.spool`), unless it is mapped into memory.
        on_report: called with what the report tells.

    Returns:
        What was made. Without shards if the run stops before `encode`.

    Raises:
        JogakError: as the stages do. Whatever is finished by then is kept for the next run.
    """
    last = STAGES.index(_stage("report" if stop_after is None else stop_after))
    return _run(
        job,
        STAGES[: last + 1],
        workers,
        progress,
        on_report,
        restart=restart,
        dataset=dataset,
    )


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
    if any(source.dataset is not None for source in resolved.read.sources):
        resolved = keep_datasets(resolved, None, 1)
    with opened(resolved.output) as output:
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
    with opened(folder) as output:
        read_manifest(output)  # before anything is written into a folder that is no output
        return _report(output, on_report)


def _report(output: Output, on_report: OnReport) -> Manifest:
    with owned(output):
        manifest = read_manifest(output)
        on_report(write_report(output, manifest))
        if output.url is not None:
            store = Store(output.url)
            for end in ("json", "md", "html"):
                store.put(output.folder / f"report.{end}", f"report.{end}")
            # The copy of the table goes with the folder.
            manifest = replace(manifest, shards=tuple(manifest.shards))
    return manifest


def output_of(job: Job) -> Output:
    """Return the output of a resolved job."""
    if job.work is not None and is_url(job.output):
        return Output(Path(job.work), job.output.rstrip("/"))
    return Output(Path(job.output))


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
    dataset: object = None,
) -> Manifest:
    refuse_inside_worker()
    resolved = resolve_job(job, with_dataset=dataset is not None)
    output = output_of(resolved)
    if any(source.path is None for source in resolved.read.sources):
        given = dataset if dataset is not None else getattr(job, "dataset", None)
        with owned(output):
            if restart and output.url is None:
                clear(output)
            readers = worker_count(resolved, workers, WORKER_BYTES * MOST_READERS)
            resolved = keep_datasets(resolved, given, readers)
        restart = restart and output.url is not None
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
        mirror = None
        if output.url is not None:
            output.create()
            mirror = Mirror(output)
            mirror.bring(restart=restart)
        elif restart:
            clear(output)
        claim = claim_output(output, resolved, inputs)
        if mirror is not None:
            mirror.hold(claim.identity())
        output.create()
        encodes = "encode" in stages
        context = Context(resolved, output, units, claim, processes, progress, encodes, mirror)
        context.publish()
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
        context.publish()
    if "train" in stages:
        tokenizer = train(context)
        context.publish()
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
            context.publish()
    if "report" in stages:
        shards = len(manifest.shards)
        with context.stage("report", f"{shards:,} shards", total=shards, unit=" shards") as stage:
            on_report(write_report(context.output, manifest, tokenizer))
            stage.outputs = f"{context.output.folder / 'report.md'}"
    context.write_timings()
    context.publish()
    return manifest

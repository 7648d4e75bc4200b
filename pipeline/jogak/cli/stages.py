"""The commands that run a job or one of its stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jogak.cli.app import AsJson, JobFile, Overrides, Verbose, Workers, app, load, reported, show
from jogak.cli.counts import train_from

if TYPE_CHECKING:
    from jogak.config import Job
    from jogak.manifest import Manifest
    from jogak.report import Report


class StageName(StrEnum):
    """Stages that a run can stop after."""

    COUNT = "count"
    TRAIN = "train"
    ENCODE = "encode"
    REPORT = "report"


OptionalJob = Annotated[Path | None, typer.Argument(metavar="[JOB.yaml]", help="The job file.")]
From = Annotated[
    Path | None,
    typer.Option("--from", metavar="COUNTS", help="Counts of an earlier run, instead of a job."),
]
StopAfter = Annotated[StageName | None, typer.Option(help="Stop when this stage is done.")]
Restart = Annotated[
    bool, typer.Option("--restart", help="Remove first what earlier runs left in the output.")
]


@app.command()
def check(
    job: JobFile, set_: Overrides = None, as_json: AsJson = False, verbose: Verbose = False
) -> None:
    """Validate a job; print it resolved, and its plan. Reads no text."""
    with reported(verbose=verbose):
        from jogak.config import dump_job

        resolved = load(job, set_)
        from jogak.plan import describe_plan, plan_units

        units = plan_units(resolved)
        shown = {"job": resolved.model_dump(mode="json"), "plan": [asdict(unit) for unit in units]}
        lines = [dump_job(resolved), *describe_plan(resolved, units)]
        show(shown if as_json else "\n".join(lines))


@app.command()
def run(
    job: JobFile,
    set_: Overrides = None,
    workers: Workers = None,
    stop_after: StopAfter = None,
    restart: Restart = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Run the stages of a job in order; what is done already is not done again."""
    with reported(verbose=verbose):
        resolved = load(job, set_)
        from jogak.run import run as run_stages

        last = stop_after or StageName.REPORT
        written: list[Report] = []
        manifest = run_stages(
            resolved, stop_after=last, workers=workers, restart=restart, on_report=written.append
        )
        _print_result(resolved, last, manifest, written, as_json=as_json)


@app.command()
def count(
    job: JobFile,
    set_: Overrides = None,
    workers: Workers = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Count the distinct pretokens of a job's text."""
    _run_stage(StageName.COUNT, job, set_, workers, as_json=as_json, verbose=verbose)


@app.command()
def train(
    job: OptionalJob = None,
    set_: Overrides = None,
    from_: From = None,
    vocab_size: Annotated[int | None, typer.Option(help="With --from: train.vocab_size.")] = None,
    output: Annotated[Path | None, typer.Option(help="With --from: the folder to make.")] = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Train the tokenizer of a job from its counts, or one from any counts (--from)."""
    if (job is None) == (from_ is None):
        message = "give either a job file, or counts with --from"
        raise typer.BadParameter(message)
    if job is not None and (vocab_size is not None or output is not None):
        message = "--vocab-size and --output go with --from; use --set train.vocab_size=N"
        raise typer.BadParameter(message)
    if job is not None:
        _run_stage(StageName.TRAIN, job, set_, None, as_json=as_json, verbose=verbose)
    elif from_ is not None:
        with reported(verbose=verbose):
            train_from(from_, output, vocab_size, set_)


@app.command()
def encode(
    job: JobFile,
    set_: Overrides = None,
    workers: Workers = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Encode a job's text into token shards with its tokenizer."""
    _run_stage(StageName.ENCODE, job, set_, workers, as_json=as_json, verbose=verbose)


@app.command()
def report(
    job: Annotated[
        str,
        typer.Argument(metavar="JOB.yaml|OUT", help="The job file, or a finished output (or URL)."),
    ],
    set_: Overrides = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Report what a run's tokens are, by language and source; write report.json, .md and .html."""
    if "://" not in job and not Path(job).is_dir():
        _run_stage(StageName.REPORT, Path(job), set_, None, as_json=as_json, verbose=verbose)
        return
    with reported(verbose=verbose):
        from jogak.errors import ConfigError
        from jogak.run import report_output

        if set_:
            message = f"{job}: a finished output has no options to --set; pass the job file"
            raise ConfigError(message)
        written: list[Report] = []
        manifest = report_output(job, on_report=written.append)
        _print_report(job, manifest, written, as_json=as_json)


def _run_stage(
    stage: StageName,
    job: Path,
    overrides: Sequence[str] | None,
    workers: int | None,
    *,
    as_json: bool,
    verbose: bool,
) -> None:
    with reported(verbose=verbose):
        resolved = load(job, overrides)
        from jogak.run import run_stage

        written: list[Report] = []
        manifest = run_stage(resolved, stage.value, workers=workers, on_report=written.append)
        _print_result(resolved, stage, manifest, written, as_json=as_json)


def _print_result(
    job: Job, last: StageName, manifest: Manifest, written: list[Report], *, as_json: bool
) -> None:
    """Print the report, or where the results lie when there are no shards to report on yet."""
    folder = {StageName.COUNT: "counts", StageName.TRAIN: "tokenizer"}.get(last)
    if folder is not None:
        path = f"{job.output.rstrip('/')}/{folder}"
        show({"stage": last.value, "path": path} if as_json else path)
    else:
        _print_report(job.output, manifest, written, as_json=as_json)


def _print_report(place: str, manifest: Manifest, written: list[Report], *, as_json: bool) -> None:
    """Print the report that was written, or what it would tell where none was."""
    from jogak.report import gather, report_json, report_text
    from jogak.store import opened

    if written:
        found = written[0]
    else:
        with opened(place) as output:
            found = gather(output, manifest)
    show(report_json(found) if as_json else report_text(found))

"""The command line: parses, calls, prints; what is computed is computed elsewhere.

stdout carries results, stderr logs, bars and errors. Exit codes: 0, 1 (the work failed), 2 (the job
file or the command is wrong), 130 (Ctrl-C).
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jogak.errors import JogakError

if TYPE_CHECKING:
    from jogak.config import Job
    from jogak.plan import Unit

app = typer.Typer(
    name="jogak",
    help="The tokenization stage of a pretraining data pipeline, Korean first.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class StageName(str, Enum):
    """Stages that a run can stop after."""

    count = "count"
    train = "train"
    encode = "encode"
    report = "report"


JobFile = Annotated[Path, typer.Argument(metavar="JOB.yaml", help="The job file.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Replace a value of the job, such as train.vocab_size=64000; may be repeated. "
        "Paths are relative to the job file, as in it.",
    ),
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Worker processes, instead of engine.workers.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Log more, and show where an error arose.")
]


@contextmanager
def _reported(*, verbose: bool) -> Iterator[None]:
    """Set up logging; turn an error on purpose into one message and its exit code."""
    from jogak import progress

    progress.configure(verbose=verbose)
    try:
        yield
    except (JogakError, OSError) as error:
        if verbose:
            traceback.print_exc()
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(error.exit_code if isinstance(error, JogakError) else 1) from error
    except KeyboardInterrupt as error:
        typer.echo("interrupted; finished units are kept, the same command goes on", err=True)
        raise typer.Exit(130) from error


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def _version(wanted: bool) -> None:
    if wanted:
        import jogak

        typer.echo(f"jogak {jogak.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[  # noqa: ARG001 - typer calls _version with it
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """The tokenization stage of a pretraining data pipeline, Korean first."""


@app.command()
def check(
    job: JobFile, set_: Overrides = None, as_json: AsJson = False, verbose: Verbose = False
) -> None:
    """Validate a job; print it resolved, and its plan. Reads no text."""
    with _reported(verbose=verbose):
        from jogak.config import dump_job, load_job
        from jogak.plan import plan_units

        resolved = load_job(job, set_ or ())
        units = plan_units(resolved)
        if as_json:
            plan = [asdict(unit) for unit in units]
            _print_json({"job": resolved.model_dump(mode="json"), "plan": plan})
        else:
            typer.echo(dump_job(resolved))
            typer.echo("\n".join(_plan_lines(resolved, units)))


def _plan_lines(job: Job, units: Sequence[Unit]) -> Iterator[str]:
    """Yield the plan as comments, so that what `check` prints is a job file itself."""
    yield "# plan: source, files, units, bytes of text"
    for index, source in enumerate(job.read.sources):
        own = [unit for unit in units if unit.source == index]
        files = len({part.path for unit in own for part in unit.parts})
        text_bytes = sum(unit.text_bytes for unit in own)
        name = source.name or source.path or source.hf
        yield f"#   {name}  {files:,}  {len(own):,}  {text_bytes:,}"
    yield f"#   total  {len(units):,} units  {sum(unit.text_bytes for unit in units):,} bytes"


@app.command()
def run(
    job: JobFile,
    set_: Overrides = None,
    workers: Workers = None,
    stop_after: Annotated[
        StageName | None, typer.Option(help="Stop when this stage is done.")
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Run the stages of a job in order; what is done already is not done again."""
    with _reported(verbose=verbose):
        from jogak import run as stages
        from jogak.config import load_job

        last = stop_after.value if stop_after is not None else None
        manifest = stages.run(load_job(job, set_ or ()), stop_after=last, workers=workers)
        _print_result(manifest, last or "report", as_json=as_json)

"""What every command shares: the application, its options, how errors and results show."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jogak.errors import JogakError

if TYPE_CHECKING:
    from jogak.config import Job

app = typer.Typer(
    help="The tokenization stage of a pretraining data pipeline, Korean first.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


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
def reported(*, verbose: bool) -> Iterator[None]:
    """Set up logging; turn an error on purpose into one message and its exit code."""
    from jogak import progress

    progress.configure(verbose=verbose)
    try:
        yield
    except (JogakError, OSError) as error:
        if verbose:
            traceback.print_exc()
        typer.echo(str(error), err=True)
        raise typer.Exit(error.exit_code if isinstance(error, JogakError) else 1) from error
    except KeyboardInterrupt as error:
        typer.echo("interrupted; what is finished is kept: the same command goes on", err=True)
        raise typer.Exit(130) from error


def load(job: Path, overrides: Sequence[str] | None) -> Job:
    """Read the job before a stage's modules are loaded, so that its errors show at once."""
    from jogak.config import load_job

    return load_job(job, overrides or ())


def show(value: object) -> None:
    """Print a text as it is, anything else as JSON."""
    is_text = isinstance(value, str)
    typer.echo(value if is_text else json.dumps(value, ensure_ascii=False, indent=2))


def _version(wanted: bool) -> None:
    if wanted:
        import jogak

        typer.echo(f"jogak {jogak.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """The tokenization stage of a pretraining data pipeline, Korean first."""

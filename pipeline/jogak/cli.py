"""The command line: parses, calls, prints; what is computed is computed elsewhere.

Exit codes: 0, 1 (the work failed), 2 (the job file or the command is wrong), 130 (Ctrl-C).
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jogak.errors import JogakError

if TYPE_CHECKING:
    from jogak.config import Job
    from jogak.manifest import Manifest

app = typer.Typer(
    help="The tokenization stage of a pretraining data pipeline, Korean first.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class StageName(StrEnum):
    """Stages that a run can stop after."""

    COUNT = "count"
    TRAIN = "train"
    ENCODE = "encode"
    REPORT = "report"


SHOWN = ("vocab_size", "bos_id", "eos_id", "fingerprint", "losses")
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
StopAfter = Annotated[StageName | None, typer.Option(help="Stop when this stage is done.")]
Restart = Annotated[
    bool, typer.Option("--restart", help="Remove first what earlier runs left in the output.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def _amount(value: str) -> str | int:
    """Parse `all` or a whole number; typer makes a usage error of the ValueError."""
    if value != "all" and not value.isdecimal():
        message = f"expected all or a whole number, found '{value}'"
        raise ValueError(message)
    return value if value == "all" else int(value)


Amount = Annotated[
    Any,
    typer.Option(
        parser=_amount,
        metavar="all|N",
        help="Also decode this many documents and compare them with their source.",
    ),
]
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
        typer.echo(str(error), err=True)
        raise typer.Exit(error.exit_code if isinstance(error, JogakError) else 1) from error
    except KeyboardInterrupt as error:
        typer.echo("interrupted; what is finished is kept: the same command goes on", err=True)
        raise typer.Exit(130) from error


def _load(job: Path, overrides: Sequence[str] | None) -> Job:
    """Read the job before a stage's modules are loaded, so that its errors show at once."""
    from jogak.config import load_job

    return load_job(job, overrides or ())


def _print(value: object) -> None:
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


@app.command()
def check(
    job: JobFile, set_: Overrides = None, as_json: AsJson = False, verbose: Verbose = False
) -> None:
    """Validate a job; print it resolved, and its plan. Reads no text."""
    with _reported(verbose=verbose):
        from jogak.config import dump_job

        resolved = _load(job, set_)
        from jogak.plan import describe_plan, plan_units

        units = plan_units(resolved)
        shown = {"job": resolved.model_dump(mode="json"), "plan": [asdict(unit) for unit in units]}
        lines = [dump_job(resolved), *describe_plan(resolved, units)]
        _print(shown if as_json else "\n".join(lines))


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
    with _reported(verbose=verbose):
        resolved = _load(job, set_)
        from jogak.run import run as run_stages

        last = stop_after or StageName.REPORT
        manifest = run_stages(resolved, stop_after=last, workers=workers, restart=restart)
        _print_result(resolved, last, manifest, as_json=as_json)


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
    job: JobFile, set_: Overrides = None, as_json: AsJson = False, verbose: Verbose = False
) -> None:
    """Train the tokenizer of a job from its counts."""
    _run_stage(StageName.TRAIN, job, set_, None, as_json=as_json, verbose=verbose)


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
    job: JobFile, set_: Overrides = None, as_json: AsJson = False, verbose: Verbose = False
) -> None:
    """Report the tokens and ratios of a job's shards, by language and source."""
    _run_stage(StageName.REPORT, job, set_, None, as_json=as_json, verbose=verbose)


def _run_stage(
    stage: StageName,
    job: Path,
    overrides: Sequence[str] | None,
    workers: int | None,
    *,
    as_json: bool,
    verbose: bool,
) -> None:
    with _reported(verbose=verbose):
        resolved = _load(job, overrides)
        from jogak.run import run_stage

        manifest = run_stage(resolved, stage.value, workers=workers)
        _print_result(resolved, stage, manifest, as_json=as_json)


def _print_result(job: Job, last: StageName, manifest: Manifest, *, as_json: bool) -> None:
    """Print the report, or where the results lie when there are no shards to report on yet."""
    from jogak.report import report_json, report_text

    folder = {StageName.COUNT: "counts", StageName.TRAIN: "tokenizer"}.get(last)
    if folder is not None:
        path = str(Path(job.output) / folder)
        _print({"stage": last.value, "path": path} if as_json else path)
    else:
        _print(report_json(manifest) if as_json else report_text(manifest))


@app.command()
def verify(
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The output folder of a run.")],
    decode: Amount = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Check a finished output: checksums, indexes, ids, totals."""
    with _reported(verbose=verbose):
        from jogak.verify import verify as verify_output

        found = verify_output(output, decode=decode)
        what = f"{found.shards:,} shards, {found.documents:,} documents, {found.tokens:,} tokens"
        summary = f"{found.path}: {what}, {found.decoded:,} decoded: {len(found.faults)} faults"
        _print(asdict(found) if as_json else "\n".join([*found.faults, summary]))
        if found.faults:
            raise typer.Exit(1)


@app.command()
def inspect(
    tokenizer: Annotated[Path, typer.Argument(help="A tokenizer.json, or its folder.")],
    text: Annotated[str | None, typer.Argument(help="A text to encode.")] = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Show what a tokenizer is, or the tokens it makes of a text."""
    with _reported(verbose=verbose):
        from jogak.tokenizer import Tokenizer

        loaded = Tokenizer.load(str(tokenizer))
        facts = {name: getattr(loaded, name) for name in SHOWN}
        ids = loaded.encode(text).tolist() if text is not None else []
        tokens = [loaded.token_bytes(token) for token in ids]
        if as_json:
            texts = [token.decode(errors="backslashreplace") for token in tokens]
            _print(facts if text is None else {**facts, "ids": ids, "tokens": texts})
        elif text is None:
            facts["losses"] = "; ".join(loaded.losses) or "none"
            _print("\n".join(f"{name:12} {value}" for name, value in facts.items()))
        else:
            _print("\n".join(f"{ids[at]:>8}  {_quoted(token)}" for at, token in enumerate(tokens)))


class FormatName(StrEnum):
    """A format that `convert` writes."""

    HUGGINGFACE = "huggingface"
    TIKTOKEN = "tiktoken"
    GPT2 = "gpt2"


@app.command()
def convert(
    tokenizer: Annotated[Path, typer.Argument(help="A tokenizer's file or folder.")],
    target: Annotated[Path, typer.Argument(help="The folder to write into.")],
    to: Annotated[FormatName, typer.Option(help="The format to write.")],
    verbose: Verbose = False,
) -> None:
    """Write a tokenizer in another library's format, or say why it cannot be said there."""
    with _reported(verbose=verbose):
        from jogak.tokenizer import Tokenizer

        written = Tokenizer.load(str(tokenizer)).convert(to.value, target)
        _print("\n".join(map(str, written)))


def _quoted(token: bytes) -> str:
    """Show a token as text, or as bytes where it is a part of a character."""
    try:
        return repr(token.decode())
    except UnicodeDecodeError:
        return repr(token)


def main() -> None:
    """Run the command line."""
    app()

"""The commands about counts that exist: what they hold, adding them up, training from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from jogak.cli.app import AsJson, Verbose, app, reported, show

counts_app = typer.Typer(
    help="Look into counts of pretokens, or add them up.", no_args_is_help=True
)
app.add_typer(counts_app, name="counts")

CountsPath = Annotated[
    Path, typer.Argument(metavar="COUNTS", help="A counts file, its folder, or a run's output.")
]
Top = Annotated[int, typer.Option(min=0, help="How many of the most frequent pretokens to list.")]
Language = Annotated[str | None, typer.Option(help="Only the counts of this language.")]


@counts_app.command("inspect")
def inspect_counts(
    path: CountsPath,
    top: Top = 20,
    language: Language = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Show what was counted, and the most frequent pretokens."""
    with reported(verbose=verbose):
        show_counts(path, top, language, as_json=as_json)


@counts_app.command("merge")
def merge(
    paths: Annotated[list[Path], typer.Argument(metavar="COUNTS...", help="Counts to add up.")],
    to: Annotated[Path, typer.Option(help="The counts file to write (.parquet).")],
    verbose: Verbose = False,
) -> None:
    """Add up counts of several corpora that were cut and normalized alike."""
    with reported(verbose=verbose):
        from jogak.count.product import merge_files

        show(str(merge_files(paths, to)))


def is_counts(path: Path) -> bool:
    """Tell whether a path holds counts rather than a tokenizer."""
    from jogak.count.product import find_counts

    return find_counts(path) is not None


def show_counts(path: Path, top: int, language: str | None, *, as_json: bool) -> None:
    """Print what counts hold."""
    from jogak.count.product import describe_counts, load_counts, summary

    counts = load_counts(path)
    found = summary(counts, top, language)
    show(found if as_json else describe_counts(found))


def train_from(
    source: Path, output: Path | None, vocab_size: int | None, overrides: Sequence[str] | None
) -> None:
    """Train on counts alone, without a job and its corpus."""
    from jogak.config.overrides import read_settings
    from jogak.errors import ConfigError
    from jogak.run.retraining import train_from_counts

    if output is None:
        message = "jogak train: --from needs a folder for the tokenizer; give --output"
        raise ConfigError(message)
    settings = read_settings(overrides or ())
    if vocab_size is not None:
        settings["vocab_size"] = vocab_size
    show(str(train_from_counts(source, settings, output)))

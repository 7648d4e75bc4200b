"""The command that shows where tokenizers cut a text."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from jogak.cli.app import AsJson, Verbose, app, reported, show
from jogak.errors import ConfigError


def _numbers(value: str) -> list[int]:
    """Parse whole numbers; typer makes a usage error of the ValueError."""
    parts = [part.strip() for part in value.split(",")]
    if not all(part.isdecimal() for part in parts):
        message = f"expected whole numbers such as 0,5,10,20, found '{value}'"
        raise ValueError(message)
    return [int(part) for part in parts]


Source = Annotated[
    str, typer.Argument(metavar="TEXT|FILE|-", help="A text, a file that holds it, or - (stdin).")
]
Tokenizers = Annotated[
    list[str],
    typer.Option(
        "--tokenizer", metavar="PATH", help="A tokenizer, chars or words; may be repeated."
    ),
]
Merges = Annotated[
    list[int] | None,
    typer.Option(
        parser=_numbers,
        metavar="N,N,...",
        help="Show each tokenizer as it was after its first N merges instead.",
    ),
]
Page = Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a page of it.")]


@app.command()
def compare(
    text: Source,
    tokenizer: Tokenizers,
    merges: Merges = None,
    html: Page = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Show where tokenizers cut a text, side by side."""
    with reported(verbose=verbose):
        from jogak.compare import (
            comparison_html,
            comparison_json,
            comparison_text,
            cut_text,
            merge_steps,
        )

        content = _content(text)
        steps = [number for group in merges or () for number in _flat(group)]
        if steps:
            found = [
                step
                for name in dict.fromkeys(tokenizer)
                for step in merge_steps(content, name, steps)
            ]
        else:
            found = cut_text(content, tokenizer)
        if html is not None:
            html.write_text(comparison_html(content, found), encoding="utf-8")
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        show(comparison_json(found) if as_json else comparison_text(found, colour=colour))


def _flat(value: int | list[int]) -> list[int]:
    return value if isinstance(value, list) else [value]


def _content(text: str) -> str:
    """Return the text that is meant: stdin, a file's, or the argument itself."""
    try:
        if text == "-":
            return sys.stdin.buffer.read().decode()
        path = Path(text)
        # A long text is no name of a file, and the system says so by an error.
        if len(os.fsencode(text)) < 256 and path.is_file():
            return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        message = f"{text}: not UTF-8 at byte {error.start}; convert it"
        raise ConfigError(message) from error
    return text

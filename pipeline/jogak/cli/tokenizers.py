"""The commands about one tokenizer: what it is, and how another library says it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from jogak.cli.app import AsJson, Verbose, app, reported, show
from jogak.cli.counts import Language, Top, is_counts, show_counts


@app.command()
def inspect(
    tokenizer: Annotated[
        str,
        typer.Argument(
            help="A tokenizer.json or its folder (also by URL), or counts (see `counts`)."
        ),
    ],
    text: Annotated[str | None, typer.Argument(help="A text to encode.")] = None,
    top: Top = 20,
    language: Language = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Show what a tokenizer is and holds, or the tokens it makes of a text; or what counts hold."""
    with reported(verbose=verbose):
        from jogak.store import local_copy

        # `jogak inspect counts PATH` too, unless something of that name lies here.
        if tokenizer == "counts" and text is not None and not Path(tokenizer).exists():
            tokenizer, text = text, None
        with local_copy(tokenizer) as place:
            if is_counts(Path(place)):
                show_counts(Path(place), top, language, as_json=as_json)
            else:
                _show_tokenizer(place, text, as_json=as_json)


def _show_tokenizer(place: str, text: str | None, *, as_json: bool) -> None:
    from jogak.inspection import DEFINITIONS, SHOWN, facts_text, inspect_tokenizer
    from jogak.tokenizer import Tokenizer

    loaded = Tokenizer.load(place)
    if text is None:
        found = inspect_tokenizer(loaded)
        show({**found, "definitions": DEFINITIONS} if as_json else facts_text(found))
        return
    facts = {name: getattr(loaded, name) for name in SHOWN}
    ids = loaded.encode(text).tolist()
    tokens = [loaded.token_bytes(token) for token in ids]
    if as_json:
        texts = [token.decode(errors="backslashreplace") for token in tokens]
        show({**facts, "ids": ids, "tokens": texts})
    else:
        show("\n".join(f"{ids[at]:>8}  {_quoted(token)}" for at, token in enumerate(tokens)))


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
    with reported(verbose=verbose):
        from jogak.tokenizer import Tokenizer

        written = Tokenizer.load(str(tokenizer)).convert(to.value, target)
        show("\n".join(map(str, written)))


def _quoted(token: bytes) -> str:
    """Show a token as text, or as bytes where it is a part of a character."""
    try:
        return repr(token.decode())
    except UnicodeDecodeError:
        return repr(token)

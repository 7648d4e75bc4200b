"""The command that counts, or estimates, the tokens of a dataset."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from jogak.cli.app import AsJson, Verbose, Workers, app, reported, show


class BoundaryName(StrEnum):
    """What marks a document."""

    NONE = "none"
    EOS = "eos"
    BOS = "bos"
    BOTH = "both"


Inputs = Annotated[
    list[str],
    typer.Argument(metavar="JOB.yaml|PATH...", help="A job file, or files, folders and globs."),
]
Tokenizers = Annotated[
    list[str] | None,
    typer.Option("--tokenizer", metavar="PATH", help="A tokenizer; may be repeated."),
]
Sample = Annotated[
    float | None,
    typer.Option(help="Read this part only, such as 0.01, and estimate with an interval."),
]
Seed = Annotated[int, typer.Option(help="Which units a sample reads.")]
Text = Annotated[str, typer.Option(help="The column of text; for paths, not for a job.")]
Language = Annotated[
    str | None, typer.Option(help="The language of all documents, or detect; for paths.")
]
LanguageColumn = Annotated[str | None, typer.Option(help="The column of languages; for paths.")]
Boundaries = Annotated[
    BoundaryName, typer.Option("--boundary", help="Boundary tokens that are counted; for paths.")
]
Target = Annotated[
    str | None, typer.Option(help="Tokens to train on, such as 20B: how many epochs they are.")
]
Mix = Annotated[
    str | None,
    typer.Option(
        metavar="CODE=SHARE,...",
        help="A mixture, such as ko=0.6,en=0.4: how often each language is repeated or cut, for "
        "--target or as many tokens as there are.",
    ),
]


@app.command()
def budget(
    inputs: Inputs,
    tokenizer: Tokenizers = None,
    sample: Sample = None,
    seed: Seed = 0,
    text: Text = "text",
    language: Language = None,
    language_column: LanguageColumn = None,
    boundary: Boundaries = BoundaryName.EOS,
    target: Target = None,
    mix: Mix = None,
    workers: Workers = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Count the tokens of a dataset by language and source; writes no tokens."""
    with reported(verbose=verbose):
        from jogak.budget import budget as count_budget
        from jogak.budget import budget_text, uses

        wanted = None if target is None else uses.parse_tokens(target)
        shares = None if mix is None else uses.parse_mix(mix)
        found = count_budget(
            inputs,
            tokenizer or (),
            sample=sample,
            seed=seed,
            text=text,
            language=language,
            language_column=language_column,
            boundary=boundary.value,
            workers=workers,
        )
        mixtures = [] if shares is None else uses.mixtures(found, shares, wanted)
        if as_json:
            show({**found.to_json(), **uses.uses_json(found, wanted, mixtures)})
        else:
            show(budget_text(found, wanted, mixtures))

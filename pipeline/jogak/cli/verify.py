"""The command that checks a finished output."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from jogak.cli.app import AsJson, Verbose, app, reported, show


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


@app.command()
def verify(
    output: Annotated[str, typer.Argument(metavar="OUT", help="A run's output: folder or URL.")],
    decode: Amount = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Check a finished output: checksums, indexes, ids, totals."""
    with reported(verbose=verbose):
        from jogak.verify import verify as verify_output

        found = verify_output(output, decode=decode)
        what = f"{found.shards:,} shards, {found.documents:,} documents, {found.tokens:,} tokens"
        summary = f"{found.path}: {what}, {found.decoded:,} decoded: {len(found.faults)} faults"
        show(asdict(found) if as_json else "\n".join([*found.faults, summary]))
        if found.faults:
            raise typer.Exit(1)

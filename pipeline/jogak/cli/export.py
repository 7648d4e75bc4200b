"""The command that writes a finished output in the layout of another loader."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from jogak.cli.app import AsJson, Verbose, app, reported, show


class LayoutName(StrEnum):
    """A layout that `export` writes."""

    PARQUET = "parquet"
    NUMPY = "numpy"
    DATATROVE = "datatrove"
    OLMO = "olmo"
    MDS = "mds"
    LITDATA = "litdata"
    LLMC = "llmc"


@app.command()
def export(
    output: Annotated[str, typer.Argument(metavar="OUT", help="A run's output: folder or URL.")],
    to: Annotated[LayoutName, typer.Option(help="The layout to write.")],
    target: Annotated[
        Path | None,
        typer.Argument(help="The folder to make; OUT/export/LAYOUT when left out."),
    ] = None,
    pack: Annotated[
        int | None, typer.Option(min=1, help="For numpy: rows of this many ids.")
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Write a finished output in the layout of another loader."""
    with reported(verbose=verbose):
        from jogak.export import export as write

        done = write(output, to.value, target, pack=pack)
        what = f"{done.documents:,} documents, {done.tokens:,} tokens"
        text = f"{done.path}: {what} in {done.files:,} files, {done.bytes:,} bytes"
        show(asdict(done) if as_json else text)

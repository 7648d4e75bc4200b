"""export: a finished output -> the layout of another loader, byte for byte as its own writer's.

Reads the shards mapped into memory, block by block, and writes one folder, which appears under its
name only when it is whole. No loader's library is needed for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from jogak import progress
from jogak.errors import ConfigError
from jogak.export.arrays import write_arrays
from jogak.export.folder import new_folder
from jogak.export.indexed import write_litdata, write_mds
from jogak.export.parquet import write_parquet
from jogak.export.raw import write_datatrove, write_llmc, write_olmo
from jogak.plan.storage import is_url
from jogak.shards import open_tokens

__all__ = ["LAYOUTS", "Exported", "export"]

LAYOUTS = ("parquet", "numpy", "datatrove", "olmo", "mds", "litdata", "llmc")


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote, and where."""

    path: str
    layout: str
    documents: int
    tokens: int
    files: int
    bytes: int


def export(
    output: Path | str,
    to: str,
    target: Path | str | None = None,
    *,
    pack: int | None = None,
    show: bool = True,
) -> Exported:
    """Write a finished output in the layout of another loader.

    Args:
        output: the folder that `run` wrote, or its URL.
        to: one of LAYOUTS.
        target: the folder to make; OUT/export/LAYOUT when left out.
        pack: ids a row, for `numpy`: rows of one length instead of documents.
        show: whether to draw a bar on a terminal.

    Raises:
        ConfigError: there is no such layout, it is not packed, or no target is named for an output
            in a store.
        ShardError: the output is not finished or not whole, or the target is there already.
    """
    if to not in LAYOUTS:
        message = f"no layout '{to}' (known: {', '.join(LAYOUTS)})"
        raise ConfigError(message)
    if pack is not None and (to != "numpy" or pack < 1):
        message = f"pack: a number of ids a row, for 'numpy' only (found {pack} for '{to}')"
        raise ConfigError(message)
    if target is None and is_url(str(output)):
        message = f"{output}: an output in a store is exported to a folder of yours; name one"
        raise ConfigError(message)
    tokens = open_tokens(output)
    folder = Path(target) if target is not None else Path(output) / "export" / to
    manifest = tokens.manifest
    facts: dict[str, Any] = {
        "layout": to,
        "job_sha256": manifest.job_sha256,
        "tokenizer_sha256": manifest.tokenizer_sha256,
        "versions": manifest.versions,
        "dtype": tokens.dtype.name,
        "vocab_size": tokens.vocab_size,
        "boundary": asdict(tokens.boundary),
        "documents": len(tokens),
        "tokens": tokens.tokens,
    }
    writers: dict[str, Callable[..., dict[str, Any]]] = {
        "parquet": partial(write_parquet, facts=facts),
        "numpy": partial(write_arrays, pack=pack),
        "datatrove": write_datatrove,
        "olmo": write_olmo,
        "mds": write_mds,
        "litdata": write_litdata,
        "llmc": write_llmc,
    }
    with (
        new_folder(folder) as temporary,
        progress.stage("export", to, total=tokens.tokens, unit=" tokens", show=show) as stage,
    ):
        more = writers[to](tokens, temporary, advance=stage.advance)
        if to != "parquet":
            text = json.dumps({**facts, **more}, indent=2)
            (temporary / "export.json").write_text(text + "\n")
        sizes = [path.stat().st_size for path in temporary.iterdir()]
    return Exported(str(folder), to, len(tokens), tokens.tokens, len(sizes), sum(sizes))

"""Counts as a product: finding, describing and adding up counts files that runs left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from jogak.count.combine import merge_counts
from jogak.count.counts import PretokenCounts
from jogak.errors import SourceError

NAME = "pretokens.parquet"
"""The counts file of a run, in the folder `counts` of its output."""


def find_counts(path: Path) -> Path | None:
    """Return the counts file that a path means: itself, in that folder, or in that output."""
    if path.is_file() and path.suffix == ".parquet":
        return path
    candidates = (path / NAME, path / "counts" / NAME)
    return next((each for each in candidates if each.is_file()), None)


def load_counts(path: Path) -> PretokenCounts:
    """Load the counts that a path means.

    Raises:
        SourceError: there are none.
    """
    found = find_counts(path)
    if found is None:
        message = (
            f"{path}: no counts here (looked for a .parquet file, {NAME} and counts/{NAME}); "
            "run `jogak count` on a job first"
        )
        raise SourceError(message)
    return PretokenCounts.load(found)


def merge_files(paths: Sequence[Path], target: Path) -> Path:
    """Add up counts files, in memory, and write the sum; the target must be new.

    Raises:
        SourceError: a path holds no counts, or they were cut or normalized differently.
    """
    if target.suffix != ".parquet":
        message = f"{target}: a counts file ends in .parquet; name it so"
        raise SourceError(message)
    if target.exists():
        message = f"{target}: it exists already; choose another name, or remove it first"
        raise SourceError(message)
    merge_counts([load_counts(path) for path in paths]).save(target)
    return target


def summary(counts: PretokenCounts, top: int, language: str | None = None) -> dict[str, Any]:
    """Return what counts hold, ready for JSON; of one language, if it is named.

    Raises:
        SourceError: there is no such language.
    """
    values = counts.counts if language is None else counts.language_counts(language)
    order = np.argsort(~values, kind="stable")[:top]
    return {
        "pattern": counts.pattern,
        "normalize": counts.normalize.model_dump(),
        "sample": counts.sample or "all",
        "distinct": int(np.count_nonzero(values)),
        "once": int(np.count_nonzero(values == 1)),
        "languages": {
            name: asdict(totals)
            for name, totals in counts.totals.items()
            if language in (None, name)
        },
        "top": [
            {
                "pretoken": counts.pretoken(row).decode(errors="backslashreplace"),
                "count": int(values[row]),
            }
            for row in order.tolist()
            if values[row]
        ],
    }


def describe_counts(found: Mapping[str, Any]) -> str:
    """Write a summary as text."""
    changed = ", ".join(f"{key}: {value}" for key, value in found["normalize"].items())
    lines = [
        f"pattern    {found['pattern']}",
        f"normalize  {changed}",
        f"sample     {found['sample']}",
        f"distinct   {found['distinct']:,}, {found['once']:,} of them once",
    ]
    for name, totals in found["languages"].items():
        lines.append(
            f"{name:10} {totals['documents']:,} documents, {totals['text_bytes']:,} bytes, "
            f"{totals['pretokens']:,} pretokens"
        )
    lines += [f"{each['count']:>16,}  {each['pretoken']!r}" for each in found["top"]]
    return "\n".join(lines)

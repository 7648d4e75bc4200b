"""Restarting: what Jogak itself wrote into an output folder is removed, and nothing else."""

from __future__ import annotations

import contextlib
import logging
import re
from pathlib import Path

from jogak.errors import ShardError
from jogak.output import JOB_HEADER, Output, explained

logger = logging.getLogger(__name__)

OWN_NAMES = frozenset(
    {
        "job.yaml",
        "inputs.json",
        "manifest.json",
        "rejected.jsonl",
        "shards.parquet",
        "report.json",
        "report.md",
        "report.html",
        "timings.json",
    }
)
OWN_COUNTS = re.compile(r"(pretokens|unit-\d{5,}|merge-\d+-\d{5,})\.(parquet|arrow|json)")
OWN_TOKENIZER = re.compile(r"(tokenizer|tokenizer_config|training)\.json|chat_template\.jinja")
OWN_TOKENS = re.compile(r"shard-\d{5,}\.(bin|idx|json|rejected\.jsonl|usage\.parquet)")
"""The names under which Jogak writes into its output folder, and below it."""


def clear(output: Output) -> None:
    """Remove what earlier runs left, and their folders where nothing else lies in them.

    Raises:
        ShardError: there are files of such names, but no run has claimed the folder.
    """
    output.sweep()
    files = own_files(output)
    if not files:
        return
    if not _is_claimed(output):
        message = (
            f"{output.folder}: no job.yaml of a run, so nothing says that Jogak wrote what is "
            f"there (found {files[0].name}); remove it yourself, or use another output"
        )
        raise ShardError(message)
    # What vouches for results goes before them, and what claims the folder last: so an interrupted
    # removal leaves nothing that looks finished, and can be gone on with.
    claims = (output.job, output.inputs)
    files.sort(key=lambda path: (path in claims, path != output.manifest, path.suffix != ".json"))
    with explained(output.folder):
        for path in files:
            path.unlink(missing_ok=True)
    for folder in (output.counts, output.tokenizer, output.tokens):
        # A folder that holds a file of somebody else's stays.
        with contextlib.suppress(OSError):
            folder.rmdir()
    logger.info("restart: %d files of earlier runs removed from %s", len(files), output.folder)


def own_files(output: Output) -> list[Path]:
    """Return the files in an output folder that bear a name under which Jogak writes."""
    found = [path for path in output.folder.glob("*") if path.name in OWN_NAMES]
    for folder, pattern in (
        (output.counts, OWN_COUNTS),
        (output.tokenizer, OWN_TOKENIZER),
        (output.tokens, OWN_TOKENS),
    ):
        found += [path for path in folder.glob("*") if pattern.fullmatch(path.name)]
    return sorted(path for path in found if path.is_file() or path.is_symlink())


def _is_claimed(output: Output) -> bool:
    """Tell whether a run has written the folder's job.yaml."""
    try:
        with output.job.open(encoding="utf-8") as file:
            return file.readline() == JOB_HEADER
    except (OSError, ValueError):
        return False

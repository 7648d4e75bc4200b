"""What a budget is of: a job file as it stands, or paths that are made a job of."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jogak.config import Boundary, Job, load_job, options_from
from jogak.errors import SourceError
from jogak.plan.inputs import COMPRESSED, JSON_LINES
from jogak.plan.storage import is_url, list_urls
from jogak.run.jobs import resolve_job

Inputs = Job | Mapping[str, Any] | Path | str | Sequence[Path | str]
"""A job, its file or content; or files, folders and globs of texts."""

JOB_FILES = (".yaml", ".yml")
KINDS = (".parquet", *JSON_LINES, *(end + more for end in JSON_LINES for more in COMPRESSED))
"""Files of a folder that hold documents; text files count only where there are none of these."""
TEXTS = (".txt", *(".txt" + more for more in COMPRESSED))


@dataclass(frozen=True, slots=True)
class PathOptions:
    """How paths are read that no job describes.

    Attributes:
        text, language, language_column: as of a source in a job.
        boundary: the boundary policy that is counted.
    """

    text: str = "text"
    language: str | None = None
    language_column: str | None = None
    boundary: Boundary = "eos"


def is_job(inputs: Inputs) -> bool:
    """Tell a job from paths."""
    inputs = _only(inputs)
    if isinstance(inputs, Path | str):
        return Path(inputs).suffix.lower() in JOB_FILES
    return isinstance(inputs, Job | Mapping)


def _only(inputs: Inputs) -> Inputs:
    """Return the one item of a sequence of one, which may be a job's file."""
    if isinstance(inputs, Job | Mapping | Path | str) or len(inputs) != 1:
        return inputs
    return inputs[0]


def job_of(inputs: Inputs, options: PathOptions, tokenizer: str | None) -> Job:
    """Return the job whose inputs are counted; nothing is written to its output.

    Args:
        inputs: a job, its file or content; or files, folders and globs.
        options: for paths.
        tokenizer: any tokenizer's path, since every job names one; for paths.

    Raises:
        ConfigError: the job, or an option for paths, is wrong.
        SourceError: a path leads nowhere.
    """
    inputs = _only(inputs)
    if isinstance(inputs, Path | str) and is_job(inputs):
        return load_job(inputs)
    if isinstance(inputs, Job | Mapping):
        return resolve_job(inputs)
    paths = [inputs] if isinstance(inputs, Path | str) else inputs
    sources = [
        {
            "path": pattern,
            "text": options.text,
            "language": options.language,
            "language_column": options.language_column,
        }
        for path in paths
        for pattern in _patterns(str(path))
    ]
    values = {
        "read": {"sources": sources},
        "tokenizer": {"load": tokenizer or "."},
        "encode": {"boundary": options.boundary},
        "output": ".",
    }
    return resolve_job(options_from(Job, values, "budget"))


def _patterns(path: str) -> Iterator[str]:
    """Yield a path, or for a folder a pattern for each kind of file in it, at any depth."""
    if is_url(path):
        names = [] if glob.has_magic(path) or list_urls(path) else list_urls(f"{path}/**")
    elif Path(path).is_dir():
        names = [file.name for file in Path(path).rglob("*") if file.is_file()]
    else:
        names = []
    if not names and not Path(path).is_dir():
        yield path
        return
    names = [name.lower() for name in names]
    for kinds in (KINDS, TEXTS):
        found = [kind for kind in kinds if any(name.endswith(kind) for name in names)]
        yield from (f"{glob.escape(path.rstrip('/'))}/**/*{kind}" for kind in found)
        if found:
            return
    message = (
        f"{path}: no documents in this folder (looked for {', '.join((*KINDS, *TEXTS))}); "
        "name the files, or a pattern"
    )
    raise SourceError(message)

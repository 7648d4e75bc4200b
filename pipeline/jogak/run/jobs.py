"""A job as a run takes it: resolved, with the names and tokenizers that it leads to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from jogak.config import TRIVIAL_TOKENIZERS, Job, load_job, options_from, with_folders
from jogak.errors import ConfigError
from jogak.manifest import ComparedTokenizer
from jogak.plan import source_label
from jogak.plan.spool import GIVEN
from jogak.threads import processors
from jogak.tokenizer import Tokenizer

WORKER_BYTES = 16 * 2**20
"""Text below which one more process costs more than it brings: starting one takes about as long as
encoding this much."""


def source_names(job: Job) -> list[str]:
    """Return what the report calls each source: its name, or its path from where paths part.

    >>> # /data/ko/*.parquet and /data/web.jsonl are called ko/*.parquet and web.jsonl
    """
    local = [each.path for each in job.read.sources if each.path and "://" not in each.path]
    paths = [Path(path) for path in local]
    shared = os.path.commonpath([path.parent for path in paths]) if paths else ""
    names = [
        each.name
        or (os.path.relpath(each.path, shared) if each.path in local else source_label(each))
        for each in job.read.sources
    ]
    return [
        name if names.count(name) == 1 else f"{name} [{index}]" for index, name in enumerate(names)
    ]


def compared_tokenizers(job: Job) -> tuple[ComparedTokenizer, ...]:
    """Return the tokenizers that the report compares, each loaded once to know what it is.

    A file is called by its name, or by its folder's where every such file has the same name.
    """
    found = []
    for path in job.report.compare:
        if path in TRIVIAL_TOKENIZERS:
            found.append(ComparedTokenizer(path, path, 0, ""))
            continue
        tokenizer = Tokenizer.load(path)
        name = Path(path).parent.name if path.endswith("tokenizer.json") else Path(path).stem
        found.append(ComparedTokenizer(name, path, tokenizer.vocab_size, tokenizer.fingerprint))
    names = [each.name for each in found]
    return tuple(
        each if names.count(each.name) == 1 else replace(each, name=f"{each.name} [{index}]")
        for index, each in enumerate(found)
    )


def resolve_job(job: Job | Mapping[str, Any] | Path | str, *, with_dataset: bool = False) -> Job:
    """Return a job with absolute paths, from a file, a mapping as in a file, or a Job.

    Args:
        job: the job.
        with_dataset: whether a dataset of Python's is its source where a mapping names none.

    Raises:
        ConfigError: it is not a valid job.
    """
    if isinstance(job, Path | str):
        return load_job(job)
    if not isinstance(job, Job):
        if not isinstance(job, Mapping):
            message = (
                f"jogak.run: expected a job's file, its content or a Job (found "
                f"{type(job).__name__}); pass the path of the file"
            )
            raise ConfigError(message)
        if with_dataset and "read" not in job:
            job = {**job, "read": {"sources": [{"dataset": GIVEN}]}}
        job = options_from(Job, job, "jogak.run")
    sources = tuple(
        source.model_copy(
            update={"path": _absolute(source.path), "hf": _absolute_folder(source.hf)}
        )
        for source in job.read.sources
    )
    spool = _absolute(job.read.spool)
    update: dict[str, Any] = {
        "read": job.read.model_copy(update={"sources": sources, "spool": spool}),
        "output": _absolute(job.output),
        "work": _absolute(job.work),
    }
    if job.tokenizer is not None:
        load = _absolute(job.tokenizer.load)
        update["tokenizer"] = job.tokenizer.model_copy(update={"load": load})
    compare = tuple(
        each if each in TRIVIAL_TOKENIZERS else str(_absolute(each)) for each in job.report.compare
    )
    update["report"] = job.report.model_copy(update={"compare": compare})
    return with_folders(job.model_copy(update=update))


def _absolute(path: str | None) -> str | None:
    if path is None or "://" in path:
        return path
    return os.path.normpath(Path(path).expanduser().absolute())


def _absolute_folder(name: str | None) -> str | None:
    """Make a saved dataset's folder absolute; a name on the hub stays as it is."""
    return _absolute(name) if name is not None and Path(name).is_dir() else name


def worker_count(job: Job, workers: int | None, text_bytes: int) -> int:
    """Return how many units run at a time: the caller's wish, the job's, or as many as pay off.

    Args:
        job: the job.
        workers: the caller's wish.
        text_bytes: the work there is.
    """
    if job.engine.kind == "ray":
        return workers or job.engine.max_in_flight
    wanted = workers if workers is not None else job.engine.workers
    if wanted == "auto":
        return max(1, min(processors(), text_bytes // WORKER_BYTES))
    if wanted < 1:
        message = f"workers: at least 1 is needed (got {wanted})"
        raise ConfigError(message)
    return wanted

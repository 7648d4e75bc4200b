"""The resolved job: written into the output folder, and compared with the job of a later run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from jogak.config.job import Job
from jogak.config.options import EngineOptions

WITHOUT_EFFECT = (
    "output",
    "work",
    "count.memory",
    "read.batch_bytes",
    "read.spool",
    *(f"engine.{name}" for name in EngineOptions.model_fields),
)
"""Options that may differ between two runs into one folder: they do not change what is written."""


class Difference(NamedTuple):
    """A field in which two jobs differ; a value is None where the field is absent."""

    field: str
    old: object
    new: object


class _Dumper(yaml.SafeDumper):
    """Keeps every string whole: PyYAML folds the line ends that only YAML 1.1 knows (U+0085)."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if text.splitlines() != [text] else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def with_folders(job: Job) -> Job:
    """Return a job with the folders named that follow from its output."""
    work = job.work
    if "://" in job.output and work is None:
        digest = hashlib.sha256(job.output.encode()).hexdigest()[:16]
        work = str(Path("~/.cache/jogak").expanduser() / digest)
    local = work if "://" in job.output else job.output
    spool = job.read.spool or str(Path(str(local)) / "dataset")
    read = job.read.model_copy(update={"spool": spool})
    return job.model_copy(update={"work": work, "read": read})


def dump_claim(job: Job) -> str:
    """Return the YAML that an output keeps: without where it lies and who works on it."""
    read = job.read.model_copy(update={"spool": None})
    update = {"engine": EngineOptions(), "output": ".", "work": None, "read": read}
    return dump_job(job.model_copy(update=update))


def dump_job(job: Job) -> str:
    """Return a job as YAML with every value, in a fixed order; `load_job` gives it back."""
    values = job.model_dump(mode="json")
    return yaml.dump(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)


def differences(old: Job | Mapping[str, Any], new: Job | Mapping[str, Any]) -> list[Difference]:
    """Return the fields in which the output of two jobs may differ, in the order of the file.

    Args:
        old: a job, or what `yaml.safe_load` makes of its dump (also of an older version's).
        new: likewise.
    """
    before, after = dict(_fields(_plain(old), "")), dict(_fields(_plain(new), ""))
    names = [*after, *(name for name in before if name not in after)]
    return [
        Difference(name, before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name) and name not in WITHOUT_EFFECT
    ]


def _plain(job: Job | Mapping[str, Any]) -> Mapping[str, Any]:
    return job.model_dump(mode="json") if isinstance(job, Job) else job


def _fields(value: object, name: str) -> Iterator[tuple[str, object]]:
    """Yield the dotted names and values of all that lies below."""
    if isinstance(value, Mapping) and value:
        for key, child in value.items():
            yield from _fields(child, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and value:
        for index, child in enumerate(value):
            yield from _fields(child, f"{name}[{index}]")
    else:
        yield name, value

"""An output folder belongs to one job, one set of inputs and one version; others are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import yaml

import jogak
from jogak import _core
from jogak.config import Job, differences, dump_claim
from jogak.detect import DETECT, detector_version
from jogak.errors import ConfigError, ShardError
from jogak.output import JOB_HEADER, Output, digest_of, read_json, write_file, write_json
from jogak.plan import InputFile

MOST_LISTED = 10
"""Differences that a message lists before it says how many more there are."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What results are made from, as checksums.

    Attributes:
        versions: of jogak, of Unicode (normalization), and of what detects languages if any are.
        job_sha256: of all options that have an effect on the output.
        inputs_sha256: of the input files' paths, sizes and times of change.
    """

    versions: dict[str, str]
    job_sha256: str
    inputs_sha256: str

    def identity(self, **more: str) -> dict[str, str]:
        """Return what a result is kept with, to be recognised by a later run."""
        return {
            **self.versions,
            "job_sha256": self.job_sha256,
            "inputs_sha256": self.inputs_sha256,
            **more,
        }


def claim_output(output: Output, job: Job, inputs: tuple[InputFile, ...]) -> Claim:
    """Write job.yaml and inputs.json into the output, or find it claimed by the same run.

    Raises:
        ConfigError: the output is another job's; names the fields.
        ShardError: the inputs or the version changed since; names what.
    """
    versions = {"jogak": jogak.__version__, "unicode": _core.unicode_version()}
    if any(source.language == DETECT for source in job.read.sources):
        versions["detector"] = detector_version()
    listing = {"versions": versions, "inputs": [asdict(each) for each in inputs]}
    # Where the output lies and who works on it have no effect; the copy goes on where it is.
    kept = JOB_HEADER + dump_claim(job)
    if output.job.exists():
        check_options(output, job)
    # A file of equal options that differs was damaged, or holds options without effect.
    if not output.job.exists() or output.job.read_bytes() != kept.encode():
        write_file(output.job, kept)
    old = read_json(output.inputs)
    if old is not None and _is_listing(old):
        _refuse(output, _changed_inputs(old, listing), ShardError)
    else:
        write_json(output.inputs, listing)
    effective = [[name, value] for name, _, value in differences({}, job)]
    return Claim(versions, digest_of(effective), digest_of(listing["inputs"]))


def check_options(output: Output, job: Job) -> None:
    """Make sure that what is in the output was made with a job's options.

    Raises:
        ConfigError: an option differs that has an effect; names all of those.
        ShardError: there is nothing in the output.
    """
    if not output.job.exists():
        message = f"{output.job}: no such file; run the job first (jogak run)"
        raise ShardError(message)
    _refuse(output, _changed_options(output, job), ConfigError)


def _refuse(output: Output, changes: Iterator[str], error: type[ConfigError | ShardError]) -> None:
    found = list(changes)
    if not found:
        return
    listed = found[:MOST_LISTED]
    if len(found) > len(listed):
        listed.append(f"and {len(found) - len(listed)} more")
    lines = "".join(f"\n  {change}" for change in listed)
    message = (
        f"{output.url or output.folder}: holds results made otherwise; use another output, or "
        f"remove them with --restart. What differs:{lines}"
    )
    raise error(message)


def _changed_options(output: Output, job: Job) -> Iterator[str]:
    try:
        old = yaml.safe_load(output.job.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        yield f"job.yaml: damaged ({error})"
        return
    if not isinstance(old, Mapping):
        yield "job.yaml: damaged (it holds no job)"
        return
    for name, before, after in differences(old, job):
        yield f"{name}: {_shown(before)} there, {_shown(after)} now"


def _changed_inputs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name, version in new["versions"].items():
        before = old.get("versions", {}).get(name)
        if before != version:
            yield f"version of {name}: {before} there, {version} now"
    before = {each["path"]: each for each in old.get("inputs", ())}
    after = {each["path"]: each for each in new["inputs"]}
    for path in sorted({**before, **after}):
        if path not in after:
            yield f"{path}: an input there, not now"
        elif path not in before:
            yield f"{path}: an input now, not there"
        elif before[path]["size"] != after[path]["size"]:
            yield f"{path}: {before[path]['size']:,} bytes there, {after[path]['size']:,} now"
        elif before[path] != after[path]:
            what = "time of change" if after[path].get("version") is None else "version (ETag)"
            yield f"{path}: changed since (its {what} differs)"


def _is_listing(value: Mapping[str, Any]) -> bool:
    """Tell whether a value has the shape that inputs.json is written in, whatever it lists."""
    inputs, names = value.get("inputs"), {field.name for field in fields(InputFile)}
    return (
        isinstance(value.get("versions"), dict)
        and isinstance(inputs, list)
        and all(isinstance(each, dict) and each.keys() == names for each in inputs)
    )


def _shown(value: object) -> str:
    return "absent" if value is None else repr(value) if isinstance(value, str) else str(value)

"""Checks what lies around the shards: job, inputs, counts, tokenizer, lists and reports.

Each of these files is either sealed, or follows to the byte from others that are.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from jogak.config import Job, differences, dump_claim, load_job
from jogak.encode import rejected_rows, sidecar
from jogak.errors import JogakError
from jogak.manifest import Manifest
from jogak.output import JOB_HEADER, Output, digest_of, file_sha256, read_json, read_sealed
from jogak.store import shard_files

COUNTS, TOKENIZER = "counts/pretokens", "tokenizer/training.json"


def provenance_faults(output: Output, manifest: Manifest) -> Iterator[str]:
    """Yield what is wrong with the files around the shards, each fault naming its file."""
    job = yield from _job_faults(output, manifest)
    identity = {**manifest.versions, "job_sha256": manifest.job_sha256}
    yield from _inputs_faults(output, manifest, identity)
    for path, kept in _sidecars(output, manifest):
        yield from _identity_faults(path, kept, identity)
    counts = output.folder / f"{COUNTS}.json"
    if job is not None and job.train is not None:
        kept = read_sealed(counts)
        if kept is None:
            yield f"{counts}: missing or damaged; run the job again to count anew"
        else:
            yield from _identity_faults(counts, kept, identity)
            path = counts.with_suffix(".parquet")
            yield from _file_faults(path, str(kept.get("sha256")))
    yield from _tokenizer_faults(output, identity)
    yield from _rejected_faults(output, manifest)


def _sidecars(output: Output, manifest: Manifest) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    for index in range(len(manifest.shards)):
        path = sidecar(output.shard(index))
        with shard_files(output, path.stem, [path.suffix]):
            yield path, read_sealed(path)


def _inputs_faults(output: Output, manifest: Manifest, identity: dict[str, str]) -> Iterator[str]:
    """Yield what is wrong with inputs.json; add the inputs that the shards were made from."""
    known = ((kept or {}).get("identity") for _, kept in _sidecars(output, manifest))
    made_from = next((str(each.get("inputs_sha256")) for each in known if each), None)
    if made_from is not None:
        identity["inputs_sha256"] = made_from
    inputs = read_json(output.inputs)
    if inputs is None or inputs.keys() != {"inputs", "versions"}:
        yield f"{output.inputs}: missing or damaged; the inputs cannot be proved the same"
    elif inputs["versions"] != manifest.versions:
        yield f"{output.inputs}: versions differ from the manifest's; one of them was changed"
    elif made_from is not None and digest_of(inputs["inputs"]) != made_from:
        yield f"{output.inputs}: not the inputs that the shards were made from; it was changed"


def _job_faults(output: Output, manifest: Manifest) -> Generator[str, None, Job | None]:
    """Yield what is wrong with job.yaml; return the job it holds."""
    try:
        job = load_job(output.job)
    except JogakError as error:
        yield f"{output.job}: damaged ({error})"
        return None
    effective = [[name, value] for name, _, value in differences({}, job)]
    if digest_of(effective) != manifest.job_sha256 or job.name != manifest.name:
        yield f"{output.job}: not the job of the manifest; one of them was changed"
    elif output.job.read_bytes() != (JOB_HEADER + dump_claim(job)).encode():
        yield f"{output.job}: not as Jogak writes it; it was changed"
    return job


def _identity_faults(
    path: Path, kept: dict[str, Any] | None, identity: dict[str, str]
) -> Iterator[str]:
    found = (kept or {}).get("identity")
    if isinstance(found, dict):
        for name, value in identity.items():
            if found.get(name) != value:
                yield f"{path}: made from another {name} (found {found.get(name)}, not {value})"


def _file_faults(path: Path, sha256: str) -> Iterator[str]:
    if not path.is_file():
        yield f"{path}: no such file; run the job again to make it"
    elif file_sha256(path) != sha256:
        yield f"{path}: sha256 is not {sha256}; it was changed"


def _tokenizer_faults(output: Output, identity: dict[str, str]) -> Iterator[str]:
    path = output.folder / TOKENIZER
    kept = read_sealed(path)
    if kept is None or not isinstance(kept.get("files"), dict):
        yield f"{path}: missing or damaged; run the job again to make it"
        return
    yield from _identity_faults(path, kept, identity)
    for name, sha256 in kept["files"].items():
        yield from _file_faults(path.parent / name, sha256)


def _rejected_faults(output: Output, manifest: Manifest) -> Iterator[str]:
    """Compare the list of rejected rows with those of the shards, which have checksums."""
    if not output.rejected.is_file():
        yield f"{output.rejected}: no such file; run the job again to make it"
        return
    with output.rejected.open("rb") as joined:
        for shard in manifest.shards:
            rows = rejected_rows(output.tokens / shard.name)
            if not shard.rejected_rows:
                continue
            with shard_files(output, shard.name, [".rejected.jsonl"]):
                if not rows.is_file():
                    continue
                right = rows.read_bytes()
            if joined.read(len(right)) != right:
                yield f"{output.rejected}: rows of {shard.name} are not those it rejected"
                return
        if joined.read(1):
            yield f"{output.rejected}: more rows than the shards rejected"

"""Checks one shard: files against checksums, then the index, the ids and the boundaries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from jogak.encode import rejected_rows, sidecar
from jogak.errors import ShardError
from jogak.manifest import Boundary, Manifest, ShardRecord
from jogak.measures import Sums
from jogak.output import Output, file_sha256, read_sealed
from jogak.shards import Shard, byte_pointers, read_shard

BLOCK = 2**20
"""Ids, or entries of an index, that are looked at together."""


def shard_faults(output: Output, manifest: Manifest, record: ShardRecord) -> Iterator[str]:
    """Yield what is wrong with one shard, each fault naming its file."""
    prefix = output.tokens / record.name
    yield from _record_faults(prefix, record)
    damaged = list(_checksum_faults(prefix, manifest, record))
    yield from damaged
    try:
        shard = read_shard(prefix)
    except ShardError as error:
        if not damaged:
            yield str(error)
        return
    yield from _index_faults(prefix, manifest, record, shard)
    yield from _id_faults(prefix, manifest, shard)


def _record_faults(prefix: Path, record: ShardRecord) -> Iterator[str]:
    """Compare the manifest's record with the sidecar's, and with its own sums."""
    path = sidecar(prefix)
    kept = (read_sealed(path) or {}).get("record")
    if kept is None:
        yield f"{path}: missing or damaged; run the job again to make this unit anew"
    else:
        for name, value in json.loads(json.dumps(asdict(record))).items():
            if kept.get(name) != value:
                yield f"{path}: '{name}' differs from the manifest"
    sums = sum((tally.sums for tally in record.tallies), Sums())
    if sums.documents != record.documents:
        yield (
            f"{prefix.name}: {record.documents:,} documents, but {sums.documents:,} in its sums "
            "by language"
        )
    if sums.tokens + sums.boundary_tokens != record.tokens:
        yield (
            f"{prefix.name}: {record.tokens:,} tokens, but "
            f"{sums.tokens + sums.boundary_tokens:,} in its sums by language"
        )


def _checksum_faults(prefix: Path, manifest: Manifest, record: ShardRecord) -> Iterator[str]:
    expected: list[tuple[Path, int | None, str]] = [
        (prefix.with_name(prefix.name + ".bin"), record.bin_bytes, record.bin_sha256),
        (prefix.with_name(prefix.name + ".idx"), record.idx_bytes, record.idx_sha256),
    ]
    if record.rejected_sha256 is not None:
        expected.append((rejected_rows(prefix), None, record.rejected_sha256))
    for path, size, sha256 in expected:
        if not path.is_file():
            yield f"{path}: no such file; run the job again to make this unit anew"
            continue
        found = file_sha256(path)
        if found == sha256:
            continue
        actual = path.stat().st_size
        owner = _owner(manifest, found)
        if owner is not None:
            yield f"{path}: holds what belongs to {owner} (sha256 {found}); files were swapped"
        elif size is not None and actual != size:
            yield f"{path}: {actual:,} bytes, but the manifest has {size:,}"
        else:
            yield f"{path}: sha256 is {found}, but the manifest has {sha256}; it was changed"


def _owner(manifest: Manifest, sha256: str) -> str | None:
    """Return the shard whose file has this checksum."""
    return next(
        (each.name for each in manifest.shards if sha256 in (each.bin_sha256, each.idx_sha256)),
        None,
    )


def _index_faults(
    prefix: Path, manifest: Manifest, record: ShardRecord, shard: Shard
) -> Iterator[str]:
    """Yield where index, ids, record and manifest do not fit each other."""
    path = prefix.with_name(prefix.name + ".idx")
    if shard.ids.dtype.name != manifest.dtype:
        yield f"{path}: ids are {shard.ids.dtype.name}, but the manifest has {manifest.dtype}"
    if len(shard) != record.documents:
        yield f"{path}: {len(shard):,} documents, but the manifest has {record.documents:,}"
    if len(shard.ids) != record.tokens:
        yield (
            f"{prefix.name}.bin: {len(shard.ids):,} tokens, but the manifest has {record.tokens:,}"
        )
    pointer = 0
    for first in range(0, len(shard), BLOCK):
        lengths = shard.lengths[first : first + BLOCK]
        if int(lengths.min()) < 0:
            yield f"{path}: document {first + int(lengths.argmin()):,} has a negative length"
            return
        right, pointer = byte_pointers(lengths, pointer, shard.ids.dtype.itemsize)
        wrong = np.flatnonzero(shard.pointers[first : first + BLOCK] != right)
        if len(wrong):
            yield (
                f"{path}: document {first + int(wrong[0]):,} is said to start at byte "
                f"{int(shard.pointers[first + int(wrong[0])]):,}, but the ones before it end at "
                f"{int(right[wrong[0]]):,}"
            )
            return
    if pointer != shard.ids.nbytes:
        yield f"{path}: documents end at byte {pointer:,} of {shard.ids.nbytes:,}"
    if not np.array_equal(shard.starts, np.arange(len(shard) + 1)):
        yield f"{path}: document starts are not 0, 1, 2, ..."


def _id_faults(prefix: Path, manifest: Manifest, shard: Shard) -> Iterator[str]:
    """Yield ids outside the vocabulary, and documents without their boundary tokens."""
    path = prefix.with_name(prefix.name + ".bin")
    limit = manifest.vocab_size or 0
    for first in range(0, len(shard.ids), BLOCK):
        block = shard.ids[first : first + BLOCK]
        if int(block.max()) >= limit:
            place = first + int((block >= limit).argmax())
            yield (
                f"{path}: id {int(shard.ids[place])} (token {place:,}) is outside the vocabulary "
                f"of {limit:,}"
            )
            break
    ends = np.cumsum(shard.lengths, dtype=np.int64)
    if not len(ends) or int(ends[-1]) != len(shard.ids):
        return
    for name, at, mark in _marks(ends, shard, manifest.boundary):
        short = np.flatnonzero(shard.lengths < manifest.boundary.tokens)
        if len(short):
            yield f"{path}: document {int(short[0]):,} is too short to hold its boundary tokens"
            return
        lacking = np.flatnonzero(shard.ids[at] != mark)
        if len(lacking):
            yield (
                f"{path}: {len(lacking):,} documents lack the {name} token {mark}, the first is "
                f"document {int(lacking[0]):,}"
            )


def _marks(
    ends: np.ndarray[tuple[int], np.dtype[np.int64]], shard: Shard, boundary: Boundary
) -> Iterator[tuple[str, np.ndarray[tuple[int], np.dtype[np.int64]], int]]:
    """Yield each boundary token's name, where it must be, and its id."""
    if boundary.bos is not None:
        yield "bos", ends - shard.lengths, boundary.bos
    if boundary.eos is not None:
        yield "eos", ends - 1, boundary.eos

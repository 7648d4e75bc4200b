"""Checks the manifest: its totals against its table of shards, and the table against the folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from jogak.manifest import Manifest, ShardRecord, totals_of
from jogak.output import Output, file_sha256, read_json
from jogak.shards import dtype_for
from jogak.store import token_files

SHARD_FILE = re.compile(r"shard-(\d+)\.(bin|idx|json)")


def manifest_faults(output: Output, manifest: Manifest) -> Iterator[str]:
    """Yield what is wrong between the manifest, its table, and the files around them.

    Raises:
        ShardError: the table cannot be read.
    """
    table, sha256 = output.shard_table, manifest.shards_sha256
    order: list[str] = []
    totals = totals_of(_in_order(output, manifest, order))
    yield from order
    if file_sha256(table) != sha256:
        yield f"{table}: sha256 is not {sha256}; it or {output.manifest} was changed"
    found = read_json(output.manifest) or {}
    # Tuples are lists in JSON, so both go through it.
    expected = json.loads(json.dumps(totals.to_json()))
    for key, value in {**json.loads(json.dumps(manifest.to_json())), **expected}.items():
        if found.get(key) != value:
            yield (
                f"{output.manifest}: '{key}' is {_short(found.get(key))}, but its shards say "
                f"{_short(value)}"
            )
    right = dtype_for(manifest.vocab_size or 1).name
    if manifest.dtype != right:
        yield (
            f"{output.manifest}: dtype is {manifest.dtype}, but ids of a vocabulary of "
            f"{manifest.vocab_size:,} are kept as {right}"
        )
    yield from _strangers(output, totals.shards)


def _in_order(output: Output, manifest: Manifest, faults: list[str]) -> Iterator[ShardRecord]:
    """Yield the records; add a fault where one is missing or has another place or name."""
    count = 0
    for record in manifest.shards:
        if not faults and (record.index, record.name) != (count, output.shard(count).name):
            faults.append(f"{output.shard_table}: shards are missing, or out of order")
        count += 1
        yield record
    if not faults and count != len(manifest.shards):
        faults.append(
            f"{output.shard_table}: shards are missing, or out of order (found {count:,}, the "
            f"manifest has {len(manifest.shards):,})"
        )


def _strangers(output: Output, count: int) -> Iterator[str]:
    """Yield files that a loader would take for shards though they are not listed."""
    found = []
    for name in token_files(output):
        if not name.endswith((".bin", ".idx", ".json")):
            continue
        match = SHARD_FILE.fullmatch(name)
        index = int(match[1]) if match else count
        if index >= count or name != f"{output.shard(index).name}.{match[2]}":  # type: ignore[index] # none has `count`
            found.append(name)
    for name in sorted(found):
        yield f"{output.tokens / name}: not in the manifest; a loader would read it all the same"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."

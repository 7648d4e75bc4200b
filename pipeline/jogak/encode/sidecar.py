"""What lies beside a shard: its record, and the rows that were rejected on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from jogak.documents import RejectedRow
from jogak.encode.measuring import usage_file
from jogak.errors import ShardError
from jogak.manifest import ShardRecord
from jogak.output import file_sha256, parse_sealed, read_sealed, write_file, write_sealed
from jogak.store import Store


def sidecar(prefix: Path) -> Path:
    """Return the path of a shard's sidecar."""
    return prefix.with_name(prefix.name + ".json")


def rejected_rows(prefix: Path) -> Path:
    """Return the path of a shard's list of rejected rows; there is none when all were good."""
    return prefix.with_name(prefix.name + ".rejected.jsonl")


def write_sidecar(prefix: Path, identity: Mapping[str, Any], record: ShardRecord) -> None:
    """Declare a shard finished: all its other files are on disk."""
    write_sealed(sidecar(prefix), {"identity": dict(identity), "record": asdict(record)})


def write_rejected(prefix: Path, rejected: list[RejectedRow]) -> str | None:
    """Write the list of rejected rows beside the shard; return its sha256 (hex)."""
    path = rejected_rows(prefix)
    if not rejected:
        path.unlink(missing_ok=True)
        return None
    lines = [json.dumps(asdict(row), ensure_ascii=False) for row in rejected]
    write_file(path, "\n".join(lines) + "\n")
    return file_sha256(path)


def finished_shard(prefix: Path, identity: Mapping[str, Any]) -> ShardRecord | None:
    """Return the record of a shard that is done, or None when it must be made (anew).

    Every byte is checked against the sidecar's checksums. O(size of the shard).

    Raises:
        ShardError: the shard is whole, but made from something else.
    """
    record = _known_record(read_sealed(sidecar(prefix)), sidecar(prefix), identity)
    return record if record is not None and _is_whole(prefix, record) else None


def finished_in_store(
    store: Store, files: Mapping[str, int], name: str, identity: Mapping[str, Any]
) -> ShardRecord | None:
    """Return the record of a shard that is done in a store, or None when it must be made (anew).

    Sizes are compared, not checksums: objects do not end early, and `verify` reads them.

    Args:
        store: of the output.
        files: names and sizes of what lies in the folder of shards.
        name: of the shard.
        identity: what it must be made from.

    Raises:
        ShardError: as `finished_shard`.
    """
    if f"{name}.json" not in files:
        return None
    data = store.read(f"tokens/{name}.json")
    kept = None if data is None else parse_sealed(data)
    record = _known_record(kept, f"{store.url}/tokens/{name}.json", identity)
    if record is None:
        return None
    sizes = {".bin": record.bin_bytes, ".idx": record.idx_bytes}
    if any(files.get(name + end) != size for end, size in sizes.items()):
        return None
    others = {".usage.parquet": record.usage_sha256, ".rejected.jsonl": record.rejected_sha256}
    is_whole = all(name + end in files for end, sha256 in others.items() if sha256 is not None)
    return record if is_whole else None


def _known_record(
    kept: dict[str, Any] | None, where: Path | str, identity: Mapping[str, Any]
) -> ShardRecord | None:
    """Return the record of a sidecar; None if it is damaged, an error if it is another run's."""
    if kept is None:
        return None
    try:
        record = ShardRecord.from_json(kept["record"])
        old = dict(kept["identity"])
    except (KeyError, TypeError, ValueError):
        return None
    # Tuples become lists in JSON, so compare what JSON makes of both.
    new = json.loads(json.dumps(dict(identity)))
    differing = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    if differing:
        name = differing[0]
        message = (
            f"{where}: made from another {name} (found {old.get(name)}, this run has "
            f"{new.get(name)}); use another output, or --restart"
        )
        raise ShardError(message)
    return record


def _is_whole(prefix: Path, record: ShardRecord) -> bool:
    expected = [
        (prefix.with_name(prefix.name + ".bin"), record.bin_sha256),
        (prefix.with_name(prefix.name + ".idx"), record.idx_sha256),
    ]
    if record.usage_sha256 is not None:
        expected.append((usage_file(prefix), record.usage_sha256))
    if record.rejected_sha256 is not None:
        expected.append((rejected_rows(prefix), record.rejected_sha256))
    return all(path.is_file() and file_sha256(path) == digest for path, digest in expected)

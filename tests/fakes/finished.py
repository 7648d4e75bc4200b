"""A finished output made of given ids, without a run: what readers of outputs are tested on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from jogak.manifest import Boundary, Manifest, ShardRecord, write_manifest
from jogak.output import Output
from jogak.shards import ShardWriter, dtype_for

Documents = Sequence[Sequence[int]]


def write_output(folder: Path, shards: Sequence[Documents], vocab_size: int = 500) -> Path:
    """Write shards and a manifest below `folder`; return it."""
    output = Output(folder)
    output.create()
    records = []
    for index, documents in enumerate(shards):
        with ShardWriter(output.shard(index), dtype_for(vocab_size)) as writer:
            ids = np.array([each for ids in documents for each in ids], np.uint32)
            writer.append(ids, np.array([len(ids) for ids in documents], np.int64))
        assert writer.files is not None
        records.append(
            ShardRecord(
                index=index,
                name=output.shard(index).name,
                **asdict(writer.files),
                changed_documents=0,
                special_text=0,
                rejected_rows=0,
                rejected_sha256=None,
                skipped_files=(),
                parts=(),
                tallies=(),
            )
        )
    manifest = Manifest(
        name="finished",
        job_sha256="0" * 64,
        versions={"jogak": "0", "unicode": "16.0.0"},
        dtype=dtype_for(vocab_size).name,
        vocab_size=vocab_size,
        tokenizer_sha256="1" * 64,
        boundary=Boundary(None, 0),
        shards=tuple(records),
    )
    write_manifest(output, manifest)
    return folder


def random_shards(seed: int, vocab_size: int = 500, shards: int = 4) -> list[list[list[int]]]:
    """Return documents of many lengths, empty ones and an empty shard among them."""
    rng = np.random.default_rng(seed)
    made = [
        [
            rng.integers(0, vocab_size, rng.choice([0, 1, 3, 30, 300])).tolist()
            for _ in range(rng.integers(0, 12))
        ]
        for _ in range(shards - 1)
    ]
    return [*made[:1], [], *made[1:]]

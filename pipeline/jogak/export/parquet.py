"""Parquet for `datasets`: a row for each document, `id` and `input_ids`; a file for each shard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jogak.export.blocks import Advance, Block, all_blocks
from jogak.shards import Tokens

if TYPE_CHECKING:
    import pyarrow as pa

ROW_IDS = 2**26
"""Ids of one row at most: a Parquet page, which holds whole rows, is below 2 GiB."""


def write_parquet(
    tokens: Tokens, folder: Path, facts: dict[str, Any], advance: Advance
) -> dict[str, Any]:
    """Write NAME.parquet for each shard, a row group for each block.

    Only where some document is longer than ROW_IDS is it cut into rows, which a column
    `chunk_index` numbers.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    is_cut = any(
        bool((tokens.shard(index).lengths > ROW_IDS).any()) for index in range(tokens.shards)
    )
    fields = [("id", pa.int64()), ("input_ids", pa.list_(pa.int32()))]
    if is_cut:
        fields.insert(1, ("chunk_index", pa.int32()))
    # `datasets` takes every file of a folder for data, so what the others have in export.json
    # stands in each file.
    schema = pa.schema(fields, metadata={"jogak": json.dumps(facts)})
    for name, blocks in all_blocks(tokens, advance):
        with pq.ParquetWriter(folder / f"{name}.parquet", schema, compression="zstd") as writer:
            for block in blocks:
                writer.write_batch(_rows(block, schema, is_cut=is_cut))
    return {}


def _rows(block: Block, schema: pa.Schema, *, is_cut: bool) -> pa.RecordBatch:
    import pyarrow as pa

    starts = np.concatenate([[0], block.ends[:-1]])
    numbers = np.arange(block.first, block.first + len(block.ends), dtype=np.int64)
    # A document without ids still has one row.
    pieces = np.maximum(-(-(block.ends - starts) // ROW_IDS), 1)
    chunk = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    ends = np.minimum(
        np.repeat(starts, pieces) + (chunk + 1) * ROW_IDS, np.repeat(block.ends, pieces)
    )
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    # Ids are below 2^31 (Megatron's int32), so the type of Parquet's readers holds them.
    values = pa.array(block.ids.astype(np.int32))
    columns = {
        "id": pa.array(np.repeat(numbers, pieces)),
        "input_ids": pa.ListArray.from_arrays(pa.array(offsets), values),
    }
    if is_cut:
        columns["chunk_index"] = pa.array(chunk.astype(np.int32))
    return pa.record_batch([columns[name] for name in schema.names], schema=schema)

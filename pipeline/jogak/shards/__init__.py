r"""Token shards: `.bin` and `.idx` in the layout of Megatron's IndexedDataset, one document each.

    PREFIX.bin  ids back to back, little-endian, uint16 or uint32
    PREFIX.idx  "MMIDIDX\0\0", u64 version 1, u8 type code (8 = uint16, 4 = int32, whose bytes
                equal uint32 below 2^31), u64 sequences S, u64 documents S + 1, i32 lengths[S]
                in tokens, i64 pointers[S] in bytes, i64 document starts 0..S

Whatever the number of documents, a writer holds one block of the index in memory: lengths go to
disk as they come, pointers and document starts follow from them at the end.

Source: megatron-core 0.16.1, megatron/core/datasets/indexed_dataset.py (byte-equal to its builder).
"""

from __future__ import annotations

from jogak.shards.layout import TokenType, byte_pointers, dtype_for
from jogak.shards.reader import Shard, read_shard
from jogak.shards.tokens import Tokens, open_tokens
from jogak.shards.writer import ShardFiles, ShardWriter

__all__ = [
    "Shard",
    "ShardFiles",
    "ShardWriter",
    "TokenType",
    "Tokens",
    "byte_pointers",
    "dtype_for",
    "open_tokens",
    "read_shard",
]

"""What every exporter reads: the documents of a shard in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jogak.read.columns import cut_by_bytes
from jogak.shards import Tokens

Advance = Callable[[int], None]

BLOCK_IDS = 2**22
"""Ids that are handled together, unless one document has more."""


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive documents.

    Attributes:
        ids: a view of the shard, (n,).
        ends: int64 (documents,); where each document ends in `ids`.
        first: number of the first document, over all shards.
        start: number of the first id, over all shards.
    """

    ids: NDArray[np.integer[Any]]
    ends: NDArray[np.int64]
    first: int
    start: int


def shard_blocks(
    tokens: Tokens, index: int, first: int, start: int, advance: Advance
) -> Iterator[Block]:
    """Yield the documents of one shard.

    Args:
        tokens: the output.
        index: the shard.
        first: number of its first document over all shards.
        start: number of its first id over all shards.
        advance: called with the ids that are done.
    """
    shard = tokens.shard(index)
    offsets = np.concatenate([[0], np.cumsum(shard.lengths, dtype=np.int64)])
    for low, high in cut_by_bytes(offsets, BLOCK_IDS):
        begin, end = int(offsets[low]), int(offsets[high])
        ends = offsets[low + 1 : high + 1] - begin
        yield Block(shard.ids[begin:end], ends, first + low, start + begin)
        advance(end - begin)


def all_blocks(tokens: Tokens, advance: Advance) -> Iterator[tuple[str, Iterator[Block]]]:
    """Yield each shard's name and its blocks, which are to be used up before the next."""
    first = start = 0
    for index in range(tokens.shards):
        yield tokens.name(index), shard_blocks(tokens, index, first, start, advance)
        documents, ids = tokens.size(index)
        first += documents
        start += ids


def documents_of(block: Block) -> Iterator[NDArray[np.integer[Any]]]:
    """Yield the ids of each document of a block."""
    begin = 0
    for end in block.ends.tolist():
        yield block.ids[begin:end]
        begin = end

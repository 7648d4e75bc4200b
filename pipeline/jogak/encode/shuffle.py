"""Shuffling: which unit makes which shard, and in which order its documents follow each other.

The order is that of keys, ascending. Item i of n, from 0, has the key mix(start + (i + 1) * gamma)
in 64 bits, with gamma = 0x9E3779B97F4A7C15 and mix the output function of splitmix64; `start` is
the first 8 bytes, little-endian, of sha256("jogak shuffle SEED NAME"). NAME is "units" for the
units of the plan, and "shard K" for the documents within shard K. No key occurs twice, since mix is
a bijection, and nothing depends on a library's random numbers. Documents move within their unit
only: what is shuffled together is bounded by `encode.shard_bytes`, and no unit waits for another.

Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014); the constants are
those of Vigna's splitmix64.c.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from jogak.config import ShuffleOptions
from jogak.output import explained, temporary_path
from jogak.plan import Plan
from jogak.read.columns import cut_by_bytes

BLOCK_IDS = 2**20
"""Ids that are gathered at once, unless one document has more."""


def permutation(count: int, seed: int, name: str) -> NDArray[np.int64]:
    """Return the items 0 to count - 1 in shuffled order, int64 (count,). O(count log count)."""
    digest = hashlib.sha256(f"jogak shuffle {seed} {name}".encode()).digest()
    start = np.frombuffer(digest[:8], "<u8").astype(np.uint64)
    keys = start + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.argsort(keys ^ (keys >> np.uint64(31))).astype(np.int64, copy=False)


def shard_units(units: Plan, shuffle: ShuffleOptions | None) -> Plan:
    """Return the units in the order of their shards, numbered so."""
    if shuffle is None:
        return units
    return units.reordered(permutation(len(units), shuffle.seed, "units"))


def document_order(count: int, shuffle: ShuffleOptions | None, shard: int) -> NDArray[np.int64]:
    """Return for each document of a shard which document of its unit it is, int64 (count,)."""
    if shuffle is None:
        return np.arange(count, dtype=np.int64)
    return permutation(count, shuffle.seed, f"shard {shard}")


class Spool:
    """Holds the documents of one unit on disk until all are there, and gives them shuffled.

    In memory are 16 bytes a document and one block.
    """

    def __init__(self, prefix: Path) -> None:
        """Open a temporary file beside the shard `prefix`."""
        self._path = temporary_path(prefix.with_name(prefix.name + ".spool"))
        self._lengths: list[NDArray[np.int64]] = []
        with explained(self._path):
            self._file = self._path.open("w+b")

    def append(self, ids: NDArray[np.uint32], lengths: NDArray[np.int64]) -> None:
        """Add documents, as to a ShardWriter."""
        with explained(self._path):
            self._file.write(np.ascontiguousarray(ids, np.uint32).data)
        self._lengths.append(lengths)

    def shuffled(
        self, shuffle: ShuffleOptions, shard: int
    ) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.int64]]]:
        """Yield the documents in their order within the shard, in blocks of ids and lengths."""
        lengths = np.concatenate([np.empty(0, np.int64), *self._lengths])
        ends = np.cumsum(lengths)
        with explained(self._path):
            self._file.flush()
        total = int(lengths.sum())
        ids = np.memmap(self._path, np.uint32, "r") if total else np.empty(0, np.uint32)
        order = document_order(len(lengths), shuffle, shard)
        lengths, starts = lengths[order], (ends - lengths)[order]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        for low, high in cut_by_bytes(offsets, BLOCK_IDS):
            sizes = lengths[low:high]
            shift = starts[low:high] - (offsets[low:high] - offsets[low])
            places = np.arange(int(sizes.sum())) + np.repeat(shift, sizes)
            yield np.asarray(ids[places]), sizes

    def __enter__(self) -> Spool:
        """Return the spool."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the file."""
        self._file.close()
        self._path.unlink(missing_ok=True)

"""What the ids that occur say about a vocabulary: lengths, ranks, growth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jogak.tokenizer import Tokenizer
from jogak.vocabulary import pack_tokens

LONGEST = 40
"""Tokens of this many characters and more are counted together."""
POINTS = 48
"""Points of a curve."""


def token_lengths(table: Sequence[bytes], ids: NDArray[np.int64]) -> list[int]:
    """Return how many of the tokens that occur begin so many characters: a list by length.

    A token that begins no character has length 0; the last entry counts all longer ones too.
    """
    data, offsets = pack_tokens(table)
    begun = np.concatenate([[0], np.cumsum(data & 0xC0 != 0x80)])
    lengths = np.minimum(np.diff(begun[offsets]), LONGEST)
    times = np.zeros(LONGEST + 1, np.int64)
    np.add.at(times, lengths, ids[: len(lengths)])
    return [int(each) for each in times[: int(np.flatnonzero(times).max(initial=-1)) + 1]]


def ranks(ids: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return (rank, count) of the ids that occur, commonest first, at log-spaced ranks."""
    ordered = np.sort(ids[ids > 0])[::-1]
    return [(rank, int(ordered[rank - 1])) for rank in spaced(len(ordered))]


def spaced(last: int) -> list[int]:
    """Return whole numbers from 1 to `last`, spaced evenly by their logarithm."""
    if last < 1:
        return []
    return sorted({round(float(each)) for each in np.geomspace(1, last, POINTS)})


def growth(
    tokenizer: Tokenizer, columns: Sequence[NDArray[np.int64]]
) -> list[dict[str, Any]] | None:
    """Return the bytes per token that the first merges alone would give, at some sizes.

    A token is what merges made of its parts in order, so undoing the last ones gives exactly the
    tokens of the smaller vocabulary (the prefix law of BPE); no text is read.

    Args:
        tokenizer: byte-pair merges.
        columns: how often each id occurs, int64 (ids,), for each group.

    Returns:
        By size: the ids up to the last merge that counts, and bytes per token of each group; None
        for a tokenizer without merges, or where several merges make the same token.
    """
    merges = tokenizer.spec.merges.reshape(-1, 3)
    if not len(merges) or len(np.unique(merges[:, 2])) != len(merges):
        return None
    sizes = np.array([len(token) for token in tokenizer.token_table()], np.int64)
    uses = np.stack(columns, axis=1)
    text_bytes = sizes @ uses
    uses = uses.copy()
    applied = np.zeros((len(merges), len(columns)), np.int64)
    depths = _depths(merges, len(sizes))
    for depth in range(int(depths.max()), 0, -1):
        chosen = np.flatnonzero(depths == depth)
        left, right, result = merges[chosen].T
        applied[chosen] = uses[result]
        np.add.at(uses, left, applied[chosen])
        np.add.at(uses, right, applied[chosen])
    before = np.sum(np.stack(columns, axis=1), axis=0) + applied.sum(axis=0)
    tokens = before - np.cumsum(applied, axis=0)
    base = tokenizer.vocab_size - len(merges)
    return [
        {
            "vocab_size": base + merge,
            "bytes_per_token": [
                round(float(size / count), 4) if count else None
                for size, count in zip(text_bytes, tokens[merge - 1], strict=True)
            ],
        }
        for merge in spaced(len(merges))
    ]


def _depths(merges: NDArray[np.uint32], size: int) -> NDArray[np.int64]:
    """Return how many merges deep the result of each is: 1 where both parts are none, .."""
    depths = np.zeros(size, np.int64)
    deeper = depths[merges[:, 2]]
    for _ in merges:  # at most: a list of them is some twenty deep
        deeper = np.maximum(depths[merges[:, 0]], depths[merges[:, 1]]) + 1
        if np.array_equal(depths[merges[:, 2]], deeper):
            break
        depths[merges[:, 2]] = deeper
    return deeper

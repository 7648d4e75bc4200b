"""Byte-level BPE as its definition says, one merge at a time: the oracle of `_core.Encoder`.

Tokens are kept as bytes. Three rules say which adjacent pair merges next, always the leftmost among
equals: the listed pair of lowest list index (Hugging Face), or the pair whose joined bytes are the
token of lowest id (tiktoken); either with or without "a pretoken that is a token stays whole".
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Vocabulary:
    """What `_core.Encoder` takes, as Python data; b"" is an id without bytes."""

    tokens: Sequence[bytes]
    merges: Sequence[tuple[int, int, int]]
    rule: str
    whole_first: bool

    def arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint32]]:
        data = np.frombuffer(b"".join(self.tokens), dtype=np.uint8)
        offsets = np.cumsum([0, *map(len, self.tokens)], dtype=np.int64)
        return data, offsets, np.array(self.merges, dtype=np.uint32).reshape(-1)


class ReferenceEncoder:
    """Encode single pretokens, slowly."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.ids = {token: i for i, token in enumerate(vocabulary.tokens) if token}
        # Of a pair that is listed twice the later entry counts, as in Hugging Face's map.
        self.listed = {
            (left, right): (index, result)
            for index, (left, right, result) in enumerate(vocabulary.merges)
        }

    def priority(self, left: int, right: int) -> tuple[int, int] | None:
        """Return the rank and the result of merging two adjacent ids, or None."""
        if self.vocabulary.rule == "pairs":
            return self.listed.get((left, right))
        joined = self.vocabulary.tokens[left] + self.vocabulary.tokens[right]
        found = self.ids.get(joined)
        return None if found is None else (found, found)

    def encode_pretoken(self, pretoken: bytes) -> list[int]:
        if self.vocabulary.whole_first and pretoken in self.ids:
            return [self.ids[pretoken]]
        ids = [self.ids[bytes([byte])] for byte in pretoken]
        while True:
            best: tuple[int, int, int] | None = None
            for at, (left, right) in enumerate(itertools.pairwise(ids)):
                found = self.priority(left, right)
                if found is not None and (best is None or found[0] < best[0]):
                    best = (found[0], at, found[1])
            if best is None:
                return ids
            ids[best[1] : best[1] + 2] = [best[2]]

    def encode(self, pretokens: Sequence[bytes]) -> list[int]:
        return [i for pretoken in pretokens for i in self.encode_pretoken(pretoken)]

"""Documents cut at added tokens, and put together again from the ids of what lies between."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Encoded = tuple[NDArray[np.uint32], NDArray[np.int64]]
"""ids uint32 (n,), and how many there are up to each piece's end, int64 (pieces,)."""

TEXT = -1
"""An item that is a piece of text, not an added token."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Documents as items in order: pieces of text and added tokens.

    Attributes:
        data: uint8 (n,); the pieces of text, back to back.
        offsets: int64 (pieces + 1,); piece i is data[offsets[i]:offsets[i + 1]].
        items: int64 (items,); the id of an added token, or TEXT for the next piece.
        documents: int64 (items,); each item's document, ascending.
        count: number of documents; one without items is empty.
        firsts: bool (pieces,); does the piece begin its document?
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    items: NDArray[np.int64]
    documents: NDArray[np.int64]
    count: int
    firsts: NDArray[np.bool_]

    @classmethod
    def of(cls, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Pieces:
        """Return whole documents, one piece each."""
        count = len(offsets) - 1
        return cls(
            data=data,
            offsets=offsets,
            items=np.full(count, TEXT),
            documents=np.arange(count),
            count=count,
            firsts=np.ones(count, dtype=np.bool_),
        )

    def with_text(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Pieces:
        """Return the same items with other text, piece by piece."""
        return replace(self, data=data, offsets=offsets)

    def cut(
        self, starts: NDArray[np.int64], ends: NDArray[np.int64], ids: NDArray[np.int64]
    ) -> Pieces:
        """Take the added tokens at data[starts:ends] out of the text.

        Args:
            starts: int64 (n,); ascending, each inside one piece.
            ends: int64 (n,); no two tokens overlap.
            ids: int64 (n,); what each of them is.
        """
        if not len(starts):
            return self
        bounds = np.unique(np.concatenate([self.offsets, starts, ends]))
        begins = bounds[:-1]
        place = np.minimum(np.searchsorted(starts, begins), len(starts) - 1)
        is_token = starts[place] == begins
        piece = np.searchsorted(self.offsets, begins, side="right") - 1
        firsts = self.firsts[piece] & (begins == self.offsets[piece])
        sizes = np.diff(bounds)
        kept = np.repeat(~is_token, sizes)
        offsets = np.zeros(int((~is_token).sum()) + 1, dtype=np.int64)
        np.cumsum(sizes[~is_token], out=offsets[1:])
        items, documents = self._merge_items(piece, np.where(is_token, ids[place], TEXT))
        return Pieces(
            data=self.data[bounds[0] : bounds[-1]][kept],
            offsets=offsets,
            items=items,
            documents=documents,
            count=self.count,
            firsts=firsts[~is_token],
        )

    def _merge_items(
        self, piece: NDArray[np.int64], found: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Put what was found in each piece in the piece's place among the items."""
        texts = np.flatnonzero(self.items == TEXT)
        tokens = np.flatnonzero(self.items != TEXT)
        places = np.concatenate([texts[piece], tokens])
        values = np.concatenate([found, self.items[tokens]])
        order = np.argsort(places, kind="stable")
        return values[order], self.documents[places[order]]

    def splice(
        self, ids: NDArray[np.uint32], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Put the added tokens between the ids of the pieces of text.

        Args:
            ids: uint32 (n,); of all pieces.
            ends: int64 (pieces,); how many ids there are up to each piece's end.

        Returns:
            ids uint32 (m,) and ends int64 (documents,).
        """
        is_text = self.items == TEXT
        sizes = np.ones(len(self.items), dtype=np.int64)
        sizes[is_text] = np.diff(ends, prepend=0)
        stops = np.cumsum(sizes)
        total = int(stops[-1]) if len(stops) else 0
        out = np.empty(total, dtype=np.uint32)
        tokens = stops[~is_text] - 1
        is_id = np.ones(total, dtype=np.bool_)
        is_id[tokens] = False
        out[tokens] = self.items[~is_text]
        out[is_id] = ids
        last = np.searchsorted(self.documents, np.arange(self.count), side="right")
        return out, np.concatenate([np.zeros(1, dtype=np.int64), stops])[last]

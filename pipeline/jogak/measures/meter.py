"""TokenMeter: what a tokenizer's ids are, summed up natively by group of documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.measures.sums import TokenSums
from jogak.tokenizer import Tokenizer
from jogak.vocabulary import pack_tokens

COLUMNS = len(TokenSums.__slots__)


class TokenMeter:
    """Measures the ids of one tokenizer; immutable."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Tabulate what every token of the vocabulary is."""
        self._tokenizer = tokenizer
        self.vocab_size = tokenizer.vocab_size
        rules = tokenizer.spec.characters
        unknown = rules.unknown_id
        if unknown is None and tokenizer.spec.names.unk is not None:
            unknown = tokenizer.spec.find(tokenizer.spec.names.unk)
        # WordPiece drops white space, so its tokens do not say where words end.
        self._has_words = tokenizer.spec.model != "wordpiece"
        self._decodes_by_bytes = tokenizer.spec.source is None
        self._meter = _core.TokenMeter(
            *pack_tokens(tokenizer.token_table()),
            unknown=-1 if unknown is None else unknown,
            strip_start=rules.strip_start,
            strip_last_space=bool(rules.suffix),
        )

    def measure(
        self,
        ids: NDArray[np.uint32],
        ends: NDArray[np.int64],
        groups: NDArray[np.int32],
        counts: NDArray[np.int64],
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
    ) -> list[TokenSums]:
        """Sum up the tokens of documents by group.

        Args:
            ids: uint32 (n,), without boundary tokens.
            ends: int64 (documents,); ids up to each document's end.
            groups: int32 (documents,); the group of each document.
            counts: int64 (groups, vocab_size); how often each id occurs is added to it.
            data: uint8 (n,); the text that was encoded, to compare with what decoding gives.
            offsets: int64 (documents + 1,).

        Returns:
            The sums of each group.
        """
        flat = self._meter.measure(ids, ends, groups, counts, data, offsets)
        rows = flat.reshape(-1, COLUMNS)
        if not self._has_words:
            rows[:, 1:3] = 0
        if not self._decodes_by_bytes:
            rows[:, 7] = self._decoded_exactly(ids, ends, groups, len(rows), data, offsets)
        return [TokenSums(*row) for row in rows.tolist()]

    def _decoded_exactly(
        self,
        ids: NDArray[np.uint32],
        ends: NDArray[np.int64],
        groups: NDArray[np.int32],
        count: int,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Count the documents of each group that a library's decoder gives back."""
        found = np.zeros(count, np.int64)
        starts = np.concatenate([[0], ends[:-1]])
        for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            text = data[offsets[place] : offsets[place + 1]].tobytes()
            decoded = self._tokenizer.decode(ids[start:end], errors="replace")
            found[groups[place]] += decoded.encode() == text
        return found

"""From pieces of text to ids: the native encoders behind one interface."""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.errors import TokenizerError
from jogak.formats.piece_vocabulary import BYTE_PIECES
from jogak.tokenizer.cutting import Cutter
from jogak.vocabulary import TokenizerSpec

Encoded = tuple[NDArray[np.uint32], NDArray[np.int64]]
"""ids uint32 (n,), and how many there are up to each piece's end, int64 (pieces,)."""


class Model(Protocol):
    """What turns normalized text without added tokens into ids; safe to call from threads."""

    def encode(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Encoded:
        """Encode pieces of text."""
        ...

    def pretokenize(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
        """Return the pretokens of pieces of text."""
        ...


class ByteModel:
    """Byte-level BPE."""

    def __init__(self, spec: TokenizerSpec) -> None:
        """Build the tables of the native encoder."""
        self.cutter = Cutter(spec)
        try:
            self._encoder = _core.Encoder(
                spec.token_data,
                spec.token_offsets,
                np.ascontiguousarray(spec.merges.reshape(-1)),
                spec.rule,
                spec.whole_first,
            )
        except ValueError as error:
            message = f"vocabulary and merges do not fit each other: {error}"
            raise TokenizerError(message) from error

    def encode(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Encoded:
        """Encode pieces of text."""
        scanner = self.cutter.scanner
        if scanner is not None:
            return self._encoder.encode(scanner, data, offsets, None)
        data, offsets, ends = self.cutter.cut(data, offsets)
        return self._encoder.encode(None, data, offsets, ends)

    def pretokenize(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
        """Return the pretokens of pieces of text."""
        return split_text(*self.cutter.cut(data, offsets))


class CharacterModel:
    """Character-level BPE, with or without byte fallback."""

    def __init__(self, spec: TokenizerSpec) -> None:
        """Build the tables of the native encoder."""
        self.cutter = Cutter(spec)
        rules = spec.characters
        found = {token: index for index, token in enumerate(spec.tokens())}
        pieces = [found[piece.encode()] for piece in BYTE_PIECES] if rules.byte_fallback else []
        try:
            self._encoder = _core.CharacterEncoder(
                spec.token_data,
                spec.token_offsets,
                np.ascontiguousarray(spec.merges.reshape(-1)),
                np.array(pieces, dtype=np.uint32),
                rules.unknown_id,
                fuse_unknown=rules.fuse_unknown,
                whole_first=spec.whole_first,
                rank_by_result=spec.rule == "ranks",
                prefix=rules.prefix,
                suffix=rules.suffix,
            )
        except ValueError as error:
            message = f"vocabulary and merges do not fit each other: {error}"
            raise TokenizerError(message) from error

    def encode(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Encoded:
        """Encode pieces of text.

        Raises:
            TokenizerError: a character that the vocabulary cannot say.
        """
        data, offsets, ends = self.cutter.cut(data, offsets)
        try:
            ids, piece_ends, _ = self._encoder.encode(data, offsets, ends)
        except RuntimeError as error:
            message = f"text: {error}"
            raise TokenizerError(message) from error
        return ids, piece_ends

    def pretokenize(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
        """Return the pretokens of pieces of text."""
        return split_text(*self.cutter.cut(data, offsets))


def split_text(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], ends: NDArray[np.int64]
) -> list[str]:
    """Return the text of pretokens, given their ends."""
    bounds = [int(offsets[0]), *ends.tolist()]
    return [data[start:stop].tobytes().decode() for start, stop in pairwise(bounds)]


def make_model(spec: TokenizerSpec) -> Model:
    """Return what encodes a spec."""
    if spec.model == "characters":
        return CharacterModel(spec)
    return ByteModel(spec)

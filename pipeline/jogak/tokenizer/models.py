"""From pieces of text to ids: the native encoders behind one interface."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.errors import TokenizerError
from jogak.formats.piece_vocabulary import BYTE_PIECES
from jogak.tokenizer.cutting import Cut, Cutter
from jogak.tokenizer.library import LibraryModel
from jogak.tokenizer.pieces import Encoded
from jogak.tokenizer.texts import one_text
from jogak.vocabulary import TokenizerSpec


class Model(Protocol):
    """What turns normalized text without added tokens into ids; safe to call from threads."""

    def encode(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Encoded:
        """Encode pieces of text."""
        ...

    def encode_with_ends(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Encode one text: its ids, and where each ends in data, int64 (n,)."""
        ...

    def pretokenize(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
        """Return the pretokens of pieces of text."""
        ...


class ByteModel:
    """Byte-level BPE."""

    def __init__(self, spec: TokenizerSpec, *, judged: bool = False) -> None:
        """Build the tables of the native encoder; of a judged spec when they are first needed."""
        self.cutter = Cutter(spec)
        self._sizes = np.diff(spec.token_offsets)
        self._spec = spec
        if not judged:
            self._encoder = _encoder(spec, cutting=True)

    @cached_property
    def _encoder(self) -> _core.Encoder:
        return _encoder(self._spec, cutting=True)

    def encode(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Encoded:
        """Encode pieces of text."""
        scanner = self.cutter.scanner
        if scanner is not None:
            return self._encoder.encode(scanner, data, offsets, None)
        data, offsets, ends = self.cutter.cut(data, offsets)
        return self._encoder.encode(None, data, offsets, ends)

    def encode_text(self, text: bytes) -> NDArray[np.uint32]:
        """Encode one text of valid UTF-8, the quick way for short ones."""
        if self.cutter.scanner is None:
            return self.encode(*one_text(text))[0]
        return self._encoder.encode_text(self.cutter.scanner, text)

    def encode_with_ends(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Encode one text: its ids, and where each ends in data, int64 (n,)."""
        ids, _ = self.encode(data, offsets)
        ends = np.cumsum(self._sizes[ids])
        return ids, _undo_removal(data, self.cutter.cut(data, offsets), ends)

    def encode_uncut(self, data: NDArray[np.uint8]) -> NDArray[np.uint32]:
        """Encode bytes that need not be UTF-8 as one pretoken."""
        # Where to cut a pretoken is only known for whole characters.
        bounds = np.array([0, len(data)], dtype=np.int64)
        return self._raw_encoder.encode(None, data, bounds, bounds[1:])[0]

    @cached_property
    def _raw_encoder(self) -> _core.Encoder:
        return _encoder(self._spec, cutting=False)

    def pretokenize(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
        """Return the pretokens of pieces of text."""
        return split_text(*self.cutter.cut(data, offsets))


def _encoder(spec: TokenizerSpec, *, cutting: bool) -> _core.Encoder:
    try:
        return _core.Encoder(
            spec.token_data,
            spec.token_offsets,
            np.ascontiguousarray(spec.merges.reshape(-1)),
            spec.rule,
            spec.whole_first,
            _cutting=cutting,
        )
    except ValueError as error:
        message = f"vocabulary and merges do not fit each other: {error}"
        raise TokenizerError(message) from error


class CharacterModel:
    """Character-level BPE, with or without byte fallback."""

    def __init__(self, spec: TokenizerSpec) -> None:
        """Build the tables of the native encoder."""
        self.cutter = Cutter(spec)
        rules = spec.characters
        try:
            self._encoder = _core.CharacterEncoder(
                spec.token_data,
                spec.token_offsets,
                np.ascontiguousarray(spec.merges.reshape(-1)),
                byte_piece_ids(spec),
                rules.unknown_id,
                fuse_unknown=rules.fuse_unknown,
                whole_first=spec.whole_first,
                ranks=merge_ranks(spec),
                prefix=rules.prefix,
                suffix=rules.suffix,
            )
        except ValueError as error:
            message = f"vocabulary and merges do not fit each other: {error}"
            raise TokenizerError(message) from error

        if spec.whole_first and spec.rule == "ranks":
            self._check_whole(spec)

    def encode_pretokens(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Encoded:
        """Encode pretokens, cut and normalized already: their ids, and how many up to each."""
        ids, ends, _ = self._encoder.encode(data, offsets, offsets[1:])
        return ids, ends

    def _check_whole(self, spec: TokenizerSpec) -> None:
        """Refuse a piece that merging alone does not make: between symbols it would be whole."""
        plain = CharacterModel(replace(spec, whole_first=False, splits=()))
        _, ends = plain.encode(spec.token_data, spec.token_offsets)
        sizes = np.diff(ends, prepend=0)
        merged = np.unique(spec.merges[:, 2])
        broken = merged[sizes[merged] != 1]
        if len(broken):
            message = (
                f"piece {spec.token(int(broken[0])).decode()!r} is not made by the model's merges; "
                "together with user-defined symbols that cannot be applied exactly"
            )
            raise TokenizerError(message)

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

    def encode_with_ends(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Encode one text: its ids, and where each ends in data, int64 (n,)."""
        cut = self.cutter.cut(data, offsets)
        ids, _, ends = self._encoder.encode(*cut, with_ends=True)
        return ids, _undo_removal(data, cut, ends)

    def pretokenize(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
        """Return the pretokens of pieces of text."""
        return split_text(*self.cutter.cut(data, offsets))


class UnigramModel:
    """A SentencePiece Unigram model; a text is searched as a whole."""

    def __init__(self, spec: TokenizerSpec) -> None:
        """Build the trie of the native encoder."""
        unknown = spec.characters.unknown_id
        try:
            self._encoder = _core.UnigramEncoder(
                spec.token_data,
                spec.token_offsets,
                np.zeros(0, dtype=np.float32) if spec.scores is None else spec.scores,
                np.array(spec.user_defined, dtype=np.uint32),
                byte_piece_ids(spec),
                0 if unknown is None else unknown,
            )
        except ValueError as error:
            message = f"the vocabulary does not fit its scores: {error}"
            raise TokenizerError(message) from error

    def encode(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Encoded:
        """Encode pieces of text."""
        ids, ends, _ = self._encoder.encode(data, offsets)
        return ids, ends

    def encode_with_ends(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Encode one text: its ids, and where each ends in data, int64 (n,)."""
        ids, _, ends = self._encoder.encode(data, offsets, with_ends=True)
        return ids, ends

    def pretokenize(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
        """Return the pieces of text: nothing is cut."""
        return split_text(data, offsets, offsets[1:])


def merge_ranks(spec: TokenizerSpec) -> NDArray[np.uint32]:
    """Return the rank of each merge, uint32 (m,), or (0,) where all are different.

    Under the rule `ranks` merges of one result have one rank, and those of tied results too.
    """
    if spec.rule != "ranks":
        return np.zeros(0, dtype=np.uint32)
    leaders = np.arange(len(spec.token_offsets) - 1)
    for group in spec.tied:
        leaders[list(group)] = group[0]
    results = leaders[spec.merges[:, 2]]
    return np.cumsum(np.diff(results, prepend=results[:1]) != 0).astype(np.uint32)


def byte_piece_ids(spec: TokenizerSpec) -> NDArray[np.uint32]:
    """Return the ids of the pieces for the 256 bytes, uint32 (256,), or (0,) without them."""
    if not spec.characters.byte_fallback:
        return np.zeros(0, dtype=np.uint32)
    found = {token: index for index, token in enumerate(spec.tokens())}
    return np.array([found[piece.encode()] for piece in BYTE_PIECES], dtype=np.uint32)


def _undo_removal(data: NDArray[np.uint8], cut: Cut, ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Turn ends in the text without what the cutter removed into ends in the whole text.

    A pretoken is looked for from the last one's end on: what was removed between them matched the
    split, and a pretoken does not begin with a match, so it cannot be found too early.
    """
    kept, _, pretoken_ends = cut
    if len(kept) == len(data):
        return ends
    whole, short = data.tobytes(), kept.tobytes()
    position = 0
    shifts = []
    for start, stop in pairwise([0, *pretoken_ends.tolist()]):
        position = whole.index(short[start:stop], position)
        shifts.append(position - start)
        position += stop - start
    shift = np.array(shifts, dtype=np.int64)
    return ends + shift[np.searchsorted(pretoken_ends, ends)]


def split_text(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], ends: NDArray[np.int64]
) -> list[str]:
    """Return the text of pretokens, given their ends."""
    bounds = [int(offsets[0]), *ends.tolist()]
    return [data[start:stop].tobytes().decode() for start, stop in pairwise(bounds)]


def make_model(spec: TokenizerSpec, *, judged: bool) -> Model:
    """Return what encodes a spec; see Tokenizer."""
    if spec.model == "characters":
        return CharacterModel(spec)
    if spec.model == "unigram" and spec.source is None:
        return UnigramModel(spec)
    if spec.source is not None:
        return LibraryModel(spec)
    return ByteModel(spec, judged=judged)

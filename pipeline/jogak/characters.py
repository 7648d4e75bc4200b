"""Vocabularies of characters: what merges begin with, and the spec of what they end with.

Ids are the special tokens, `<unk>` (unless it is one of them), the 256 byte pieces under byte
fallback, the characters by code point, the characters that end words (marker `</w>`) by code point,
then the merges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.config import UNKNOWN, TrainOptions, WordMarker
from jogak.count import PretokenCounts
from jogak.errors import TokenizerError
from jogak.formats.piece_vocabulary import BYTE_PIECES
from jogak.pretokenize import Pretokenizer, huggingface_regex
from jogak.pretokenize.words import END_MARKER, SPACE_MARKER, WORD_PATTERNS
from jogak.vocabulary import (
    AddedToken,
    CharacterRules,
    NormalizeStep,
    SpecialNames,
    Split,
    TokenizerSpec,
    normalize_steps,
    pack_tokens,
)

WHITE_SPACE = (
    *range(9, 14),
    *(0x20, 0x85, 0xA0, 0x1680),
    *range(0x2000, 0x200B),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
)
r"""What `\s` matches: the property White_Space."""

KSX1001_SYLLABLES = tuple(
    bytes((row, cell)).decode("euc_kr") for row in range(0xB0, 0xC9) for cell in range(0xA1, 0xFF)
)
"""The 2,350 Hangul syllables of KS X 1001, in its order."""


@dataclass(frozen=True, slots=True)
class Characters:
    """The ids before the first merge.

    Attributes:
        special: the special tokens, `<unk>` among them.
        pieces: the byte pieces; empty without byte fallback.
        symbols: the characters, and those that end words, which merges are made of.
    """

    special: tuple[str, ...]
    pieces: tuple[str, ...]
    symbols: tuple[bytes, ...]

    def reserved(self) -> list[bytes]:
        """Return the strings that no merge may make, since another token is spelled so."""
        return [text.encode() for text in (*self.special, *self.pieces)]

    def tokens(self) -> list[bytes]:
        """Return the bytes of the tokens, by id."""
        pieces = [piece.encode() for piece in self.pieces]
        return [b""] * len(self.special) + pieces + list(self.symbols)


def read_characters(counts: PretokenCounts, options: TrainOptions) -> Characters:
    """Take the characters of the counted text that the coverage asks for.

    Raises:
        TokenizerError: the text was counted for another word marker, is not UTF-8, or a special
            token is spelled as another token is.
    """
    marker = options.word_marker
    pattern = None if marker == "none" else WORD_PATTERNS[marker]
    if pattern is not None and counts.pattern != pattern:
        message = (
            f"train.word_marker: {marker!r} needs text counted for it (found counts of the pattern "
            f"{counts.pattern!r}); count with pattern='whitespace', word_marker={marker!r}"
        )
        raise TokenizerError(message)
    if marker == "none" and counts.pattern == WORD_PATTERNS[SPACE_MARKER]:
        message = "train.word_marker: the text was counted with '▁' in it; set word_marker to '▁'"
        raise TokenizerError(message)
    totals, endings = _count_characters(counts)
    if marker == END_MARKER:
        totals[list(WHITE_SPACE)] = 0
    taken = _covering(totals, options.character_coverage)
    if options.initial_syllables is not None:
        taken = sorted({*taken, *map(ord, KSX1001_SYLLABLES)})
    symbols = [chr(point) for point in taken]
    if marker == END_MARKER:
        symbols += [chr(point) + END_MARKER for point in taken if endings[point]]
    special = options.special_tokens
    special = special if UNKNOWN in special else (*special, UNKNOWN)
    found = Characters(
        special,
        BYTE_PIECES if options.byte_fallback else (),
        tuple(symbol.encode() for symbol in symbols),
    )
    known = {*found.pieces, *symbols}
    for content in special:
        if content in known:
            message = (
                f"train.special_tokens: {content!r} is a token of the alphabet already; choose "
                "another string"
            )
            raise TokenizerError(message)
    return found


def _count_characters(counts: PretokenCounts) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Return, by code point, occurrences, and whether one ends a pretoken."""
    invalid = np.flatnonzero(_core.validate_utf8(counts.data, counts.offsets) >= 0)
    if len(invalid):
        message = (
            f"train: the pretokens are not UTF-8 (found {counts.pretoken(int(invalid[0]))!r}), so "
            "they have no characters; use alphabet: bytes"
        )
        raise TokenizerError(message)
    return _core.count_characters(counts.data, counts.offsets, counts.counts)


def _covering(totals: NDArray[np.uint64], coverage: float) -> list[int]:
    """Return code points, ascending: the most frequent ones until their share is the coverage.

    Of equally frequent ones the smaller goes first, as in SentencePiece.
    """
    present = np.flatnonzero(totals)
    order = present[np.lexsort((present, totals.max() - totals[present]))]
    wanted = Fraction(str(coverage)) * sum(totals[present].tolist())
    taken: list[int] = []
    so_far = 0
    for point in order.tolist():
        if so_far >= wanted:
            break
        taken.append(point)
        so_far += int(totals[point])
    return sorted(taken)


def trainable(counts: PretokenCounts, options: TrainOptions) -> PretokenCounts:
    """Return the counts without words that spell out `</w>`, where that marks the end of words.

    A merge inside such a word could be spelled like a token that ends a word.
    """
    marker = END_MARKER.encode()
    if options.word_marker != END_MARKER or marker not in counts.data.tobytes():
        return counts
    kept = [row for row in range(len(counts)) if marker not in counts.pretoken(row)]
    data, offsets = pack_tokens([counts.pretoken(row) for row in kept])
    chosen = np.array(kept, dtype=np.int64)
    return replace(
        counts,
        data=data,
        offsets=offsets,
        counts=counts.counts[chosen],
        first=counts.first[chosen],
        rows={},
        row_counts={},
    )


@dataclass(frozen=True, slots=True)
class Frame:
    """What a vocabulary of characters does to text before it merges."""

    normalizer: tuple[NormalizeStep, ...]
    splits: tuple[Split, ...]
    suffix: str
    marker: str

    @classmethod
    def of_counts(cls, counts: PretokenCounts, word_marker: WordMarker) -> Frame:
        """Return what is to be done to text as these counts were made."""
        split = Split(huggingface_regex(Pretokenizer(counts.pattern).regex))
        if word_marker == END_MARKER:
            split = Split(r"\s+", behavior="removed")
        marked = word_marker == SPACE_MARKER
        return cls(
            normalizer=(*normalize_steps(counts.normalize), *_marking(marked=marked)),
            splits=(split,),
            suffix=END_MARKER if word_marker == END_MARKER else "",
            marker=SPACE_MARKER if marked else "",
        )

    @classmethod
    def of_spec(cls, spec: TokenizerSpec) -> Frame:
        """Return what a vocabulary that was trained here does."""
        rules = spec.characters
        steps = (*spec.normalizer, *spec.prepare)
        return cls(steps, spec.splits, rules.suffix, rules.marker)


def character_spec(
    characters: Characters,
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    counts: PretokenCounts,
    options: TrainOptions,
) -> TokenizerSpec:
    """Build the spec that cuts and normalizes text as it was counted."""
    tokens = characters.tokens()
    data, offsets = _core.join_merges(*pack_tokens(tokens), left, right)
    result = np.arange(len(tokens), len(tokens) + len(left), dtype=np.uint32)
    frame = Frame.of_counts(counts, options.word_marker)
    return TokenizerSpec(
        token_data=data,
        token_offsets=offsets,
        merges=np.stack([left, right, result], axis=1),
        model="characters",
        normalizer=frame.normalizer,
        splits=frame.splits,
        added=tuple(AddedToken(index, text) for index, text in enumerate(characters.special)),
        characters=CharacterRules(
            byte_fallback=options.byte_fallback,
            unknown_id=characters.special.index(UNKNOWN),
            suffix=frame.suffix,
            marker=frame.marker,
            strip_start=int(frame.marker != ""),
        ),
        names=SpecialNames(unk=UNKNOWN),
    )


def _marking(*, marked: bool) -> Iterator[NormalizeStep]:
    if marked:
        yield NormalizeStep("prepend", new=SPACE_MARKER)
        yield NormalizeStep("replace", " ", SPACE_MARKER)

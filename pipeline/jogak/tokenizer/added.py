"""Added tokens in text: found as Hugging Face's `tokenizers` finds them.

Leftmost first, of those the longest; then `single_word`, `lstrip` and `rstrip` are applied to what
was found. Tokens that are not allowed still hide those they overlap, as they do there under
`encode_special_tokens`. Source: tokenizers, tokenizer/added_vocabulary.rs, measured with 0.23.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.vocabulary import AddedToken

if TYPE_CHECKING:
    import regex

Found = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Starts and ends into the data, and ids."""

WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode White_Space, as `\\s` of the library's regex engine."""


@lru_cache(maxsize=1)
def _word() -> regex.Pattern[str]:
    """Return what the library takes for a letter of a word."""
    import regex

    return regex.compile(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]")


class AddedTokens:
    """The added tokens of one pass: those matched before normalization, or those after."""

    def __init__(self, tokens: Sequence[AddedToken], spell: Callable[[str], str]) -> None:
        """Take the pass's tokens; `spell` gives the string to look for from a token's content."""
        by_text = {spell(token.content): token for token in reversed(tokens)}
        by_text.pop("", None)
        self._texts = list(by_text)
        self._tokens = list(by_text.values())
        self._has_flags = any(
            token.lstrip or token.rstrip or token.single_word for token in self._tokens
        )

    @cached_property
    def _matcher(self) -> _core.Matcher:
        return _core.Matcher(self._texts)

    @cached_property
    def _ids(self) -> NDArray[np.int64]:
        return np.array([token.id for token in self._tokens], dtype=np.int64)

    @property
    def texts(self) -> list[str]:
        """The strings that are looked for, each that of the token at its place."""
        return self._texts

    @property
    def tokens(self) -> list[AddedToken]:
        """The tokens that are looked for."""
        return self._tokens

    def find(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64], allowed: NDArray[np.bool_]
    ) -> Found:
        """Find tokens in pieces of text.

        Args:
            data: uint8 (n,); valid UTF-8.
            offsets: int64 (pieces + 1,).
            allowed: bool, by id; a token that is not allowed stays text.
        """
        starts, ends, patterns = self._matcher.find(data, offsets)
        ids = self._ids[patterns]
        kept = allowed[ids]
        starts, ends, patterns, ids = starts[kept], ends[kept], patterns[kept], ids[kept]
        if self._has_flags and len(starts):
            return self._apply_flags(data, offsets, starts, ends, patterns)
        return starts, ends, ids

    def _apply_flags(
        self,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        patterns: NDArray[np.uint32],
    ) -> Found:
        pieces = np.searchsorted(offsets, starts, side="right") - 1
        kept: list[tuple[int, int, int]] = []
        for start, end, pattern, piece in zip(
            starts.tolist(), ends.tolist(), patterns.tolist(), pieces.tolist(), strict=True
        ):
            token = self._tokens[pattern]
            first, last = int(offsets[piece]), int(offsets[piece + 1])
            if token.single_word and (
                _word().match(_text(data, max(first, start - 4), start)[-1:])
                or _word().match(_text(data, end, min(last, end + 4))[:1])
            ):
                continue
            if kept:
                first = max(first, kept[-1][1])
            if token.lstrip:
                start = _white_before(data, first, start)
            if token.rstrip:
                end = _white_after(data, end, last)
            if end > first:
                kept.append((max(start, first), end, token.id))
        found = np.array(kept, dtype=np.int64).reshape(-1, 3)
        return found[:, 0], found[:, 1], found[:, 2]


def _text(data: NDArray[np.uint8], start: int, stop: int) -> str:
    """Decode a window that may cut characters at its edges: their bytes are left out."""
    return data[start:stop].tobytes().decode(errors="ignore")


def _white_before(data: NDArray[np.uint8], first: int, end: int) -> int:
    """Return where the white space that ends at `end` begins, not before `first`."""
    size = 64
    while True:
        window = max(first, end - size)
        text = _text(data, window, end)
        white = len(text[len(text.rstrip(WHITE_SPACE)) :].encode())
        if window == first or len(text.rstrip(WHITE_SPACE)):
            return end - white
        size *= 8


def _white_after(data: NDArray[np.uint8], start: int, last: int) -> int:
    """Return where the white space that begins at `start` ends, not behind `last`."""
    size = 64
    while True:
        window = min(last, start + size)
        text = _text(data, start, window)
        white = len(text) - len(text.lstrip(WHITE_SPACE))
        if window == last or white < len(text):
            return start + len(text[:white].encode())
        size *= 8

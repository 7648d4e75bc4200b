"""Words with a marker: how text is changed and cut before it is counted for such a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.config import WordMarker
from jogak.errors import TokenizerError

SPACE_MARKER: Final = "▁"
END_MARKER: Final = "</w>"

WORD_PATTERNS: Mapping[WordMarker, str] = MappingProxyType(
    {SPACE_MARKER: r"▁?[^\s▁]+|▁|\s+", END_MARKER: r"\S+|\s+"}
)
"""Marker -> the regex that cuts words: for `▁` after `mark_words`, one marker at most before each;
for `</w>`, white space is a pretoken of its own, which training and encoding leave out."""


def word_pattern(pattern: str, marker: WordMarker) -> str:
    """Return the pattern to count with.

    Raises:
        TokenizerError: the configured pattern does not cut at white space, as markers need.
    """
    if marker == "none":
        return pattern
    if pattern != "whitespace":
        message = (
            f"pretokenize.pattern: word_marker {marker!r} marks words between white space (found "
            f"the pattern {pattern!r}); set 'whitespace'"
        )
        raise TokenizerError(message)
    return WORD_PATTERNS[marker]


def mark_words(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Put `▁` in front of every document that is not empty, and in place of every space."""
    marker = np.frombuffer(SPACE_MARKER.encode(), dtype=np.uint8)
    data, offsets = _core.replace_text(data, offsets, " ", SPACE_MARKER)
    filled = np.diff(offsets) > 0
    starts = np.repeat(offsets[:-1][filled], len(marker))
    marked = np.insert(data, starts, np.tile(marker, int(filled.sum())))
    grown = offsets.copy()
    grown[1:] += len(marker) * np.cumsum(filled)
    return marked, grown

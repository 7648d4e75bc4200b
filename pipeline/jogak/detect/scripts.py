"""Which scripts a document is written in: letters and their marks by Unicode script."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from jogak import _core

SCRIPTS = (
    "Latin", "Hangul", "Han", "Hiragana", "Katakana", "Bopomofo", "Thai", "Cyrillic", "Arabic",
    "Devanagari", "Greek", "Hebrew", "Armenian", "Georgian", "Bengali", "Gurmukhi", "Gujarati",
    "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala", "Lao", "Tibetan", "Myanmar",
    "Khmer", "Ethiopic", "Mongolian",
)  # fmt: skip
"""The scripts that are counted; everything else (digits, marks, emoji) says nothing."""

WIDTHS = np.array(
    [
        1 if name == "Latin" else 2 if name in ("Cyrillic", "Arabic", "Greek", "Hebrew", "Armenian")
        else 3
        for name in SCRIPTS
    ]
)  # fmt: skip
"""Bytes of a letter in UTF-8: an alphabet takes more letters than syllables for the same words."""

_BLOCK = 2**17


def count_scripts(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the letters of each script in documents of valid UTF-8.

    Returns:
        int64 (documents, len(SCRIPTS)); O(bytes).
    """
    counts = np.zeros((len(offsets) - 1, len(SCRIPTS)), dtype=np.int64)
    start = 0
    while start < len(counts):
        # Blocks bound the memory of four bytes a character; a long document is one by itself.
        stop = int(np.searchsorted(offsets, offsets[start] + _BLOCK, side="right")) - 1
        stop = max(stop, start + 1)
        counts[start:stop] = _count_block(data, offsets[start : stop + 1])
        start = stop
    return counts


def _count_block(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = np.zeros((len(offsets) - 1, len(SCRIPTS)), dtype=np.int64)
    characters, _ = _core.measure_text(data, offsets)
    filled = np.flatnonzero(characters)
    if not len(filled):
        return counts
    text = data[offsets[0] : offsets[-1]].tobytes().decode()
    scripts = script_table()[np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)]
    starts = (np.cumsum(characters) - characters)[filled]
    # A block has few scripts, so a pass for each is cheaper than a table of all.
    for script in np.flatnonzero(np.bincount(scripts, minlength=len(SCRIPTS) + 1)[1:]).tolist():
        found = (scripts == script + 1).view(np.uint8)
        counts[filled, script] = np.add.reduceat(found, starts, dtype=np.int64)
    return counts


@functools.cache
def script_table() -> NDArray[np.uint8]:
    """Return the script of every code point, uint8 (0x110000,): 0 none, else 1 + its index."""
    table = np.zeros(0x110000, dtype=np.uint8)
    for index, name in enumerate(SCRIPTS, start=1):
        edges = _core.character_class(rf"\p{{{name}}}").tolist()
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            table[first : last + 1] = index
    return table

"""The scripts of a vocabulary's tokens, and what of them occurs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import unicodedata2
from numpy.typing import NDArray

SHOWN = 12
"""Tokens named for each script."""

BROKEN, BLANK, DIGITS, SYMBOLS, MIXED = (
    "parts of characters",
    "white space",
    "digits",
    "punctuation and symbols",
    "several scripts",
)
NAMES = {"CJK": "Han", "HIRAGANA": "Kana", "KATAKANA": "Kana", "HANGUL": "Hangul"}


@dataclass(frozen=True, slots=True)
class Script:
    """The tokens of one script.

    Attributes:
        name: what the script is called.
        tokens: entries of the vocabulary.
        used: those that occur.
        count: how often they do, together.
        commonest, longest: tokens that occur, as text and how often; of bytes that are no text,
            their hexadecimal digits.
    """

    name: str
    tokens: int
    used: int
    count: int
    commonest: tuple[tuple[str, int], ...]
    longest: tuple[tuple[str, int], ...]


@functools.cache
def script_of_character(character: str) -> str:
    """Return what a character belongs to.

    >>> script_of_character("가"), script_of_character("é"), script_of_character("7")
    ('Hangul', 'Latin', 'digits')
    """
    category = unicodedata2.category(character)
    if character.isspace():
        return BLANK
    if category.startswith("N"):
        return DIGITS
    if category.startswith(("L", "M")):
        first = str(unicodedata2.name(character, "UNKNOWN")).split()[0]
        return NAMES.get(first, first.capitalize())
    return SYMBOLS


def scripts(table: Sequence[bytes], ids: NDArray[np.int64]) -> list[Script]:
    """Return the scripts of a vocabulary, the one that occurs most often first.

    The script of a token is that of its letters; without letters it is what its characters are.

    Args:
        table: the bytes of every id, none for an id that is no token.
        ids: how often each id occurs, int64 (ids,).
    """
    texts = [_decoded(token) for token in table]
    names, codes = _script_codes(texts)
    lengths = np.array(
        [
            len(token.decode(errors="ignore") if text is None else text)
            for token, text in zip(table, texts, strict=True)
        ],
        np.int64,
    )
    real = np.array([bool(token) for token in table], np.bool_)
    found = []
    for code, name in enumerate(names):
        own = np.flatnonzero(real & (codes == code))
        if not len(own):
            continue
        used = own[ids[own] > 0]
        common = used[np.lexsort((used, -ids[used]))][:SHOWN]
        long = used[np.lexsort((used, -ids[used], -lengths[used]))][:SHOWN]
        found.append(
            Script(
                name=name,
                tokens=len(own),
                used=len(used),
                count=int(ids[own].sum()),
                commonest=tuple((shown(table[each]), int(ids[each])) for each in common),
                longest=tuple((shown(table[each]), int(ids[each])) for each in long),
            )
        )
    return sorted(found, key=lambda each: (-each.count, each.name))


def shown(token: bytes) -> str:
    """Return a token as text, or its bytes in hexadecimal where it is none."""
    text = _decoded(token)
    return token.hex(" ") if text is None else text


def _decoded(token: bytes) -> str | None:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


def _script_codes(texts: Sequence[str | None]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names of scripts, and the place in them of each text's, int64 (texts,).

    Character by character in arrays: in Python, a vocabulary of 200,000 takes a second.
    """
    points = np.frombuffer("".join(text or "" for text in texts).encode("utf-32-le"), np.uint32)
    occurs = np.zeros(0x110000, np.bool_)
    occurs[points] = True
    kinds = {int(point): script_of_character(chr(point)) for point in np.flatnonzero(occurs)}
    letters = sorted(set(kinds.values()) - {BLANK, DIGITS, SYMBOLS})
    # By rank: what has letters is theirs, else digits come before symbols, these before space.
    names = [BLANK, SYMBOLS, DIGITS, *letters, MIXED, BROKEN]
    code_of = np.zeros(0x110000, np.int64)
    for point, kind in kinds.items():
        code_of[point] = names.index(kind)
    codes = code_of[points]
    sizes = np.array([len(text or "") for text in texts], np.int64)
    some = np.flatnonzero(sizes)
    starts = (np.cumsum(sizes) - sizes)[some]
    found = np.zeros(len(texts), np.int64)
    if len(some):
        highest = np.maximum.reduceat(codes, starts)
        lowest = np.minimum.reduceat(np.where(codes < 3, len(names), codes), starts)
        found[some] = np.where((highest >= 3) & (lowest < highest), len(names) - 2, highest)
    found[[place for place, text in enumerate(texts) if text is None]] = len(names) - 1
    return names, found

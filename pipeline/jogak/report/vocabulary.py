"""What the ids that occur say about a vocabulary: lengths, ranks, scripts, growth."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import unicodedata2
from numpy.typing import NDArray

from jogak.tokenizer import Tokenizer

LONGEST = 40
"""Tokens of this many characters and more are counted together."""
SHOWN = 12
"""Tokens named for each script."""
POINTS = 48
"""Points of a curve."""

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


def script_of(token: bytes) -> str:
    r"""Return the script of a token: that of its letters, else what its characters are.

    >>> script_of(" 한국".encode()), script_of(b"a1."), script_of(b"\xea"), script_of(b" \n")
    ('Hangul', 'Latin', 'parts of characters', 'white space')
    """
    try:
        kinds = {script_of_character(character) for character in token.decode()}
    except UnicodeDecodeError:
        return BROKEN
    letters = kinds - {BLANK, DIGITS, SYMBOLS}
    if letters:
        return letters.pop() if len(letters) == 1 else MIXED
    return next((kind for kind in (DIGITS, SYMBOLS, BLANK) if kind in kinds), BLANK)


def scripts(table: Sequence[bytes], ids: NDArray[np.int64]) -> list[Script]:
    """Return the scripts of a vocabulary, the one that occurs most often first."""
    members: dict[str, list[int]] = defaultdict(list)
    for token_id, token in enumerate(table):
        if token:
            members[script_of(token)].append(token_id)
    found = []
    for name, own in members.items():
        used = [token_id for token_id in own if ids[token_id]]
        common = sorted(used, key=lambda each: (-int(ids[each]), each))[:SHOWN]
        long = sorted(used, key=lambda each: (-_length(table[each]), -int(ids[each]), each))
        found.append(
            Script(
                name=name,
                tokens=len(own),
                used=len(used),
                count=int(ids[own].sum()),
                commonest=tuple((shown(table[each]), int(ids[each])) for each in common),
                longest=tuple((shown(table[each]), int(ids[each])) for each in long[:SHOWN]),
            )
        )
    return sorted(found, key=lambda each: (-each.count, each.name))


def shown(token: bytes) -> str:
    """Return a token as text, or its bytes in hexadecimal where it is none."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return token.hex(" ")


def _length(token: bytes) -> int:
    return len(token.decode(errors="ignore"))


def token_lengths(table: Sequence[bytes], ids: NDArray[np.int64]) -> list[int]:
    """Return how many of the tokens that occur begin so many characters: a list by length.

    A token that begins no character has length 0; the last entry counts all longer ones too.
    """
    times: Counter[int] = Counter()
    for token_id in np.flatnonzero(ids).tolist():
        starts = sum(byte & 0xC0 != 0x80 for byte in table[token_id])
        times[min(starts, LONGEST)] += int(ids[token_id])
    return [times[length] for length in range(max(times, default=-1) + 1)]


def ranks(ids: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return (rank, count) of the ids that occur, commonest first, at log-spaced ranks."""
    ordered = np.sort(ids[ids > 0])[::-1]
    return [(rank, int(ordered[rank - 1])) for rank in spaced(len(ordered))]


def spaced(last: int) -> list[int]:
    """Return whole numbers from 1 to `last`, spaced evenly by their logarithm."""
    if last < 1:
        return []
    return sorted({round(float(each)) for each in np.geomspace(1, last, POINTS)})


def growth(
    tokenizer: Tokenizer, columns: Sequence[NDArray[np.int64]]
) -> list[dict[str, Any]] | None:
    """Return the bytes per token that the first merges alone would give, at some sizes.

    A token is what merges made of its parts in order, so undoing the last ones gives exactly the
    tokens of the smaller vocabulary (the prefix law of BPE); no text is read.

    Args:
        tokenizer: byte-pair merges.
        columns: how often each id occurs, int64 (ids,), for each group.

    Returns:
        By size: the ids up to the last merge that counts, and bytes per token of each group; None
        for a tokenizer without merges, or where several merges make the same token.
    """
    merges = tokenizer.spec.merges.reshape(-1, 3)
    if not len(merges) or len(np.unique(merges[:, 2])) != len(merges):
        return None
    sizes = np.array([len(token) for token in tokenizer.token_table()], np.int64)
    uses = np.stack(columns, axis=1)
    text_bytes = sizes @ uses
    uses = uses.copy()
    applied = np.zeros((len(merges), len(columns)), np.int64)
    for rank in range(len(merges) - 1, -1, -1):
        left, right, result = merges[rank].tolist()
        times = uses[result]
        applied[rank] = times
        uses[left] += times
        uses[right] += times
    before = np.sum(np.stack(columns, axis=1), axis=0) + applied.sum(axis=0)
    tokens = before - np.cumsum(applied, axis=0)
    base = tokenizer.vocab_size - len(merges)
    return [
        {
            "vocab_size": base + merge,
            "bytes_per_token": [
                round(float(size / count), 4) if count else None
                for size, count in zip(text_bytes, tokens[merge - 1], strict=True)
            ],
        }
        for merge in spaced(len(merges))
    ]

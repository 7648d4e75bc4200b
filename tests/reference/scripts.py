"""The script of a token and what of it occurs, token by token."""

from __future__ import annotations

from collections import Counter

from jogak.report.scripts import BLANK, BROKEN, DIGITS, MIXED, SYMBOLS, script_of_character


def script_of(token: bytes) -> str:
    """Return the script of a token: that of its letters, else what its characters are."""
    try:
        kinds = {script_of_character(character) for character in token.decode()}
    except UnicodeDecodeError:
        return BROKEN
    letters = kinds - {BLANK, DIGITS, SYMBOLS}
    if letters:
        return letters.pop() if len(letters) == 1 else MIXED
    return next((kind for kind in (DIGITS, SYMBOLS, BLANK) if kind in kinds), BLANK)


def token_lengths(table: list[bytes], ids: list[int], longest: int) -> list[int]:
    """Return how often tokens occur by the characters that they begin."""
    times: Counter[int] = Counter()
    for token, count in zip(table, ids, strict=True):
        if count:
            times[min(sum(byte & 0xC0 != 0x80 for byte in token), longest)] += count
    return [times[length] for length in range(max(times, default=-1) + 1)]

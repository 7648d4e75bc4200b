"""Documents that break tokenizers: long runs without a place to cut, and characters never seen."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

EMOJI = "👩🏽\u200d🚀"


def cut_to(text: str, size: int) -> str:
    """Repeat a text to `size` bytes of UTF-8, give or take a character."""
    once = text.encode()
    return (once * (size // len(once) + 1))[:size].decode("utf-8", "ignore")


def syllables(size: int) -> str:
    """Return Hangul without a space, of 2,000 syllables in random order."""
    rng = random.Random(size)
    common = [chr(0xAC00 + 5 * number) for number in range(2_000)]
    return "".join(rng.choices(common, k=size // 3))


def distinct(size: int) -> str:
    """Return all characters of the first two planes in turn, without surrogates."""
    codes = itertools.chain(range(0x20, 0xD800), range(0xE000, 0x20000))
    return cut_to("".join(map(chr, codes)), size)


def words(size: int) -> str:
    """Return Korean-like words that never come twice."""
    rng = random.Random(size)
    lines, length = [], 0
    for number in itertools.count():
        lines.append("".join(chr(0xAC00 + rng.randrange(11_172)) for _ in range(4)) + str(number))
        length += len(lines[-1].encode()) + 1
        if length >= size:
            return " ".join(lines)
    raise AssertionError


def letters(size: int) -> str:
    """Return one pretoken of random Latin letters, of which merges make anything."""
    return "".join(random.Random(size).choices("abcdehilnorstu", k=size))


CASES: dict[str, Callable[[int], str]] = {
    "Hangul without a space": syllables,
    "one syllable": lambda size: cut_to("가", size),
    "spaces": lambda size: " " * size,
    "a": lambda size: "a" * size,
    "one pretoken of letters": letters,
    "digits": lambda size: cut_to("1234567890", size),
    "newlines": lambda size: "\n" * size,
    "spaces and newlines": lambda size: cut_to("   \n", size),
    "joined emoji": lambda size: cut_to(EMOJI, size),
    "distinct characters": distinct,
    "distinct words": words,
    "combining marks": lambda size: "a" + cut_to("\u0301\u0323", size),
    "decomposed jamo": lambda size: cut_to("\u1112\u1161\u11ab", size),
    "apostrophes": lambda size: cut_to("'s'S'll''", size),
    "punctuation": lambda size: cut_to("!?.,;:-", size),
    "nul bytes": lambda size: "\x00" * size,
}
"""What makes each document of about so many bytes."""

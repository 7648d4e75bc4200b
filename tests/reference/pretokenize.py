r"""The slow, obvious scanner: the `regex` package, every class written out as Unicode 16 ranges.

Python's `regex` is a backtracking engine of its own, so it says independently what a pattern
means; its newer Unicode is kept out by replacing `\p{..}`, `\s`, `\d` and `\w`.
"""

from __future__ import annotations

import itertools
import re
from functools import cache

import regex
import unicodedata2

from jogak import _core

SPACES = [*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)]
SPACES += [0x2028, 0x2029, 0x202F, 0x205F, 0x3000]


@cache
def members(name: str) -> frozenset[int]:
    """Return the code points of a property; scripts come from the native tables."""
    if name in ("s", "White_Space"):
        return frozenset(SPACES)
    if name == "d":
        name = "Nd"
    if len(name) <= 2:
        every = range(0x110000)
        return frozenset(c for c in every if unicodedata2.category(chr(c)).startswith(name))
    flat = _core.character_class(rf"\p{{{name}}}").tolist()
    return frozenset(itertools.chain(*map(range, flat[::2], (last + 1 for last in flat[1::2]))))


def ranges(codes: frozenset[int]) -> str:
    """Write code points as the inside of a class."""
    parts = []
    for _, group in itertools.groupby(enumerate(sorted(codes)), lambda pair: pair[1] - pair[0]):
        run = [code for _, code in group]
        parts.append(rf"\U{run[0]:08x}-\U{run[-1]:08x}")
    return "".join(parts)


@cache
def explicit(escape: str) -> str:
    """Write one class escape as a class of ranges; it may stand inside another class."""
    name = escape[2:].strip("{}") if escape[1] in "pP" else escape[1].lower()
    return f"[{'^' if escape[1].isupper() else ''}{ranges(members(name))}]"


@cache
def compiled(pattern: str) -> regex.Pattern[str]:
    """Compile a pattern: version 1 for nested classes, without its full case folding."""
    rewritten = re.sub(r"\\[pP]\{\w+\}|\\[pP]\w|\\.|\$(?=[|)]|$)", rewrite, pattern)
    return regex.compile(rewritten, regex.VERSION1)


def rewrite(match: re.Match[str]) -> str:
    """Write a class escape as ranges, the end of the text as it is called there."""
    if match[0] in ("$", r"\z"):
        return r"\Z"
    return explicit(match[0]) if match[0][1] in "pPsSdD" else match[0]


def pretokens(pattern: str, text: str) -> list[str]:
    """Cut a text; what the pattern does not match stays as pieces of its own."""
    pieces, done = [], 0
    for match in compiled(pattern).finditer(text):
        pieces += [text[done : match.start()], match.group()]
        done = match.end()
    return [piece for piece in [*pieces, text[done:]] if piece]


def pretokens_in_steps(patterns: list[str], text: str) -> list[str]:
    """Cut a text by the first pattern, each piece by the second, and so on."""
    pieces = [text]
    for pattern in patterns:
        pieces = [cut for piece in pieces for cut in pretokens(pattern, piece)]
    return pieces

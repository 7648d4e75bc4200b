"""Slow and obvious: what the tokens of a text are, and two kinds of damage, on Python strings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from jogak.measures import TokenSums

LEADS, VOWELS, TAILS = "\u1100-\u1112", "\u1161-\u1175", "\u11a8-\u11c2"
OPEN_SYLLABLES = "".join(chr(code) for code in range(0xAC00, 0xD7A4, 28))
DECOMPOSED = re.compile(f"[{LEADS}][{VOWELS}]|[{OPEN_SYLLABLES}][{TAILS}]")

WESTERN = "".join(
    {bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0xC0)} - {"\ufffd"}
    | {chr(code) for code in range(0x80, 0xC0)}
)
MOJIBAKE = re.compile(
    "\u5360\uc3d9\uc619"
    "|\ufffd[\u0180-\u07ff]\ufffd"
    "|\ufffd[\uac00-\ud7a3][\u4e00-\u9fff]"
    "|[\uac00-\ud7a3][\u4e00-\u9fff]\ufffd"
    f"|(?:[\u00ea-\u00ed][{re.escape(WESTERN)}]{{2}}){{2}}"
)
LATIN_PAIRS = re.compile("(?=((?:[\u00b0-\u00c8][\u00a1-\u00fe]){2}))")


def is_decomposed(text: str) -> bool:
    return DECOMPOSED.search(text) is not None


def is_mojibake(text: str) -> bool:
    pairs = (match[1] for match in LATIN_PAIRS.finditer(text))
    return MOJIBAKE.search(text) is not None or any(
        sum(character >= "\u00c0" for character in each) >= 2 for each in pairs
    )


def characters(tokens: Sequence[bytes]) -> Iterator[tuple[str, set[int]]]:
    """Yield each character of joined tokens, and which tokens have a part of it."""
    owners = [place for place, token in enumerate(tokens) for _ in token]
    position = 0
    for character in b"".join(tokens).decode():
        size = len(character.encode())
        yield character, set(owners[position : position + size])
        position += size


def words(tokens: Sequence[bytes]) -> list[set[int]]:
    """Return, for each word between white space, which tokens have a part of it."""
    found: list[set[int]] = []
    is_open = False
    for character, owners in characters(tokens):
        if character.isspace():
            is_open = False
        elif is_open:
            found[-1] |= owners
        else:
            found.append(owners)
            is_open = True
    return found


def is_partial(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return True
    return False


def token_sums(tokens: Sequence[bytes], text: bytes) -> TokenSums:
    """Measure one document's tokens; joined, they are UTF-8."""
    of_words = words(tokens)
    syllables = [owners for each, owners in characters(tokens) if "가" <= each <= "힣"]
    return TokenSums(
        tokens=len(tokens),
        words=len(of_words),
        continued_words=sum(len(owners) > 1 for owners in of_words),
        partial_tokens=sum(map(is_partial, tokens)),
        unknown_tokens=0,
        syllables=len(syllables),
        split_syllables=sum(len(owners) > 1 for owners in syllables),
        exact_documents=int(b"".join(tokens) == text),
    )

"""Mutations of byte strings: what a fuzzer does to an input, all of it drawn from one generator."""

from __future__ import annotations

import random

# What text breaks on: edges of character classes, of UTF-8, of normalization, of numbers.
WORDS = [
    *(text.encode() for text in "가각힣나ㅋㅠ漢あ😀👩🏽é'’ſKſ 　\u00a0\u0085\u2028\u200b\u200d"),
    *(text.encode() for text in ("\u1100\u1161\u11a8", "\uac00\u11a8", "e\u0301", "\u0345\u0301")),
    *(
        text.encode()
        for text in ("'s", "'LL", "123", "٣४", "\r\n", "  \n ", "\ufeff", "\U0010ffff")
    ),
    *(b"a", b" ", b"\n", b"\t", b"\x00", b"\x7f", b"\x80", b"\xbf", b"\xc0\x80", b"\xed\xa0\x80"),
    *(b"\xf4\x90\x80\x80", b"\xff", b"\xe3\x85", bytes(8), b"\xff" * 4, b"\x00\x00\x00\x80"),
    *(rb"\p{L}", rb"\s+(?!\S)", rb"[^\s\p{N}]", b"(?i:", b")", b"|", b"{1,3}", b"*+", b"??", b"[^"),
]
LONGEST = 4096


def mutate(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Return a changed copy: one to eight of the changes below, one after another."""
    changed = bytearray(data)
    for _ in range(1 << rng.randrange(4)):
        change = rng.choice(CHANGES)
        change(rng, changed, others)
    return bytes(changed[:LONGEST])


def place(rng: random.Random, data: bytearray) -> int:
    """Draw a place, the beginning (which chooses options) more often than its share."""
    return rng.randint(0, min(4, len(data))) if rng.random() < 0.2 else rng.randint(0, len(data))


def flip(rng: random.Random, data: bytearray, _: list[bytes]) -> None:
    """Flip a bit."""
    if data:
        data[min(place(rng, data), len(data) - 1)] ^= 1 << rng.randrange(8)


def set_byte(rng: random.Random, data: bytearray, _: list[bytes]) -> None:
    """Put any byte in a place."""
    if data:
        data[min(place(rng, data), len(data) - 1)] = rng.randrange(256)


def insert_word(rng: random.Random, data: bytearray, _: list[bytes]) -> None:
    """Insert something that text breaks on, sometimes many times over."""
    at = place(rng, data)
    data[at:at] = rng.choice(WORDS) * rng.choice([1, 1, 1, 2, 3, 17, 64])


def delete(rng: random.Random, data: bytearray, _: list[bytes]) -> None:
    """Take a piece out."""
    at = place(rng, data)
    del data[at : at + rng.choice([1, 2, 3, 8, 64, 999])]


def repeat(rng: random.Random, data: bytearray, _: list[bytes]) -> None:
    """Copy a piece to another place, once or several times."""
    at = place(rng, data)
    piece = data[at : at + rng.choice([1, 3, 6, 16, 100])]
    to = place(rng, data)
    data[to:to] = piece * rng.choice([1, 1, 2, 5, 30])


def splice(rng: random.Random, data: bytearray, others: list[bytes]) -> None:
    """Put a piece of another input in."""
    other = rng.choice(others)
    if other:
        at, start = place(rng, data), rng.randrange(len(other))
        data[at:at] = other[start : start + rng.choice([4, 16, 64, 400])]


def number(rng: random.Random, data: bytearray, _: list[bytes]) -> None:
    """Overwrite a number of 1 to 8 bytes by one at an edge."""
    size = rng.choice([1, 2, 4, 8])
    value = rng.choice([0, 1, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**63, 2**64 - 1])
    at = place(rng, data)
    data[at : at + size] = (value % 256**size).to_bytes(size, "little")


CHANGES = (flip, set_byte, insert_word, insert_word, delete, repeat, splice, number)

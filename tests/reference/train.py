"""The slow, obvious trainer: recount every pair, take the best by the rule, rewrite every word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass
class Word:
    """A distinct pretoken as symbol ids, with its count and its first position in the text."""

    symbols: list[int]
    count: int
    first: int


@dataclass
class Rules:
    """What may merge, and which of the most frequent pairs goes first."""

    ties: str = "smallest_ids"
    min_count: int = 2
    max_token_bytes: int | None = None
    max_token_chars: int | None = None
    whole_characters: bool = False
    forbidden: frozenset[bytes] = field(default_factory=frozenset)


def byte_alphabet() -> list[bytes]:
    """Return the 256 bytes in the order of the characters that GPT-2's byte level maps them to."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    return [bytes([b]) for b in [*shown, *(b for b in range(256) if b not in shown)]]


def is_whole(token: bytes) -> bool:
    """Tell whether a token is a sequence of complete characters."""
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


def may_merge(left: bytes, right: bytes, rules: Rules) -> bool:
    """Tell whether the options allow a token made of these two."""
    joined = left + right
    if rules.max_token_bytes is not None and len(joined) > rules.max_token_bytes:
        return False
    if rules.max_token_chars is not None and touched(joined) > rules.max_token_chars:
        return False
    if joined in rules.forbidden:
        return False
    if not rules.whole_characters:
        return True
    inside = 0x80 <= right[0] < 0xC0 and not is_whole(left)
    return inside or (is_whole(left) and is_whole(right))


def touched(token: bytes) -> int:
    """Return how many characters a token holds, whole or in part."""
    return sum(i == 0 or not 0x80 <= byte < 0xC0 for i, byte in enumerate(token))


def count_pairs(words: Sequence[Word]) -> dict[tuple[int, int], tuple[int, int]]:
    """Return for every adjacent pair its count, overlaps included, and its first position."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for word in words:
        for i, pair in enumerate(zip(word.symbols, word.symbols[1:], strict=False)):
            count, first = found.get(pair, (0, word.first + i))
            found[pair] = (count + word.count, min(first, word.first + i))
    return found


def rewrite(symbols: list[int], pair: tuple[int, int], token: int) -> list[int]:
    """Replace a pair by its token, from left to right."""
    merged: list[int] = []
    i = 0
    while i < len(symbols):
        if tuple(symbols[i : i + 2]) == pair:
            merged.append(token)
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return merged


def train_slowly(
    words: Sequence[Word], alphabet: Sequence[bytes], merges: int, rules: Rules
) -> list[tuple[int, int, int]]:
    """Return (left, right, count) of at most `merges` merges; token ids follow the alphabet.

    A word's `first` is measured in symbols here, which orders pairs as bytes do.
    """
    strings = list(alphabet)
    words = [Word(list(word.symbols), word.count, word.first) for word in words]
    prefer: dict[str, Callable[[tuple[int, int], int], object]] = {
        "smallest_ids": lambda pair, _: pair,
        "lexicographic": lambda pair, _: (strings[pair[0]], strings[pair[1]]),
        "largest": lambda pair, _: Reversed((strings[pair[0]], strings[pair[1]])),
        "first_seen": lambda pair, first: (first, pair),
    }
    key = prefer[rules.ties]
    result: list[tuple[int, int, int]] = []
    while len(result) < merges:
        candidates = [
            (-count, key(pair, first), pair)
            for pair, (count, first) in count_pairs(words).items()
            if count >= rules.min_count and may_merge(strings[pair[0]], strings[pair[1]], rules)
        ]
        if not candidates:
            break
        negative, _, best = min(candidates, key=lambda candidate: candidate[:2])
        result.append((*best, -negative))
        for word in words:
            word.symbols = rewrite(word.symbols, best, len(strings))
        strings.append(strings[best[0]] + strings[best[1]])
    return result


@dataclass(frozen=True)
class Reversed:
    """A key that sorts in the opposite order."""

    key: tuple[bytes, bytes]

    def __lt__(self, other: Reversed) -> bool:
        """Compare the other way round."""
        return other.key < self.key

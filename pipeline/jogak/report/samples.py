"""Samples of text with the boundaries of each tokenizer's tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jogak.report.gather import Report


@dataclass(frozen=True, slots=True)
class Piece:
    """A token as it is shown.

    Attributes:
        text: the characters that begin in it; nothing for a token of a character's last bytes.
        id: its id; None for the tokenizers that have none.
        is_partial: whether a character is spread over it and another token.
    """

    text: str
    id: int | None
    is_partial: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One tokenizer's tokens of a sample."""

    tokenizer: str
    pieces: list[Piece]


@dataclass(frozen=True, slots=True)
class Sample:
    """A text, and its tokens by every tokenizer."""

    language: str
    rows: list[Row]


def samples(report: Report) -> Iterator[Sample]:
    """Yield the samples of every language, the run's own tokens first."""
    for language, found in report.samples.items():
        for sample in found:
            yield Sample(language, list(_rows(report, sample)))


def _rows(report: Report, sample: Mapping[str, Any]) -> Iterator[Row]:
    text, tokens = sample["text"], iter(sample["tokens"])
    yield Row("this run's", _pieces(text, next(tokens)))
    for each in report.compared:
        name = each.tokenizer.name
        pieces = _pieces(text, next(tokens)) if each.tokenizer.sha256 else trivial(name, text)
        yield Row(name, pieces)


def _pieces(text: str, tokens: Mapping[str, Any]) -> list[Piece]:
    spans: Sequence[tuple[int, int]] = [(start, end) for start, end in tokens["spans"]]
    found, done = [], 0
    for place, (start, end) in enumerate(spans):
        follows = spans[place + 1][0] if place + 1 < len(spans) else end
        overlaps = start < done or follows < end
        # What no token has, such as white space that a tokenizer drops, goes with the next one.
        found.append(Piece(text[done:end], tokens["ids"][place], overlaps))
        done = max(done, end)
    return found


def trivial(name: str, text: str) -> list[Piece]:
    """Return the tokens of `chars` or `words`; white space goes with the word behind it.

    >>> [piece.text for piece in trivial("words", "a bc ")]
    ['a', ' bc ']
    """
    pattern = r"\s*\S+(?:\s+\Z)?" if name == "words" else r"(?s:.)"
    return [Piece(match[0], None, False) for match in re.finditer(pattern, text)]

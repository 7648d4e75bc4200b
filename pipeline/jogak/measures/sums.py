"""The sums, the ratios between them, and what every one of them means."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

RENYI_ORDER = 2.5
"""The order of the Rényi entropy. Source: Zouhar et al. 2023, arXiv 2306.16842."""


class Addable:
    """What dataclasses of numbers share: they are added field by field."""

    __slots__ = ()

    def __add__(self, other: Self) -> Self:
        """Return the sums of both."""
        kind: Any = type(self)
        names = [field.name for field in fields(kind)]
        total: Self = kind(*(getattr(self, name) + getattr(other, name) for name in names))
        return total


@dataclass(frozen=True, slots=True)
class TokenSums(Addable):
    """What one tokenizer makes of documents.

    Attributes:
        tokens: tokens of text, without boundary tokens.
        words: words between white space, as the tokens' bytes give them; 0 for a tokenizer whose
            tokens do not say where white space is (WordPiece).
        continued_words: those that two or more tokens have a part of.
        partial_tokens: tokens whose bytes are not whole characters.
        unknown_tokens: the unknown token, each of which stands for text that is lost.
        syllables: Hangul syllables (U+AC00-D7A3) in the tokens' bytes.
        split_syllables: those that are spread over two or more tokens.
        exact_documents: documents whose tokens decode to the very text that was encoded.
    """

    tokens: int = 0
    words: int = 0
    continued_words: int = 0
    partial_tokens: int = 0
    unknown_tokens: int = 0
    syllables: int = 0
    split_syllables: int = 0
    exact_documents: int = 0


@dataclass(frozen=True, slots=True)
class Sums(Addable):
    """What was summed over documents: of their text, and of the tokens made of it.

    Attributes:
        documents: documents, the empty ones included.
        empty_documents: documents without text.
        bytes: UTF-8 bytes of the text as read, before normalization.
        characters: code points of the text as read.
        eojeol: words between white space, of the text as read.
        tokens: tokens of text, without boundary tokens.
        boundary_tokens: tokens that mark the documents' ends or beginnings.
        normalized_bytes: UTF-8 bytes after normalization.
        changed_documents: documents that normalization changed.
        decomposed_documents: documents as read that hold Hangul as separate jamo (NFD).
        mojibake_documents: documents as read that look decoded with a wrong encoding.
        special_text: how often a special token's text occurs inside documents.
        words, continued_words, partial_tokens, unknown_tokens, syllables, split_syllables,
            exact_documents: see `TokenSums`.
    """

    documents: int = 0
    empty_documents: int = 0
    bytes: int = 0
    characters: int = 0
    eojeol: int = 0
    tokens: int = 0
    boundary_tokens: int = 0
    normalized_bytes: int = 0
    changed_documents: int = 0
    decomposed_documents: int = 0
    mojibake_documents: int = 0
    special_text: int = 0
    words: int = 0
    continued_words: int = 0
    partial_tokens: int = 0
    unknown_tokens: int = 0
    syllables: int = 0
    split_syllables: int = 0
    exact_documents: int = 0

    def with_tokens(self, other: TokenSums) -> Sums:
        """Return the sums of the same text with another tokenizer's tokens."""
        return Sums(**{**asdict(self), "boundary_tokens": 0, **asdict(other)})


RATIOS: Mapping[str, Callable[[Sums], tuple[int, int]]] = {
    "bytes_per_token": lambda sums: (sums.bytes, sums.tokens),
    "characters_per_token": lambda sums: (sums.characters, sums.tokens),
    "tokens_per_eojeol": lambda sums: (sums.tokens, sums.eojeol),
    "one_token_words": lambda sums: (sums.words - sums.continued_words, sums.words),
    "continued_words": lambda sums: (sums.continued_words, sums.words),
    "partial_tokens": lambda sums: (sums.partial_tokens, sums.tokens),
    "split_syllables": lambda sums: (sums.split_syllables, sums.syllables),
    "unknown_tokens": lambda sums: (sums.unknown_tokens, sums.tokens),
    "exact_documents": lambda sums: (sums.exact_documents, sums.documents),
}
"""The ratios: numerator and denominator, both sums."""

DEFINITIONS = {
    "documents": "documents, the empty ones included",
    "empty_documents": "documents without text",
    "bytes": "UTF-8 bytes of the text as read, before normalization",
    "characters": "code points of the text as read",
    "eojeol": "words between white space, of the text as read",
    "tokens": "tokens of text, without boundary tokens",
    "boundary_tokens": "tokens that mark where documents end or begin",
    "normalized_bytes": "UTF-8 bytes after normalization",
    "changed_documents": "documents that normalization changed",
    "decomposed_documents": "documents as read that hold Hangul as separate jamo (NFD)",
    "mojibake_documents": "documents as read that look decoded with a wrong encoding; none is "
    "changed for it",
    "special_text": "how often a special token's text occurs inside documents",
    "words": "words between white space, as the tokens' bytes give them",
    "syllables": "Hangul syllables (U+AC00-D7A3) in the tokens' bytes",
    "bytes_per_token": "bytes / tokens (compression; higher is better)",
    "characters_per_token": "characters / tokens (higher is better)",
    "tokens_per_eojeol": "tokens / eojeol (fertility; lower is better)",
    "one_token_words": "words that one token covers / words; in running text, the white space "
    "around a word may be in its token",
    "continued_words": "words that two or more tokens have a part of / words",
    "partial_tokens": "tokens whose bytes are not whole characters / tokens",
    "split_syllables": "Hangul syllables spread over two or more tokens / Hangul syllables",
    "unknown_tokens": "unknown tokens, each of which stands for text that is lost / tokens",
    "exact_documents": "documents whose tokens decode to the very text that was encoded (after "
    "the job's normalization) / documents",
    "vocabulary_used": "distinct ids that occur",
    "renyi_efficiency": "Rényi entropy of order 2.5 of the ids' frequencies / log of the "
    "vocabulary's size (1: every id equally often)",
}
"""What every measure means; report.json holds it too."""


def ratio(part: float, whole: float) -> float | None:
    """Return part / whole to 4 places, or None where there is nothing to divide by."""
    return round(part / whole, 4) if whole else None


def ratios(sums: Sums) -> dict[str, float | None]:
    """Return the ratios between sums, by the names of `RATIOS`."""
    return {name: ratio(*parts(sums)) for name, parts in RATIOS.items()}


def vocabulary_used(counts: NDArray[np.int64]) -> int:
    """Return how many ids occur. `counts`: int64 (ids,), how often each does."""
    return int(np.count_nonzero(counts))


def renyi_efficiency(counts: NDArray[np.int64], vocab_size: int) -> float | None:
    """Return the Rényi entropy of ids over the log of the vocabulary's size, to 4 places.

    None where no id occurs, or the vocabulary has one id. Source: arXiv 2306.16842.

    >>> renyi_efficiency(np.array([5, 5, 5, 5]), 4)
    1.0
    """
    total = int(counts.sum())
    if not total or vocab_size < 2:
        return None
    shares = counts[counts > 0] / total
    entropy = math.log(math.fsum((shares**RENYI_ORDER).tolist())) / (1 - RENYI_ORDER)
    return round(entropy / math.log(vocab_size), 4) + 0.0

"""Going on from a vocabulary of characters: what text suits it, and words as its ids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jogak.characters import Frame
from jogak.config import TrainOptions
from jogak.count import PretokenCounts
from jogak.errors import TokenizerError
from jogak.tokenizer.models import byte_piece_ids
from jogak.vocabulary import TokenizerSpec, normal_form_steps

NORMAL_FORMS = ("none", "nfc", "nfkc")


@dataclass(frozen=True, slots=True)
class EncodedWords:
    """Words in ids, as the core trains on them.

    Attributes:
        ids: uint32 (n,); those of word i are ids[offsets[i]:offsets[i + 1]].
        offsets: int64 (words + 1,).
        counts: uint64 (words,); how often each occurs.
        first: uint64 (words,); where each occurs first.
    """

    ids: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    counts: NDArray[np.uint64]
    first: NDArray[np.uint64]


def check_frame(
    path: str, spec: TokenizerSpec, counts: PretokenCounts, options: TrainOptions
) -> None:
    """Make sure that text was normalized, marked and cut as a vocabulary of characters does it.

    Raises:
        TokenizerError: it was not; or the vocabulary was not trained here and does something else.
    """
    own, wanted = Frame.of_spec(spec), Frame.of_counts(counts, options.word_marker)
    if own == wanted and spec.rule == "pairs" and not spec.characters.prefix:
        return
    if (own.suffix, own.marker) != (wanted.suffix, wanted.marker):
        what, found = "train.word_marker", str(options.word_marker)
        advice = f"set {own.suffix or own.marker or 'none'!r} here and where the text is counted"
    elif own.splits != wanted.splits or own == wanted:
        what, found = "pretokenize.pattern", counts.pattern
        advice = "count with the pattern it was trained with; one of other libraries must be new"
    else:
        what, found = "normalize.form", str(counts.normal_form)
        advice = f"count with {_normal_form(own) or 'the options it was trained with'}"
    message = f"{what}: {path} treats text otherwise (found {found!r}); {advice}"
    raise TokenizerError(message)


def _normal_form(frame: Frame) -> str:
    """Name the normal form that a vocabulary normalizes text to, if it does no more."""
    steps = frame.normalizer[: len(frame.normalizer) - 2 * bool(frame.marker)]
    return next((repr(form) for form in NORMAL_FORMS if normal_form_steps(form) == steps), "")


def split_words(words: EncodedWords, spec: TokenizerSpec) -> EncodedWords:
    """Cut words at characters that the vocabulary does not have: no pair spans such a place."""
    unknown = [] if spec.characters.unknown_id is None else [spec.characters.unknown_id]
    outside = np.zeros(spec.vocab_size, dtype=np.bool_)
    outside[[*unknown, *byte_piece_ids(spec)]] = True
    kept = ~outside[words.ids]
    if kept.all():
        return words
    starts = np.zeros(len(words.ids), dtype=np.bool_)
    starts[words.offsets[:-1][np.diff(words.offsets) > 0]] = True
    starts[1:] |= ~kept[:-1]
    heads = np.flatnonzero(starts & kept)
    word = np.searchsorted(words.offsets, heads, side="right") - 1
    ends = np.cumsum(kept)
    return EncodedWords(
        ids=words.ids[kept],
        offsets=np.append(ends[heads] - 1, ends[-1]).astype(np.int64),
        counts=words.counts[word],
        first=words.first[word] + (heads - words.offsets[word]).astype(np.uint64),
    )

"""Going on from a vocabulary that exists: its ids and merges stay, new merges come behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.config import NormalizeOptions, TrainOptions
from jogak.count import PretokenCounts
from jogak.errors import TokenizerError
from jogak.formats import load
from jogak.pretokenize import Pretokenizer, from_huggingface_regex, huggingface_regex
from jogak.pretokenize.patterns import DEEPSEEK_V3_STEPS, PATTERNS
from jogak.tokenizer.models import CharacterModel
from jogak.tokenizer.pieces import Encoded
from jogak.train.continued_characters import NORMAL_FORMS, EncodedWords, check_frame, split_words
from jogak.train.start import Start, continued_start, refuse_marked
from jogak.vocabulary import (
    AddedToken,
    NormalizeStep,
    TokenizerSpec,
    normalize_steps,
    pack_tokens,
)

BLOCK = 1 << 16
"""Pretokens that are encoded at a time, so that Ctrl-C is noticed between."""


def read_earlier(options: TrainOptions, counts: PretokenCounts) -> TokenizerSpec | None:
    """Read the tokenizer that training goes on from; None where it begins anew.

    Raises:
        TokenizerError: it is no byte-level tokenizer, or the text was not normalized and cut as it
            normalizes and cuts.
    """
    if options.continue_from is None:
        return None
    path = options.continue_from
    spec = load(Path(path))
    if spec.model not in ("bytes", "characters") or spec.source is not None:
        found = spec.model if spec.source is None else "another model"
        message = (
            f"{path}: only a tokenizer of bytes or characters can be continued (found {found}); "
            "train a new one"
        )
        raise TokenizerError(message)
    if spec.model != options.alphabet:
        message = (
            f"train.alphabet: {path} is made of {spec.model} (found {options.alphabet!r}); set "
            f"'{spec.model}'"
        )
        raise TokenizerError(message)
    if spec.model == "characters":
        check_frame(path, spec, counts, options)
    else:
        refuse_marked(counts)
        _check_same_text(path, spec, counts)
    return spec


def _normalizations() -> Iterator[tuple[str, tuple[NormalizeStep, ...]]]:
    """Yield what a job may say of normalizing, and the steps in a tokenizer for each."""
    for newlines, whitespace in product(("keep", "lf"), ("keep", "collapse")):
        for form in NORMAL_FORMS:
            said = {"form": form, "newlines": newlines, "whitespace": whitespace}
            options = NormalizeOptions.model_validate(said)
            changed = {k: v for k, v in said.items() if k == "form" or v != "keep"}
            text = ", ".join(f"normalize.{key}: {value}" for key, value in changed.items())
            yield text, normalize_steps(options)


def _check_same_text(path: str, spec: TokenizerSpec, counts: PretokenCounts) -> None:
    own_steps = (*spec.normalizer, *spec.prepare)
    if own_steps != normalize_steps(counts.normalize):
        wanted = next((said for said, steps in _normalizations() if steps == own_steps), None)
        advice = f"count with {wanted}" if wanted else "it cannot be continued"
        steps = ", ".join(step.kind for step in (*spec.normalizer, *spec.prepare)) or "none"
        message = (
            f"normalize.form: {path} normalizes text otherwise (found {counts.normal_form!r}, "
            f"its steps: {steps}); {advice}"
        )
        raise TokenizerError(message)
    own = _patterns_of(spec)
    if own is None or Pretokenizer(counts.pattern).regex not in own:
        known = [name for name, regex in PATTERNS.items() if own and regex in own]
        advice = (
            f"count with pretokenize.pattern: {known[0] if known else own[0]!r}"
            if own
            else ("its pre-tokenizer is no single pattern, so it cannot be continued")
        )
        message = (
            f"pretokenize.pattern: {path} cuts text otherwise (found {counts.pattern!r}); {advice}"
        )
        raise TokenizerError(message)


def _patterns_of(spec: TokenizerSpec) -> list[str] | None:
    """Return the regexes that cut as a spec does; None where no single one does."""
    plain = all(
        split.behavior == "isolated" and not split.literal and not split.invert
        for split in spec.splits
    )
    sources = [split.pattern for split in spec.splits]
    if not plain:
        return None
    if not sources:
        return [PATTERNS["none"]]
    if sources == [step.pattern for step in DEEPSEEK_V3_STEPS]:
        return [PATTERNS["deepseek_v3"]]
    if len(sources) > 1:
        return None
    named = [regex for regex in PATTERNS.values() if huggingface_regex(regex) == sources[0]]
    return [*named, from_huggingface_regex(sources[0]), sources[0]]


def start_of(spec: TokenizerSpec, options: TrainOptions) -> Start:
    """Return where training goes on: the ids, then the special tokens that are new."""
    return continued_start(spec, _new_special(spec, options))


def _new_special(spec: TokenizerSpec, options: TrainOptions) -> tuple[str, ...]:
    known = {token.content for token in spec.added}
    new = tuple(content for content in options.special_tokens if content not in known)
    for content in new:
        if spec.find(content) is not None:
            message = (
                f"train.special_tokens: {content!r} is an ordinary token of "
                f"{options.continue_from}; choose another string"
            )
            raise TokenizerError(message)
    return new


def continued_spec(
    spec: TokenizerSpec,
    options: TrainOptions,
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
) -> TokenizerSpec:
    """Return the spec with new special tokens and merges behind everything it has.

    Under the rule `ranks` the tokens say it all: between two ends of tokens a string is always
    split alike, so that the pair that was trained is the only one that makes it.
    """
    special = _new_special(spec, options)
    base = continued_start(spec, special).base
    data, offsets = _core.join_merges(*pack_tokens(base), left, right)
    result = np.arange(len(base), len(base) + len(left), dtype=np.uint32)
    made = np.stack([left, right, result], axis=1)
    added = (AddedToken(spec.vocab_size + i, content) for i, content in enumerate(special))
    if spec.rule == "pairs":
        merges = np.concatenate([spec.merges.reshape(-1, 3), made])
    else:
        merges = spec.merges
    return replace(
        spec,
        token_data=data,
        token_offsets=offsets,
        merges=merges,
        added=(*spec.added, *added),
    )


def encode_words(counts: PretokenCounts, start: Start) -> EncodedWords:
    """Encode every distinct pretoken by the merges so far."""
    ids = []
    lengths = []
    encode = _encoder_of(start)
    for first in range(0, len(counts), BLOCK):
        found, ends = encode(counts.data, counts.offsets[first : first + BLOCK + 1])
        ids.append(found)
        lengths.append(np.diff(ends, prepend=0))
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    words = EncodedWords(np.concatenate(ids), offsets, counts.counts, counts.first)
    return words if start.earlier_spec is None else split_words(words, start.earlier_spec)


def _encoder_of(start: Start) -> Callable[[NDArray[np.uint8], NDArray[np.int64]], Encoded]:
    if start.earlier_spec is not None:
        return CharacterModel(start.earlier_spec).encode_pretokens
    data, offsets = pack_tokens(start.base)
    merges = np.ascontiguousarray(start.earlier.reshape(-1))
    # Where to cut a pretoken is only known for whole characters, and these may be any bytes.
    encoder = _core.Encoder(data, offsets, merges, start.rule, start.whole_first, _cutting=False)
    return lambda data, bounds: encoder.encode(None, data, bounds, bounds[1:])

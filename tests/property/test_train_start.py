"""Training from a vocabulary, from syllables and on weighted counts: equal to the oracle.

JOGAK_TRAIN_RUNS sets the number of runs as in test_train.py; JOGAK_TRAIN_SEED the first seed.
"""

from __future__ import annotations

import os
import random
from fractions import Fraction

import numpy as np
import pytest

from fakes.training import TIES, draw_tuning
from jogak.characters import KSX1001_SYLLABLES
from jogak.config import TrainOptions
from jogak.count import LanguageTotals, PretokenCounts, merge_counts
from jogak.train import train_merges
from jogak.train.start import continued_start
from jogak.vocabulary import AddedToken, TokenizerSpec, pack_tokens
from property.test_train import draw_words
from reference.encode import ReferenceEncoder, Vocabulary
from reference.train import Rules, Word, byte_alphabet, train_slowly

RUNS = int(os.environ.get("JOGAK_TRAIN_RUNS", "2000")) // 4
FIRST_SEED = int(os.environ.get("JOGAK_TRAIN_SEED", "0"))
BLOCKS = 10


def draw_options(draw: random.Random, **more: object) -> tuple[TrainOptions, Rules]:
    """Draw what may merge, as options and as the oracle takes it."""
    drawn = {
        "ties": draw.choice(TIES),
        "min_count": draw.choice([1, 1, 2, 3]),
        "max_token_bytes": draw.choice([None, None, 4, 6]),
        "max_token_chars": draw.choice([None, None, 1, 2]),
        "whole_characters": draw.random() < 0.3,
    }
    limit = draw.choice([3, 30])
    options = TrainOptions(vocab_size=10**6, limit=limit, allow_smaller=True, **drawn, **more)
    return options, Rules(**drawn)


def draw_vocabulary(draw: random.Random) -> Vocabulary:
    """Draw an earlier vocabulary: trained, or (as Llama-3's) all the ways to split its tokens."""
    base = [b"<s>", *byte_alphabet()]
    words = [Word([base.index(bytes([b])) for b in w], n, 0) for w, n in draw_words(draw).items()]
    trained = train_slowly(words, base, draw.choice([0, 5, 25]), Rules(min_count=1))
    tokens = list(base)
    for left, right, _ in trained:
        tokens.append(tokens[left] + tokens[right])
    tokens[0] = b""
    merges = [(left, right, len(base) + i) for i, (left, right, _) in enumerate(trained)]
    if draw.random() < 0.5:
        rule = draw.choice(["pairs", "pairs", "ranks"])
        return Vocabulary(tokens, merges if rule == "pairs" else [], rule, draw.random() < 0.3)
    extra = {word for word in draw_words(draw) if 1 < len(word) < 9} - set(tokens)
    tokens += sorted(extra)  # some of which no merge reaches
    ids = {token: i for i, token in enumerate(tokens) if token}
    splits = [
        (ids[token[:at]], ids[token[at:]], ids[token])
        for token in tokens[len(base) :]
        for at in range(1, len(token))
        if token[:at] in ids and token[at:] in ids
    ]
    return Vocabulary(tokens, splits, "pairs", draw.random() < 0.7)


def slow_words(words: dict[bytes, int], vocabulary: Vocabulary) -> list[Word]:
    encoder = ReferenceEncoder(vocabulary)
    starts = np.cumsum([0, *map(len, words)]).tolist()
    return [
        Word(encoder.encode_pretoken(word), count, start * 1000)
        for (word, count), start in zip(words.items(), starts, strict=False)
    ]


def run_continued(seed: int) -> None:
    draw = random.Random(seed)
    vocabulary = draw_vocabulary(draw)
    words = draw_words(draw)
    options, rules = draw_options(draw)
    data, offsets = pack_tokens(list(vocabulary.tokens))
    spec = TokenizerSpec(
        data,
        offsets,
        np.array(vocabulary.merges, dtype=np.uint32).reshape(-1, 3),
        rule="ranks" if vocabulary.rule == "ranks" else "pairs",
        whole_first=vocabulary.whole_first,
        added=(AddedToken(0, "<s>"),),
    )
    rules.forbidden = frozenset({*filter(None, vocabulary.tokens), b"<s>", b"<new>"})
    start = continued_start(spec, ("<new>",))
    counts = PretokenCounts.from_mapping(words)
    merges = train_merges(counts, options, start=start, tuning=draw_tuning(draw))
    slow = slow_words(words, vocabulary)
    expected = train_slowly(slow, [*vocabulary.tokens, b""], options.limit or 0, rules)
    found = zip(merges.left.tolist(), merges.right.tolist(), merges.counts.tolist(), strict=True)
    assert list(found) == expected, f"seed {seed}"


def run_syllables(seed: int) -> None:
    draw = random.Random(seed)
    words = draw_words(draw)
    options, rules = draw_options(draw, initial_syllables="ksx1001")
    tokens = [b"", *byte_alphabet()]
    made = sorted({s.encode()[:2] for s in KSX1001_SYLLABLES})
    made += sorted(s.encode() for s in KSX1001_SYLLABLES)
    tokens += made
    ids = {token: i for i, token in enumerate(tokens) if token}
    earlier = [(ids[token[:-1]], ids[token[-1:]], ids[token]) for token in made]
    rules.forbidden = frozenset({b"<|endoftext|>"})
    slow = slow_words(words, Vocabulary(tokens, earlier, "pairs", whole_first=False))
    expected = train_slowly(slow, tokens, options.limit or 0, rules)
    merges = train_merges(PretokenCounts.from_mapping(words), options, tuning=draw_tuning(draw))
    assert merges.base == tuple(tokens)
    assert merges.earlier.tolist() == [list(merge) for merge in earlier]
    found = zip(merges.left.tolist(), merges.right.tolist(), merges.counts.tolist(), strict=True)
    assert list(found) == expected, f"seed {seed}"


def run_weighted(seed: int) -> None:
    draw = random.Random(seed)
    languages = {"ko": draw_words(draw), "en": draw_words(draw), "code": draw_words(draw)}
    weights = {name: draw.choice([0, 0.5, 1, 1.25, 2, 3]) for name in ("ko", "en")}
    options, rules = draw_options(draw, weights=weights)
    rules.forbidden = frozenset({b"<|endoftext|>"})
    parts = [PretokenCounts.from_mapping(w, language=name) for name, w in languages.items()]
    merges = train_merges(merge_counts(parts), options, tuning=draw_tuning(draw))
    weighted: dict[bytes, Fraction] = {}
    first: dict[bytes, int] = {}
    for name, words in languages.items():
        at = 0
        for word, count in words.items():
            weight = Fraction(weights.get(name, 1))
            weighted[word] = weighted.get(word, Fraction(0)) + weight * count
            first[word] = min(first.get(word, at), at)
            at += len(word)
    if rules.ties == "first_seen":  # positions of corpora that were merged may coincide
        return
    base = [b"", *byte_alphabet()]
    slow = [
        Word([base.index(bytes([b])) for b in word], int(count * merges.scale), first[word] * 1000)
        for word, count in weighted.items()
        if count
    ]
    rules.min_count *= merges.scale
    expected = train_slowly(slow, base, options.limit or 0, rules)
    found = zip(merges.left.tolist(), merges.right.tolist(), merges.counts.tolist(), strict=True)
    assert list(found) == expected, f"seed {seed}"


@pytest.mark.parametrize("block", range(BLOCKS))
def test_going_on_equals_the_oracle_on_encoded_words(block: int) -> None:
    for seed in range(FIRST_SEED + block, FIRST_SEED + RUNS, BLOCKS):
        run_continued(seed)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_merges_after_the_initial_syllables_equal_the_oracle(block: int) -> None:
    for seed in range(FIRST_SEED + block, FIRST_SEED + RUNS // 10, BLOCKS):
        run_syllables(seed)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_weighted_merges_equal_the_oracle_on_weighted_counts(block: int) -> None:
    for seed in range(FIRST_SEED + block, FIRST_SEED + RUNS, BLOCKS):
        run_weighted(seed)


def test_totals_name_the_languages_of_merged_parts() -> None:
    parts = [PretokenCounts.from_mapping({"가": 2}, language="ko")]
    parts.append(PretokenCounts.from_mapping({"a": 1}, language="en"))
    assert merge_counts(parts).totals == {
        "en": LanguageTotals(0, 1, 1),
        "ko": LanguageTotals(0, 6, 2),
    }

"""Random training runs of the core beside the brute-force oracle, with parameters at extremes."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from jogak import _core
from reference.train import Rules, Word, byte_alphabet, train_slowly

TIES = ("smallest_ids", "lexicographic", "largest", "first_seen")


def draw_tuning(draw: random.Random) -> _core.TrainTuning:
    """Draw the internal parameters, which must not show in the result."""
    tuning = _core.TrainTuning()
    tuning.exact_length = draw.choice([0, 1, 2, 3, 8, 64, 2**32 - 1])
    tuning.prune_below = draw.choice([0, 2, 5, 50, 2**40])
    tuning.block = draw.choice([1, 2, 3, 256])
    tuning.bucket_limit = draw.choice([2, 3, 10, 2**16])
    tuning.narrow_tokens = draw.choice([0, 257, 262, 300, 65_533])
    tuning.short_text = draw.choice([0, 2**24 - 1])
    tuning.share = draw.choice([0, 5, 2**22])
    tuning.parallel_from = draw.choice([0, 0, 40])
    tuning.segment_merges = draw.choice([0, 1, 5, 40, 2**32])
    tuning.segment_percent = draw.choice([0, 0, 150])
    tuning.segment_joins = draw.choice([0, 4, 2**32])
    tuning.segments = draw.choice([1, 6, 12, 65_533, 65_533])
    tuning.check_counts = True
    return tuning


def pack(strings: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Return strings as data and offsets."""
    data = np.frombuffer(b"".join(strings), dtype=np.uint8)
    return data, np.cumsum([0, *map(len, strings)], dtype=np.int64)


def draw_rules(draw: random.Random, words: dict[bytes, int]) -> Rules:
    """Draw what may merge, and which of the most frequent pairs goes first."""
    forbidden = set()
    if draw.random() < 0.2:
        word = draw.choice(list(words))
        forbidden = {word[: draw.randint(2, 4)], word[-draw.randint(2, 4) :]}
    return Rules(
        ties=draw.choice(TIES),
        min_count=draw.choice([1, 1, 2, 2, 7]),
        max_token_bytes=draw.choice([None, None, 1, 3, 4, 6]),
        max_token_chars=draw.choice([None, None, None, 1, 2, 3]),
        whole_characters=draw.random() < 0.3,
        forbidden=frozenset(forbidden),
    )


def options_of(
    rules: Rules, merges: int, tuning: _core.TrainTuning, threads: int = 1
) -> _core.TrainOptions:
    """Return the options of the core for the oracle's rules."""
    options = _core.TrainOptions()
    options.merges = merges
    options.ties = rules.ties
    options.min_count = rules.min_count
    if rules.max_token_bytes is not None:
        options.max_token_bytes = rules.max_token_bytes
    if rules.max_token_chars is not None:
        options.max_token_chars = rules.max_token_chars
    options.whole_characters = rules.whole_characters
    options.forbid(*pack(sorted(rules.forbidden)))
    options.tuning = tuning
    options.threads = threads
    return options


def compare_training(draw: random.Random, words: dict[bytes, int]) -> None:
    """Train on words (valid UTF-8, with counts) in the core and slowly; both must agree."""
    alphabet = byte_alphabet()
    characters = draw.random() < 0.3
    threads = draw.choice([1, 1, 2, 3])
    if characters:
        alphabet = sorted({char.encode() for word in words for char in word.decode()})
    rules = draw_rules(draw, words)
    merges = draw.choice([3, 20, 80])
    starts = np.cumsum([0, *map(len, words)])[:-1]
    if draw.random() < 0.5:
        draw.shuffle(starts)  # positions need not ascend with the order of words
    ids = {token: i for i, token in enumerate(alphabet)}

    def symbols(word: bytes) -> list[int]:
        units = [c.encode() for c in word.decode()] if characters else [bytes([b]) for b in word]
        return [ids[unit] for unit in units]

    expected = train_slowly(
        # Positions far apart, so that the oracle's count of symbols cannot reach the next word.
        [
            Word(symbols(word), count, int(start) * 1000)
            for (word, count), start in zip(words.items(), starts, strict=True)
        ],
        alphabet,
        merges,
        rules,
    )
    left, right, counts = _core.train_merges(
        *pack(list(words)),
        np.fromiter(words.values(), dtype=np.uint64),
        starts.astype(np.uint64) * 1000,
        *pack(alphabet),
        options_of(rules, merges, draw_tuning(draw), threads),
        _core.TrainControl(),
        characters,
    )
    found = list(zip(left.tolist(), right.tolist(), counts.tolist(), strict=True))
    assert found == expected, f"{rules}, words {words}: {found} but {expected}"

"""The trainer against the brute-force oracle, on random words with internal parameters at extremes.

JOGAK_TRAIN_RUNS sets the number of runs (2,000 in all by default); JOGAK_TRAIN_SEED the first seed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence

import numpy as np
import pytest

from jogak import _core
from reference.train import Rules, Word, byte_alphabet, train_slowly

BLOCKS = 20
RUNS = int(os.environ.get("JOGAK_TRAIN_RUNS", "2000"))
FIRST_SEED = int(os.environ.get("JOGAK_TRAIN_SEED", "0"))
TIES = ("smallest_ids", "lexicographic", "largest", "first_seen")
KOREAN = [
    "나는",
    "학교에",
    "간다",
    "나는",
    "집에",
    "간다",
    "너는",
    "학교에",
    "온다",
    "학교는",
    "크다",
    "집은",
    "작다",
    "ㅋㅋㅋ",
    "ㅋㅋ",
    "우리는",
    "인공지능을",
    "공부했다",
    "인공지능",
    "연구를",
    "한다",
    "학교에서는",
    "공부한다",
]
ENGLISH = [
    "low",
    "lower",
    "lowest",
    "newest",
    "newer",
    "widest",
    "wide",
    "the",
    "then",
    "there",
    "other",
    "mother",
    "bother",
]


def draw_words(draw: random.Random) -> dict[bytes, int]:
    """Draw distinct words with counts; many ties, some counts of every zone."""
    kind = draw.randrange(6)
    number = draw.choice([1, 3, 10, 30])
    highest = draw.choice([1, 2, 5, 40, 100, 70_000, 2**33])

    def letters(alphabet: str, longest: int) -> str:
        return "".join(draw.choices(alphabet, k=draw.randint(1, longest)))

    makers = [
        lambda: letters("ab", 9),
        lambda: letters("가나다aㅋ", 5),
        lambda: draw.choice("aㅋ가") * draw.randint(1, 14),
        lambda: draw.choice(KOREAN) + draw.choice([*KOREAN, ""]),
        lambda: draw.choice(ENGLISH) + draw.choice([*ENGLISH, ""]),
        lambda: letters("é가a 😀1\u3000-나", 6),
    ]
    make = makers[kind]
    return {make().encode(): draw.randint(1, highest) for _ in range(number)}


def draw_tuning(draw: random.Random) -> _core.TrainTuning:
    tuning = _core.TrainTuning()
    tuning.exact_length = draw.choice([0, 1, 2, 3, 8, 64, 2**32 - 1])
    tuning.prune_below = draw.choice([0, 2, 5, 50, 2**40])
    tuning.block = draw.choice([1, 2, 3, 256])
    tuning.bucket_limit = draw.choice([2, 3, 10, 2**16])
    tuning.wide_symbols = draw.random() < 0.5
    tuning.check_counts = True
    return tuning


def pack(strings: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
    data = np.frombuffer(b"".join(strings), dtype=np.uint8)
    return data, np.cumsum([0, *map(len, strings)], dtype=np.int64)


def draw_rules(draw: random.Random, words: dict[bytes, int]) -> Rules:
    forbidden = set()
    if draw.random() < 0.2:
        word = draw.choice(list(words))
        forbidden = {word[: draw.randint(2, 4)], word[-draw.randint(2, 4) :]}
    return Rules(
        ties=draw.choice(TIES),
        min_count=draw.choice([1, 1, 2, 2, 7]),
        max_token_bytes=draw.choice([None, None, 1, 3, 4, 6]),
        whole_characters=draw.random() < 0.3,
        forbidden=frozenset(forbidden),
    )


def options_of(rules: Rules, merges: int, tuning: _core.TrainTuning) -> _core.TrainOptions:
    options = _core.TrainOptions()
    options.merges = merges
    options.ties = rules.ties
    options.min_count = rules.min_count
    if rules.max_token_bytes is not None:
        options.max_token_bytes = rules.max_token_bytes
    options.whole_characters = rules.whole_characters
    options.forbid(*pack(sorted(rules.forbidden)))
    options.tuning = tuning
    return options


def run(seed: int) -> None:
    draw = random.Random(seed)
    words = draw_words(draw)
    alphabet = byte_alphabet()
    characters = draw.random() < 0.3
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
        options_of(rules, merges, draw_tuning(draw)),
        _core.TrainControl(),
        characters,
    )
    found = list(zip(left.tolist(), right.tolist(), counts.tolist(), strict=True))
    assert found == expected, f"seed {seed}, {rules}, words {words}"


@pytest.mark.parametrize("block", range(BLOCKS))
def test_merges_equal_the_oracle_whatever_the_internal_parameters(block: int) -> None:
    for seed in range(FIRST_SEED + block, FIRST_SEED + RUNS, BLOCKS):
        run(seed)

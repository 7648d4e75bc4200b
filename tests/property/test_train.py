"""The trainer against the brute-force oracle, on random words with internal parameters at extremes.

JOGAK_TRAIN_RUNS sets the number of runs (2,000 in all by default); JOGAK_TRAIN_SEED the first seed.
"""

from __future__ import annotations

import os
import random

import pytest

from fakes.training import compare_training

BLOCKS = 20
RUNS = int(os.environ.get("JOGAK_TRAIN_RUNS", "2000"))
FIRST_SEED = int(os.environ.get("JOGAK_TRAIN_SEED", "0"))
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


def run(seed: int) -> None:
    draw = random.Random(seed)
    try:
        compare_training(draw, draw_words(draw))
    except AssertionError as error:
        message = f"seed {seed}"
        raise AssertionError(message) from error


@pytest.mark.parametrize("block", range(BLOCKS))
def test_merges_equal_the_oracle_whatever_the_internal_parameters(block: int) -> None:
    for seed in range(FIRST_SEED + block, FIRST_SEED + RUNS, BLOCKS):
        run(seed)


@pytest.mark.parametrize("seed", range(50))
def test_words_without_a_pair_give_no_merges(seed: int) -> None:
    """Words of one byte, or too rare: the core is left without any place between two symbols."""
    compare_training(random.Random(seed), {b"a": 1, b"ab": 1})
    compare_training(random.Random(seed), {b"a": 1})

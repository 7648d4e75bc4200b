"""From documents to merges beside both oracles: random threads, spills and parameters of the core.

JOGAK_TRAIN_RUNS sets the number of runs of tests/property/test_train.py; here it is a tenth of it.
"""

from __future__ import annotations

import os
import random

import pytest
import regex

from fakes.training import TIES, draw_tuning, options_of, pack
from jogak import _core
from jogak.count import count_pretokens
from jogak.pretokenize import Pretokenizer
from reference.count import count_slowly
from reference.train import Rules, Word, byte_alphabet, train_slowly

BLOCKS = 10
RUNS = int(os.environ.get("JOGAK_TRAIN_RUNS", "2000")) // 10
FIRST_SEED = int(os.environ.get("JOGAK_TRAIN_SEED", "0"))
GPT2 = regex.compile(Pretokenizer("gpt2").regex)
PARTS = ["가", "나", "다 ", " ", "a", "ㅋ", "é", "1", ".", "\n", "한국어는", "low", "est", "긴" * 7]


def run(seed: int) -> None:
    draw = random.Random(seed)
    documents = [
        "".join(draw.choices(PARTS, k=draw.randint(0, 30))) for _ in range(draw.randint(1, 12))
    ]
    starts, cut, at = [], [], 0
    for document in documents:
        starts.append(at)
        cut.append([each.encode() for each in GPT2.findall(document)])
        at += len(document.encode())
    counted = count_slowly(zip(starts, cut, strict=True))
    counts = count_pretokens(
        documents,
        normalize="none",
        threads=draw.choice([1, 2, 3]),
        memory_bytes=draw.choice([None, 64, 100_000]),
    )
    found = [
        (counts.pretoken(row), int(counts.counts[row]), int(counts.first[row]))
        for row in range(len(counts))
    ]
    assert found == counted
    rules = Rules(
        ties=draw.choice(TIES),
        min_count=draw.choice([1, 2]),
        max_token_bytes=draw.choice([None, 4]),
        max_token_chars=draw.choice([None, 2]),
        whole_characters=draw.random() < 0.3,
        forbidden=frozenset(),
    )
    alphabet = byte_alphabet()
    ids = {token: index for index, token in enumerate(alphabet)}
    words = [
        Word([ids[bytes([byte])] for byte in word], count, first) for word, count, first in counted
    ]
    merges = _core.train_merges(
        counts.data,
        counts.offsets,
        counts.counts,
        counts.first,
        *pack(alphabet),
        options_of(rules, 60, draw_tuning(draw)),
        _core.TrainControl(),
    )
    made = list(zip(*(array.tolist() for array in merges), strict=True))
    assert made == train_slowly(words, alphabet, 60, rules)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_merges_of_documents_equal_the_oracles_whatever_threads_and_spills(block: int) -> None:
    for seed in range(FIRST_SEED + block, FIRST_SEED + RUNS, BLOCKS):
        try:
            run(seed)
        except AssertionError as error:
            message = f"seed {seed}"
            raise AssertionError(message) from error

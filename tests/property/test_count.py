"""count against the dictionary of tests/reference, on random documents, tables and divisions."""

from __future__ import annotations

import random

import numpy as np
import pytest

from jogak import _core
from reference.count import count_slowly

ALPHABETS = [
    [b"a", b"b"],
    ["가".encode(), "나".encode(), b"x", b" "],
    [bytes([i]) for i in range(256)],
]


def draw_documents(draw: random.Random) -> list[list[bytes]]:
    alphabet = draw.choice(ALPHABETS)
    longest = draw.choice([2, 6, 40])

    def word() -> bytes:
        return b"".join(draw.choices(alphabet, k=draw.randint(1, longest)))

    return [[word() for _ in range(draw.randint(0, 300))] for _ in range(draw.randint(1, 12))]


def add(counter: _core.PretokenCounter, documents: list[list[bytes]], base: int) -> None:
    pretokens = [pretoken for document in documents for pretoken in document]
    sizes = [sum(map(len, document)) for document in documents]
    counter.add_ends(
        np.frombuffer(b"".join(pretokens), dtype=np.uint8),
        np.cumsum([0, *sizes], dtype=np.int64),
        np.cumsum([len(pretoken) for pretoken in pretokens], dtype=np.int64),
        np.zeros(len(documents), dtype=np.int32),
        base,
    )


@pytest.mark.parametrize("block", range(10))
def test_counts_equal_a_dictionary_however_the_documents_are_divided(block: int) -> None:
    for seed in range(block * 30, block * 30 + 30):
        draw = random.Random(seed)
        documents = draw_documents(draw)
        starts = np.cumsum([0, *(sum(map(len, document)) for document in documents)]).tolist()
        counters = [_core.PretokenCounter() for _ in range(draw.randint(1, 3))]
        order = list(range(len(documents)))
        draw.shuffle(order)
        for i in order:
            add(draw.choice(counters), [documents[i]], starts[i])
        merged = _core.PretokenCounter()
        for counter in counters:
            merged.add_counts(0, *counter.finish(0))
        data, offsets, counts, first = merged.finish(0)
        found = [
            (data[offsets[i] : offsets[i + 1]].tobytes(), int(counts[i]), int(first[i]))
            for i in range(len(counts))
        ]
        expected = count_slowly(zip(starts, documents, strict=False))
        assert found == expected, f"seed {seed}"
        assert int(counts.sum()) == sum(map(len, documents)), f"seed {seed}"

"""count against the dictionary of tests/reference, on random documents, tables and divisions."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest
import regex

from jogak import _core
from jogak.count import count_pretokens
from jogak.pretokenize import Pretokenizer
from reference.count import count_slowly

GPT2 = regex.compile(Pretokenizer("gpt2").regex)
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


MASK = 2**64 - 1
SEED = int(os.environ.get("JOGAK_COUNT_SEED", "0"))


def hash_of(word: bytes) -> int:
    """Return what the table of the core is indexed by, of a word up to 15 bytes."""
    low = int.from_bytes(word[:8], "little")
    high = int.from_bytes(word[8:15], "little") | len(word) << 56
    product = (low ^ 0xA0761D6478BD642F) * (high ^ 0xE7037ED1A0B428DB)
    return (product & MASK) ^ (product >> 64)


def colliding_words() -> list[bytes]:
    """Return words whose hashes lie side by side: at both ends, and about the middle."""
    words = sorted((b"%05d" % number for number in range(100_000)), key=hash_of)
    middle = next(i for i, word in enumerate(words) if hash_of(word) >> 63)
    return words[:150] + words[middle - 150 : middle + 150] + words[-150:]


COLLIDING = colliding_words()


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


Rows = list[tuple[bytes, int, int]]


def listed(arrays: tuple[np.ndarray, ...]) -> Rows:
    data, offsets, counts, first = arrays
    return [
        (data[offsets[i] : offsets[i + 1]].tobytes(), int(counts[i]), int(first[i]))
        for i in range(len(counts))
    ]


def draw_words(draw: random.Random) -> list[bytes]:
    """Draw distinct words: none, one, colliding ones, long ones, or enough for tables to grow."""
    kind = draw.choice(["none", "one", "colliding", "long", "few", "many"])
    if kind == "none":
        return []
    if kind == "one":
        return [
            bytes([draw.randrange(256)]) * draw.choice([1, 15, 16, 32, 33, 254, 255, 256, 70_000])
        ]
    if kind == "colliding":
        return draw.sample(COLLIDING, draw.randint(1, len(COLLIDING)))
    if kind == "long":
        return [b"%0*d" % (draw.randint(14, 300), i) for i in range(draw.randint(1, 2_000))]
    most = 300 if kind == "few" else 30_000
    return [b"%d" % draw.randrange(10**18) for _ in range(draw.randint(1, most))]


@pytest.mark.parametrize("block", range(10))
def test_counters_listed_together_equal_a_dictionary(block: int) -> None:
    for seed in range(SEED + block * 12, SEED + block * 12 + 12):
        draw = random.Random(seed)
        counters = [_core.PretokenCounter() for _ in range(draw.randint(1, 4))]
        languages = range(draw.randint(1, 3))
        sums: list[dict[bytes, list[int]]] = [{} for _ in languages]
        positions = draw.choice([1, 50, 10**6, 2**40, 2**64 - 1])  # few: many are equal
        for counter in counters:
            if draw.random() < 0.5:
                counter.expect(draw.choice([1, 10_000, 10**7, 2**62]))
            for language in languages:
                words = list(dict.fromkeys(draw_words(draw) + draw_words(draw)))
                counts = [draw.choice([1, 1, 1, 2, 63, 64, 65, 2**33]) for _ in words]
                first = [draw.randrange(positions) for _ in words]
                counter.add_counts(
                    language,
                    np.frombuffer(b"".join(words), np.uint8),
                    np.cumsum([0, *map(len, words)], dtype=np.int64),
                    np.array(counts, np.uint64),
                    np.array(first, np.uint64),
                )
                for word, count, position in zip(words, counts, first, strict=True):
                    entry = sums[language].setdefault(word, [0, position])
                    entry[0] += count
                    entry[1] = min(entry[1], position)
        for language in languages:
            rows = [(word, count, first) for word, (count, first) in sums[language].items()]
            expected = sorted(rows, key=lambda row: (-row[1], row[2], row[0]))
            for keep in (True, False):
                arrays = counters[0].finish(language, keep, counters[1:], draw.randint(1, 4))
                assert listed(arrays) == expected, f"seed {seed}"
            assert listed(counters[0].finish(language, True, counters[1:])) == [], f"seed {seed}"


@pytest.mark.parametrize("seed", range(SEED, SEED + 6))
def test_counts_of_a_file_do_not_depend_on_threads_or_blocks(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    words = [str(draw.randrange(10**12)) * draw.randint(1, 3) for _ in range(40_000)]
    lines = [" ".join(draw.choices(words, k=draw.randint(0, 30))) + "\n" for _ in range(6_000)]
    path = tmp_path / "lines.txt"
    path.write_text("".join(lines), encoding="utf-8")
    starts = np.cumsum([0, *map(len, lines)]).tolist()
    cut = [[each.encode() for each in GPT2.findall(line)] for line in lines]
    expected = count_slowly(zip(starts, cut, strict=False))
    for threads in range(1, 5):
        monkeypatch.setattr("jogak.read.python.BLOCK_BYTES", draw.choice([5_000, 100_000, 2**20]))
        with path.open("rb") as file:
            counts = count_pretokens(file, normalize="none", threads=threads)
        arrays = (counts.data, counts.offsets, counts.counts, counts.first)
        assert listed(arrays) == expected, f"seed {seed}, {threads} threads"


def test_parts_of_a_grown_table_hold_everything_once() -> None:
    for seed in range(SEED, SEED + 20):
        draw = random.Random(seed)
        counter = _core.PretokenCounter()
        counter.expect(draw.choice([0, 10**5, 10**6]))
        words = list(dict.fromkeys(draw_words(draw) + draw_words(draw) + COLLIDING))
        add(counter, [words], 0)
        parts = [listed(counter.part(0, part)) for part in range(_core.count_parts)]
        whole = listed(counter.finish(0))
        assert sorted(row for part in parts for row in part) == sorted(whole), f"seed {seed}"
        single = _core.PretokenCounter(single_part=True)
        for part in range(_core.count_parts):
            single.add_counts(0, *counter.part(0, part))
        assert listed(single.finish(0)) == whole, f"seed {seed}"

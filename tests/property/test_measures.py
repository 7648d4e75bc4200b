"""Random documents: what is measured natively equals the slow reference on Python strings."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import astuple

import numpy as np
import pytest

from jogak import _core
from jogak.measures import TokenSums
from reference import measures as slow

ALPHABET = (
    *"가힣각뷁한글는 a\n\u3000\u00a0\u2028\x1c\u0085é漢😀",
    *"\u1112\u1161\u11ab\u1175\u11a8\u11c2\u11a7\u1113\ufffd\u0471\u5360\uc3d9\uc619\u6e72",
    *"\u00c7\u00d1\u00b1\u00db\u00ed\u2022\u0153\u00ea\u00b8\u20ac\u00b7",
)
ROUNDS = 3_000


def text_of(random_: random.Random) -> str:
    return "".join(random_.choices(ALPHABET, k=random_.randrange(40)))


def buffers(texts: list[bytes], *, before: bytes = b"") -> tuple[np.ndarray, np.ndarray]:
    """Return documents as `TextBatch` holds them, from a place in a larger buffer on."""
    offsets = np.cumsum([len(before), *map(len, texts)], dtype=np.int64)
    return np.frombuffer(before + b"".join(texts), np.uint8), offsets


def cut(random_: random.Random, data: bytes) -> list[bytes]:
    """Cut bytes anywhere, inside characters too; some tokens are empty."""
    places = sorted(random_.randrange(len(data) + 1) for _ in range(random_.randrange(12)))
    return [
        data[start:stop] for start, stop in zip([0, *places], [*places, len(data)], strict=True)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_damage_is_found_where_the_reference_finds_it(seed: int) -> None:
    random_ = random.Random(seed)
    texts = [text_of(random_) for _ in range(ROUNDS)]
    found = _core.inspect_text(*buffers([text.encode() for text in texts], before=b"\xe1\x84"))
    expected = [slow.is_decomposed(text) + 2 * slow.is_mojibake(text) for text in texts]
    wrong = [text for text, new, old in zip(texts, found, expected, strict=True) if new != old]
    assert not wrong, f"seed {seed}: {wrong[:3]!r}"
    assert set(expected) >= {0, 1, 2}, "the alphabet no longer makes every kind of damage"


@pytest.mark.parametrize("seed", range(3))
def test_token_sums_equal_those_of_the_reference(seed: int) -> None:
    random_ = random.Random(seed)
    for round_ in range(ROUNDS // 10):
        texts = [text_of(random_).encode() for _ in range(10)]
        cuts = [cut(random_, text) for text in texts]
        table = sorted({token for each in cuts for token in each} | {b"extra"})
        ids = np.array([table.index(token) for each in cuts for token in each], np.uint32)
        groups = np.array([random_.randrange(3) for _ in texts], np.int32)
        # One document in five is compared with another text than its own.
        given = [text if random_.random() < 0.8 else text + b"x" for text in texts]
        meter = _core.TokenMeter(*buffers(table))
        counts = np.zeros((3, len(table)), np.int64)
        ends = np.cumsum([len(each) for each in cuts], dtype=np.int64)
        flat = meter.measure(ids, ends, groups, counts, *buffers(given))
        for group in range(3):
            chosen = [at for at in range(10) if groups[at] == group]
            each = (slow.token_sums(cuts[at], given[at]) for at in chosen)
            expected = sum(each, TokenSums())
            message = f"seed {seed}, round {round_}, {[cuts[at] for at in chosen]}"
            assert tuple(flat[group * 8 : group * 8 + 8]) == astuple(expected), message
            times = Counter(token for at in chosen for token in cuts[at])
            assert counts[group].tolist() == [times[token] for token in table], message


@pytest.mark.parametrize(
    ("tokens", "strip_start", "strip_last", "text", "exact"),
    [
        ([b" ", b" a"], 1, False, b" a", True),
        ([b" ", b" a"], 2, False, b"a", True),
        ([b" ", b" a"], 3, False, b"a", True),
        ([b" a"], 0, False, b"a", False),
        ([b"a ", b"b "], 0, True, b"a b", True),
        ([b"a ", b"b "], 0, True, b"a b ", False),
        ([b"a ", b"b "], 0, False, b"a b", False),
        ([], 1, True, b"", True),
        ([b"ab"], 0, False, b"abc", False),
        ([b"abc"], 0, False, b"ab", False),
    ],
)
def test_exact_is_what_decoding_gives_back(
    tokens: list[bytes], strip_start: int, strip_last: bool, text: bytes, exact: bool
) -> None:
    meter = _core.TokenMeter(*buffers(tokens), strip_start=strip_start, strip_last_space=strip_last)
    ids = np.arange(len(tokens), dtype=np.uint32)
    counts = np.zeros((1, len(tokens)), np.int64)
    ends, groups = np.array([len(tokens)], np.int64), np.zeros(1, np.int32)
    assert meter.measure(ids, ends, groups, counts, *buffers([text]))[7] == exact


def test_an_unknown_token_is_counted() -> None:
    meter = _core.TokenMeter(*buffers([b"<unk>", b"a"]), unknown=0)
    counts = np.zeros((1, 2), np.int64)
    ends, groups = np.array([3], np.int64), np.zeros(1, np.int32)
    found = meter.measure(np.array([0, 1, 0], np.uint32), ends, groups, counts)
    assert found.tolist() == [3, 1, 1, 0, 2, 0, 0, 0]


@pytest.mark.parametrize(
    ("ids", "ends", "groups", "shape", "told"),
    [
        ([2], [1], [0], (1, 2), "id 2 is not below 2"),
        ([0], [2], [0], (1, 2), "out of range"),
        ([0], [1], [1], (1, 2), "out of range"),
        ([0], [1], [-1], (1, 2), "out of range"),
        ([0], [1], [0, 0], (1, 2), "not of the same documents"),
        ([0], [1], [0], (1, 3), "must have 2 columns"),
    ],
)
def test_what_contradicts_itself_is_refused(
    ids: list[int], ends: list[int], groups: list[int], shape: tuple[int, int], told: str
) -> None:
    meter = _core.TokenMeter(*buffers([b"a", b"b"]))
    with pytest.raises(ValueError, match=told):
        meter.measure(
            np.array(ids, np.uint32),
            np.array(ends, np.int64),
            np.array(groups, np.int32),
            np.zeros(shape, np.int64),
        )

"""What a report says of a vocabulary, against the same found token by token."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from jogak.report.scripts import scripts
from jogak.report.vocabulary import LONGEST, token_lengths
from reference.scripts import script_of
from reference.scripts import token_lengths as slow_lengths

PIECES = st.sampled_from(["가", "한국", "a", "é", "7", "٣", ".", " ", "\n", "漢", "あ", "́", "🙂"])
TOKENS = st.lists(
    st.one_of(
        st.lists(PIECES, max_size=4).map(lambda pieces: "".join(pieces).encode()),
        st.binary(max_size=3),
        st.integers(0, 60).map(lambda size: b"x" * size),
    ),
    min_size=1,
    max_size=30,
)


@given(TOKENS, st.randoms(use_true_random=False))
def test_tokens_are_counted_by_the_script_that_each_has_alone(
    table: list[bytes], random: Random
) -> None:
    ids = np.array([random.choice([0, 1, 5]) for _ in table], np.int64)
    expected: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for token, count in zip(table, ids.tolist(), strict=True):
        if token:
            expected[script_of(token)] += 1
            times[script_of(token)] += count
    found = scripts(table, ids)
    assert {each.name: each.tokens for each in found} == expected
    assert {each.name: each.count for each in found} == dict(times)
    assert [each.count for each in found] == sorted(times.values(), reverse=True)
    for each in found:
        counts = [count for _, count in each.commonest]
        assert counts == sorted(counts, reverse=True)
        sizes = [len(text) for text, _ in each.longest if each.name != "parts of characters"]
        assert sizes == sorted(sizes, reverse=True)


@given(TOKENS, st.randoms(use_true_random=False))
def test_tokens_are_counted_by_the_characters_that_they_begin(
    table: list[bytes], random: Random
) -> None:
    ids = [random.choice([0, 1, 5]) for _ in table]
    assert token_lengths(table, np.array(ids, np.int64)) == slow_lengths(table, ids, LONGEST)

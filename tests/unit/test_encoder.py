"""What `_core.Encoder` promises: merge semantics by hand, refusals, bounds, threads."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from jogak import _core
from reference.encode import ReferenceEncoder, Vocabulary

BYTES = [bytes([byte]) for byte in range(256)]


def build(tokens: list[bytes], pairs: list[tuple[bytes, bytes]] | None, whole: bool) -> Vocabulary:
    """Return a vocabulary of the 256 bytes and `tokens`; pairs=None: rule ranks."""
    everything = BYTES + tokens
    ids = {token: i for i, token in enumerate(everything)}
    merges = [(ids[a], ids[b], ids[a + b]) for a, b in pairs or []]
    return Vocabulary(everything, merges, "ranks" if pairs is None else "pairs", whole)


def encode(vocabulary: Vocabulary, *pretokens: bytes, **options: int) -> list[bytes]:
    """Encode one document and return its tokens as bytes."""
    encoder = _core.Encoder(
        *vocabulary.arrays(), vocabulary.rule, vocabulary.whole_first, **options
    )
    data = np.frombuffer(b"".join(pretokens), dtype=np.uint8)
    ends = np.cumsum([len(pretoken) for pretoken in pretokens], dtype=np.int64)
    ids, document_ends = encoder.encode(None, data, np.array([0, len(data)]), ends)
    assert ids.dtype == np.uint32
    assert document_ends.tolist() == [len(ids)]
    return [vocabulary.tokens[i] for i in ids]


XA_BC = [b"xa", b"bc", b"ab", b"abc"]
XA_BC_PAIRS = [(b"x", b"a"), (b"b", b"c"), (b"a", b"b"), (b"ab", b"c")]


def test_rule_ranks_merges_the_lowest_joined_bytes() -> None:
    assert encode(build(XA_BC, None, False), b"zabc") == [b"z", b"abc"]


def test_rule_pairs_merges_listed_pairs_only() -> None:
    vocabulary = build(XA_BC, XA_BC_PAIRS, False)
    assert encode(vocabulary, b"zabc") == [b"z", b"a", b"bc"]
    assert encode(vocabulary, b"abc") == [b"a", b"bc"]


def test_whole_first_keeps_a_pretoken_that_is_a_token() -> None:
    vocabulary = build(XA_BC, XA_BC_PAIRS, True)
    assert encode(vocabulary, b"abc", b"zabc", b"abc") == [b"abc", b"z", b"a", b"bc", b"abc"]


def test_of_equal_pairs_the_leftmost_merges_first() -> None:
    vocabulary = build([b"aa", b"aaa"], [(b"a", b"a"), (b"aa", b"a")], False)
    assert encode(vocabulary, b"aaaaa") == [b"aa", b"aaa"]


def test_a_pair_listed_twice_has_the_later_rank() -> None:
    pairs = [(b"a", b"b"), (b"b", b"c"), (b"a", b"b")]
    assert encode(build([b"ab", b"bc"], pairs, False), b"abc") == [b"a", b"bc"]


@pytest.mark.parametrize("text", [b"a" * 100_003, "가".encode() * 50_001, b"ab" * 60_000 + b"a"])
def test_one_long_pretoken_is_not_quadratic(text: bytes) -> None:
    tokens = [b"ab", b"aa", b"aaaa", b"a" * 8, "가".encode(), "가가".encode()]
    halves = [(b"a", b"b"), (b"a", b"a"), (b"aa", b"aa"), (b"aaaa", b"aaaa")]
    hangul = [("가".encode()[:2], "가".encode()[2:]), ("가".encode(), "가".encode())]
    vocabulary = build([*tokens, "가".encode()[:2]], [*halves, (b"\xea", b"\xb0"), *hangul], False)
    started = time.perf_counter()
    found = encode(vocabulary, text)
    assert time.perf_counter() - started < 5
    assert b"".join(found) == text
    # The tail depends on where the run ends; the head is periodic.
    head = ReferenceEncoder(vocabulary).encode_pretoken(text[:480])[:20]
    assert found[:20] == [vocabulary.tokens[i] for i in head]


def test_documents_may_be_empty_and_offsets_may_start_late() -> None:
    vocabulary = build([b"ab"], None, False)
    encoder = _core.Encoder(*vocabulary.arrays(), "ranks", False)
    data = np.frombuffer(b"zzababzz", dtype=np.uint8)
    ids, ends = encoder.encode(None, data, np.array([2, 2, 4, 4, 6, 6]), np.array([4, 6]))
    assert ids.tolist() == [256, 256]
    assert ends.tolist() == [0, 1, 1, 2, 2]


def test_no_documents_give_no_ids() -> None:
    encoder = _core.Encoder(*build([], None, False).arrays(), "ranks", False)
    nothing = np.array([], dtype=np.int64)
    ids, ends = encoder.encode(None, np.array([], dtype=np.uint8), np.array([0]), nothing)
    assert (len(ids), len(ends)) == (0, 0)


@pytest.mark.parametrize("ends", [[2], [2, 3], [3, 2, 4], [2, 2, 4], [2, 5], [1, 4, 4], []])
def test_ends_that_do_not_fit_the_documents_are_refused(ends: list[int]) -> None:
    encoder = _core.Encoder(*build([], None, False).arrays(), "ranks", False)
    data = np.frombuffer(b"abcd", dtype=np.uint8)
    with pytest.raises(ValueError, match="ends of pretokens do not fit document"):
        encoder.encode(None, data, np.array([0, 4]), np.array(ends, dtype=np.int64))


def test_exactly_one_of_scanner_and_ends_is_taken() -> None:
    encoder = _core.Encoder(*build([], None, False).arrays(), "ranks", False)
    data = np.frombuffer(b"ab", dtype=np.uint8)
    with pytest.raises(ValueError, match="exactly one of scanner and ends"):
        encoder.encode(None, data, np.array([0, 2]), None)


@pytest.mark.parametrize(
    ("merge", "message"),
    [
        ((97, 98, 400), r"merge 1 \(97, 98 -> 400\): id 400 is not below 259"),
        ((97, 258, 256), r"merge 1 \(97, 258 -> 256\): id 258 has no bytes"),
        ((97, 99, 256), r"merge 1 \(97, 99 -> 256\): the result's bytes are not the joined bytes"),
    ],
)
def test_a_merge_that_contradicts_the_vocabulary_is_named(
    merge: tuple[int, int, int], message: str
) -> None:
    tokens = [*BYTES, b"ab", b"cd", b""]
    vocabulary = Vocabulary(tokens, [(99, 100, 257), merge], "pairs", False)
    with pytest.raises(ValueError, match=message):
        _core.Encoder(*vocabulary.arrays(), "pairs", False)


def test_two_ids_with_the_same_bytes_are_refused() -> None:
    vocabulary = Vocabulary([*BYTES, b"ab", b"ab"], [], "ranks", False)
    with pytest.raises(ValueError, match="ids 256 and 257 have the same bytes"):
        _core.Encoder(*vocabulary.arrays(), "ranks", False)


def test_unknown_rule_and_merges_under_ranks_are_refused() -> None:
    arrays = build([b"ab"], [(b"a", b"b")], False).arrays()
    with pytest.raises(ValueError, match=r"rule must be 'pairs' or 'ranks' \(found 'words'\)"):
        _core.Encoder(*arrays, "words", False)
    with pytest.raises(ValueError, match="rule 'ranks' takes no merges"):
        _core.Encoder(*arrays, "ranks", False)


def test_a_byte_without_token_stops_the_encoding() -> None:
    vocabulary = Vocabulary([token for token in BYTES if token != b"q"], [], "ranks", False)
    assert encode(vocabulary, b"abc") == [b"a", b"b", b"c"]
    with pytest.raises(RuntimeError, match="no token for byte 113"):
        encode(vocabulary, b"abq")


def test_tokens_may_have_the_largest_ids() -> None:
    # Cached ids share a word with their count, so large ones must not be packed.
    tokens = [*BYTES, b"ab", b"cd"]
    data = np.frombuffer(b"".join(tokens), dtype=np.uint8)
    offsets = np.concatenate([np.arange(257), np.full((1 << 24) - 1, 256), [258, 260]])
    encoder = _core.Encoder(data, offsets, np.array([], dtype=np.uint32), "ranks", False)
    names = {(1 << 24) + 255: b"ab", (1 << 24) + 256: b"cd"}
    pretokens = [b"abcd", b"xycd", b"abcdabcd", b"xyabcdcd", b"xyabcd", b"xyzcd"] * 2
    text = np.frombuffer(b"".join(pretokens), dtype=np.uint8)
    ends = np.cumsum([len(pretoken) for pretoken in pretokens], dtype=np.int64)
    ids = encoder.encode(None, text, np.array([0, len(text)]), ends)[0]
    assert b"".join(names.get(int(i)) or bytes([i]) for i in ids) == b"".join(pretokens)
    assert set(names) < set(ids.tolist())


def test_threads_share_one_encoder() -> None:
    vocabulary = build([b"ab", b"abab", "가나".encode()], None, False)
    encoder = _core.Encoder(*vocabulary.arrays(), "ranks", False, _short_slots=4, _narrow_slots=8)
    pretokens = [("ab가나"[: 1 + i % 4] * (1 + i % 7)).encode() for i in range(20_000)]
    data = np.frombuffer(b"".join(pretokens), dtype=np.uint8)
    ends = np.cumsum([len(pretoken) for pretoken in pretokens], dtype=np.int64)
    offsets = np.array([0, len(data)])
    expected = encoder.encode(None, data, offsets, ends)[0].tolist()
    results: list[list[int]] = []

    def work() -> None:
        results.extend(encoder.encode(None, data, offsets, ends)[0].tolist() for _ in range(3))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 12
    assert all(result == expected for result in results)


def test_memory_is_fixed_and_stated() -> None:
    encoder = _core.Encoder(*build([b"ab"], None, False).arrays(), "ranks", False)
    assert encoder.thread_bytes <= 32 << 20
    assert encoder.shared_bytes <= 40 << 20

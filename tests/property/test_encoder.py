"""The native encoder equals the oracle on random vocabularies, whatever its caches hold."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from jogak import _core
from jogak.pretokenize import PATTERNS, Pretokenizer
from reference.encode import ReferenceEncoder, Vocabulary
from reference.vocabularies import KINDS, random_text, random_vocabulary, train_pairs

# Slots of the three caches, cutting, classes of characters: the smallest, none, few, as usual.
SIZES = (
    (4, 2, 2, True, 8192),
    (4, 2, 2, False, 8192),
    (64, 64, 64, True, 5),
    (256, 1024, 64, True, 8192),
)


def cut_randomly(rng: random.Random, text: str) -> list[bytes]:
    """Return pretokens of 1-8 characters, a long one now and then."""
    pretokens, start = [], 0
    while start < len(text):
        end = start + (rng.randint(1, 8) if rng.random() < 0.95 else rng.randint(1, 90))
        pretokens.append(text[start:end].encode())
        start = end
    return pretokens


def encode_all(encoder: _core.Encoder, documents: list[list[bytes]]) -> list[list[int]]:
    """Encode documents of given pretokens in one call."""
    pretokens = [pretoken for document in documents for pretoken in document]
    ends = np.cumsum([len(pretoken) for pretoken in pretokens], dtype=np.int64)
    sizes = [sum(map(len, document)) for document in documents]
    ids, document_ends = encoder.encode(
        None,
        np.frombuffer(b"".join(pretokens), dtype=np.uint8),
        np.cumsum([0, *sizes], dtype=np.int64),
        ends,
    )
    assert document_ends.tolist()[-1:] == [len(ids)]
    return [part.tolist() for part in np.split(ids, document_ends)[:-1]]


def compare(vocabulary: Vocabulary, documents: list[list[bytes]], label: str) -> None:
    expected = [ReferenceEncoder(vocabulary).encode(document) for document in documents]
    for short, narrow, wide, cutting, classes in SIZES:
        encoder = _core.Encoder(
            *vocabulary.arrays(),
            vocabulary.rule,
            vocabulary.whole_first,
            _short_slots=short,
            _narrow_slots=narrow,
            _wide_slots=wide,
            _cutting=cutting,
            _classes=classes,
        )
        for attempt in ("cold", "warm"):
            found = encode_all(encoder, documents)
            setting = f"slots={narrow} cutting={cutting} classes={classes} {attempt}"
            assert found == expected, f"{label} {setting}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", ["pairs", "ranks"])
@pytest.mark.parametrize("whole_first", [False, True])
def test_ids_equal_the_oracle(kind: str, rule: str, whole_first: bool) -> None:
    for seed in range(25):
        rng = random.Random(f"{kind} {rule} {whole_first} {seed}")
        texts = [random_text(rng, rng.randint(0, 60)) for _ in range(12)]
        vocabulary = random_vocabulary(rng, kind, rule, whole_first, [t.encode() for t in texts])
        texts += [random_text(rng, rng.randint(0, 60)) for _ in range(12)]
        tokens = [token for token in vocabulary.tokens if token]
        documents = [cut_randomly(rng, text) for text in texts]
        # Tokens as whole pretokens, and with a neighbour that makes them a part of one.
        documents.append(valid_only(rng.sample(tokens, 60)))
        documents.append(valid_only([b"x" + token for token in rng.sample(tokens, 60)]))
        compare(vocabulary, documents, f"{kind} {rule} {whole_first} seed={seed}")


def valid_only(pretokens: list[bytes]) -> list[bytes]:
    """Keep what is UTF-8 by itself, the encoder's domain."""
    return [token for token in pretokens if token == token.decode(errors="ignore").encode()]


def test_pretokens_of_every_length_equal_the_oracle() -> None:
    rng = random.Random(7)
    texts = [random_text(rng, 200).encode() for _ in range(6)]
    vocabulary = random_vocabulary(rng, "trained", "pairs", False, texts)
    pool = random_text(rng, 4000)
    sizes = [*range(1, 70), 100, 150, 200, 299]
    documents = [[pool[9 * i : 9 * i + size].encode()] for i, size in enumerate(sizes)]
    compare(vocabulary, documents, "lengths")


def random_bytes(rng: random.Random, length: int) -> bytes:
    """Return characters, some without their first or last byte, and overlong and stray bytes."""
    parts = [random_text(rng, 1).encode() for _ in range(length)]
    cuts = [part[rng.randint(0, 1) :] if rng.random() < 0.2 else part for part in parts]
    cuts = [part[: rng.randint(1, 3)] if rng.random() < 0.2 else part for part in cuts]
    strays = [rng.choice([b"\xe0\x81\xa1", b"\x80", b"\xff", b"\xea"]) for _ in range(length)]
    pairs = zip(cuts, strays, strict=True)
    return b"".join(cut + (stray if rng.random() < 0.1 else b"") for cut, stray in pairs)


@pytest.mark.parametrize("kind", ["trained", "substrings"])
def test_bytes_that_are_no_utf8_equal_the_oracle(kind: str) -> None:
    for seed in range(20):
        rng = random.Random(f"{kind} {seed}")
        texts = [random_bytes(rng, rng.randint(1, 40)) for _ in range(12)]
        vocabulary = random_vocabulary(rng, kind, rng.choice(["pairs", "ranks"]), False, texts)
        texts += [random_bytes(rng, rng.randint(1, 40)) for _ in range(12)]
        documents = [[text[i : i + 9] for i in range(0, len(text), 9)] for text in texts]
        compare(vocabulary, documents, f"{kind} seed={seed}")


ISAS = ("scalar", "avx2", "avx512")


def available(encoder: _core.Encoder, isa: str) -> bool:
    """Return whether this processor has the kernels; their names are checked by every build."""
    try:
        encoder._cuts(np.array([], dtype=np.uint8), 0, 0, isa)
    except RuntimeError:
        return False
    return True


def test_every_kernel_finds_the_same_cuts_in_every_range() -> None:
    rng = random.Random(11)
    texts = [random_text(rng, 60) for _ in range(8)]
    vocabulary = random_vocabulary(rng, "trained", "pairs", False, [t.encode() for t in texts])
    encoder = _core.Encoder(*vocabulary.arrays(), "pairs", False)
    kernels = [isa for isa in ISAS if available(encoder, isa)]
    assert kernels[0] == "scalar"
    for seed in range(1500):
        rng = random.Random(seed)
        make = random_bytes if seed % 2 else lambda rng, n: random_text(rng, n).encode()
        text = np.frombuffer(make(rng, rng.randint(1, 120)) + b"z", dtype=np.uint8)
        begin = rng.randrange(len(text))
        size = rng.randint(0, len(text) - begin)
        found = [encoder._cuts(text, begin, size, isa).tolist() for isa in kernels]
        assert all(bits == found[0] for bits in found), f"seed={seed} {kernels}"


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("pattern", ["o200k", "llama3", "qwen2", "gpt2"])
def test_marks_in_windows_give_the_pretokens_of_the_scanner(
    isa: str, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents of all lengths, so that windows end everywhere, inside long pretokens too."""
    monkeypatch.delenv("JOGAK_ISA", raising=False)
    rng = random.Random(f"{isa} {pattern}")
    texts = [random_text(rng, 60) for _ in range(8)]
    vocabulary = random_vocabulary(rng, "trained", "ranks", True, [t.encode() for t in texts])
    plain = _core.Encoder(*vocabulary.arrays(), "ranks", True, _cutting=False)
    if not available(plain, isa):
        pytest.skip(f"this processor has no {isa}")
    monkeypatch.setenv("JOGAK_ISA", isa)
    encoder = _core.Encoder(
        *vocabulary.arrays(), "ranks", True, _short_slots=4, _narrow_slots=2, _wide_slots=2
    )
    scanner = _core.Scanner(PATTERNS[pattern], isa)
    for seed in range(15):
        rng = random.Random(f"{isa} {pattern} {seed}")
        documents = [random_text(rng, rng.choice([0, 1, 7, 63, 300])) for _ in range(40)]
        documents[rng.randrange(40)] = rng.choice(["a", " ", "가", "1", "!"]) * rng.randint(1, 9000)
        parts = [document.encode() for document in documents]
        data = np.frombuffer(b"".join(parts), dtype=np.uint8)
        offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        ends = Pretokenizer(pattern).boundaries(data, offsets)[0]
        expected = plain.encode(None, data, offsets, ends)
        found = encoder.encode(scanner, data, offsets, None)
        label = f"{isa} {pattern} seed={seed}"
        assert np.array_equal(found[0], expected[0]), label
        assert np.array_equal(found[1], expected[1]), label


def test_no_cut_lies_where_a_merge_crosses() -> None:
    vocabulary = Vocabulary(
        [*(bytes([b]) for b in range(256)), "나다".encode()], [], "ranks", False
    )
    encoder = _core.Encoder(*vocabulary.arrays(), "ranks", False)
    text = np.frombuffer("가나다라".encode(), dtype=np.uint8)
    # No rank joins the bytes of 나다 step by step, so it is never made and nothing crosses.
    assert encoder._cuts(text, 0, 12, "scalar").tolist() == [0b001001001000]
    tokens = [bytes([b]) for b in range(256)]
    tokens += ["나".encode()[:2], "나".encode(), "다".encode()[:2], "다".encode()]
    tokens.append("나다".encode())
    encoder = _core.Encoder(*Vocabulary(tokens, [], "ranks", False).arrays(), "ranks", False)
    assert encoder._cuts(text, 0, 12, "scalar").tolist() == [0b001000001000]


@pytest.mark.parametrize("isa", ISAS)
def test_ids_do_not_depend_on_the_kernels(isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    texts = [random_text(rng, 60) for _ in range(8)]
    vocabulary = random_vocabulary(rng, "splits", "pairs", True, [t.encode() for t in texts])
    plain = _core.Encoder(*vocabulary.arrays(), "pairs", True, _cutting=False)
    if not available(plain, isa):
        pytest.skip(f"this processor has no {isa}")
    monkeypatch.setenv("JOGAK_ISA", isa)
    encoder = _core.Encoder(*vocabulary.arrays(), "pairs", True)
    documents = [cut_randomly(rng, random_text(rng, 700)) for _ in range(40)]
    assert encode_all(encoder, documents) == encode_all(plain, documents)


@pytest.mark.parametrize("isa", ISAS)
def test_units_that_differ_in_one_byte_are_told_apart_when_met_again(
    isa: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every length that the caches tell apart, of few ids and of many."""
    rng = random.Random(11)
    units = []
    for size in range(1, 130):
        unit = bytes(rng.choices(b"\0ab\x7f", k=size))
        units.append(unit)
        places = {0, size // 2, size - 1, rng.randrange(size)}
        units.extend(unit[:place] + b"c" + unit[place + 1 :] for place in places)
    rng.shuffle(units)
    pairs = train_pairs(rng.sample(units, 60), 250)
    tokens = [*(bytes([byte]) for byte in range(256)), *(a + b for a, b in pairs)]
    vocabulary = Vocabulary(list(dict.fromkeys(tokens)), [], "ranks", False)
    expected = ReferenceEncoder(vocabulary).encode(units)
    if not available(_core.Encoder(*vocabulary.arrays(), "ranks", False), isa):
        pytest.skip(f"this processor has no {isa}")
    monkeypatch.setenv("JOGAK_ISA", isa)
    for sizes in ({}, {"_short_slots": 4, "_narrow_slots": 2, "_wide_slots": 2}):
        encoder = _core.Encoder(*vocabulary.arrays(), "ranks", False, **sizes)
        for _ in range(3):
            assert encode_all(encoder, [units, [], units]) == [expected, [], expected]


@pytest.mark.parametrize("rule", ["pairs", "ranks"])
@pytest.mark.parametrize("whole_first", [False, True])
def test_tokens_of_hundreds_of_bytes_equal_the_oracle(rule: str, whole_first: bool) -> None:
    """Their derivation goes through a queue, shorter ones' through a scan."""
    for seed in range(6):
        rng = random.Random(f"long {rule} {whole_first} {seed}")
        few = "".join(rng.sample("가나ab", rng.randint(1, 3)))
        texts = ["".join(rng.choices(few, k=rng.choice([250, 420]))).encode() for _ in range(3)]
        texts.append(few.encode() * (900 // len(few.encode())))
        # Enough merges for texts to become tokens as wholes.
        pairs = train_pairs(texts, 400)
        singles = [bytes([byte]) for byte in range(256)]
        joined = [left + right for left, right in pairs]
        # Some that are no result of merging as well.
        joined += [text[:size] for text in texts for size in (257, 300)]
        tokens = list(dict.fromkeys(singles + joined))
        ids = {token: index for index, token in enumerate(tokens)}
        merges = [(ids[a], ids[b], ids[a + b]) for a, b in pairs] if rule == "pairs" else []
        vocabulary = Vocabulary(tokens, merges, rule, whole_first)
        assert max(map(len, tokens)) > 256
        documents = [[text] for text in texts]
        documents += [[token] for token in valid_only([t for t in tokens if len(t) > 100])]
        compare(vocabulary, documents, f"{rule} {whole_first} seed={seed}")


def test_a_token_of_half_a_megabyte_takes_no_quadratic_time() -> None:
    unit = "가".encode()
    doubled = [unit * 2**power for power in range(18)]
    tokens = [bytes([byte]) for byte in range(256)] + [unit[:2], *doubled]
    ids = {token: index for index, token in enumerate(tokens)}
    pairs = [(unit[:1], unit[1:2]), (unit[:2], unit[2:])]
    pairs += [(token, token) for token in doubled[:-1]]
    merges = [(ids[a], ids[b], ids[a + b]) for a, b in pairs]
    started = time.perf_counter()
    for rule, listed in (("pairs", merges), ("ranks", [])):
        encoder = _core.Encoder(*Vocabulary(tokens, listed, rule, False).arrays(), rule, False)
        assert encode_all(encoder, [[unit * 2**17]]) == [[ids[doubled[-1]]]]
    assert time.perf_counter() - started < 30  # by scanning it would be an hour

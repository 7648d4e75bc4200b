"""Properties of scanning: fast equals slow, every byte is kept, documents do not touch."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jogak import _core
from jogak.errors import TokenizerError
from jogak.pretokenize import (
    DEEPSEEK_V3_STEPS,
    PATTERNS,
    Pretokenizer,
    from_huggingface_regex,
    huggingface_regex,
)
from reference.pretokenize import pretokens, pretokens_in_steps

# Characters at the edges of the classes: cases, folds, marks, jamo and fillers, digits of other
# scripts, spaces of every kind, joiners, what no pattern names.
HOSTILE = [
    *"aAzZsStTmMdDlLvVrReEkK'’ſK\u00e9\u00c9\u01c5ßıİ",
    *"가힣한ㅋㅠㄱ\u1100\u1161\u11a8\u115f\u1160\u3164\uffa0\ua960\ud7b0\u302e漢字々〇あアー・\u3040\u3099゛",
    *"0129٣३৪๑Ⅷ²½①㉠㈜\u0966",
    *" \t\n\r\x0b\x0c\x85\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000",
    *"\u200b\u200c\u200d\ufeff\u00ad\u0301\u0345\u20dd\ufe0f",
    *"😀👩🏽‍🚀🇰🇷\U0001fae8\U000323b0\U0010ffff\ue000\u0378\x00\x1f\x7f",
    *'-/.,:;!?()[]{}<>"#$%&*+=@^_`|~\\·…“”',
]
NAMES = sorted(PATTERNS)
FAMILIES = ["gpt2", "cl100k", "llama3", "o200k", "qwen2", "tekken"]


def instruction_sets() -> list[str]:
    """Return the instruction sets, other than scalar, that this machine has kernels for."""
    found = []
    for isa in ("avx2", "avx512"):
        try:
            _core.Scanner("a", isa)
            found.append(isa)
        except RuntimeError:
            continue
    return found


def hostile_text(rng: random.Random, longest: int = 40) -> str:
    """Draw a text: characters from a few of the hostile ones, so that runs and repeats occur."""
    few = rng.sample(HOSTILE, rng.randint(1, 8)) + rng.choices(" a가\n1'", k=rng.randint(0, 3))
    return "".join(rng.choices(few, k=rng.randint(0, longest)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_named_patterns_equal_the_slow_scanner_on_hostile_text(name: str, seed: int) -> None:
    rng = random.Random(seed)
    pretokenizer = Pretokenizer(name)
    for _ in range(400):
        text = hostile_text(rng)
        assert pretokenizer.split(text) == pretokens(PATTERNS[name], text), (seed, text)


@cache
def scanners_of(name: str) -> list[_core.Scanner]:
    return [_core.Scanner(PATTERNS[name], isa) for isa in ("scalar", *instruction_sets())]


@cache
def pretokenizer_of(name: str) -> Pretokenizer:
    return Pretokenizer(name)


def ends_of(scanner: _core.Scanner, text: str) -> list[int]:
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    return scanner.scan(data, np.array([0, len(data)]))[0].tolist()


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("isa", instruction_sets())
def test_vector_kernels_equal_the_automaton_on_hostile_text(isa: str, name: str) -> None:
    rng = random.Random(11)
    vector, scalar = _core.Scanner(PATTERNS[name], isa), _core.Scanner(PATTERNS[name], "scalar")
    assert vector.by_masks
    assert not scalar.by_masks
    for _ in range(1_500):
        text = hostile_text(rng, rng.choice([30, 70, 150, 400]))
        assert ends_of(vector, text) == ends_of(scalar, text), text


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("isa", instruction_sets())
def test_vector_kernels_equal_the_automaton_wherever_a_block_ends(isa: str, name: str) -> None:
    rng = random.Random(12)
    vector, scalar = _core.Scanner(PATTERNS[name], isa), _core.Scanner(PATTERNS[name], "scalar")
    for _ in range(12):
        text = hostile_text(rng, 12)
        for filler in ("a", "가", " ", "\n", "1", "!", "a "):
            for before in range(50, 68):
                shifted = filler * (before // len(filler.encode())) + text
                assert ends_of(vector, shifted) == ends_of(scalar, shifted), shifted
                assert ends_of(vector, shifted + "끝") == ends_of(scalar, shifted + "끝"), shifted


@pytest.mark.parametrize("name", NAMES)
def test_a_text_of_many_calls_equals_the_slow_scanner(name: str) -> None:
    rng = random.Random(13)
    text = "".join(hostile_text(rng) for _ in range(1_500))
    expected = [len(piece.encode()) for piece in pretokens(PATTERNS[name], text)]
    for isa in ("scalar", *instruction_sets()):
        assert ends_of(_core.Scanner(PATTERNS[name], isa), text) == np.cumsum(expected).tolist()


def test_three_steps_of_deepseek_equal_the_one_pattern() -> None:
    rng = random.Random(5)
    steps = [step.pattern for step in DEEPSEEK_V3_STEPS]
    one, three = Pretokenizer("deepseek_v3"), Pretokenizer.from_steps(DEEPSEEK_V3_STEPS[:3])
    by_steps = Pretokenizer.from_steps([*DEEPSEEK_V3_STEPS[:2], DEEPSEEK_V3_STEPS[2]])
    for _ in range(2_000):
        text = hostile_text(rng)
        expected = pretokens_in_steps(steps, text)
        assert one.split(text) == expected, text
        assert three.split(text) == by_steps.split(text) == expected, text


CLASSES = [
    r"\p{L}", r"\p{Lu}", r"\p{N}", r"\P{L}", r"\s", r"\S", r"\d", r"\D", r"[^\s\p{L}\p{N}]",
    r"[\p{Ll}\p{M}]", r"[a-z가-힣]", r"[^\r\n]", r"[\p{L}&&[^a-z]]", r"[\s\S]", ".", r"\p{Han}",
    r"[\p{Hangul}\-']", "a", "가", " ", "'", r"\.", r"\n", "1", r"(?i:s)", r"(?i:k)", r"[^\S\n]",
]  # fmt: skip


def random_pattern(rng: random.Random, depth: int = 0) -> str:
    """Draw a pattern of the subset."""
    branches = []
    for _ in range(rng.randint(1, 4 if depth == 0 else 2)):
        parts = []
        for _ in range(rng.randint(1, 3)):
            nested = depth < 2 and rng.random() < 0.2
            part = f"(?:{random_pattern(rng, depth + 1)})" if nested else rng.choice(CLASSES)
            quantifier = rng.choice(["", "", "", "?", "*", "+", "{1,2}", "{2}", "{2,}"])
            part += quantifier + (rng.choice(["", "", "", "", "?", "?", "+"]) if quantifier else "")
            parts.append(part)
        if all(part[-1] in "?*+}" for part in parts):
            parts.append(rng.choice(CLASSES))  # most branches should not match the empty string
        end = rng.choice(["", "", "", r"(?!\S)", r"(?=\p{L})", "$", r"(?!\s|$)"])
        branches.append("".join(parts) + (end if depth == 0 else ""))
    return "|".join(branches)


@pytest.mark.parametrize("seed", range(4))
def test_random_patterns_equal_the_slow_scanner(seed: int) -> None:
    rng = random.Random(seed)
    compared = 0
    while compared < 40:
        pattern = random_pattern(rng)
        try:
            scanner = _core.Scanner(pattern)
        except ValueError:
            continue
        compared += 1
        texts = [hostile_text(rng, 16) for _ in range(12)]
        data = np.frombuffer("".join(texts).encode(), dtype=np.uint8)
        offsets = np.cumsum([0, *(len(text.encode()) for text in texts)])
        ends, document_ends = scanner.scan(data, offsets)
        expected = [piece for text in texts for piece in pretokens(pattern, text)]
        starts = [0, *ends[:-1].tolist()][: len(ends)]
        found = [bytes(data[a:b]).decode() for a, b in zip(starts, ends, strict=True)]
        assert found == expected, (seed, pattern, texts)
        assert document_ends[-1] == len(ends)


def test_most_random_patterns_lie_in_the_subset() -> None:
    rng = random.Random(9)
    accepted = 0
    for _ in range(300):
        try:
            _core.Scanner(random_pattern(rng))
            accepted += 1
        except ValueError:
            continue
    assert accepted > 100


@pytest.mark.parametrize("seed", range(2))
def test_the_fallback_equals_the_native_scanner(seed: int) -> None:
    rng = random.Random(seed)
    for name in NAMES:
        # An idle look-behind puts the pattern outside the native subset.
        slow = Pretokenizer(rf"(?:(?<=[\s\S])|(?<![\s\S]))(?:{PATTERNS[name]})")
        assert slow.scanner is None
        fast = Pretokenizer(name)
        for _ in range(100):
            text = hostile_text(rng)
            assert slow.split(text) == fast.split(text), (seed, name, text)


@pytest.mark.parametrize("seed", range(3))
def test_translation_to_hugging_face_and_back_keeps_the_boundaries(seed: int) -> None:
    rng = random.Random(seed)
    compared = 0
    while compared < 60:
        pattern = random_pattern(rng)
        try:
            before = _core.Scanner(pattern)
            after = _core.Scanner(from_huggingface_regex(huggingface_regex(pattern)))
        except (ValueError, TokenizerError):
            continue
        compared += 1
        text = hostile_text(rng)
        data, offsets = np.frombuffer(text.encode(), np.uint8), np.array([0, len(text.encode())])
        assert before.scan(data, offsets)[0].tolist() == after.scan(data, offsets)[0].tolist(), (
            seed,
            pattern,
            text,
        )


@given(text=st.text(), name=st.sampled_from(NAMES))
def test_pretokens_joined_give_the_text(text: str, name: str) -> None:
    pieces = pretokenizer_of(name).split(text)
    assert "".join(pieces) == text
    assert all(pieces)


@given(texts=st.lists(st.text(st.sampled_from(HOSTILE)), max_size=6), name=st.sampled_from(NAMES))
def test_each_document_is_cut_as_if_it_were_alone(texts: list[str], name: str) -> None:
    pretokenizer = pretokenizer_of(name)
    prefix = b"of a larger buffer "
    parts = [text.encode() for text in texts]
    data = np.frombuffer(prefix + b"".join(parts) + b" and its rest", dtype=np.uint8)
    offsets = np.cumsum([len(prefix), *map(len, parts)])
    ends, document_ends = pretokenizer.boundaries(data, offsets)
    expected = [piece.encode() for text in texts for piece in pretokenizer.split(text)]
    starts = [len(prefix), *ends[:-1].tolist()][: len(ends)]
    assert [bytes(data[a:b]) for a, b in zip(starts, ends, strict=True)] == expected
    counts = [len(pretokenizer.split(text)) for text in texts]
    assert document_ends.tolist() == np.cumsum(counts, dtype=np.int64).tolist()


@given(data=st.binary(max_size=200), name=st.sampled_from(NAMES))
def test_bytes_that_are_not_utf8_are_kept_too(data: bytes, name: str) -> None:
    """Outside the contract, but nothing may be read out of bounds, lost or looped over."""
    array, offsets = np.frombuffer(data, dtype=np.uint8), np.array([0, len(data)])
    for scanner in scanners_of(name):
        ends = scanner.scan(array, offsets)[0].tolist()
        assert sorted(set(ends)) == ends
        assert ends[-1:] == ([len(data)] if data else [])

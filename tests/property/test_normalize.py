"""Thousands of random documents: native validity, measures and forms equal the slow reference."""

from __future__ import annotations

import io
import random

import numpy as np
import pytest
import unicodedata2
from hypothesis import given
from hypothesis import strategies as st

from fakes.processor import ISAS
from jogak import _core
from jogak.config import NormalForm, NormalizeOptions
from jogak.normalize import normalize_batch
from jogak.read import batch_texts
from reference import normalize as reference

FORMS: tuple[NormalForm, ...] = ("nfc", "nfkc", "nfkc_keep_jamo")
SEEDS = range(4)


def interesting_characters() -> list[str]:
    """Marks, decomposable characters, all kinds of Hangul, and plain ones between them."""
    found = [
        chr(code)
        for code in range(0x30000)
        if not 0xAC00 <= code < 0xE000
        and (unicodedata2.combining(chr(code)) or unicodedata2.decomposition(chr(code)))
    ]
    hangul = [*range(0x1100, 0x1200), *range(0xA960, 0xA980), *range(0xD7B0, 0xD800)]
    hangul += [*range(0x3130, 0x3190), *range(0xFFA0, 0xFFE0), *range(0xAC00, 0xAD00)]
    marks = [character for character in found if unicodedata2.combining(character)]
    return found + [chr(code) for code in hangul] * 6 + marks * 3 + list("aeo 가각나") * 60


def random_texts(seed: int, count: int) -> list[str]:
    chosen, pool = random.Random(seed), interesting_characters()
    texts = []
    for _ in range(count):
        text = "".join(chosen.choices(pool, k=chosen.randint(2, 5)))
        if chosen.random() < 0.2:  # behind and before the fast path over blocks
            text = "가" * chosen.randint(0, 30) + text + "나" * chosen.randint(0, 30)
        texts.append(text)
    return texts


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_sequences_of_composing_characters_have_the_form(
    form: NormalForm, seed: int
) -> None:
    texts = random_texts(seed, 15_000)
    (batch,) = batch_texts(texts, batch_bytes=2**40)
    result, changed = normalize_batch(batch, NormalizeOptions(form=form))
    expected = [reference.form(text, form) for text in texts]
    found = [result.document(index).decode() for index in range(len(result))]
    differing = [i for i, (a, b) in enumerate(zip(found, expected, strict=True)) if a != b]
    assert not differing, (seed, [ascii(texts[i]) for i in differing[:5]])
    assert changed == sum(a != b for a, b in zip(texts, expected, strict=True))
    again, more = normalize_batch(result, NormalizeOptions(form=form))
    assert again is result, seed
    assert more == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_random_bytes_are_judged_as_python_judges_them(seed: int) -> None:
    chosen = random.Random(seed)
    documents = []
    for _ in range(6_000):
        text = "".join(chosen.choices("a é가나다😀\u3000", k=chosen.randint(0, 80))).encode()
        document = bytearray(text)
        for _ in range(chosen.choice([0, 0, 1, 2])):
            if document:
                document[chosen.randrange(len(document))] = chosen.randrange(256)
        documents.append(bytes(document))
    data = np.frombuffer(b"".join(documents), np.uint8)
    offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    expected = [reference.first_invalid_byte(document) for document in documents]
    for isa in ISAS:
        assert _core.validate_utf8(data, offsets, isa).tolist() == expected, (seed, isa)


@pytest.mark.parametrize("seed", SEEDS)
def test_lines_end_behind_their_newline(seed: int) -> None:
    chosen = random.Random(seed)
    for _ in range(400):
        letters = chosen.choice([b"\n", b"a\n", b"a" * 60 + b"\n", b"\n" + bytes(range(256)), b"a"])
        text = bytes(chosen.choices(letters, k=chosen.choice([0, 1, 63, 64, 65, 300, 9_000])))
        expected = np.cumsum([0, *map(len, io.BytesIO(text).readlines())]).tolist()
        for isa in ISAS:
            found = _core.line_offsets(np.frombuffer(text, np.uint8), isa)
            assert found.tolist() == expected, (seed, isa)


@given(st.lists(st.text(st.sampled_from("ab가ㅋ😀 \t\n\x1c\x85\xa0\u2003\u2028\u3000\u200b"))))
def test_measures_equal_those_of_python(texts: list[str]) -> None:
    documents = [text.encode() for text in texts]
    data = np.frombuffer(b"".join(documents), np.uint8)
    offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    characters, eojeol = _core.measure_text(data, offsets)
    assert characters.tolist() == [len(text) for text in texts]
    assert eojeol.tolist() == [len(text.split()) for text in texts]


@given(
    st.text(
        st.sampled_from("ab가 \t\r\n\x00\x7f\x85\x9f\xa0\u2003\u3000\u200d\u1112\u1161\u11ab①")
    ),
    st.sampled_from(("none", *FORMS)),
    st.sampled_from(("keep", "lf")),
    st.sampled_from(("keep", "collapse")),
    st.sampled_from(("keep", "remove")),
)
def test_cleaning_and_forms_together_equal_the_reference(
    text: str, form: str, newlines: str, whitespace: str, control: str
) -> None:
    rules = {"newlines": newlines, "whitespace": whitespace, "control": control}
    options = NormalizeOptions.model_validate({"form": form, **rules})
    (batch,) = batch_texts([text])
    result, changed = normalize_batch(batch, options)
    expected = reference.normalize(text, form, **rules)
    assert result.document(0).decode() == expected
    assert changed == (text != expected)
    assert normalize_batch(result, options) == (result, 0)

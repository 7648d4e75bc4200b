"""normalize: exact UTF-8 validity and measures, and the normal forms of Unicode 16."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import unicodedata2

from fakes.processor import ISAS
from jogak import _core
from jogak.config import NormalForm, NormalizeOptions
from jogak.documents import TextBatch
from jogak.normalize import normalize_batch, normalize_text
from jogak.read import batch_texts
from reference import normalize as reference

ROOT = Path(__file__).parents[2]
FORMS: tuple[NormalForm, ...] = ("nfc", "nfkc", "nfkc_keep_jamo")
SYLLABLES = "가나다라마바사아자차카타파하"


def pack(documents: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    data = np.frombuffer(b"".join(documents), np.uint8)
    return data, np.cumsum([0, *map(len, documents)], dtype=np.int64)


def batch_of(texts: list[str]) -> TextBatch:
    (batch,) = batch_texts(texts, batch_bytes=2**40)
    return batch


def texts_of(batch: TextBatch) -> list[str]:
    return [batch.document(index).decode() for index in range(len(batch))]


def check_normalized(texts: list[str], form: NormalForm, **options: str) -> None:
    """Compare with the reference, with the count of changes, and with a second pass."""
    chosen = NormalizeOptions.model_validate({"form": form, **options})
    expected = [reference.normalize(text, form, **options) for text in texts]
    result, changed = normalize_batch(batch_of(texts), chosen)
    assert texts_of(result) == expected
    assert changed == sum(a != b for a, b in zip(texts, expected, strict=True))
    assert normalize_batch(result, chosen) == (result, 0)


# Validity ----------------------------------------------------------------------------------------


def check_validity(documents: list[bytes]) -> None:
    expected = [reference.first_invalid_byte(document) for document in documents]
    for isa in ISAS:
        assert _core.validate_utf8(*pack(documents), isa).tolist() == expected, isa


def test_all_sequences_of_two_bytes_are_judged_as_python_judges_them() -> None:
    check_validity([bytes([first, second]) for first in range(256) for second in range(256)])


def test_edges_of_the_ranges_of_well_formed_sequences() -> None:
    edges = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xFF]
    leads = [0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5]
    long = [
        bytes([lead, second, third, fourth])
        for lead in leads
        for second in edges
        for third in edges
        for fourth in (0x41, 0x80, 0xBF, 0xC2)
    ]
    check_validity(long)
    check_validity([sequence[:3] for sequence in long])


@pytest.mark.parametrize("position", [0, 1, 2, 3, 62, 63, 64, 65, 66, 67, 68, 127, 130, 196, 199])
def test_a_fault_is_found_wherever_it_lies_in_a_block(position: int) -> None:
    for fault in (b"\xff", b"\x80", b"\xea\xb0", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"):
        for filler in ("a", "é", "가", "😀"):
            text = (filler * 200).encode()[
                : position // len(filler.encode()) * len(filler.encode())
            ]
            check_validity([text + fault + filler.encode() * 50])
            check_validity([text + fault])


def test_every_kind_of_byte_follows_every_other_one_within_a_block() -> None:
    kinds = [0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xE0, 0xE1, 0xED, 0xF0, 0xF4]
    for lead in range(256):
        tails = [bytes([lead, *rest]) for rest in itertools.product(kinds, repeat=2)]
        check_validity([b"a" * 70 + tail + b"\x80" + b"a" * 70 for tail in tails])


def test_documents_must_not_share_a_character() -> None:
    whole = ("가" * 100).encode()
    check_validity([whole[:100], whole[100:]])
    check_validity(["가".encode() * 30, whole[:1], whole[1:3]])


def test_offsets_may_begin_within_the_data() -> None:
    data = np.frombuffer(b"\xff" + "가나 다".encode() + b"\xe2\x80", np.uint8)
    offsets = np.array([1, 7, 11], np.int64)
    assert _core.validate_utf8(data, offsets).tolist() == [-1, -1]
    characters, eojeol = _core.measure_text(data, offsets)
    assert (characters.tolist(), eojeol.tolist()) == ([2, 2], [1, 1])


# Measures ----------------------------------------------------------------------------------------


def check_measures(documents: list[bytes]) -> None:
    characters, eojeol = _core.measure_text(*pack(documents))
    expected = [reference.measure(document) for document in documents]
    assert list(zip(characters.tolist(), eojeol.tolist(), strict=True)) == expected


def test_words_are_separated_by_the_white_space_of_python() -> None:
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    assert sum(character.isspace() for character in every) == 29
    near = [c for c in every if ord(c) < 0x3100 or c in "\ufeff\uffa0\u3164"]
    check_measures([f"a{character}b".encode() for character in near])


def test_white_space_across_the_edges_of_chunks_counts_once() -> None:
    for space in (" ", "\xa0", "\u3000", "\u2003", "a\u3000 \u2028b"):
        check_measures([b"x" * size + space.encode() + "나".encode() for size in range(2040, 2056)])
        check_measures([b"x" * size + space.encode() for size in range(2040, 2056)])


def test_documents_do_not_run_into_each_other() -> None:
    check_measures([b"a", b"b", b"", b" ", b"c ", b" d", b"", b"e f", "\u3000".encode(), b"g", b""])
    check_measures([b""] * 3)
    check_measures([b"a b"] * 3_000)


# Forms -------------------------------------------------------------------------------------------


def test_unicodedata2_has_the_unicode_of_the_tables() -> None:
    assert unicodedata2.unidata_version == "16.0.0"


def test_the_tables_are_what_their_generator_writes(tmp_path: Path) -> None:
    written = tmp_path / "tables.cpp"
    script = ROOT / "scripts/generate_normalization_tables"
    subprocess.run([sys.executable, str(script), str(written)], check=True)
    kept = ROOT / "pipeline/native/src/normalization_tables.cpp"
    assert written.read_bytes() == kept.read_bytes()


@pytest.mark.parametrize("form", FORMS)
def test_every_code_point_by_itself_has_the_form_of_the_reference(form: NormalForm) -> None:
    texts = [chr(code) for code in range(0xF0000) if not 0xD800 <= code < 0xE000]
    expected = [reference.form(text, form) for text in texts]
    result, changed = normalize_batch(batch_of(texts), NormalizeOptions(form=form))
    assert result.data.tobytes() == "".join(expected).encode()
    assert changed == sum(a != b for a, b in zip(texts, expected, strict=True))


@pytest.mark.parametrize("form", FORMS)
def test_no_code_point_hides_in_a_block_of_syllables(form: NormalForm) -> None:
    beyond = [*range(0x4000), *range(0xA000, 0xAC00), *range(0xD7A4, 0xD800)]
    beyond += [*range(0xE000, 0x1100), *range(0xF900, 0x12000), *range(0x1D000, 0x1F800)]
    texts = [SYLLABLES + chr(code) + SYLLABLES for code in beyond]
    expected = "".join(reference.form(text, form) for text in texts)
    result, _ = normalize_batch(batch_of(texts), NormalizeOptions(form=form))
    assert result.data.tobytes() == expected.encode()


def test_all_syllables_compose_from_their_jamo_natively() -> None:
    syllables = [chr(code) for code in range(0xAC00, 0xD7A4)]
    texts = [unicodedata2.normalize("NFD", syllable) for syllable in syllables]
    batch = batch_of(texts)
    assert set(_core.check_form(batch.data, batch.offsets, "nfc").tolist()) == {1}
    result, changed = normalize_batch(batch, NormalizeOptions())
    assert texts_of(result) == syllables
    assert changed == len(syllables)


@pytest.mark.parametrize("form", FORMS)
def test_jamo_compose_only_where_they_are_adjacent_and_fit(form: NormalForm) -> None:
    lead, vowel, final = "\u1112", "\u1161", "\u11ab"
    pieces = [lead, vowel, final, "하", "한", "\u119e", "\u11c3", "\u1160", "a", "\u0301", "\u302e"]
    texts = [a + b + c + d for a in pieces for b in pieces for c in pieces for d in ("", final)]
    check_normalized(texts, form)


def test_jamo_do_not_compose_across_documents() -> None:
    batch = batch_of(["\u1112", "\u1161", "하", "\u11ab"])
    assert normalize_batch(batch, NormalizeOptions()) == (batch, 0)


@pytest.mark.parametrize("form", FORMS)
def test_text_in_form_keeps_its_buffers(form: NormalForm) -> None:
    batch = batch_of(["한글 text 123", "漢字かな", "\u0e01\u0e38", "", "क\u094d" * 20])
    result, changed = normalize_batch(batch, NormalizeOptions(form=form))
    assert result is batch
    assert changed == 0


def test_keep_jamo_leaves_compatibility_jamo_and_widens_half_width_ones() -> None:
    kept = "ㅋㅋㅋ ㅠㅠ 가ㄳ ㄱㅏ 제1조ㆍ제2조 \u3164"
    assert normalize_text(kept, "nfkc_keep_jamo") == kept
    assert normalize_text("\uffa1\uffc2\uffbe\uffa0", "nfkc_keep_jamo") == "ㄱㅏㅎ\u3164"
    assert normalize_text("㈜ＡＢ½㉠", "nfkc_keep_jamo") == "(주)AB1\u20442\u1100"
    check_normalized(
        [kept, "\uffa1\uffc2", "㈜", "ㅋ\u0301\u0316", "\u1112\u1161ㄱ\u11ab"], "nfkc_keep_jamo"
    )


MARKS = [chr(code) for code in range(0x110000) if unicodedata2.combining(chr(code))]


def test_marks_decompose_within_their_class_and_lie_where_the_code_looks() -> None:
    for mark in MARKS:
        assert 0x300 <= ord(mark) < 0x20000
        for part in unicodedata2.normalize("NFKD", mark):
            assert unicodedata2.combining(part) == unicodedata2.combining(mark)


@pytest.mark.parametrize("form", ["nfc", "nfkc", "nfkc_keep_jamo"])
def test_long_runs_of_marks_have_the_form_of_the_reference(form: NormalForm) -> None:
    rng = random.Random(3)
    for _ in range(60):
        runs = ["".join(rng.choices(MARKS, k=rng.randint(1, 300))) for _ in range(3)]
        text = "a" + runs[0] + "\u1ebf" + runs[1] + "\u1112\u1161" + runs[2] + "나"
        assert normalize_text(text, form) == reference.form(text, form)


def test_a_million_marks_in_the_worst_order_take_no_time() -> None:
    text = "a" + "\u0301\u0323" * 250_000
    started = time.perf_counter()
    assert normalize_text(text, "nfc").startswith("\u1ea1")
    assert time.perf_counter() - started < 20  # by insertion it would be minutes


def test_normalize_text_equals_the_batch() -> None:
    texts = ["가ㄳ", "e\u0301", "\u1112\u1161\u11ab", "①"]
    for form in (*FORMS, "none"):
        result, _ = normalize_batch(
            batch_of(texts), NormalizeOptions.model_validate({"form": form})
        )
        assert texts_of(result) == [normalize_text(text, form) for text in texts]


def test_offsets_and_the_rest_of_the_batch_go_along() -> None:
    table = pa.array(["앞", "a", "e\u0301", "끝"], pa.large_string()).slice(1)
    (batch,) = batch_texts(table)
    result, changed = normalize_batch(batch, NormalizeOptions())
    assert texts_of(result) == ["a", "é", "끝"]
    assert changed == 1
    assert result.rows is batch.rows


# Cleaning ----------------------------------------------------------------------------------------


def test_newlines_become_lf() -> None:
    check_normalized(["a\r\nb\rc\n\r\n", "\r", "\r\r\n", "a\n"], "none", newlines="lf")


def test_a_run_of_spaces_becomes_one_and_lines_stay() -> None:
    zs = [chr(code) for code in range(0x110000) if unicodedata2.category(chr(code)) == "Zs"]
    texts = [f"a{space}b" for space in zs] + ["  a \t\u3000b  \n  c\r\n", "\u200b \u200b", " "]
    check_normalized(texts, "none", whitespace="collapse")
    check_normalized(["a\u00a0 b\u2009"], "nfkc", whitespace="collapse")


def test_controls_disappear_and_joiners_stay() -> None:
    family = "👨\u200d👩\u200d👧 क\u094d\u200dष \u202bא\u202c \ufeff"
    check_normalized([family], "none", control="remove")
    texts = [f"a{chr(code)}b" for code in range(0x120)] + ["\x00", "\r\x00\n", "a\x7f\x9f"]
    check_normalized(texts, "none", control="remove")
    check_normalized(texts, "nfc", control="remove", newlines="lf", whitespace="collapse")
    check_normalized(["\u1112\x00\u1161"], "nfc", control="remove")


# The given cases and the real texts --------------------------------------------------------------


@pytest.mark.shared
def test_the_known_cases_come_out_right(shared: Path) -> None:
    lines = (shared / "cases" / "bugs.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["area"] == "normalize"]
    assert len(cases) > 70
    for case in cases:
        options = NormalizeOptions.model_validate({"form": case["tokenizer"]})
        (result,) = texts_of(normalize_batch(batch_of([case["input"]]), options)[0])
        assert result == case["right"], case["id"]


@pytest.mark.shared
@pytest.mark.parametrize("form", FORMS)
def test_hostile_texts_have_the_form_of_the_reference(shared: Path, form: NormalForm) -> None:
    lines = (shared / "data" / "messy.jsonl").read_text(encoding="utf-8").split("\n")
    texts = [json.loads(line)["text"] for line in lines if line]
    check_normalized(texts, form)
    check_measures([text.encode() for text in texts])
    check_normalized(texts[:500], form, newlines="lf", whitespace="collapse", control="remove")


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("name", ["ko", "reviews", "en", "code", "multi", "."])
def test_all_real_texts_have_the_form_and_measures_of_the_reference(
    shared: Path, name: str
) -> None:
    for path in sorted((shared / "data" / name).glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            column = next(
                c for c in ("text", "content", "document") if c in file.schema_arrow.names
            )
            for part in file.iter_batches(20_000, columns=[column]):
                texts = part.column(0).to_pylist()
                check_measures([text.encode() for text in texts])
                for form in FORMS:
                    expected = "".join(reference.form(text, form) for text in texts).encode()
                    result, _ = normalize_batch(batch_of(texts), NormalizeOptions(form=form))
                    begin, end = result.offsets[0], result.offsets[-1]
                    assert result.data[begin:end].tobytes() == expected

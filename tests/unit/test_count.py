"""count: exact counts, first positions, their order, files and merging."""

from __future__ import annotations

from pathlib import Path

import datasets
import numpy as np
import pyarrow as pa
import pytest

from jogak import _core
from jogak.config import CountOptions, NormalizeOptions, options_from
from jogak.count import DocumentCounter, PretokenCounts, count_pretokens, merge_counts
from jogak.documents import TextBatch
from jogak.errors import ConfigError, ShardError, SourceError
from jogak.pretokenize import Pretokenizer
from reference.count import count_slowly

KOREAN = ["나는 학교에 간다", "나는 집에 간다", "학교는 크다 ㅋㅋㅋ", ""]


def batch(texts: list[str], languages: list[int], names: tuple[str, ...]) -> TextBatch:
    """Make a batch whose buffers begin before its first document."""
    lead = b"lead"
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([len(lead), *map(len, encoded)], dtype=np.int64)
    return TextBatch(
        data=np.frombuffer(lead + b"".join(encoded), dtype=np.uint8),
        offsets=offsets,
        languages=np.array(languages, dtype=np.int32),
        language_names=names,
        rows=np.arange(len(texts), dtype=np.int64),
        path="memory",
        source=0,
    )


def rows(counts: PretokenCounts) -> list[tuple[bytes, int, int]]:
    return [
        (counts.pretoken(i), int(counts.counts[i]), int(counts.first[i]))
        for i in range(len(counts))
    ]


def add_ends(
    counter: _core.PretokenCounter, documents: list[list[bytes]], base: int = 0, language: int = 0
) -> None:
    texts = [b"".join(document) for document in documents]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    pretokens = [pretoken for document in documents for pretoken in document]
    counter.add_ends(
        np.frombuffer(b"".join(texts), dtype=np.uint8),
        offsets,
        np.cumsum([len(pretoken) for pretoken in pretokens], dtype=np.int64),
        np.full(len(documents), language, dtype=np.int32),
        base,
    )


def table(counter: _core.PretokenCounter, language: int = 0) -> list[tuple[bytes, int, int]]:
    data, offsets, counts, first = counter.finish(language)
    return [
        (data[offsets[i] : offsets[i + 1]].tobytes(), int(counts[i]), int(first[i]))
        for i in range(len(counts))
    ]


def test_counts_are_ordered_by_count_then_first_position() -> None:
    counts = count_pretokens(KOREAN)
    assert [(text.decode(), count) for text, count, _ in rows(counts)] == [
        ("나는", 2),
        (" 간다", 2),
        (" 학교에", 1),
        (" 집에", 1),
        ("학교는", 1),
        (" 크다", 1),
        (" ㅋㅋㅋ", 1),
    ]
    assert counts.documents == 4
    assert counts.pretokens == 9
    assert counts.text_bytes == sum(len(text.encode()) for text in KOREAN)


def test_first_position_is_the_byte_offset_in_the_normalized_text() -> None:
    counts = count_pretokens(["가 나", " 나 다"])
    assert [first for _, _, first in rows(counts)] == [3, 0, 11]


def test_text_is_normalized_before_it_is_counted() -> None:
    decomposed = "\u1112\u1161\u11ab"
    assert count_pretokens([decomposed, "한"]).counts.tolist() == [2]
    assert count_pretokens([decomposed, "한"], normalize="none").counts.tolist() == [1, 1]


@pytest.mark.parametrize("size", [1, 3, 7, 8, 9, 14, 15, 16, 17, 31, 32, 33, 255, 65_536])
def test_pretokens_of_any_length_are_told_apart(size: int) -> None:
    words = [b"a" * size, b"a" * (size - 1) + b"b", b"b" + b"a" * (size - 1), b"a" * (size + 1)]
    words += [b"a" * (size - 1) + b"\0", b"\0" * size, b"\0" * (size + 1)]
    document = [words[i] for i in (0, 1, 2, 3, 4, 5, 6, 0, 3, 3)]
    counter = _core.PretokenCounter()
    add_ends(counter, [document])
    assert table(counter) == count_slowly([(0, document)])


def test_document_order_within_a_language_does_not_change_counts() -> None:
    forward, backward = count_pretokens(KOREAN), count_pretokens(KOREAN[::-1])
    assert {r[:2] for r in rows(forward)} == {r[:2] for r in rows(backward)}


def test_counts_above_32_bits_are_exact() -> None:
    counter = _core.PretokenCounter()
    data, offsets = np.frombuffer(b"ab", dtype=np.uint8), np.array([0, 1, 2], dtype=np.int64)
    for _ in range(3):
        counter.add_counts(
            0,
            data,
            offsets,
            np.array([2**32, 2**33 + 1], dtype=np.uint64),
            np.array([9, 2**62], dtype=np.uint64),
        )
    assert table(counter) == [(b"b", 3 * (2**33 + 1), 2**62), (b"a", 3 * 2**32, 9)]


def test_pretokens_alike_in_count_and_position_are_ordered_by_bytes() -> None:
    counter = _core.PretokenCounter()
    data, offsets = np.frombuffer(b"cba", dtype=np.uint8), np.arange(4, dtype=np.int64)
    ones = np.ones(3, dtype=np.uint64)
    counter.add_counts(0, data, offsets, ones, ones)
    assert [row[0] for row in table(counter)] == [b"a", b"b", b"c"]


@pytest.mark.parametrize(
    ("ends", "message"),
    [([2], "do not reach"), ([2, 2, 4], "do not reach"), ([2, 4, 5], "beyond"), ([], "reach")],
)
def test_ends_that_do_not_fit_the_documents_are_refused(ends: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.PretokenCounter().add_ends(
            np.frombuffer(b"abcd", dtype=np.uint8),
            np.array([0, 4], dtype=np.int64),
            np.array(ends, dtype=np.int64),
            np.zeros(1, dtype=np.int32),
            0,
        )


def test_languages_are_counted_apart_and_together() -> None:
    counter = DocumentCounter(Pretokenizer("gpt2"), NormalizeOptions())
    counter.add(batch(["가 나", "a 나", "가"], [1, 0, 1], ("en", "ko")))
    counter.add(batch([" 나 x"], [0], ("ja",)))
    counts = counter.counts()
    assert rows(counts) == [
        (" 나".encode(), 3, 3),
        ("가".encode(), 2, 0),
        (b"a", 1, 7),
        (b" x", 1, 19),
    ]
    assert list(counts.totals) == ["en", "ja", "ko"]
    assert counts.language_counts("ko").tolist() == [1, 2, 0, 0]
    assert counts.language_counts("en").tolist() == [1, 0, 1, 0]
    assert counts.language_counts("ja").tolist() == [1, 0, 0, 1]
    assert counts.totals["ko"].documents == 2
    assert counts.totals["ko"].pretokens == 3
    assert counts.totals["ja"].text_bytes == 6
    with pytest.raises(SourceError, match=r"no language 'fr' \(found: en, ja, ko\)"):
        counts.language_counts("fr")


def assert_equal(left: PretokenCounts, right: PretokenCounts) -> None:
    assert rows(left) == rows(right)
    assert left.totals == right.totals
    assert (left.pattern, left.normalize) == (right.pattern, right.normalize)
    for language in left.totals:
        np.testing.assert_array_equal(
            left.language_counts(language), right.language_counts(language)
        )


def test_saved_counts_load_equal(tmp_path: Path) -> None:
    counter = DocumentCounter(Pretokenizer("gpt2"), NormalizeOptions(form="none"))
    counter.add(batch(["가 나", "a 나"], [1, 0], ("en", "ko")))
    for number, counts in enumerate([counter.counts(), count_pretokens(KOREAN)]):
        path = tmp_path / "new" / f"{number}.parquet"
        counts.save(path)
        assert_equal(PretokenCounts.load(path), counts)
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["0.parquet", "1.parquet"]


def test_no_text_gives_empty_counts_that_save_and_load(tmp_path: Path) -> None:
    for texts in ([], [""]):
        counts = count_pretokens(texts, pattern="whitespace")
        assert len(counts) == 0
        counts.save(tmp_path / "empty.parquet")
        assert_equal(PretokenCounts.load(tmp_path / "empty.parquet"), counts)


def test_merged_parts_equal_the_whole_in_any_order(tmp_path: Path) -> None:
    names = ("en", "ko")
    texts = ["가 나 다", "a 나", "나 가", "", "b a 다", " 가가가 가나다라마바사"]
    languages = [1, 0, 1, 1, 0, 1]
    whole = DocumentCounter(Pretokenizer("gpt2"), NormalizeOptions())
    whole.add(batch(texts, languages, names))
    parts: list[PretokenCounts | Path] = []
    base = 0
    for i, (text, language) in enumerate(zip(texts, languages, strict=True)):
        part = DocumentCounter(Pretokenizer("gpt2"), NormalizeOptions(), base=base)
        part.add(batch([text], [language], names))
        part.counts().save(tmp_path / f"{i}.parquet")
        parts.append(part.counts() if i % 2 else tmp_path / f"{i}.parquet")
        base += len(text.encode())
    assert_equal(merge_counts(parts), whole.counts())
    assert_equal(merge_counts(parts[::-1]), whole.counts())
    assert_equal(merge_counts([merge_counts(parts[:2]), merge_counts(parts[2:])]), whole.counts())


def test_parts_counted_differently_are_not_merged() -> None:
    with pytest.raises(SourceError, match=r"pattern \(found: 'gpt2' and 'whitespace'\)"):
        merge_counts([count_pretokens(["a"]), count_pretokens(["a"], pattern="whitespace")])
    with pytest.raises(SourceError, match="normalize"):
        merge_counts([count_pretokens(["a"]), count_pretokens(["a"], normalize="none")])
    with pytest.raises(SourceError, match="nothing to merge"):
        merge_counts([])


def test_a_file_that_holds_no_counts_is_refused_by_name(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pytest.raises(SourceError, match=r"missing\.parquet: cannot be read"):
        PretokenCounts.load(tmp_path / "missing.parquet")
    (tmp_path / "text.parquet").write_text("no")
    with pytest.raises(SourceError, match=r"text\.parquet: cannot be read"):
        PretokenCounts.load(tmp_path / "text.parquet")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(SourceError, match="not a counts file of format 1"):
        PretokenCounts.load(tmp_path / "other.parquet")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ShardError, match="cannot be written"):
        count_pretokens(["a"]).save(tmp_path / "file" / "counts.parquet")


def test_batches_may_be_counted_instead_of_texts() -> None:
    batches = [batch(["가 나"], [0], ("ko",)), batch(["나"], [0], ("ko",))]
    counts = count_pretokens(iter(batches))
    assert list(counts.totals) == ["ko"]
    assert counts.pretokens == 3
    with pytest.raises(TypeError, match="mixed"):
        count_pretokens([batches[0], "text"])


def test_one_string_is_not_taken_for_a_list_of_characters() -> None:
    with pytest.raises(SourceError, match="give a list of texts"):
        count_pretokens("학교")


def test_tables_and_datasets_are_counted_by_column() -> None:
    table = pa.table({"body": KOREAN, "lang": ["ko"] * len(KOREAN)})
    wanted = count_pretokens(KOREAN)
    for each in (
        table,
        table.to_batches()[0],
        datasets.Dataset(table),
        datasets.Dataset(table).to_iterable_dataset(),
    ):
        counts = count_pretokens(each, text="body", language_column="lang")
        assert list(counts.totals) == ["ko"]
        assert counts.data.tobytes() == wanted.data.tobytes()
        assert counts.counts.tolist() == wanted.counts.tolist()
    with pytest.raises(SourceError, match=r"no column 'text' \(found: body, lang\)"):
        count_pretokens(table)
    with pytest.raises(ConfigError, match="'language' is given too"):
        count_pretokens(table, text="body", language="ko", language_column="lang")


def test_options_of_counting_are_judged_as_a_job_is() -> None:
    with pytest.raises(ConfigError, match=r"pattern: no pattern of this name \(found 'gtp2'"):
        count_pretokens(KOREAN, pattern="gtp2")
    with pytest.raises(ConfigError, match=r"form: expected one of none, nfc, .* found 'nfd'"):
        count_pretokens(KOREAN, normalize="nfd")  # type: ignore[arg-type]  # that is the test


def test_a_sample_is_stated_once() -> None:
    assert options_from(CountOptions, {"sample_bytes": "2 MiB"}, "job").sample_bytes == 2**21
    with pytest.raises(ConfigError, match="sample_bytes: 'sample' is given too; give either"):
        options_from(CountOptions, {"sample": 0.5, "sample_bytes": 10}, "job")


def test_a_generator_of_texts_is_read_once() -> None:
    assert count_pretokens(text for text in KOREAN).pretokens == 9


def test_counts_from_a_mapping_keep_its_order_for_ties() -> None:
    counts = PretokenCounts.from_mapping({"b": 2, "a": 2, "c": 5})
    assert [row[0] for row in rows(counts)] == [b"c", b"b", b"a"]
    assert counts.pretokens == 9


def test_find_pretokens_gives_rows_and_minus_one() -> None:
    counts = count_pretokens(["a bb ccc a"])
    wanted = PretokenCounts.from_mapping({" ccc": 1, "zz": 1, "a": 1})
    found = _core.find_pretokens(counts.data, counts.offsets, wanted.data, wanted.offsets)
    assert [counts.pretoken(i) if i >= 0 else None for i in found] == [b" ccc", None, b"a"]


def test_the_lines_of_a_binary_file_are_the_documents_that_iterating_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lines.txt"
    monkeypatch.setattr("jogak.read.python.BLOCK_BYTES", 7)
    monkeypatch.setattr("jogak.read.python.LINE_BYTES", 9)
    for text in ("", "\n", "나는\n\n 나는  너를 \r\n긴 줄이 하나 더 있다", "a\n" * 9):
        path.write_bytes(text.encode())
        with path.open("rb") as file:
            found = count_pretokens(file)
        with path.open("rb") as file:
            assert_equal(found, count_pretokens(list(file)))


def test_counts_can_be_taken_or_kept() -> None:
    counter = DocumentCounter(Pretokenizer("gpt2"), NormalizeOptions(form="none"))
    counter.add(batch(["가 나", "a 나 " + "긴" * 9], [1, 0], ("en", "ko")))
    kept = counter.counts()
    assert_equal(kept, counter.counts(keep=False))
    assert len(kept) == 4


def test_an_error_stops_all_threads() -> None:
    texts: list[bytes] = [b"a b c"] * 50 + [b"\xff"] + [b"a b c"] * 50
    with pytest.raises(SourceError, match="row 50: invalid UTF-8"):
        count_pretokens(texts, threads=3)


def test_counters_of_a_single_part_are_not_listed_together() -> None:
    counters = [_core.PretokenCounter(single_part=True) for _ in range(2)]
    with pytest.raises(ValueError, match="single part"):
        counters[0].finish(0, others=counters[1:])
    with pytest.raises(RuntimeError, match="one thread at a time"):
        counters[0].finish(0, others=counters[:1])

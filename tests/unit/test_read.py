"""read: every layout gives the same documents; a bad row is delivered by policy or named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jogak.config import EncodeOptions, Job, ReadOptions, Source, TokenizerOptions
from jogak.documents import RejectedRow, TextBatch
from jogak.errors import SourceError
from jogak.plan import plan_units
from jogak.read import batch_texts, read_dataset, read_unit

TEXTS = ["안녕하세요", "", "a b", "ㅋㅋㅋ 😀", "줄\n바꿈\r\n", "x" * 300]


def read(
    source: Source,
    shard_bytes: int = 2**20,
    rejected: list[RejectedRow] | None = None,
    **options: object,
) -> list[TextBatch]:
    read_options = ReadOptions(sources=(source,), **options)
    job = Job(
        read=read_options,
        tokenizer=TokenizerOptions(load="tokenizer"),
        encode=EncodeOptions(shard_bytes=shard_bytes),
        output="out",
    )
    record = [] if rejected is None else rejected
    return [batch for unit in plan_units(job) for batch in read_unit(unit, read_options, record)]


def documents(batches: list[TextBatch]) -> list[bytes]:
    return [batch.document(i) for batch in batches for i in range(len(batch))]


def languages(batches: list[TextBatch]) -> list[str]:
    return [batch.language_names[code] for batch in batches for code in batch.languages]


def row_numbers(batches: list[TextBatch]) -> list[int]:
    return [int(row) for batch in batches for row in batch.rows]


def encoded(texts: list[str]) -> list[bytes]:
    return [text.encode() for text in texts]


# Parquet -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.large_binary(),
        pa.binary_view(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int8(), pa.string()),
    ],
    ids=str,
)
def test_every_arrow_type_of_text_gives_the_same_documents(
    tmp_path: Path, kind: pa.DataType
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": pa.array(TEXTS).cast(kind)}), path, row_group_size=4)
    assert documents(read(Source(path=str(path)))) == encoded(TEXTS)
    table = pa.table({"text": pa.chunked_array([pa.array(TEXTS).cast(kind)] * 2)})
    assert documents(list(read_dataset(table))) == encoded(TEXTS) * 2
    assert documents(list(batch_texts(pa.array(TEXTS).cast(kind).slice(2, 3)))) == encoded(
        TEXTS[2:5]
    )


@pytest.mark.parametrize("shard_bytes", [50, 400, 10_000])
@pytest.mark.parametrize("rows_per_group", [1, 7, 100])
@pytest.mark.parametrize("batch_bytes", [1, 100, 10_000])
def test_any_cut_into_units_gives_each_row_once_and_in_order(
    tmp_path: Path, shard_bytes: int, rows_per_group: int, batch_bytes: int
) -> None:
    path = tmp_path / "a.parquet"
    texts = [f"{i} " + "가" * (i % 17) for i in range(100)]
    pq.write_table(pa.table({"text": texts}), path, row_group_size=rows_per_group)
    batches = read(Source(path=str(path)), shard_bytes=shard_bytes, batch_bytes=batch_bytes)
    assert documents(batches) == encoded(texts)
    assert row_numbers(batches) == list(range(100))
    sizes = [int(batch.offsets[-1] - batch.offsets[0]) for batch in batches]
    assert all(
        size <= batch_bytes or len(batch) == 1 for size, batch in zip(sizes, batches, strict=True)
    )


def test_the_bytes_of_a_large_string_column_are_shared_not_copied() -> None:
    array = pa.array(TEXTS, pa.large_string()).slice(1)
    (batch,) = batch_texts(array)
    assert batch.data.ctypes.data == array.buffers()[2].address
    assert batch.offsets.ctypes.data == array.buffers()[1].address + 8
    assert batch.offsets[0] == len(TEXTS[0].encode())


def test_nested_columns_and_their_languages_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows = [{"body": "가", "lang": "ko"}, {"body": "b", "lang": None}, {"body": "c", "lang": ""}]
    pq.write_table(pa.table({"doc": rows}), path)
    batches = read(Source(path=str(path), text="doc.body", language_column="doc.lang"))
    assert documents(batches) == [b"\xea\xb0\x80", b"b", b"c"]
    assert languages(batches) == ["ko", "und", "und"]


def test_a_null_struct_makes_its_text_null(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"doc": [{"body": "가"}, None]}), path)
    with pytest.raises(SourceError, match=r"a\.parquet: row 1: null text; set read\.on_bad_row"):
        read(Source(path=str(path), text="doc.body"))


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.dictionary(pa.int32(), pa.string()), pa.string_view()], ids=str
)
def test_languages_come_from_a_column_of_any_text_type(tmp_path: Path, kind: pa.DataType) -> None:
    path = tmp_path / "a.parquet"
    named = pa.array(["ko", None, "en", "ko"]).cast(kind)
    pq.write_table(pa.table({"text": ["a", "b", "c", "d"], "lang": named}), path)
    batches = read(Source(path=str(path), language_column="lang"), batch_bytes=2)
    assert languages(batches) == ["ko", "und", "en", "ko"]


def test_a_source_gives_its_language_to_all_documents(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a", "b"]}), path)
    assert languages(read(Source(path=str(path), language="ko"))) == ["ko", "ko"]
    assert languages(read(Source(path=str(path)))) == ["und", "und"]


def test_only_the_wanted_columns_are_decoded(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({f"c{i}": [str(i)] * 3 for i in range(200)} | {"text": ["a", "b", "c"]})
    pq.write_table(table, path, compression="none")
    data = bytearray(path.read_bytes())
    data[4:2_000] = bytes(1_996)  # what other columns hold does not matter
    path.write_bytes(data)
    assert documents(read(Source(path=str(path)))) == [b"a", b"b", b"c"]


def test_a_damaged_page_names_file_row_group_and_row(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = [f"{i} " + "가나다" * 100 for i in range(100)]
    pq.write_table(pa.table({"text": texts}), path, row_group_size=50, compression="zstd")
    start = pq.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + 100] = bytes(100)
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"a\.parquet: row group 1: damaged at row 50"):
        read(Source(path=str(path)))


def test_a_file_with_fewer_rows_than_planned_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    options = ReadOptions(sources=(Source(path=str(path)),))
    pq.write_table(pa.table({"text": ["a", "b"]}), path)
    planned = Job(read=options, tokenizer=TokenizerOptions(load="t"), output="out")
    (unit,) = plan_units(planned)
    pq.write_table(pa.table({"text": ["a"]}), path)
    with pytest.raises(SourceError, match="changed since it was planned"):
        list(read_unit(unit, options, []))


# Bad rows ----------------------------------------------------------------------------------------

BAD = ["좋은 글".encode(), b"ab\xff", None, b"\xea\xb0", b"\xed\xa0\x80", b"end"]


def bad_file(tmp_path: Path) -> Source:
    path = tmp_path / "bad.parquet"
    pq.write_table(pa.table({"text": pa.array(BAD, pa.binary())}), path)
    return Source(path=str(path))


def test_invalid_utf8_stops_the_run_and_names_row_and_byte(tmp_path: Path) -> None:
    expected = (
        r"bad\.parquet: row 1: invalid UTF-8 at byte 2 of the document \(found 0xFF\); "
        r"set read\.on_bad_row"
    )
    with pytest.raises(SourceError, match=expected):
        read(bad_file(tmp_path))


def test_bad_rows_are_skipped_and_recorded(tmp_path: Path) -> None:
    rejected: list[RejectedRow] = []
    batches = read(bad_file(tmp_path), rejected=rejected, on_bad_row="skip")
    assert documents(batches) == [BAD[0], b"end"]
    assert row_numbers(batches) == [0, 5]
    assert [(bad.row, bad.action) for bad in rejected] == [(row, "skip") for row in (1, 2, 3, 4)]
    assert "byte 2" in rejected[0].reason
    assert rejected[1].reason == "null text"


def test_bad_rows_can_become_empty_documents(tmp_path: Path) -> None:
    batches = read(bad_file(tmp_path), on_bad_row="empty")
    assert documents(batches) == [BAD[0], b"", b"", b"", b"", b"end"]
    assert row_numbers(batches) == list(range(6))


def test_replace_mends_invalid_bytes_as_python_does_but_not_nulls(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    values = [value for value in BAD if value is not None]
    pq.write_table(pa.table({"text": pa.array(values, pa.binary())}), path)
    rejected: list[RejectedRow] = []
    batches = read(Source(path=str(path)), rejected=rejected, on_bad_row="replace")
    assert documents(batches) == [value.decode(errors="replace").encode() for value in values]
    assert [bad.action for bad in rejected] == ["replace"] * 3
    with pytest.raises(SourceError, match="row 2: null text; 'replace' mends invalid UTF-8 only"):
        read(bad_file(tmp_path), on_bad_row="replace")


def test_more_bad_rows_than_allowed_stop_the_run(tmp_path: Path) -> None:
    assert read(bad_file(tmp_path), on_bad_row="skip", max_bad_rows=4)
    with pytest.raises(SourceError, match=r"that makes 4 bad rows, and read\.max_bad_rows is 3"):
        read(bad_file(tmp_path), on_bad_row="skip", max_bad_rows=3)


@pytest.mark.parametrize(
    ("codec", "name"), [("cp949", "CP949"), ("utf-16", "UTF-16"), ("utf-16-be", "UTF-16")]
)
def test_text_in_another_encoding_is_named(tmp_path: Path, codec: str, name: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("한글로 쓴 글이 들어 있습니다.\n".encode(codec))
    with pytest.raises(
        SourceError, match=f"row 0: invalid UTF-8 .* which reads as {name}: convert"
    ):
        read(Source(path=str(path)))


# JSON lines --------------------------------------------------------------------------------------


def write_lines(path: Path, lines: list[bytes]) -> Source:
    data = b"".join(lines)
    if path.suffix == ".gz":
        data = gzip.compress(data)
    elif path.suffix == ".zst":
        data = pa.compress(data, codec="zstd", asbytes=True)
    path.write_bytes(data)
    return Source(path=str(path))


def json_line(text: str, *, escape: bool = False) -> bytes:
    return json.dumps({"id": 1, "text": text}, ensure_ascii=escape).encode() + b"\n"


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson", ".json.gz"])
@pytest.mark.parametrize("escape", [False, True])
def test_json_lines_give_their_texts(tmp_path: Path, suffix: str, escape: bool) -> None:
    source = write_lines(
        tmp_path / f"a{suffix}", [json_line(text, escape=escape) for text in TEXTS]
    )
    batches = read(source)
    assert documents(batches) == encoded(TEXTS)
    assert row_numbers(batches) == list(range(len(TEXTS)))


@pytest.mark.parametrize("shard_bytes", [1, 97, 1_000])
def test_json_lines_by_byte_ranges_give_each_line_once(tmp_path: Path, shard_bytes: int) -> None:
    texts = [f"{i} " + "가" * (i % 17) for i in range(60)]
    source = write_lines(tmp_path / "a.jsonl", [json_line(text) for text in texts])
    batches = read(source, shard_bytes=shard_bytes, batch_bytes=200)
    assert documents(batches) == encoded(texts)


def test_byte_order_mark_crlf_and_blank_lines_are_no_text(tmp_path: Path) -> None:
    lines = [
        b"\xef\xbb\xbf",
        b'{"text": "a"}\r\n',
        b"\n",
        b"  \t\r\n",
        b'  {"text": "b"} \n',
        b'{"text": "c"}',
    ]
    batches = read(write_lines(tmp_path / "a.jsonl", lines))
    assert documents(batches) == [b"a", b"b", b"c"]
    assert row_numbers(batches) == [0, 3, 4]


BAD_LINES = {
    b'{"text": "a"': "not valid JSON",
    b"[1, 2]": "an array where an object should be",
    b'{"body": "a"}': r"no key 'text' \(found: body\)",
    b"{}": "no key 'text'",
    b'{"text": null}': "null text",
    b'{"text": 3}': "text is a number, not a string",
    b'{"text": true}': "text is true or false, not a string",
    b'{"text": {"a": 1}}': "text is an object, not a string",
    b'{"text": "a"} {"text": "b"}': "not valid JSON",
    b'{"text": "a\tb"}': "not valid JSON",
    b'{"text": "x\\ud83d"}': r"lone surrogate U\+D83D at character 1",
    b'{"text": "x\\ude00y"}': r"lone surrogate U\+DE00 at character 1",
    b'{"text": "ab\xff"}': r"invalid UTF-8 at byte 2 of the document \(found 0xFF\)",
    b'{"text": "ab\\u00e9\xff"}': r"invalid UTF-8 at byte 4 of the document \(found 0xFF\)",
    b'{"text": "\xc7\xd1\xb1\xdb \xb1\xdb"}': ".*which reads as CP949",
    b'{"text": "\xff", "id": \xff}': "not valid JSON",
    b"[" * 100_000: "not valid JSON",
    b'{"text": ' + b"1" * 5_000 + b"}": "text is a number, not a string",
}


@pytest.mark.parametrize("line", BAD_LINES, ids=lambda line: repr(line[:30]))
def test_a_bad_line_is_named_and_the_lines_around_it_are_kept(tmp_path: Path, line: bytes) -> None:
    source = write_lines(tmp_path / "a.jsonl", [json_line("앞"), line + b"\n", json_line("뒤")])
    with pytest.raises(SourceError, match=r"a\.jsonl: row 1: " + BAD_LINES[line]):
        read(source)
    rejected: list[RejectedRow] = []
    batches = read(source, rejected=rejected, on_bad_row="skip")
    assert documents(batches) == encoded(["앞", "뒤"])
    assert [bad.row for bad in rejected] == [1]


def test_a_bad_line_in_a_byte_range_is_named_by_its_line_in_the_file(tmp_path: Path) -> None:
    lines = [json_line(f"{i}") for i in range(100)]
    lines[77] = b"{\n"
    source = write_lines(tmp_path / "a.jsonl", lines)
    with pytest.raises(SourceError, match="row 77: not valid JSON"):
        read(source, shard_bytes=200)


def test_replace_mends_lone_surrogates_and_invalid_bytes_in_json(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", [b'{"text": "x\\ud83dy"}\n', b'{"text": "\xffz"}\n'])
    assert documents(read(source, on_bad_row="replace")) == encoded(["x\ufffdy", "\ufffdz"])


def test_languages_of_json_lines_are_nested_missing_or_null(tmp_path: Path) -> None:
    lines = [
        b'{"doc": {"body": "a"}, "meta": {"lang": "ko"}}\n',
        b'{"doc": {"body": "b"}, "meta": {"lang": null}}\n',
        b'{"doc": {"body": "c"}, "meta": null}\n',
        b'{"doc": {"body": "d"}}\n',
    ]
    source = write_lines(tmp_path / "a.jsonl", lines)
    nested = Source(path=source.path, text="doc.body", language_column="meta.lang")
    assert languages(read(nested)) == ["ko", "und", "und", "und"]
    write_lines(tmp_path / "a.jsonl", [*lines, b'{"doc": {"body": "e"}, "meta": {"lang": 3}}\n'])
    with pytest.raises(SourceError, match="row 4: language is a number"):
        read(nested)


def test_a_key_with_a_dot_in_it_is_found(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", [b'{"a.b": "x"}\n', b'{"a": {"b": "y"}}\n'])
    assert documents(read(Source(path=source.path, text="a.b"))) == [b"x", b"y"]


def test_the_two_parsers_of_json_agree(tmp_path: Path) -> None:
    lines = [
        json_line(text, escape=escape)
        for text in [*TEXTS, "\x00", "\U0010ffff\u2028"]
        for escape in (True, False)
    ]
    fast = documents(read(write_lines(tmp_path / "a.jsonl", lines)))
    slow = documents(read(write_lines(tmp_path / "b.jsonl", [*lines, b"{\n"]), on_bad_row="skip"))
    assert fast == slow


# Compressed files --------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_compressed_file_that_ends_early_is_never_taken_for_a_whole_one(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"a.jsonl{suffix}"
    rng = np.random.default_rng(7)
    lines = [json_line(str(rng.integers(10**18))) for _ in range(2_000)]
    source = write_lines(path, lines)
    whole = path.read_bytes()
    assert len(read(source)) > 0
    for size in [0, 1, 9, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(SourceError, match=rf"a\.jsonl\{suffix}: .*restore"):
            read(source, on_bad_row="skip")


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_members_and_frames_are_joined_and_damage_is_an_error(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.jsonl{suffix}"
    source = write_lines(path, [json_line("가")])
    once = path.read_bytes()
    path.write_bytes(once * 3)
    assert documents(read(source)) == encoded(["가"] * 3)
    path.write_bytes(once + b"garbage")
    with pytest.raises(SourceError, match="cannot be read"):
        read(source)


# Plain text --------------------------------------------------------------------------------------


def test_a_text_file_is_one_document_without_its_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeff가\r\n나".encode())
    (tmp_path / "b.md.gz").write_bytes(gzip.compress("다".encode()))
    (tmp_path / "c.txt").write_bytes(b"")
    assert documents(read(Source(path=str(tmp_path / "*")))) == encoded(["가\r\n나", "다", ""])


# Datasets and Python objects ---------------------------------------------------------------------


def test_a_saved_dataset_is_read_by_rows(tmp_path: Path) -> None:
    folder = str(tmp_path / "saved")
    texts = [f"{i} 글" for i in range(100)]
    datasets.Dataset.from_dict({"text": texts, "lang": ["ko", "en"] * 50}).save_to_disk(folder)
    batches = read(Source(hf=folder, language_column="lang"), shard_bytes=300)
    assert documents(batches) == encoded(texts)
    assert row_numbers(batches) == list(range(100))
    assert languages(batches) == ["ko", "en"] * 50


def test_a_folder_that_load_dataset_takes_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "folder"
    folder.mkdir()
    pq.write_table(pa.table({"text": TEXTS}), folder / "train.parquet")
    assert documents(read(Source(hf=str(folder)))) == encoded(TEXTS)


@pytest.mark.parametrize(
    "shape", ["dataset", "shuffled", "iterable", "table", "reader", "batch", "list"]
)
def test_objects_are_read(shape: str) -> None:
    dataset = datasets.Dataset.from_dict({"text": TEXTS, "n": list(range(len(TEXTS)))})
    table = pa.table({"text": TEXTS})
    order = list(range(len(TEXTS)))
    shapes = {
        "dataset": dataset,
        "shuffled": dataset.select(order[::-1]),
        "iterable": dataset.to_iterable_dataset(),
        "table": table,
        "reader": table.to_reader(max_chunksize=2),
        "batch": table.to_batches()[0],
        "list": TEXTS,
    }
    expected = encoded(TEXTS[::-1] if shape == "shuffled" else TEXTS)
    batches = list(read_dataset(shapes[shape], batch_bytes=20))
    assert documents(batches) == expected
    assert row_numbers(batches) == order


def test_the_bad_rows_of_an_object_follow_the_policy() -> None:
    table = pa.table({"body": ["a", None]})
    with pytest.raises(SourceError, match="dataset: row 1: null text"):
        list(read_dataset(table, text="body"))
    rejected: list[RejectedRow] = []
    assert documents(
        list(read_dataset(table, text="body", on_bad_row="empty", rejected=rejected))
    ) == [b"a", b""]
    assert len(rejected) == 1
    with pytest.raises(SourceError, match=r"no column 'text' \(found: body\)"):
        list(read_dataset(table))


def test_batch_texts_takes_str_and_bytes_and_batches_them_by_bytes() -> None:
    batches = list(batch_texts(["가", b"abc", "나", "다"], batch_bytes=5))
    assert documents(batches) == [b"\xea\xb0\x80", b"abc", *encoded(["나", "다"])]
    assert len(batches) > 1
    assert list(batch_texts([])) == []


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", "one str, not several"),
        (["a", None], r"row 1: not a str or bytes \(found NoneType\)"),
        (["a", "x\ud83d"], r"row 1: lone surrogate U\+D83D at character 1"),
        (["a", b"b\xff"], "row 1: invalid UTF-8 at byte 1"),
        (pa.array(["a", None]), "row 1: null text"),
        (pa.array([1, 2]), "not text"),
    ],
)
def test_batch_texts_names_what_it_cannot_take(texts: object, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        list(batch_texts(texts))


def test_a_dictionary_of_long_texts_is_not_decoded_all_at_once() -> None:
    values = pa.array(["가" * 1_000, "b"])
    array = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000 + [1, None], pa.int32()), values)
    table = pa.table({"text": array})
    batches = list(read_dataset(table, batch_bytes=30_000, on_bad_row="empty"))
    assert documents(batches) == ["가".encode() * 1_000] * 1_000 + [b"b", b""]
    assert max(len(batch.data) for batch in batches) <= 30_000


def test_the_name_of_a_source_does_not_choose_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "folder"
    folder.mkdir()
    for split in ("train", "test"):
        pq.write_table(pa.table({"text": [split]}), folder / f"{split}.parquet")
    assert documents(read(Source(hf=str(folder), name="my label", split="test"))) == [b"test"]
    with pytest.raises(SourceError, match="not a readable dataset"):
        read(Source(hf=str(folder), split="valid"))


# Strange but legal -------------------------------------------------------------------------------


DEEP_ARRAY = b"[" * 50_000 + b"]" * 50_000
DEEP_OBJECT = b'{"x":' * 9_000 + b"1" + b"}" * 9_000


@pytest.mark.parametrize("value", [b"9" * 10_000, b"-0", DEEP_ARRAY, DEEP_OBJECT])
def test_what_a_line_holds_beside_its_text_never_makes_it_bad(tmp_path: Path, value: bytes) -> None:
    """Neither alone, nor when another line of its block is bad and lines are parsed one by one."""
    line = b'{"n": ' + value + b', "text": "\xea\xb8\x80"}\n'
    path = tmp_path / "a.jsonl"
    for block in (line, line + b"{bad\n", b'{"text": 1}\n' + line):
        path.write_bytes(block)
        rejected: list[RejectedRow] = []
        batches = read(Source(path=str(path)), rejected=rejected, on_bad_row="skip")
        assert documents(batches) == ["글".encode()]
        assert len(rejected) == block.count(b"\n") - 1
    assert "text is a number" in rejected[0].reason


@pytest.mark.parametrize("doubled", [b'"text": "a", "text": "b"', b'"text": null, "text": "b"'])
def test_of_equal_keys_the_last_one_counts(tmp_path: Path, doubled: bytes) -> None:
    path = tmp_path / "a.jsonl"
    for more in (b"", b'{"text": "c"}\n', b"{bad\n"):
        path.write_bytes(b"{" + doubled + b"}\n" + more)
        assert documents(read(Source(path=str(path)), on_bad_row="skip"))[0] == b"b"


def test_columns_of_equal_names_are_refused(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array(["x"]), pa.array(["y"])], names=["text", "text"])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(SourceError, match=r"2 columns are called 'text'"):
        read(Source(path=str(tmp_path / "a.parquet")))


def test_a_column_of_nulls_alone_is_bad_rows(tmp_path: Path) -> None:
    """Writers call its type null, whatever it is elsewhere."""
    table = pa.table({"text": pa.nulls(3), "lang": pa.nulls(3)})
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": ["x"], "lang": ["ko"]}), tmp_path / "b.parquet")
    source = Source(path=str(tmp_path / "*"), language_column="lang")
    rejected: list[RejectedRow] = []
    assert documents(read(source, rejected=rejected, on_bad_row="skip")) == [b"x"]
    assert [each.reason for each in rejected] == ["null text"] * 3


@pytest.mark.parametrize(("codec", "name"), [("utf-16", "UTF-16"), ("utf-32", "UTF-32")])
def test_json_lines_in_another_encoding_are_named(tmp_path: Path, codec: str, name: str) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "한글"}\n', encoding=codec)
    with pytest.raises(SourceError, match=rf"row 0: not valid JSON .*reads as {name}: convert it"):
        read(Source(path=str(tmp_path / "a.jsonl")))


def test_cp949_far_into_a_document_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"The Project\n" * 20_000 + "한국어로 쓴 글".encode("cp949"))
    with pytest.raises(SourceError, match=r"at byte 240000 .*reads as CP949: convert it"):
        read(Source(path=str(path)))


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_garbage_behind_a_compressed_file_is_damage_and_frames_are_joined(
    tmp_path: Path, suffix: str
) -> None:
    text = b'{"text": "a"}\n'
    data = gzip.compress(text) if suffix == ".gz" else pa.compress(text, "zstd", asbytes=True)
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(data * 3)
    assert documents(read(Source(path=str(path)))) == [b"a"] * 3
    for behind in (b"garbage!", data[:-1], data[:4]):
        path.write_bytes(data + behind)
        with pytest.raises(SourceError, match="cannot be read behind byte"):
            read(Source(path=str(path)))

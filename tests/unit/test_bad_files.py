"""Damaged files: named, or left out as a whole and listed; never taken for whole ones."""

from __future__ import annotations

import contextlib
import errno
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jogak.config import EncodeOptions, Job, ReadOptions, Source, TokenizerOptions
from jogak.documents import RejectedRow, SkippedFile
from jogak.errors import BadFileError, SourceError
from jogak.manifest import read_manifest
from jogak.output import Output
from jogak.plan import plan_units
from jogak.plan.footer import column_sizes
from jogak.read import read_unit, stream
from jogak.run import run
from jogak.verify import verify

TEXTS = [f"{number} 나는 학교에서 책을 읽었다" for number in range(200)]


def read(pattern: Path, skipped: list[SkippedFile] | None = None, **options: object) -> list[bytes]:
    """Read all documents of files, in units of about 2 KB."""
    sources = (Source(path=str(pattern)),)
    job = Job(
        read=ReadOptions(sources=sources, **options),
        tokenizer=TokenizerOptions(load="tokenizer"),
        encode=EncodeOptions(shard_bytes=2_000),
        output="out",
    )
    rejected: list[RejectedRow] = []
    return [
        batch.document(index)
        for unit in plan_units(job)
        for batch in read_unit(unit, job.read, rejected, skipped)
        for index in range(len(batch))
    ]


def parquet(path: Path, **options: object) -> bytearray:
    settings = {"row_group_size": 50, "compression": "zstd", **options}
    pq.write_table(pa.table({"text": TEXTS}), path, **settings)
    return bytearray(path.read_bytes())


def page_start(path: Path, group: int) -> int:
    column = pq.ParquetFile(path).metadata.row_group(group).column(0)
    return int(column.dictionary_page_offset or column.data_page_offset)


def no_footer(path: Path) -> None:
    path.write_bytes(parquet(path)[:-40])


def half(path: Path) -> None:
    data = parquet(path)
    path.write_bytes(data[: len(data) // 2])


def broken_footer(path: Path) -> None:
    data = parquet(path)
    size = int.from_bytes(data[-8:-4], "little")
    data[-8 - size : -8 - size // 2] = b"\xff" * (size - size // 2)
    path.write_bytes(data)


def broken_page(path: Path) -> None:
    data = parquet(path)
    start = page_start(path, 2)
    data[start + 30 : start + 90] = bytes(60)
    path.write_bytes(data)


def flipped_bit(path: Path) -> None:
    """A bit in text that stays UTF-8: only the checksum of the page shows it."""
    data = parquet(path, compression="none", use_dictionary=False, write_page_checksum=True)
    at = data.index(b"120 ")
    data[at] ^= 1
    path.write_bytes(data)


def empty(path: Path) -> None:
    path.write_bytes(b"")


PARQUET: list[tuple[Callable[[Path], None], str]] = [
    (no_footer, "not a readable Parquet file"),
    (half, "not a readable Parquet file"),
    (broken_footer, "not a readable Parquet file"),
    (broken_page, "row group 2: damaged at row 100"),
    (flipped_bit, "row group 2: damaged at row 100 .*CRC"),
    (empty, "not a readable Parquet file"),
]


@pytest.mark.parametrize(("damage", "says"), PARQUET, ids=[each[0].__name__ for each in PARQUET])
def test_a_damaged_parquet_file_is_named_or_left_out(
    tmp_path: Path, damage: Callable[[Path], None], says: str
) -> None:
    pq.write_table(pa.table({"text": ["앞"]}), tmp_path / "a.parquet")
    damage(tmp_path / "b.parquet")
    pq.write_table(pa.table({"text": ["뒤"]}), tmp_path / "c.parquet")
    with pytest.raises(BadFileError, match=rf"b\.parquet: .*{says}.*; restore the file"):
        read(tmp_path / "*.parquet")
    skipped: list[SkippedFile] = []
    found = read(tmp_path / "*.parquet", skipped, on_bad_file="skip")
    assert (found[0], found[-1]) == ("앞".encode(), "뒤".encode())
    assert {Path(each.path).name for each in skipped} == {"b.parquet"}
    # What is kept of a file that several units share is whole row ranges, and all the rest is told.
    told = sum(each.stop - each.start for each in skipped)
    assert len(found) - 2 + told == (len(TEXTS) if "damaged" in says else 0)
    assert found[1:-1] == [text.encode() for text in TEXTS if text.encode() in set(found)]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("batch_bytes", [100, 10_000])
def test_a_compressed_file_that_ends_early_is_left_out_as_a_whole(
    tmp_path: Path, suffix: str, batch_bytes: int
) -> None:
    text = "".join(json.dumps({"text": each}) + "\n" for each in TEXTS).encode()
    data = gzip.compress(text) if suffix == ".gz" else pa.compress(text, "zstd", asbytes=True)
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(data[: len(data) * 3 // 4])
    (tmp_path / "b.jsonl").write_text('{"text": "다음"}\n', encoding="utf-8")
    skipped: list[SkippedFile] = []
    options = {"batch_bytes": batch_bytes, "on_bad_file": "skip"}
    assert read(tmp_path / "*", skipped, **options) == ["다음".encode()]
    (file,) = skipped
    assert (file.path, file.start, file.stop) == (str(path), 0, 1)
    assert "cannot be read behind byte" in file.reason
    assert suffix[1:] in file.reason or "ended" in file.reason


def test_a_bad_row_is_not_a_bad_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": null}\n')
    with pytest.raises(SourceError, match="row 0: null text"):
        read(tmp_path / "*", on_bad_file="skip")


def test_a_missing_column_is_not_damage(tmp_path: Path) -> None:
    pq.write_table(pa.table({"body": ["a"]}), tmp_path / "a.parquet")
    with pytest.raises(SourceError, match="no column 'text'"):
        read(tmp_path / "*", on_bad_file="skip")


def test_no_rows_no_row_groups_and_no_bytes_are_empty_not_damaged(tmp_path: Path) -> None:
    empty_table = pa.table({"text": pa.array([], pa.string())})
    pq.write_table(empty_table, tmp_path / "a.parquet")
    with pq.ParquetWriter(tmp_path / "b.parquet", empty_table.schema):
        pass  # no row group at all
    assert pq.ParquetFile(tmp_path / "b.parquet").metadata.num_row_groups == 0
    with pq.ParquetWriter(tmp_path / "c.parquet", empty_table.schema) as writer:
        writer.write_table(empty_table)
        writer.write_table(pa.table({"text": ["글"]}))
        writer.write_table(empty_table)
    (tmp_path / "d.jsonl").touch()
    (tmp_path / "e.jsonl.gz").write_bytes(gzip.compress(b""))
    assert read(tmp_path / "*") == ["글".encode()]


def test_ten_thousand_columns_cost_nothing_but_their_footer(tmp_path: Path) -> None:
    columns = {f"c{number}": ["x"] for number in range(10_000)}
    pq.write_table(pa.table({**columns, "text": ["글"]}), tmp_path / "a.parquet")
    assert read(tmp_path / "*") == ["글".encode()]


def test_nul_bytes_are_text_like_any_other(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["\x00a\x00\x00", "\x00"]}), tmp_path / "a.parquet")
    (tmp_path / "b.txt").write_bytes(b"\x00b")
    (tmp_path / "c.jsonl").write_text('{"text": "c\\u0000"}\n')
    assert read(tmp_path / "*") == [b"\x00a\x00\x00", b"\x00", b"\x00b", b"c\x00"]


@pytest.mark.parametrize("seed", range(6))
def test_bytes_changed_at_random_give_documents_or_an_error_of_ours(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    path = tmp_path / "a.parquet"
    codec = rng.choice(["none", "zstd", "snappy", "gzip"])
    whole = parquet(path, compression=codec, write_page_checksum=rng.random() < 0.5)
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for number in range(40):
        data = bytearray(whole)
        # In the footer a change of many bytes is noticed at once, which shows little.
        start, most = (footer, [1, 2]) if number % 2 else (0, [1, 2, 8, 200])
        for _ in range(rng.choice(most)):
            data[rng.randrange(start, len(whole))] = rng.randrange(256)
        path.write_bytes(data)
        with contextlib.suppress(SourceError):
            read(path, on_bad_row="skip", max_bad_rows=200)


def test_the_size_of_a_column_is_the_one_that_pyarrow_reads(tmp_path: Path) -> None:
    rng = random.Random(3)
    path = tmp_path / "a.parquet"
    for number in (0, 1, 30, 300):
        texts = ["글" * rng.randrange(40) for _ in range(number)]
        kind = pa.struct({"a": pa.string(), "b": pa.list_(pa.struct({"c": pa.bool_()}))})
        structs = pa.array([{"a": text, "b": [{"c": True}]} for text in texts], kind)
        pairs = pa.array([[("k", 1)]] * number, pa.map_(pa.string(), pa.int8()))
        table = pa.table({"m": pairs, "text": pa.array(texts, pa.string()), "s": structs})
        for options in ({}, {"write_page_index": True}, {"write_statistics": False}):
            pq.write_table(table, path, row_group_size=rng.choice([7, 50, 999]), **options)
            with pq.ParquetFile(path) as file:
                groups = range(file.metadata.num_row_groups)
                leaves = [file.metadata.schema.column(leaf).path for leaf in range(5)]
                for names in (["text"], ["s", "a"]):
                    leaf = leaves.index(".".join(names))
                    right = [file.metadata.row_group(g).column(leaf) for g in groups]
                    sizes = [each.total_uncompressed_size for each in right]
                    assert column_sizes(str(path), file, names) == sizes


def test_one_bit_that_makes_size_statistics_wrong_does_not_end_the_process(tmp_path: Path) -> None:
    """Asked for such a column chunk, pyarrow 25 does (SIGABRT)."""
    data = parquet(tmp_path / "a.parquet")
    # The schema's entry of the column in Thrift: repetition 1 (optional), then the name.
    data[data.rindex(b"\x25\x02\x18\x04text") + 1] = 0
    (tmp_path / "a.parquet").write_bytes(data)
    (tmp_path / "b.jsonl").write_text('{"text": "b"}\n')
    with pytest.raises(BadFileError, match=r"row 0 .*histogram size mismatch.*restore the file"):
        read(tmp_path / "*")
    skipped: list[SkippedFile] = []
    assert read(tmp_path / "*", skipped, on_bad_file="skip") == [b"b"]
    assert len(skipped) == 8


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "jsonl.gz", "jsonl.zst"])
@pytest.mark.parametrize("error", [pa.ArrowMemoryError("no memory"), OSError(errno.EMFILE, "many")])
def test_want_of_memory_or_descriptors_is_not_a_damaged_file(
    tmp_path: Path, suffix: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else `on_bad_file: skip` would leave out whole files because the machine is busy."""
    path = tmp_path / f"a.{suffix}"
    text = b'{"text": "a"}\n'
    if suffix == "parquet":
        parquet(path)
    elif suffix == "jsonl.gz":
        path.write_bytes(gzip.compress(text))
    else:
        path.write_bytes(pa.compress(text, "zstd", asbytes=True) if "zst" in suffix else text)

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", fail)
    monkeypatch.setattr(stream, "_open", fail)
    with pytest.raises((MemoryError, SourceError)) as raised:
        read(path, on_bad_file="skip")
    assert not isinstance(raised.value, BadFileError)


@pytest.fixture
def job(tmp_path: Path) -> dict[str, Any]:
    data = tmp_path / "data"
    data.mkdir()
    for number in range(3):
        parquet(data / f"{number}.parquet")
    broken_page(data / "1.parquet")
    (data / "4.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a"}\n' * 50)[:-4])
    return {
        "read": {"sources": [{"path": str(data / "*"), "language": "ko"}], "on_bad_file": "skip"},
        "train": {"vocab_size": 280},
        "encode": {"shard_bytes": 4_000},
        "output": str(tmp_path / "out"),
    }


def test_files_left_out_are_named_in_manifest_and_report(job: dict[str, Any]) -> None:
    manifest = run(job, workers=2, progress=False)
    assert [Path(each.path).name for each in manifest.skipped_files] == ["1.parquet", "4.jsonl.gz"]
    output = Output(Path(job["output"]))
    assert read_manifest(output) == manifest
    kept = json.loads(output.manifest.read_text(encoding="utf-8"))
    assert "damaged at row" in kept["skipped_files"][0]["reason"]
    report = (output.folder / "report.md").read_text(encoding="utf-8")
    assert "2 damaged files were left out" in report
    assert "4.jsonl.gz" in report
    whole = sum(each.stop - each.start for each in manifest.skipped_files[:1])
    assert manifest.total.documents == 3 * len(TEXTS) - whole
    assert verify(output.folder, decode="all", show=False).faults == ()


def test_a_run_stops_at_a_damaged_file_and_names_it(job: dict[str, Any]) -> None:
    job["read"]["on_bad_file"] = "error"
    next(Path(job["output"]).parent.glob("data/4.*")).unlink()
    with pytest.raises(BadFileError, match=r"unit \d+ \(.*1\.parquet: row group \d: damaged"):
        run(job, workers=1, progress=False)

"""plan: inputs are found, judged by their footers, and cut into units that depend on them alone."""

from __future__ import annotations

import gzip
import itertools
import logging
import os
import random
from dataclasses import replace
from pathlib import Path

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jogak import plan as plan_module
from jogak.config import EncodeOptions, Job, ReadOptions, Source, TokenizerOptions
from jogak.errors import SourceError
from jogak.plan import Part, Plan, Unit, list_inputs, plan_units

KOREAN = "조각은 글을 조각으로 나눈다. " * 4


def job(*sources: Source, shard_bytes: int = 2**20) -> Job:
    return Job(
        read=ReadOptions(sources=sources),
        tokenizer=TokenizerOptions(load="tokenizer"),
        encode=EncodeOptions(shard_bytes=shard_bytes),
        output="out",
    )


def write_parquet(path: Path, rows: int, rows_per_group: int = 10, column: str = "text") -> Path:
    table = pa.table({"id": list(range(rows)), column: [f"{i} {KOREAN}" for i in range(rows)]})
    pq.write_table(table, path, row_group_size=rows_per_group, use_dictionary=False)
    return path


def test_files_of_a_glob_are_planned_in_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        write_parquet(tmp_path / f"{name}.parquet", 3)
    (unit,) = plan_units(job(Source(path=str(tmp_path / "*.parquet"))))
    assert [Path(part.path).name for part in unit.parts] == ["a.parquet", "b.parquet", "c.parquet"]
    assert [(part.start, part.stop) for part in unit.parts] == [(0, 3)] * 3


def test_a_unit_stays_within_one_source(tmp_path: Path) -> None:
    first = write_parquet(tmp_path / "a.parquet", 3)
    second = write_parquet(tmp_path / "b.parquet", 3)
    units = plan_units(job(Source(path=str(first)), Source(path=str(second))))
    assert [(unit.index, unit.source, len(unit.parts)) for unit in units] == [(0, 0, 1), (1, 1, 1)]


def test_one_large_file_is_shared_by_many_units_which_cover_each_row_once(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", 1_003)
    units = plan_units(job(Source(path=str(path)), shard_bytes=20_000))
    ranges = [(part.start, part.stop) for unit in units for part in unit.parts]
    assert len(units) > 5
    assert all(len(unit.parts) == 1 for unit in units)  # neighbouring row groups are one range
    assert ranges[0][0] == 0
    assert ranges[-1][1] == 1_003
    assert all(left[1] == right[0] for left, right in itertools.pairwise(ranges))
    assert max(unit.text_bytes for unit in units) <= 20_000


def test_a_row_group_above_the_shard_size_is_cut_by_rows(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_parquet(tmp_path / "a.parquet", 1_000, rows_per_group=1_000)
    with caplog.at_level(logging.WARNING):
        units = plan_units(job(Source(path=str(path)), shard_bytes=10_000))
    assert len(units) > 10
    assert units[0].parts[0].stop == units[1].parts[0].start
    assert "row group 0 holds" in caplog.text


def test_the_plan_is_the_same_every_time(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", 500)
    planned = job(Source(path=str(path)), shard_bytes=9_999)
    assert plan_units(planned) == plan_units(planned)


def test_json_lines_are_cut_behind_newlines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [f'{{"text": "{"가" * (i % 50)}"}}\n'.encode() for i in range(400)]
    path.write_bytes(b"".join(lines))
    units = plan_units(job(Source(path=str(path)), shard_bytes=3_000))
    parts = [part for unit in units for part in unit.parts]
    assert len(parts) > 5
    data = path.read_bytes()
    assert b"".join(data[part.start : part.stop] for part in parts) == data
    assert all(data[part.stop - 1 : part.stop] == b"\n" for part in parts)


def test_a_line_longer_than_a_shard_is_not_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "' + b"a" * 5_000 + b'"}\n{"text": "b"}\n')
    units = plan_units(job(Source(path=str(path)), shard_bytes=1_000))
    assert [(p.start, p.stop) for unit in units for p in unit.parts] == [(0, 5_013), (5_013, 5_027)]


def test_compressed_files_and_texts_are_read_whole_and_share_units(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("가나다", encoding="utf-8")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a"}\n'))
    (unit,) = plan_units(job(Source(path=str(tmp_path / "*"))))
    assert unit.parts[0] == Part(str(tmp_path / "a.txt"), 0, 1, 9)
    assert (unit.parts[1].start, unit.parts[1].stop) == (0, 1)


def test_nothing_found_names_the_pattern_and_what_is_there(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", 1)
    pattern = str(tmp_path / "korean" / "*.parquet")
    with pytest.raises(SourceError) as caught:
        plan_units(job(Source(path=pattern)))
    assert pattern in str(caught.value)
    assert "a.parquet" in str(caught.value)
    assert "read.sources[0].path" in str(caught.value)


def test_a_folder_is_no_file_and_says_what_to_write(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", 1)
    with pytest.raises(SourceError, match=r"a folder, not files \(found in .*: a.parquet\); set "):
        plan_units(job(Source(path=str(tmp_path))))


def test_a_missing_column_names_the_columns_found(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", 1, column="body")
    with pytest.raises(
        SourceError, match=r"no column 'text' \(found: id, body\); set read.sources"
    ):
        plan_units(job(Source(path=str(path))))
    with pytest.raises(SourceError, match="no column 'lang'"):
        plan_units(job(Source(path=str(path), text="body", language_column="lang")))
    with pytest.raises(SourceError, match=r"column 'id' is not text \(found int64\)"):
        plan_units(job(Source(path=str(path), text="id")))


def test_a_nested_column_is_found_and_a_wrong_one_names_the_fields(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows = [{"body": "가", "n": 1}, {"body": "나", "n": 2}]
    pq.write_table(pa.table({"doc": rows, "a.b": ["x", "y"]}), path)
    assert plan_units(job(Source(path=str(path), text="doc.body")))[0].parts[0].stop == 2
    assert plan_units(job(Source(path=str(path), text="a.b")))[0].parts[0].stop == 2
    with pytest.raises(SourceError, match=r"no column 'doc.text' \(found: doc.body, doc.n\)"):
        plan_units(job(Source(path=str(path), text="doc.text")))


def test_a_file_that_is_not_parquet_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"this is no Parquet file")
    with pytest.raises(SourceError, match=r"a\.parquet: not a readable Parquet file"):
        plan_units(job(Source(path=str(path))))


def test_a_kind_of_file_that_is_not_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b")
    with pytest.raises(SourceError, match=r"found '\.csv'"):
        plan_units(job(Source(path=str(tmp_path / "a.csv"))))


def test_empty_inputs_make_no_units_and_only_empty_ones_are_an_error(tmp_path: Path) -> None:
    empty = write_parquet(tmp_path / "a.parquet", 0)
    with pytest.raises(SourceError, match="no documents"):
        plan_units(job(Source(path=str(empty))))
    write_parquet(tmp_path / "b.parquet", 2)
    (unit,) = plan_units(job(Source(path=str(tmp_path / "*.parquet"))))
    assert [Path(part.path).name for part in unit.parts] == ["b.parquet"]


def test_a_saved_dataset_is_planned_by_rows(tmp_path: Path) -> None:
    folder = str(tmp_path / "saved")
    datasets.Dataset.from_dict({"text": [KOREAN] * 100}).save_to_disk(folder)
    units = plan_units(job(Source(hf=folder), shard_bytes=5_000))
    ranges = [(part.start, part.stop) for unit in units for part in unit.parts]
    assert len(units) > 2
    assert (ranges[0][0], ranges[-1][1]) == (0, 100)
    with pytest.raises(SourceError, match="no column 'body'"):
        plan_units(job(Source(hf=folder, text="body")))


def test_a_dataset_with_several_splits_wants_one_named(tmp_path: Path) -> None:
    folder = str(tmp_path / "saved")
    part = datasets.Dataset.from_dict({"text": ["가"]})
    datasets.DatasetDict({"train": part, "test": part}).save_to_disk(folder)
    assert plan_units(job(Source(hf=folder, split="test")))
    with pytest.raises(SourceError, match=r"no split 'None' \(found: train, test\)"):
        plan_units(job(Source(hf=folder)))


def test_the_listing_has_size_and_time_of_change(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", 1)
    (found,) = list_inputs(job(Source(path=str(path))))
    assert (found.path, found.size) == (str(path), path.stat().st_size)
    assert found.mtime_ns == path.stat().st_mtime_ns


def test_a_name_that_is_not_utf8_is_refused_and_read_as_cp949(tmp_path: Path) -> None:
    """As Korean archives made on Windows unpack elsewhere; no manifest could name the file."""
    name = os.fsencode(tmp_path) + b"/" + "한글.jsonl".encode("cp949")
    Path(os.fsdecode(name)).write_bytes(b'{"text": "a"}\n')
    with pytest.raises(SourceError, match=r"name is not UTF-8 \(as CP949: .*한글\.jsonl\); rename"):
        plan_units(job(Source(path=str(tmp_path / "*.jsonl"))))


def random_units(seed: int) -> list[Unit]:
    rng = random.Random(seed)
    units = []
    for index in range(rng.randrange(1, 30)):
        starts = [rng.randrange(2**40) for _ in range(rng.randrange(1, 4))]
        parts = tuple(Part(f"{rng.randrange(3)}.gz", at, at + 9, at % 99) for at in starts)
        units.append(Unit(index, rng.randrange(3), parts, sum(part.text_bytes for part in parts)))
    return units


@pytest.mark.parametrize("seed", range(5))
def test_a_plan_in_columns_gives_its_units_back_in_any_order(seed: int) -> None:
    units = random_units(seed)
    plan = Plan()
    for unit in units:
        plan.append(unit.source, unit.parts)
    assert list(plan) == units, f"seed {seed}"
    assert plan[-1] == units[-1]
    assert plan[1:3] == units[1:3]
    assert plan.sizes.tolist() == [unit.text_bytes for unit in units]
    order = np.random.default_rng(seed).permutation(len(units))
    mixed = plan.reordered(order)
    right = [replace(units[place], index=index) for index, place in enumerate(order.tolist())]
    assert list(mixed) == right
    assert mixed.sizes.tolist() == [unit.text_bytes for unit in right]
    assert list(mixed.reordered(np.argsort(order))) == units
    assert mixed.text_bytes == plan.text_bytes == sum(plan.sizes)
    assert (mixed == plan) == (right == units)


def test_a_plan_of_too_many_units_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(plan_module, "MANY_UNITS", 2)
    (tmp_path / "a.jsonl").write_text('{"text": "some text"}\n' * 90)
    source = Source(path=str(tmp_path / "a.jsonl"))
    assert len(plan_units(job(source, shard_bytes=1000))) == 2
    assert "encode.shard_bytes" not in caplog.text
    assert len(plan_units(job(source, shard_bytes=700))) == 3
    assert "plan: 3 units make 9 files or more; raise encode.shard_bytes" in caplog.text

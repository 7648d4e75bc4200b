"""manifest: records go through the table unchanged, totals are their sums, memory is bounded."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from jogak.documents import SkippedFile
from jogak.errors import ShardError
from jogak.manifest import (
    Compared,
    Manifest,
    RecordSpool,
    ShardRecord,
    ShardTable,
    Tally,
    Totals,
    UnitPart,
    read_manifest,
    totals_of,
    write_manifest,
)
from jogak.manifest import table as table_module
from jogak.manifest.table import GROUP_ROWS, write_table
from jogak.measures import Sums, TokenSums
from jogak.output import Output, file_sha256


def random_record(index: int, rng: random.Random) -> ShardRecord:
    """Return a record of every shape: no tallies or several, no lists or long ones."""

    def number() -> int:
        return rng.choice([0, 1, 255, 2**31, 2**40, rng.getrandbits(50)])

    def sums(kind: type[Sums] | type[TokenSums]) -> Sums | TokenSums:
        return kind(*(number() for _ in fields(kind)))

    languages = rng.sample(["ko", "en", "und", "한"], rng.randrange(4))
    return ShardRecord(
        index=index,
        name=f"shard-{index:05d}",
        **{each: number() for each in ("documents", "tokens", "bin_bytes", "idx_bytes")},
        bin_sha256=rng.randbytes(32).hex(),
        idx_sha256="",
        changed_documents=number(),
        special_text=number(),
        rejected_rows=number(),
        rejected_sha256=rng.choice([None, "ab"]),
        skipped_files=tuple(SkippedFile("파일", 1, number(), "why\n") for _ in languages[2:]),
        parts=tuple(UnitPart(f"s3://a/{each}", each, number()) for each in range(rng.randrange(5))),
        tallies=tuple(Tally(each, f"source {index % 3}", sums(Sums)) for each in languages),
        usage_sha256=rng.choice([None, "cd"]),
        compared=tuple(Compared("o200k", each, "s", sums(TokenSums)) for each in languages),
    )


@pytest.mark.parametrize("seed", range(5))
def test_records_come_back_from_the_table_as_they_were(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    records = [random_record(index, rng) for index in range(rng.choice([0, 1, 50]))]
    write_table(tmp_path / "shards.parquet", records)
    table = ShardTable(tmp_path / "shards.parquet", len(records))
    assert list(table) == records, f"seed {seed}"
    assert [table[index] for index in range(len(records))] == records
    assert table[-3:] == records[-3:]
    assert table.numbers("tokens").tolist() == [each.tokens for each in records]
    first = (tmp_path / "shards.parquet").read_bytes()
    write_table(tmp_path / "shards.parquet", iter(records))
    assert (tmp_path / "shards.parquet").read_bytes() == first


def test_a_record_is_found_in_any_row_group(tmp_path: Path) -> None:
    record = random_record(0, random.Random(1))
    many = (replace_index(record, index) for index in range(2 * GROUP_ROWS + 1))
    write_table(tmp_path / "shards.parquet", many)
    table = ShardTable(tmp_path / "shards.parquet", 2 * GROUP_ROWS + 1)
    for index in (0, GROUP_ROWS - 1, GROUP_ROWS, 2 * GROUP_ROWS):
        assert table[index].index == index
    with pytest.raises(IndexError):
        table[2 * GROUP_ROWS + 1]


def replace_index(record: ShardRecord, index: int) -> ShardRecord:
    values = {each.name: getattr(record, each.name) for each in fields(record)}
    return ShardRecord(**{**values, "index": index})


@pytest.mark.parametrize("seed", range(5))
def test_totals_are_the_sums_over_records(seed: int) -> None:
    rng = random.Random(seed)
    records = [random_record(index, rng) for index in range(30)]
    found = totals_of(records)
    tallies = [tally for record in records for tally in record.tallies]
    assert found.tokens == sum(record.tokens for record in records)
    assert found.file_bytes == sum(each.bin_bytes + each.idx_bytes for each in records)
    assert found.total == sum((tally.sums for tally in tallies), Sums())
    for name, of in (("languages", "language"), ("sources", "source")):
        names = list(dict.fromkeys(getattr(tally, of) for tally in tallies))
        right = {
            each: sum((t.sums for t in tallies if getattr(t, of) == each), Sums()) for each in names
        }
        assert getattr(found, name) == right, f"seed {seed}"
        assert list(getattr(found, name)) == (sorted(names) if name == "languages" else names)
    compared = [each for record in records for each in record.compared]
    for (_, language), sums in found.compared.items():
        assert sums == sum((c.sums for c in compared if c.language == language), TokenSums())
    assert Totals.from_json(found.to_json()) == found


def test_a_spool_gives_records_in_order_whatever_order_they_came_in() -> None:
    rng = random.Random(3)
    records = [random_record(index, rng) for index in range(200)]
    with RecordSpool(200) as spool:
        for record in rng.sample(records, 150):
            spool.add(record)
        there = sorted(set(range(200)) - set(spool.absent().tolist()))
        assert len(there) == 150
        assert list(spool) == [records[index] for index in there]
        for index in set(range(200)) - set(there):
            spool.add(records[index])
        assert list(spool) == records


def test_the_manifest_stays_small_and_reads_no_record_it_is_not_asked_for(tmp_path: Path) -> None:
    output = Output(tmp_path)
    output.create()
    record = random_record(0, random.Random(1))
    sizes = []
    for count in (1, 2000):
        records = (replace_index(record, index) for index in range(count))
        made = write_manifest(output, Manifest("a", "", {}), records)
        assert read_manifest(output) == made
        assert made.shards_sha256 == file_sha256(output.shard_table)
        sizes.append(output.manifest.stat().st_size)
    assert sizes[1] < 1.3 * sizes[0]
    output.shard_table.unlink()
    kept = read_manifest(output)
    assert kept.totals.shards == len(kept.shards) == 2000
    with pytest.raises(ShardError, match=r"shards\.parquet: missing or damaged .*; run the job"):
        list(kept.shards)


@pytest.mark.memory
def test_writing_and_reading_hold_a_row_group_and_not_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "GROUP_ROWS", 500)
    monkeypatch.setattr(table_module, "READ_ROWS", 500)
    record = random_record(0, random.Random(2))

    def many(count: int) -> Iterator[ShardRecord]:
        return (replace_index(record, index) for index in range(count))

    peaks = []
    for count in (500, 5000):
        tracemalloc.start()
        write_table(tmp_path / "shards.parquet", many(count))
        assert sum(1 for _ in ShardTable(tmp_path / "shards.parquet", count)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]

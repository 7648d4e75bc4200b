"""report: every figure is a sum or a ratio of sums, and tables stay aligned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jogak.manifest import Boundary, Manifest, ShardRecord, Tally, UnitPart
from jogak.measures import Sums
from jogak.output import Output
from jogak.report import (
    DEFINITIONS,
    display_width,
    measures,
    report_json,
    report_markdown,
    report_text,
    write_report,
)


def record(index: int, *tallies: Tally) -> ShardRecord:
    sums = sum((tally.sums for tally in tallies), Sums())
    return ShardRecord(
        index=index,
        name=f"shard-{index:05d}",
        documents=sums.documents,
        tokens=sums.tokens + sums.boundary_tokens,
        bin_bytes=0,
        bin_sha256="",
        idx_bytes=0,
        idx_sha256="",
        changed_documents=1,
        special_text=0,
        rejected_rows=index,
        skipped_files=(),
        rejected_sha256=None,
        parts=(UnitPart("file", 0, 1),),
        tallies=tallies,
    )


@pytest.fixture
def manifest() -> Manifest:
    return Manifest(
        name="시험",
        job_sha256="",
        versions={},
        dtype="uint16",
        vocab_size=32_000,
        tokenizer_sha256="abc",
        boundary=Boundary(None, 0),
        shards=(
            record(
                0,
                Tally("en", "웹 문서", Sums(2, 1, 100, 100, 20, 25, 2)),
                Tally("ko", "웹 문서", Sums(10, 0, 3000, 1200, 300, 600, 10)),
            ),
            record(1, Tally("ko", "news|raw", Sums(1, 0, 9, 3, 1, 3, 1))),
        ),
    )


def test_groups_are_sums_over_shards(manifest: Manifest) -> None:
    report = report_json(manifest)
    assert report["languages"]["ko"]["bytes"] == 3009
    assert list(report["languages"]) == ["en", "ko"]
    assert report["sources"]["웹 문서"]["tokens"] == 625
    assert report["total"]["documents"] == 13
    assert report["total"]["boundary_tokens"] == 13
    assert report["rejected_rows"] == 1


def test_ratios_are_of_sums_and_without_boundary_tokens(manifest: Manifest) -> None:
    total = report_json(manifest)["total"]
    assert total["bytes_per_token"] == pytest.approx(3109 / 628, abs=1e-4)
    assert total["characters_per_token"] == pytest.approx(1303 / 628, abs=1e-4)
    assert total["tokens_per_eojeol"] == pytest.approx(628 / 321, abs=1e-4)


def test_a_ratio_of_nothing_is_nothing() -> None:
    empty = measures(Sums(documents=3, empty_documents=3, boundary_tokens=3))
    assert empty["bytes_per_token"] is None
    assert empty["tokens_per_eojeol"] is None


def test_every_measure_is_defined(manifest: Manifest) -> None:
    report = report_json(manifest)
    assert set(report["total"]) - set(DEFINITIONS) == {"empty_documents"}
    assert report["definitions"] == DEFINITIONS


def test_lines_of_a_table_are_equally_wide(manifest: Manifest) -> None:
    tables = [part for part in report_text(manifest).split("\n\n") if "\n" in part]
    assert len(tables) == 2
    for table in tables:
        assert len({display_width(line) for line in table.splitlines()}) == 1, table


def test_the_table_says_whether_boundary_tokens_count(manifest: Manifest) -> None:
    assert "without boundary tokens" in report_text(manifest)
    assert "641 tokens in 2 shards of uint16" in report_text(manifest)


def test_what_happened_to_documents_is_told(manifest: Manifest) -> None:
    text = report_text(manifest)
    assert "2 documents were changed by normalization." in text
    assert "1 rows were not encoded as they stand; rejected.jsonl lists them." in text
    assert "special token" not in text


def test_markdown_escapes_what_would_end_a_cell(manifest: Manifest) -> None:
    lines = report_markdown(manifest).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in rows} == {11}
    assert any(r"news\|raw" in line for line in rows)


def test_written_reports_are_the_same_each_time(manifest: Manifest, tmp_path: Path) -> None:
    output = Output(tmp_path)
    write_report(output, manifest)
    first = [(tmp_path / name).read_bytes() for name in ("report.json", "report.md")]
    write_report(output, manifest)
    assert [(tmp_path / name).read_bytes() for name in ("report.json", "report.md")] == first
    assert json.loads(first[0])["name"] == "시험"


@pytest.mark.parametrize(("text", "width"), [("한국어", 6), ("ko", 2), ("é", 1)])
def test_width_is_what_a_terminal_shows(text: str, width: int) -> None:
    assert display_width(text) == width

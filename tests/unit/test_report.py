"""report: every figure is a sum or a ratio of sums, and tables stay aligned."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jogak.manifest import Boundary, Manifest, ShardRecord, Tally, UnitPart
from jogak.measures import DEFINITIONS, Sums
from jogak.output import Output
from jogak.report import (
    Report,
    display_width,
    gather,
    report_html,
    report_json,
    report_markdown,
    report_text,
    write_report,
)
from jogak.report.gather import Group


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


@pytest.fixture
def report(manifest: Manifest, tmp_path: Path) -> Report:
    return gather(Output(tmp_path), manifest)


def test_groups_are_sums_over_shards(report: Report) -> None:
    found = report_json(report)
    assert found["languages"]["ko"]["bytes"] == 3009
    assert list(found["languages"]) == ["en", "ko"]
    assert found["sources"]["웹 문서"]["tokens"] == 625
    assert found["total"]["documents"] == 13
    assert found["total"]["boundary_tokens"] == 13
    assert found["rejected_rows"] == 1


def test_ratios_are_of_sums_and_without_boundary_tokens(report: Report) -> None:
    total = report_json(report)["total"]
    assert total["bytes_per_token"] == pytest.approx(3109 / 628, abs=1e-4)
    assert total["characters_per_token"] == pytest.approx(1303 / 628, abs=1e-4)
    assert total["tokens_per_eojeol"] == pytest.approx(628 / 321, abs=1e-4)


def test_a_ratio_of_nothing_is_nothing() -> None:
    sums = Sums(documents=3, empty_documents=3, boundary_tokens=3)
    empty = Group(sums, np.zeros(1, np.int64), 1).measures
    assert empty["bytes_per_token"] is None
    assert empty["tokens_per_eojeol"] is None


def test_every_measure_is_defined(report: Report) -> None:
    found = report_json(report)
    assert set(found["total"]) <= set(DEFINITIONS)
    assert found["definitions"] == DEFINITIONS


def test_lines_of_a_table_are_equally_wide(report: Report) -> None:
    tables = [part for part in report_text(report).split("\n\n") if "\n" in part]
    assert len(tables) == 7
    for table in tables:
        rows = table.splitlines()[1:]
        assert len({display_width(line) for line in rows}) == 1, table


def test_the_table_says_whether_boundary_tokens_count(report: Report) -> None:
    assert "without boundary tokens" in report_text(report)
    assert "641 tokens in 2 shards of uint16" in report_text(report)


def test_what_happened_to_documents_is_told(report: Report) -> None:
    text = report_text(report)
    assert "2 documents were changed by normalization." in text
    assert "1 rows were not encoded as they stand; rejected.jsonl lists them." in text
    assert "special token" not in text


def test_markdown_escapes_what_would_end_a_cell(report: Report) -> None:
    lines = report_markdown(report).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    first = rows[: rows.index(rows[0], 1) if rows[0] in rows[1:] else 5]
    assert {line.replace(r"\|", "").count("|") for line in first} == {11}
    assert any(r"news\|raw" in line for line in rows)


@pytest.mark.parametrize(("text", "width"), [("한국어", 6), ("ko", 2), ("é", 1)])
def test_width_is_what_a_terminal_shows(text: str, width: int) -> None:
    assert display_width(text) == width


NAMES = ("report.json", "report.md", "report.html")


def test_written_reports_are_the_same_each_time(manifest: Manifest, tmp_path: Path) -> None:
    output = Output(tmp_path)
    write_report(output, manifest)
    first = [(tmp_path / name).read_bytes() for name in NAMES]
    write_report(output, manifest)
    assert [(tmp_path / name).read_bytes() for name in NAMES] == first
    assert json.loads(first[0])["name"] == "시험"


def test_a_page_is_made_of_a_run_without_text(tmp_path: Path) -> None:
    empty = Manifest("빈", "", {}, dtype="uint16", vocab_size=10)
    assert "0 tokens in 0 shards" in report_html(gather(Output(tmp_path), empty))


def test_what_a_language_costs_is_told_against_english(report: Report) -> None:
    # 603 tokens for 3,009 bytes, against 25 for 100
    assert report.parity(report.languages) == {"en": 1.0, "ko": round(603 * 100 / (3009 * 25), 4)}


def test_parallel_documents_give_the_premium_and_none_where_some_lack(manifest: Manifest) -> None:
    parallel = replace(manifest, parallel=True)
    found = gather(Output(Path("nowhere")), parallel)
    assert found.parity(found.languages) == {"en": 1.0, "ko": None}

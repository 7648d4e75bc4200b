"""The encoder gives the ids of the library that each published vocabulary belongs to."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import tiktoken
import tokenizers
from numpy.typing import NDArray
from tokenizers.pre_tokenizers import ByteLevel

from jogak import _core

pytestmark = pytest.mark.shared

Arrays = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint32], str, bool]
Model = Callable[[bytes], list[int]]

RANKS = {
    "r50k_base": "lenml-deepseek_v3",
    "cl100k_base": "lenml-llama3",
    "o200k_base": "lenml-gpt4o",
}
"""Rank files, and the folder whose pre-tokenizer cuts texts like theirs."""
FOLDERS = ("lenml-gpt4o", "lenml-llama3", "lenml-qwen3", "lenml-deepseek_v3")
HOSTILE = [
    " " * 100_000,
    "a" * 100_000,
    "^" * 100_000,
    "가" * 50_000,
    "ㅋ" * 30_000,
    "x데이트 데이트 x스포츠 스포츠 스포츠가 Việt xViệt",
    "녹여먹지 변질되기 킬림타임용으론 서투르고 문제 언제",
    " 녹여먹지 변질되기킬림타임용으론서투르고문제언제 한국어ABCdef입니다 \u1112\u1161\u11ab글",
    "𠮷野家で食べた。한자漢字混合文 Ünïcödé ￦￦ 😀😀👨‍👩‍👧‍👦 \u3164\u115f",
]


def byte_values() -> dict[str, int]:
    """Return the byte of each character that byte-level tokenizer files write."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    characters = [*map(chr, shown), *(chr(256 + i) for i in range(len(hidden)))]
    return dict(zip(characters, shown + hidden, strict=True))


def to_arrays(tokens: list[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    data = np.frombuffer(b"".join(tokens), dtype=np.uint8)
    return data, np.cumsum([0, *map(len, tokens)], dtype=np.int64)


def read_ranks(path: Path) -> dict[bytes, int]:
    lines = path.read_bytes().splitlines()
    return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}


def ranks_model(shared: Path, name: str) -> tuple[Arrays, Model]:
    ranks = read_ranks(shared / "tokenizers" / "openai-tiktoken" / f"{name}.tiktoken")
    tokens = [b""] * (max(ranks.values()) + 1)
    for token, rank in ranks.items():
        tokens[rank] = token
    library = tiktoken.Encoding(name, pat_str=r"\s", mergeable_ranks=ranks, special_tokens={})
    arrays = (*to_arrays(tokens), np.array([], dtype=np.uint32), "ranks", True)
    return arrays, library._encode_single_piece


def pairs_model(shared: Path, folder: str) -> tuple[Arrays, Model]:
    path = shared / "tokenizers" / folder / "tokenizer.json"
    model = json.loads(path.read_bytes())["model"]
    values, vocab = byte_values(), model["vocab"]
    tokens = [b""] * (max(vocab.values()) + 1)
    for token, index in vocab.items():
        if values.keys() >= set(token):
            tokens[index] = bytes(values[character] for character in token)
    pairs = (pair if isinstance(pair, list) else pair.split(" ") for pair in model["merges"])
    merges = [(vocab[left], vocab[right], vocab[left + right]) for left, right in pairs]
    library = tokenizers.Tokenizer.from_file(str(path)).model
    shown = {byte: character for character, byte in values.items()}

    def encode(pretoken: bytes) -> list[int]:
        return [token.id for token in library.tokenize("".join(map(shown.__getitem__, pretoken)))]

    whole_first = bool(model.get("ignore_merges"))
    return (
        *to_arrays(tokens),
        np.array(merges, np.uint32).reshape(-1),
        "pairs",
        whole_first,
    ), encode


def read_texts(shared: Path, folders: list[str], bytes_each: int) -> Iterator[str]:
    columns = {"en": "content", "reviews": "document"}
    for folder in folders:
        column, taken = columns.get(folder, "text"), 0
        for path in sorted((shared / "data" / folder).glob("*.parquet"))[:1]:
            for text in pq.read_table(path, columns=[column])[column].to_pylist():
                if text and taken < bytes_each:
                    taken += len(text.encode())
                    yield text


def pretokens_of(shared: Path, folder: str, texts: Iterator[str]) -> list[bytes]:
    """Return the distinct pretokens of texts, in order of appearance."""
    path = str(shared / "tokenizers" / folder / "tokenizer.json")
    tokenizer = tokenizers.Tokenizer.from_file(path)
    values, found = byte_values(), dict.fromkeys([""])
    for text in texts:
        normal = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
        found.update(dict.fromkeys(p for p, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal)))
    return [bytes(values[character] for character in pretoken) for pretoken in found if pretoken]


def assert_equal(arrays: Arrays, model: Model, pretokens: list[bytes], **options: int) -> None:
    """Compare the pretokens each as a document of its own, twice: cold and warm."""
    encoder = _core.Encoder(*arrays, **options)
    data, offsets = to_arrays(pretokens)
    expected = [model(pretoken) for pretoken in pretokens]
    for _ in range(2):
        ids, ends = encoder.encode(None, data, offsets, offsets[1:])
        wanted = np.fromiter(itertools.chain.from_iterable(expected), dtype=np.uint32)
        lengths = np.diff(ends, prepend=0)
        wrong = [
            (pretokens[i], expected[i])
            for i in np.flatnonzero(lengths != np.array([len(e) for e in expected]))
        ]
        assert not wrong[:5]
        assert np.array_equal(ids, wanted)


@pytest.mark.parametrize("name", [*RANKS, *FOLDERS])
@pytest.mark.parametrize("slots", [0, 2])
def test_pretokens_of_texts_equal_the_library(shared: Path, name: str, slots: int) -> None:
    arrays, model = (ranks_model if name in RANKS else pairs_model)(shared, name)
    size = 600_000 if slots == 0 else 60_000
    texts = read_texts(shared, ["ko", "reviews", "en", "code", "multi"], size)
    pretokens = pretokens_of(shared, RANKS.get(name, name), itertools.chain(HOSTILE, texts))
    assert_equal(
        arrays, model, pretokens, _short_slots=slots, _narrow_slots=slots, _wide_slots=slots
    )


@pytest.mark.parametrize("name", [*RANKS, *FOLDERS])
def test_hostile_pretokens_equal_the_library(shared: Path, name: str) -> None:
    arrays, model = (ranks_model if name in RANKS else pairs_model)(shared, name)
    assert_equal(arrays, model, [text.encode() for text in HOSTILE])


@pytest.mark.parametrize("name", [*RANKS, *FOLDERS])
def test_every_token_and_its_neighbours_equal_the_library(shared: Path, name: str) -> None:
    """Includes the 588 tokens of Llama-3 that only `ignore_merges` makes."""
    arrays, model = (ranks_model if name in RANKS else pairs_model)(shared, name)
    data, offsets = arrays[0].tobytes(), arrays[1]
    tokens = [data[a:b] for a, b in itertools.pairwise(offsets.tolist()) if a < b]
    valid = [token for token in tokens if token.decode(errors="ignore").encode() == token]
    some = valid[:: max(1, len(valid) // 40_000)]
    hangul = [token for token in valid if any(0xEA <= byte <= 0xED for byte in token)]
    pretokens = [*some, *hangul, *(b"x" + token for token in hangul)]
    pretokens += [token + "가".encode() for token in hangul[::3]]
    assert_equal(arrays, model, pretokens)


def test_unused_byte_level_mapping_is_the_libraries() -> None:
    assert set(byte_values()) == set(ByteLevel.alphabet())

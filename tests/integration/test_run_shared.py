"""Whole runs on real text: every token is what the saved tokenizer gives in `tokenizers`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer as Library

from jogak.config import Job, load_job
from jogak.manifest import read_manifest
from jogak.normalize import normalize_batch
from jogak.output import Output
from jogak.plan import plan_units
from jogak.read import read_unit
from jogak.run import run
from jogak.shards import Shard, read_shard
from jogak.verify import verify

pytestmark = [pytest.mark.shared, pytest.mark.slow]


def job_of(shared: Path, folder: Path, **sections: Any) -> dict[str, Any]:  # noqa: ANN401 (any section)
    data = shared / "data"
    sources: list[dict[str, Any]] = [
        {"path": str(data / "ko/ko-0.parquet"), "language": "ko"},
        {"path": str(data / "multi/multi.parquet"), "language_column": "lang"},
        {
            "path": str(data / "ja/ja.jsonl.zst"),
            "text": "doc.body",
            "language_column": "meta.lang",
        },
        {"path": str(data / "messy.jsonl"), "language_column": "lang", "name": "messy"},
    ]
    return {
        "read": {"sources": sources},
        "train": {"vocab_size": 8000},
        "encode": {"shard_bytes": 4 * 2**20},
        "output": str(folder / "out"),
        **sections,
    }


def assert_equals_library(library: Library, job: Job, output: Output) -> None:
    """Compare every document of every shard with what the library gives for its text."""
    manifest = read_manifest(output)
    eos = manifest.boundary.eos
    for unit, record in zip(plan_units(job), manifest.shards, strict=True):
        shard = read_shard(output.shard(record.index))
        first = 0
        for batch in read_unit(unit, job.read, []):
            text = normalize_batch(batch, job.normalize)[0]
            texts = [text.document(index).decode() for index in range(len(text))]
            expected = library.encode_batch_fast(texts, add_special_tokens=False)
            lengths = np.array([len(each.ids) + 1 for each in expected])
            assert_documents(shard, first, lengths, [[*each.ids, eos] for each in expected])
            first += len(text)
        assert first == len(shard)


def assert_documents(
    shard: Shard, first: int, lengths: np.ndarray[Any, Any], expected: list[list[int]]
) -> None:
    assert (shard.lengths[first : first + len(lengths)] == lengths).all()
    start = int(shard.pointers[first]) // shard.ids.dtype.itemsize
    joined = np.concatenate([np.array(ids, dtype=np.int64) for ids in expected])
    assert (shard.ids[start : start + len(joined)] == joined).all()


@pytest.mark.parametrize("pattern", ["gpt2", "o200k"])
def test_tokens_of_a_run_are_those_of_the_library(
    shared: Path, tmp_path: Path, pattern: str
) -> None:
    run(job_of(shared, tmp_path, pretokenize={"pattern": pattern}), workers=2, progress=False)
    output = Output(tmp_path / "out")
    library = Library.from_file(str(output.tokenizer / "tokenizer.json"))
    library.encode_special_tokens = True
    assert_equals_library(library, load_job(output.job), output)
    report = verify(output.folder, decode="all", show=False)
    assert report.faults == ()
    assert report.decoded == report.documents

"""encode: a unit's shard, sidecar and sums are what a slow reading of its files gives."""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jogak.config import EncodeOptions, NormalizeOptions, ReadOptions, Source
from jogak.encode import (
    EncodeTask,
    boundary_ids,
    encode_unit,
    finished_shard,
    rejected_rows,
    sidecar,
    with_boundaries,
)
from jogak.errors import ShardError, SourceError, TokenizerError
from jogak.manifest import Boundary
from jogak.measures import Sums, TokenSums
from jogak.plan import Part, Unit
from jogak.shards import read_shard
from jogak.tokenizer import Tokenizer
from jogak.vocabulary import BYTE_ORDER, spec_from_merges
from reference.measures import is_decomposed, is_mojibake, token_sums

SPECIAL = ("<|end|>", "<|begin|>", "<|e")
NOTHING = np.zeros(0, dtype=np.uint32)
BYTE_IDS = {byte: len(SPECIAL) + rank for rank, byte in enumerate(BYTE_ORDER)}
TEXTS = ["한국어 텍스트", "", "two words\n\n and  more", "\u1100\u1161\u11a8", "ㅋㅋㅋ 😀", "끝"]


def byte_tokenizer(**names: str) -> Tokenizer:
    """A tokenizer without merges: every byte is a token."""
    return Tokenizer(spec_from_merges(SPECIAL, NOTHING, NOTHING, r"\S+|\s+", "none", **names))


def plain_ids(text: str) -> list[int]:
    return [BYTE_IDS[byte] for byte in unicodedata.normalize("NFC", text).encode()]


def make_task(folder: Path, texts: Sequence[Any], **changes: Any) -> EncodeTask:  # noqa: ANN401 (any field)
    """Write texts as one Parquet file, a tokenizer, and the task to encode them."""
    languages = ["ko" if index % 3 else "en" for index in range(len(texts))]
    kind = pa.binary() if any(isinstance(text, bytes) for text in texts) else pa.string()
    table = pa.table({"text": pa.array(texts, type=kind), "lang": languages})
    pq.write_table(table, folder / "texts.parquet", row_group_size=4)
    tokenizer = byte_tokenizer(eos_token="<|end|>", bos_token="<|begin|>")
    if not (folder / "tokenizer").exists():
        (folder / "tokenizer").mkdir()
        tokenizer.save(folder / "tokenizer")
    (folder / "tokens").mkdir(exist_ok=True)
    part = Part(str(folder / "texts.parquet"), 0, len(texts), 100)
    task = EncodeTask(
        unit=Unit(0, 0, (part,), 100),
        source="texts",
        read=ReadOptions(sources=(Source(path=part.path, language_column="lang"),)),
        normalize=NormalizeOptions(),
        special_text="plain",
        tokenizer=str(folder / "tokenizer"),
        tokenizer_sha256=Tokenizer.load(folder / "tokenizer").fingerprint,
        boundary=Boundary(None, 0),
        dtype="uint16",
        shuffle=None,
        prefix=folder / "tokens/shard-00000",
        identity={"job_sha256": "abc", "tokenizer_sha256": "def"},
    )
    return replace(task, **changes)


def documents_of(task: EncodeTask) -> list[list[int]]:
    shard = read_shard(task.prefix)
    return [shard[index].tolist() for index in range(len(shard))]


@pytest.mark.parametrize("boundary", [Boundary(b, e) for b in (None, 7) for e in (None, 9)])
def test_boundaries_are_put_around_every_document(boundary: Boundary) -> None:
    for seed in range(200):
        rng = random.Random(seed)
        documents = [[rng.randrange(5)] * rng.choice((0, 1, 4)) for _ in range(rng.randrange(7))]
        before = [] if boundary.bos is None else [boundary.bos]
        after = [] if boundary.eos is None else [boundary.eos]
        right = [[*before, *document, *after] for document in documents]
        ids = np.array([each for document in documents for each in document], dtype=np.uint32)
        lengths = np.array([len(document) for document in documents], dtype=np.int64)
        marked, total = with_boundaries(ids, lengths, boundary)
        assert total.tolist() == [len(document) for document in right], f"seed {seed}"
        assert marked.tolist() == [each for document in right for each in document], f"seed {seed}"
        assert marked.dtype == np.uint32


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("none", Boundary(None, None)),
        ("eos", Boundary(None, 0)),
        ("bos", Boundary(1, None)),
        ("both", Boundary(1, 0)),
    ],
)
def test_boundary_ids_are_the_tokenizers_own(policy: Any, expected: Boundary) -> None:  # noqa: ANN401 (a literal)
    tokenizer = byte_tokenizer(eos_token="<|end|>", bos_token="<|begin|>")
    assert boundary_ids(tokenizer, EncodeOptions(boundary=policy)) == expected


def test_a_boundary_token_that_is_named_comes_before_the_tokenizers_own() -> None:
    tokenizer = byte_tokenizer(eos_token="<|end|>")
    options = EncodeOptions(boundary="eos", eos_token="<|begin|>")
    assert boundary_ids(tokenizer, options) == Boundary(None, 1)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"boundary": "eos"}, "needs a eos token, but the tokenizer names none"),
        ({"boundary": "eos", "eos_token": "</s>"}, "no special token '</s>'"),
        (
            {"boundary": "bos"},
            r"encode\.bos_token \(candidates: <\|begin\|>, <\|e, <\|end\|>\)",
        ),
    ],
)
def test_a_boundary_token_that_is_not_there_is_an_error(options: Any, says: str) -> None:  # noqa: ANN401 (options)
    with pytest.raises(TokenizerError, match=says):
        boundary_ids(byte_tokenizer(), EncodeOptions(**options))


def test_a_shard_holds_every_document_of_the_unit(tmp_path: Path) -> None:
    task = make_task(tmp_path, TEXTS)
    record = encode_unit(task)
    assert documents_of(task) == [[*plain_ids(text), 0] for text in TEXTS]
    assert (record.documents, record.tokens) == (6, len(read_shard(task.prefix).ids))
    assert record.changed_documents == 1
    assert record.parts[0].stop == 6


def test_sums_are_those_of_the_text_as_read(tmp_path: Path) -> None:
    record = encode_unit(make_task(tmp_path, TEXTS))
    assert [tally.language for tally in record.tallies] == ["en", "ko"]
    for tally, texts in zip(record.tallies, (TEXTS[::3], TEXTS[1:3] + TEXTS[4:]), strict=True):
        normal = [unicodedata.normalize("NFC", text).encode() for text in texts]
        tokens = (token_sums([bytes([each]) for each in text], text) for text in normal)
        assert tally.sums == Sums(
            normalized_bytes=sum(map(len, normal)),
            changed_documents=sum(
                text.encode() != each for text, each in zip(texts, normal, strict=True)
            ),
            decomposed_documents=sum(map(is_decomposed, texts)),
            mojibake_documents=sum(map(is_mojibake, texts)),
            special_text=sum(text.count(name) for text in texts for name in SPECIAL),
            **{**asdict(sum(tokens, TokenSums())), "tokens": 0},
        ) + Sums(
            documents=len(texts),
            empty_documents=sum(not text for text in texts),
            bytes=sum(len(text.encode()) for text in texts),
            characters=sum(map(len, texts)),
            eojeol=sum(len(text.split()) for text in texts),
            tokens=sum(len(plain_ids(text)) for text in texts),
            boundary_tokens=len(texts),
        )


def test_batches_do_not_change_the_bytes(tmp_path: Path) -> None:
    task = make_task(tmp_path, TEXTS * 5)
    encode_unit(task)
    names = [task.prefix.with_suffix(end) for end in (".bin", ".idx", ".json")]
    before = [name.read_bytes() for name in names]
    read = task.read.model_copy(update={"batch_bytes": 16})
    told: list[int] = []
    encode_unit(replace(task, read=read), told.append)
    assert [name.read_bytes() for name in names] == before
    assert len(told) > 1
    assert sum(told) == 5 * sum(len(text.encode()) for text in TEXTS)


HOSTILE = ["a<|end|>b", "<|end|><|end|>", "<|en", "d|>", "<|", "e", "없다"]


def test_special_text_is_plain_by_default_and_counted(tmp_path: Path) -> None:
    task = make_task(tmp_path, HOSTILE)
    record = encode_unit(task)
    assert documents_of(task) == [[*plain_ids(text), 0] for text in HOSTILE]
    # "<|e" is a special token too: it is in "<|en", but not across "<|" and "e".
    assert record.special_text == 4


def test_special_text_is_the_token_where_allowed(tmp_path: Path) -> None:
    task = make_task(tmp_path, HOSTILE, special_text="allow")
    encode_unit(task)
    found = documents_of(task)
    assert found[0] == [*plain_ids("a"), 0, *plain_ids("b"), 0]
    assert found[1] == [0, 0, 0]
    assert found[2] == [2, *plain_ids("n"), 0]
    assert found[3:] == [[*plain_ids(text), 0] for text in HOSTILE[3:]]


def test_special_text_is_refused_with_its_place_where_the_job_says_error(tmp_path: Path) -> None:
    task = make_task(tmp_path, ["fine", "so <|begin|>"], special_text="error")
    says = r"texts\.parquet: row 1: .*'<\|begin\|>' \(at byte 3"
    with pytest.raises(SourceError, match=says):
        encode_unit(task)
    assert list((tmp_path / "tokens").iterdir()) == []


def test_rejected_rows_are_listed_beside_the_shard(tmp_path: Path) -> None:
    task = make_task(tmp_path, [b"good", b"bad \xff", None, "좋다".encode()])
    task = replace(task, read=task.read.model_copy(update={"on_bad_row": "skip"}))
    record = encode_unit(task)
    assert (record.documents, record.rejected_rows) == (2, 2)
    lines = [json.loads(line) for line in rejected_rows(task.prefix).read_text().splitlines()]
    assert [(line["row"], line["action"]) for line in lines] == [(1, "skip"), (2, "skip")]
    good = make_task(tmp_path, ["fine"])
    encode_unit(good)
    assert not rejected_rows(task.prefix).exists()


def test_a_unit_that_fails_leaves_neither_shard_nor_sidecar(tmp_path: Path) -> None:
    encode_unit(make_task(tmp_path, ["old"]))
    with pytest.raises(SourceError):
        encode_unit(make_task(tmp_path, [b"good", b"\xff"]))
    assert not sidecar(tmp_path / "tokens/shard-00000").exists()
    assert not list((tmp_path / "tokens").glob("*.tmp"))


def test_another_tokenizer_than_the_runs_is_refused(tmp_path: Path) -> None:
    task = make_task(tmp_path, ["text"], tokenizer_sha256="0" * 64)
    with pytest.raises(TokenizerError, match="not the tokenizer this run began with"):
        encode_unit(task)


def test_a_finished_shard_is_recognised(tmp_path: Path) -> None:
    task = make_task(tmp_path, TEXTS)
    assert finished_shard(task.prefix, task.identity) is None
    record = encode_unit(task)
    assert finished_shard(task.prefix, task.identity) == record


@pytest.mark.parametrize("end", [".bin", ".idx", ".json"])
@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_a_damaged_shard_is_not_finished(tmp_path: Path, end: str, damage: str) -> None:
    task = make_task(tmp_path, TEXTS)
    encode_unit(task)
    path = task.prefix.with_suffix(end)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 64
    if damage == "remove":
        path.unlink()
    else:
        path.write_bytes(data if damage == "flip" else data[:-2])
    assert finished_shard(task.prefix, task.identity) is None


def test_a_shard_made_from_something_else_is_refused_naming_it(tmp_path: Path) -> None:
    task = make_task(tmp_path, TEXTS)
    encode_unit(task)
    identity = {**task.identity, "tokenizer_sha256": "fed"}
    with pytest.raises(ShardError, match=r"another tokenizer_sha256 \(found def, this run has fed"):
        finished_shard(task.prefix, identity)

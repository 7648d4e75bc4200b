"""shards: the layout is Megatron's to the byte, and files appear only when they are whole."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from jogak.errors import ShardError
from jogak.shards import ShardFiles, ShardWriter, byte_pointers, dtype_for, read_shard
from jogak.shards.layout import INDEX_BLOCK, IndexWriter
from reference import megatron

Change = Callable[[bytes], bytes]
GOLDEN = json.loads((Path(__file__).parents[1] / "golden/megatron_index.json").read_text())["cases"]


def write(prefix: Path, dtype: str, batches: list[list[list[int]]]) -> ShardFiles:
    """Write batches of documents; return what the writer says of its files."""
    with ShardWriter(prefix, np.dtype(dtype)) as writer:
        for documents in batches:
            ids = np.array([each for ids in documents for each in ids], dtype=np.uint32)
            writer.append(ids, np.array([len(ids) for ids in documents], dtype=np.int64))
    assert writer.files is not None
    return writer.files


def contents(prefix: Path) -> tuple[bytes, bytes]:
    return prefix.with_suffix(".bin").read_bytes(), prefix.with_suffix(".idx").read_bytes()


@pytest.mark.parametrize(
    ("vocab_size", "name"), [(50_257, "uint16"), (65_536, "uint16"), (65_537, "uint32")]
)
def test_type_holds_every_id_of_the_vocabulary(vocab_size: int, name: str) -> None:
    assert dtype_for(vocab_size).name == name


@pytest.mark.parametrize("vocab_size", [0, -1, 2**31 + 1])
def test_a_vocabulary_that_no_type_holds_is_refused(vocab_size: int) -> None:
    with pytest.raises(ShardError, match="vocab_size"):
        dtype_for(vocab_size)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"{case['dtype']}-{case['documents']}")
def test_bytes_are_those_of_megatron_core(tmp_path: Path, case: dict) -> None:
    dtype = {"uint16": "<u2", "int32": "<u4"}[case["dtype"]]
    write(tmp_path / "shard", dtype, [case["documents"]])
    found = contents(tmp_path / "shard")
    assert [each.hex() for each in found] == [case["bin"], case["idx"]]


def random_batches(seed: int, largest: int) -> list[list[list[int]]]:
    rng = random.Random(seed)
    return [
        [
            [rng.randrange(largest) for _ in range(rng.choice((0, 1, 5, 40)))]
            for _ in range(rng.randrange(6))
        ]
        for _ in range(rng.randrange(1, 6))
    ]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
def test_bytes_equal_the_builder_of_megatron_core(tmp_path: Path, seed: int, dtype: type) -> None:
    core = megatron.find()
    if core is None:
        pytest.skip("megatron-core is not installed (pip install --no-deps megatron-core==0.16.1)")
    batches = random_batches(seed, int(np.iinfo(dtype).max))
    documents = [ids for batch in batches for ids in batch]
    megatron.build(core, tmp_path / "theirs", dtype, documents)
    write(tmp_path / "ours", "<u2" if dtype is np.uint16 else "<u4", batches)
    assert contents(tmp_path / "ours") == contents(tmp_path / "theirs"), f"seed {seed}"
    if not any(documents):
        return  # megatron-core cannot map an empty file
    dataset = megatron.load(core).IndexedDataset(str(tmp_path / "ours"))
    assert [dataset[index].tolist() for index in range(len(documents))] == documents


@pytest.mark.shared
def test_bytes_and_pointers_are_those_of_the_collected_cases(shared: Path, tmp_path: Path) -> None:
    lines = (shared / "cases/bugs.jsonl").read_text(encoding="utf-8").splitlines()
    cases = {case["id"]: case for case in map(json.loads, lines)}
    case = cases["pipe-megatron-idx-bytes"]
    write(tmp_path / "shard", "<u2", [case["input"]])
    found = contents(tmp_path / "shard")
    assert [each.hex() for each in found] == [case["right"]["bin"], case["right"]["idx"]]
    case = cases["pipe-megatron-pointers-2gib"]
    lengths = np.array(case["options"]["lengths"], dtype=np.int32)
    assert byte_pointers(lengths, 0, 2)[0].tolist() == case["right"]
    case = cases["pipe-megatron-idx-size"]
    documents = case["options"]["documents"]
    assert write(tmp_path / "size", "<u2", [[[7]] * documents]).idx_bytes == case["right"]
    for name in ("50257", "65536", "65537", "100277"):
        case = cases[f"pipe-dtype-{name}"]
        assert dtype_for(case["options"]["ids"]).name == case["right"]


def test_pointers_stay_right_beyond_two_gib_and_four_billion_tokens(tmp_path: Path) -> None:
    lengths = np.full(5, 2**30, dtype=np.int32)
    with (tmp_path / "big.idx").open("w+b") as file:
        writer = IndexWriter(file, np.dtype("<u4"))
        writer.append(lengths)
        writer.append(lengths)
        writer.finish()
    (tmp_path / "big.bin").touch()
    pointers = read_shard(tmp_path / "big").pointers
    assert pointers.tolist() == [index * 2**32 for index in range(10)]


def test_the_index_is_the_same_however_many_blocks_it_takes(tmp_path: Path) -> None:
    count = 2 * INDEX_BLOCK + 17
    lengths = np.random.default_rng(1).integers(0, 9, count).astype(np.int32)
    with (tmp_path / "many.idx").open("w+b") as file:
        writer = IndexWriter(file, np.dtype("<u2"))
        for start in range(0, count, 1000):
            writer.append(lengths[start : start + 1000])
        digest = writer.finish()
    (tmp_path / "many.bin").touch()
    shard = read_shard(tmp_path / "many")
    assert digest == hashlib.sha256((tmp_path / "many.idx").read_bytes()).hexdigest()
    assert shard.lengths.tolist() == lengths.tolist()
    assert shard.pointers.tolist() == [0, *(np.cumsum(lengths[:-1], dtype=np.int64) * 2).tolist()]
    assert shard.starts.tolist() == list(range(count + 1))


def test_checksums_and_sizes_are_those_of_the_files(tmp_path: Path) -> None:
    files = write(tmp_path / "shard", "<u4", [[[1, 2], []], [[70_000]]])
    ids, index = contents(tmp_path / "shard")
    assert (files.documents, files.tokens) == (3, 3)
    assert (files.bin_bytes, files.idx_bytes) == (len(ids), len(index))
    assert files.bin_sha256 == hashlib.sha256(ids).hexdigest()
    assert files.idx_sha256 == hashlib.sha256(index).hexdigest()


@pytest.mark.parametrize("dtype", ["<u2", "<u4"])
def test_reading_gives_back_the_documents(tmp_path: Path, dtype: str) -> None:
    batches = random_batches(5, 60_000)
    write(tmp_path / "shard", dtype, batches)
    shard = read_shard(tmp_path / "shard")
    documents = [ids for batch in batches for ids in batch]
    assert [shard[index].tolist() for index in range(len(shard))] == documents


@pytest.mark.parametrize(("dtype", "wrong"), [("<u2", 65_536), ("<u4", 2**31)])
def test_an_id_that_does_not_fit_is_refused_and_nothing_stays(
    tmp_path: Path, dtype: str, wrong: int
) -> None:
    with pytest.raises(ShardError, match=f"{wrong} do not fit"):
        write(tmp_path / "shard", dtype, [[[1, 2]], [[3, wrong]]])
    assert list(tmp_path.iterdir()) == []


def test_a_negative_id_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(ShardError, match="ids -1 to 5 do not fit"),
        ShardWriter(tmp_path / "shard", np.dtype("<u2")) as writer,
    ):
        writer.append(np.array([5, -1]), np.array([2]))


@pytest.mark.parametrize(
    ("lengths", "says"), [([1], "sum to 1"), ([3, -1], "-1"), ([2**31], "2147483648 tokens")]
)
def test_lengths_that_cannot_be_are_refused(tmp_path: Path, lengths: list[int], says: str) -> None:
    with (
        pytest.raises(ShardError, match=says),
        ShardWriter(tmp_path / "shard", np.dtype("<u2")) as writer,
    ):
        writer.append(np.array([1, 2]), np.array(lengths))
    assert list(tmp_path.iterdir()) == []


def test_interruption_leaves_no_file(tmp_path: Path) -> None:
    def interrupted() -> None:
        with ShardWriter(tmp_path / "shard", np.dtype("<u2")) as writer:
            writer.append(np.array([1]), np.array([1]))
            os.kill(os.getpid(), signal.SIGINT)
            signal.pause()

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_an_older_shard_survives_a_failed_write(tmp_path: Path) -> None:
    write(tmp_path / "shard", "<u2", [[[1, 2, 3]]])
    before = contents(tmp_path / "shard")
    with pytest.raises(ShardError):
        write(tmp_path / "shard", "<u2", [[[70_000]]])
    assert contents(tmp_path / "shard") == before


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ShardError, match=r"absent/shard\.bin: cannot be written"):
        ShardWriter(tmp_path / "absent" / "shard", np.dtype("<u2"))


def damaged(tmp_path: Path, name: str, change: Change) -> Path:
    write(tmp_path / "shard", "<u2", [[[1, 2, 3], [4]]])
    path = tmp_path / name
    path.write_bytes(change(path.read_bytes()))
    return tmp_path / "shard"


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("shard.idx", lambda data: data[:-1], "2 documents take 82"),
        ("shard.idx", lambda data: data + b"\0", "2 documents take 82"),
        ("shard.idx", lambda data: data[:20], "not a Megatron index"),
        ("shard.idx", lambda data: b"X" + data[1:], "not a Megatron index"),
        ("shard.idx", lambda data: data[:9] + b"\2" + data[10:], "version 2"),
        ("shard.idx", lambda data: data[:17] + b"\3" + data[18:], "type code 3"),
        ("shard.bin", lambda data: data[:-1], "7 bytes are no whole number of uint16"),
    ],
)
def test_reading_names_what_is_wrong(tmp_path: Path, name: str, change: Change, says: str) -> None:
    with pytest.raises(ShardError, match=says):
        read_shard(damaged(tmp_path, name, change))


@pytest.mark.parametrize("end", [".bin", ".idx"])
def test_a_missing_file_is_named(tmp_path: Path, end: str) -> None:
    write(tmp_path / "shard", "<u2", [[[1]]])
    (tmp_path / "shard").with_suffix(end).unlink()
    with pytest.raises(ShardError, match=rf"shard\{end}: no such file"):
        read_shard(tmp_path / "shard")


def test_memory_does_not_grow_with_documents() -> None:
    class Counting(io.BytesIO):
        name = "counting.idx"
        largest = 0

        def read(self, size: int = -1) -> bytes:
            self.largest = max(self.largest, size)
            return super().read(size)

    file = Counting()
    writer = IndexWriter(file, np.dtype("<u2"))
    for _ in range(40):
        writer.append(np.ones(10_000, dtype=np.int32))
    writer.finish()
    assert 0 < file.largest <= 4 * INDEX_BLOCK
    assert set(vars(writer)) == {"documents", "_file", "_dtype"}

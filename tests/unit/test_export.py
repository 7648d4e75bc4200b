"""export: each layout is read back by its own library where that needs no torch, else by bytes."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from fakes.finished import random_shards, write_output
from jogak.cli import app
from jogak.errors import ConfigError, ShardError
from jogak.export import LAYOUTS, blocks, export, indexed, parquet

SMALL = 500
LARGE = 100_000
Documents = list[list[int]]


@pytest.fixture(params=[(seed, vocab) for seed in range(2) for vocab in (SMALL, LARGE)], ids=str)
def finished(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, list[Documents], np.dtype]:
    """A finished output, its documents by shard, and its type; blocks are small."""
    monkeypatch.setattr(blocks, "BLOCK_IDS", 100)
    seed, vocab_size = request.param
    shards = random_shards(seed, vocab_size)
    dtype = np.dtype("<u2" if vocab_size == SMALL else "<u4")
    return write_output(tmp_path / "out", shards, vocab_size), shards, dtype


def flat(documents: Documents) -> list[int]:
    return [token for ids in documents for token in ids]


def written(output: Path, to: str, **options: int) -> Path:
    done = export(output, to, show=False, **options)
    folder = output / "export" / to
    assert done.path == str(folder)
    assert done.bytes == sum(path.stat().st_size for path in folder.iterdir())
    return folder


def names(shards: list[Documents]) -> list[str]:
    return [f"shard-{index:05d}" for index in range(len(shards))]


def test_load_dataset_reads_the_parquet_files(finished: tuple, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    output, shards, _ = finished
    folder = written(output, "parquet")
    documents = [ids for shard in shards for ids in shard]
    loaded = datasets.load_dataset(
        "parquet", data_dir=str(folder), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert loaded.column_names == ["id", "input_ids"]
    assert loaded["id"][:] == list(range(len(documents)))
    assert loaded["input_ids"][:] == documents
    facts = json.loads(pq.read_schema(folder / "shard-00000.parquet").metadata[b"jogak"])
    assert facts["documents"] == len(documents)
    assert facts["tokenizer_sha256"] == "1" * 64


def test_a_document_too_long_for_a_row_is_cut_into_numbered_rows(
    finished: tuple, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "ROW_IDS", 29)
    output, shards, _ = finished
    folder = written(output, "parquet")
    documents = [ids for shard in shards for ids in shard]
    tables = [pq.read_table(path) for path in sorted(folder.glob("*.parquet"))]
    rows = [row for table in tables for row in table.to_pylist()]
    joined: Documents = [[] for _ in documents]
    for row in rows:
        assert row["chunk_index"] * 29 == len(joined[row["id"]])
        assert len(row["input_ids"]) <= 29
        joined[row["id"]] += row["input_ids"]
    assert joined == documents
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)


def test_numpy_maps_the_arrays_and_where_documents_start(finished: tuple) -> None:
    output, shards, dtype = finished
    folder = written(output, "numpy")
    arrays = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in names(shards)]
    assert [array.tolist() for array in arrays] == [flat(shard) for shard in shards]
    assert all(array.dtype == dtype for array in arrays)
    starts = np.load(folder / "documents.npy", mmap_mode="r")
    documents = [ids for shard in shards for ids in shard]
    assert starts.tolist() == [0, *np.cumsum([len(ids) for ids in documents], dtype=int).tolist()]


@pytest.mark.parametrize("pack", [1, 7, 64, 100_000])
def test_packed_rows_and_the_tail_hold_every_id_in_order(finished: tuple, pack: int) -> None:
    output, shards, dtype = finished
    folder = written(output, "numpy", pack=pack)
    facts = json.loads((folder / "export.json").read_text())
    arrays = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in names(shards)]
    assert all(array.shape[1:] == (pack,) and array.dtype == dtype for array in arrays)
    assert [each["rows"] for each in facts["files"]] == [len(array) for array in arrays]
    tail = folder / "tail.npy"
    rest = np.load(tail).tolist() if tail.exists() else []
    everything = [ids for shard in shards for ids in shard]
    assert [*np.concatenate(arrays).ravel().tolist(), *rest] == flat(everything)
    assert len(rest) == facts["tail_tokens"] < pack
    starts = np.load(folder / "documents.npy")
    rows = np.concatenate(arrays)
    for number in range(0, len(everything), 3):
        ids = [rows[at // pack, at % pack] for at in range(*starts[number : number + 2])
               if at // pack < len(rows)]  # fmt: skip
        assert ids == everything[number][: len(ids)]


def test_the_files_of_datatrove_are_those_of_its_own_writer(
    finished: tuple, tmp_path: Path
) -> None:
    tokenizer = pytest.importorskip("datatrove.pipeline.tokens.tokenizer")
    output, shards, dtype = finished
    folder = written(output, "datatrove")
    for name, shard in zip(names(shards), shards, strict=True):
        theirs = tokenizer.TokenizedFile(
            str(tmp_path / "theirs"),
            f"{name}.ds",
            tokenizer_name_or_path=str(output / "tokenizer"),
            save_final_metadata=True,
            token_size=dtype.itemsize,
        )
        for ids in shard:
            theirs.write(ids, None)
        theirs.close()
        for end in (".ds", ".ds.index", ".ds.metadata"):
            ours = folder / f"{name}{end}"
            if shard or end != ".ds.index":
                assert ours.read_bytes() == (tmp_path / "theirs" / f"{name}{end}").read_bytes()
            else:
                assert ours.read_bytes() == b""


@pytest.mark.parametrize("vocab_size", [256, 257, SMALL, LARGE])
def test_olmo_finds_each_document_by_the_rows_of_its_csv(tmp_path: Path, vocab_size: int) -> None:
    shards = random_shards(5, vocab_size)
    folder = written(write_output(tmp_path / "out", shards, vocab_size), "olmo")
    # OLMo-core takes the smallest type that holds the vocabulary.
    dtype = {256: "<u1", LARGE: "<u4"}.get(vocab_size, "<u2")
    number = 0
    for index, shard in enumerate(shards):
        ids = np.fromfile(folder / f"part-0-{index:05d}.npy", dtype)
        assert ids.tolist() == flat(shard)
        with gzip.open(folder / f"part-0-{index:05d}.csv.gz", "rt") as file:
            rows = list(csv.reader(file))
        assert [ids[int(row[0]) : int(row[1])].tolist() for row in rows] == shard
        for within, row in enumerate(rows):
            assert row[2:] == [str(number), f"shard-{index:05d}", str(within)]
            number += 1


def test_llmc_reads_its_header_and_the_ids(finished: tuple) -> None:
    output, shards, dtype = finished
    folder = written(output, "llmc")
    for name, shard in zip(names(shards), shards, strict=True):
        data = (folder / f"{name}.bin").read_bytes()
        magic, version, count = struct.unpack_from("<3i", data)
        assert (magic, version) == ((20240520, 1) if dtype.itemsize == 2 else (20240801, 7))
        assert count == len(flat(shard))
        assert not any(data[12:1024])
        assert np.frombuffer(data, dtype, offset=1024).tolist() == flat(shard)


def test_litdata_finds_items_by_offsets_and_blocks_behind_them(finished: tuple) -> None:
    output, shards, dtype = finished
    folder = written(output, "litdata")
    index = json.loads((folder / "index.json").read_text())
    assert index["config"]["data_format"] == [f"no_header_numpy:{5 if dtype.itemsize == 2 else 6}"]
    assert index["config"]["item_loader"] == "TokensLoader"
    for chunk, shard in zip(index["chunks"], shards, strict=True):
        data = (folder / chunk["filename"]).read_bytes()
        assert (chunk["chunk_bytes"], chunk["chunk_size"]) == (len(data), len(shard))
        assert chunk["dim"] == len(flat(shard))
        count = int.from_bytes(data[:4], "little")
        offsets = np.frombuffer(data, "<u4", count + 1, 4)
        items = [data[low:high] for low, high in itertools.pairwise(offsets)]
        assert [np.frombuffer(item, dtype).tolist() for item in items] == shard
        # Where TokensLoader maps the ids.
        assert np.frombuffer(data, dtype, offset=(chunk["chunk_size"] + 2) * 4).tolist() == flat(
            shard
        )


GOLDEN = json.loads((Path(__file__).parents[1] / "golden/mds.json").read_text())["cases"]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["dtype"])
def test_mds_bytes_are_those_of_the_library(tmp_path: Path, case: dict) -> None:
    documents = [
        [ids["id"]] * ids["times"] if isinstance(ids, dict) else ids for ids in case["documents"]
    ]
    vocab_size = SMALL if case["dtype"] == "uint16" else LARGE
    vocab_size = max(vocab_size, 2**16 if case["dtype"] == "uint16" else 0)
    folder = written(write_output(tmp_path / "out", [documents], vocab_size), "mds")
    assert (folder / "shard.00000.mds").read_bytes().hex() == case["mds"]


def decoded_mds(data: bytes, dtype: np.dtype) -> Documents:
    """Read the samples as the library does: offsets, the size of the column, the shape, ids."""
    count = int.from_bytes(data[:4], "little")
    offsets = np.frombuffer(data, "<u4", count + 1, 4).tolist()
    found = []
    for low, high in itertools.pairwise(offsets):
        assert int.from_bytes(data[low : low + 4], "little") == high - low - 4
        kind = data[low + 4]
        assert kind >> 2 == 1
        width = 2 ** (kind % 4)
        length = int.from_bytes(data[low + 5 : low + 5 + width], "little")
        found.append(np.frombuffer(data[low + 5 + width : high], dtype).tolist())
        assert len(found[-1]) == length
    return found


@pytest.mark.parametrize("limit", [1, 3000, 2**26])
def test_mds_files_hold_every_document_below_the_limit(
    finished: tuple, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(indexed, "MDS_BYTES", limit)
    output, shards, dtype = finished
    folder = written(output, "mds")
    index = json.loads((folder / "index.json").read_text())
    found: Documents = []
    for shard in index["shards"]:
        data = (folder / shard["raw_data"]["basename"]).read_bytes()
        assert shard["raw_data"]["bytes"] == len(data)
        assert len(data) <= limit or shard["samples"] == 1
        documents = decoded_mds(data, dtype)
        assert len(documents) == shard["samples"]
        found += documents
    assert found == [ids for each in shards for ids in each]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_export_is_the_same_each_time_and_never_overwrites(tmp_path: Path, layout: str) -> None:
    output = write_output(tmp_path / "out", random_shards(1))
    for name in ("a", "b"):
        export(output, layout, tmp_path / name, show=False)
    read = {name: {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
            for name in ("a", "b")}  # fmt: skip
    assert read["a"] == read["b"]
    with pytest.raises(ShardError, match="a: it is there already"):
        export(output, layout, tmp_path / "a", show=False)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_failed_export_leaves_nothing(tmp_path: Path, layout: str) -> None:
    output = write_output(tmp_path / "out", random_shards(1))
    (output / "tokens/shard-00003.bin").unlink()
    with pytest.raises(ShardError, match="shard-00003"):
        export(output, layout, tmp_path / "made/here", show=False)
    assert list((tmp_path / "made").iterdir()) == []


def test_what_a_killed_export_left_is_removed_and_what_a_running_one_writes_is_not(
    tmp_path: Path,
) -> None:
    output = write_output(tmp_path / "out", random_shards(1))
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    for process in (ended.pid, os.getppid()):
        (tmp_path / f".here.{process}.tmp").mkdir()
    export(output, "numpy", tmp_path / "here", show=False)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [f".here.{os.getppid()}.tmp", "here", "out"]


@pytest.mark.parametrize(
    ("to", "pack", "says"),
    [("csv", None, "no layout 'csv'"), ("mds", 4, "for 'numpy' only"), ("numpy", 0, "found 0")],
)
def test_a_layout_that_is_not_written_is_refused(
    tmp_path: Path, to: str, pack: int | None, says: str
) -> None:
    output = write_output(tmp_path / "out", [[[1]]])
    with pytest.raises(ConfigError, match=says):
        export(output, to, pack=pack, show=False)


def test_the_command_says_what_it_wrote(tmp_path: Path) -> None:
    output = write_output(tmp_path / "out", [[[1, 2], [3]]])
    done = CliRunner().invoke(app, ["export", str(output), "--to", "numpy", "--pack", "2"])
    assert done.exit_code == 0
    assert "export/numpy: 2 documents, 3 tokens in 4 files" in done.stdout
    again = CliRunner().invoke(app, ["export", str(output), "--to", "numpy"])
    assert again.exit_code == 1
    into = [str(output), str(tmp_path / "x"), "--to", "llmc", "--json"]
    done = CliRunner().invoke(app, ["export", *into])
    assert json.loads(done.stdout)["path"] == str(tmp_path / "x")

"""encode.shuffle: another order of the same documents, the same on every run."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import jogak
from fakes.corpus import write_corpus
from jogak.config import ShuffleOptions
from jogak.encode import shuffle as shuffle_module
from jogak.encode.shuffle import Spool, permutation
from jogak.errors import ConfigError
from jogak.run import run
from jogak.verify import verify
from reference import shuffle as reference


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    made = write_corpus(tmp_path_factory.mktemp("corpus"), documents=120)
    run(made, workers=1, progress=False)
    return made


def shuffled(job: dict[str, Any], output: Path, seed: int = 7) -> dict[str, Any]:
    changed = copy.deepcopy(job)
    changed["encode"]["shuffle"] = {"seed": seed}
    changed["output"] = str(output)
    return changed


def contents(folder: Path) -> dict[str, bytes]:
    kept = [path for path in folder.rglob("*") if path.is_file() and path.name != "timings.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(kept)}


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
@pytest.mark.parametrize("seed", [0, 7, 2**63 - 1])
def test_the_order_is_that_of_the_reference(count: int, seed: int) -> None:
    for name in ("units", "shard 3"):
        assert permutation(count, seed, name).tolist() == reference.order(count, seed, name)


def test_the_order_never_changes() -> None:
    assert permutation(10, 7, "units").tolist() == [8, 9, 3, 2, 0, 6, 5, 4, 7, 1]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("block", [1, 50, 10**6])
def test_the_spool_gives_every_document_once_whatever_the_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, block: int
) -> None:
    monkeypatch.setattr(shuffle_module, "BLOCK_IDS", block)
    rng = np.random.default_rng(seed)
    sizes = [rng.choice([0, 1, 5, 90], rng.integers(0, 20)) for _ in range(rng.integers(0, 4))]
    batches = [(rng.integers(0, 2**32, each.sum()).astype(np.uint32), each) for each in sizes]
    documents = [
        piece.tolist()
        for ids, lengths in batches
        for piece in np.split(ids, np.cumsum(lengths))[:-1]
    ]
    with Spool(tmp_path / "shard-00003") as spool:
        for ids, lengths in batches:
            spool.append(ids, lengths.astype(np.int64))
        blocks = list(spool.shuffled(ShuffleOptions(seed=seed), 3))
    found = [
        piece.tolist()
        for ids, lengths in blocks
        for piece in np.split(ids, np.cumsum(lengths))[:-1]
    ]
    order = reference.order(len(documents), seed, "shard 3")
    assert found == [documents[number] for number in order], f"seed {seed}"
    assert list(tmp_path.iterdir()) == []


def test_the_output_holds_the_same_documents_in_the_order_of_the_scheme(
    job: dict[str, Any], tmp_path: Path
) -> None:
    run(shuffled(job, tmp_path / "out"), workers=1, progress=False)
    plain, mixed = jogak.open_tokens(job["output"]), jogak.open_tokens(tmp_path / "out")
    assert plain.shards > 5
    units = [[ids.tolist() for ids in _shard(plain, index)] for index in range(plain.shards)]
    for shard, unit in enumerate(reference.order(plain.shards, 7, "units")):
        order = reference.order(len(units[unit]), 7, f"shard {shard}")
        expected = [units[unit][number] for number in order]
        assert [ids.tolist() for ids in _shard(mixed, shard)] == expected
    assert mixed.manifest.total == plain.manifest.total
    # The tokenizer is trained from the same counts in the same order.
    for name in ("tokenizer/tokenizer.json", "counts/pretokens.parquet"):
        assert (Path(job["output"]) / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def _shard(tokens: jogak.shards.Tokens, index: int) -> list[np.ndarray]:
    shard = tokens.shard(index)
    return [shard[number] for number in range(len(shard))]


def test_bytes_do_not_depend_on_workers_batches_or_interruptions(
    job: dict[str, Any], tmp_path: Path
) -> None:
    first = shuffled(job, tmp_path / "first")
    run(first, workers=1, progress=False)
    again = shuffled(job, tmp_path / "again")
    again["read"] = {**again["read"], "batch_bytes": 500}
    run(again, workers=2, progress=False)
    assert contents(tmp_path / "first").keys() == contents(tmp_path / "again").keys()
    expected = {name: data for name, data in contents(tmp_path / "first").items()
                if name.startswith("tokens/shard") or name == "manifest.json"}  # fmt: skip
    whole = contents(tmp_path / "first")
    for number in (0, 3):
        (tmp_path / f"first/tokens/shard-{number:05d}.json").unlink()
    (tmp_path / "first/tokens/.shard-00001.spool.99.tmp").write_bytes(b"left by a kill")
    run(first, workers=1, progress=False)
    assert contents(tmp_path / "first") == whole
    names = [name for name in expected if name.endswith((".bin", ".idx"))]
    assert {name: contents(tmp_path / "again")[name] for name in names} == {
        name: expected[name] for name in names
    }


@pytest.mark.parametrize("decode", [50, "all"])
def test_verify_decodes_shuffled_documents_against_their_source(
    job: dict[str, Any], tmp_path: Path, decode: Literal["all"] | int
) -> None:
    run(shuffled(job, tmp_path / "out"), workers=1, progress=False)
    report = verify(tmp_path / "out", decode=decode, show=False)
    assert (report.faults, report.decoded) == ((), 480 if decode == "all" else 50)


def test_verify_names_a_shuffled_document_that_differs(job: dict[str, Any], tmp_path: Path) -> None:
    run(shuffled(job, tmp_path / "out"), workers=1, progress=False)
    path = tmp_path / "out/tokens/shard-00002.bin"
    ids = np.fromfile(path, "<u2")
    ids[0] += 1
    ids.tofile(path)
    report = verify(tmp_path / "out", decode="all", show=False)
    assert any("document 0 (" in fault and "decodes to other text" in fault
               for fault in report.faults)  # fmt: skip


def test_another_seed_is_another_job(job: dict[str, Any], tmp_path: Path) -> None:
    run(shuffled(job, tmp_path / "out"), workers=1, progress=False)
    with pytest.raises(ConfigError, match=r"encode\.shuffle\.seed: 7 there, 8 now"):
        run(shuffled(job, tmp_path / "out", seed=8), workers=1, progress=False)

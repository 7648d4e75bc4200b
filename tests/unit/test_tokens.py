"""open_tokens: a finished output as one sequence of documents."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import jogak
from fakes.finished import random_shards, write_output
from jogak.errors import ShardError
from jogak.shards import tokens as tokens_module


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("vocab_size", [500, 100_000])
def test_every_document_is_given_by_its_number(tmp_path: Path, seed: int, vocab_size: int) -> None:
    shards = random_shards(seed, vocab_size)
    documents = [ids for shard in shards for ids in shard]
    view = jogak.open_tokens(write_output(tmp_path / "out", shards, vocab_size))
    assert len(view) == len(documents)
    assert view.tokens == sum(map(len, documents))
    assert [view[number].tolist() for number in range(len(view))] == documents, f"seed {seed}"
    assert [view[number - len(view)].tolist() for number in range(len(view))] == documents
    assert [ids.tolist() for ids in view] == documents
    assert [ids.tolist() for ids in view[1::2]] == documents[1::2]
    chosen = np.random.default_rng(seed).permutation(len(documents))
    expected = [documents[number] for number in chosen]
    assert [ids.tolist() for ids in view[chosen]] == expected
    assert [ids.tolist() for ids in view.__getitems__(chosen.tolist())] == expected
    if documents:
        assert view[np.int64(0)].dtype == (np.uint16 if vocab_size == 500 else np.uint32)


@pytest.mark.parametrize("number", [3, -4, 10**12])
def test_a_document_that_is_not_there_is_an_index_error(tmp_path: Path, number: int) -> None:
    view = jogak.open_tokens(write_output(tmp_path / "out", [[[1]], [[2], []]]))
    with pytest.raises(IndexError, match=rf"no document {number} \(found 3"):
        _ = view[number]


@pytest.mark.parametrize("index", ["0", 1.0, [[0]], [0.5]])
def test_what_is_no_number_of_a_document_is_a_type_error(tmp_path: Path, index: object) -> None:
    view = jogak.open_tokens(write_output(tmp_path / "out", [[[1]]]))
    with pytest.raises(TypeError):
        _ = view[index]  # type: ignore[call-overload] # that is the test


def test_ids_are_views_that_cannot_be_written_unless_a_type_is_asked_for(tmp_path: Path) -> None:
    folder = write_output(tmp_path / "out", [[[1, 2, 3]]])
    view = jogak.open_tokens(folder)
    assert not view[0].flags.writeable
    assert view[0].base is not None
    copied = jogak.open_tokens(folder, dtype="int64")[0]
    copied[0] = 7
    assert (copied.dtype, view[0].tolist()) == (np.int64, [1, 2, 3])


def test_another_process_unpickles_it_without_the_maps(tmp_path: Path) -> None:
    shards = random_shards(3)
    view = jogak.open_tokens(write_output(tmp_path / "out", shards))
    before = len(pickle.dumps(view))
    expected = [ids.tolist() for ids in view]
    assert len(pickle.dumps(view)) == before
    assert [ids.tolist() for ids in pickle.loads(pickle.dumps(view))] == expected


def test_only_so_many_shards_are_mapped_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens_module, "MAPPED_SHARDS", 2)
    view = jogak.open_tokens(write_output(tmp_path / "out", [[[shard]] for shard in range(9)]))
    for shard in (0, 5, 0, 7, 8, 0):
        assert view[shard].tolist() == [shard]
    assert list(view.__dict__["_mapped"]) == [8, 0]


def test_a_shard_of_another_size_than_the_manifests_is_refused(tmp_path: Path) -> None:
    folder = write_output(tmp_path / "out", [[[1, 2]], [[3], [4]]])
    for end in ("bin", "idx"):
        (folder / f"tokens/shard-00000.{end}").replace(folder / f"tokens/shard-00001.{end}")
    with pytest.raises(ShardError, match=r"shard-00001: 1 documents and 2 ids .* has 2 and 2"):
        _ = jogak.open_tokens(folder)[1]


def test_an_unfinished_output_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ShardError, match="run the job to its end"):
        jogak.open_tokens(tmp_path)


def test_reading_ids_loads_no_framework(tmp_path: Path) -> None:
    folder = write_output(tmp_path / "out", [[[1, 2]]])
    program = (
        f"import sys, jogak; print(jogak.open_tokens({str(folder)!r})[0])\n"
        "assert not {'torch', 'transformers', 'datasets'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)

"""verify: a finished output is sound, and every planted fault is found and named."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fakes.corpus import write_corpus
from jogak.encode import sidecar
from jogak.errors import JogakError, ShardError
from jogak.manifest import ShardRecord, read_manifest
from jogak.manifest.table import write_table
from jogak.output import Output, file_sha256, read_sealed, write_json, write_sealed
from jogak.run import run
from jogak.shards import ShardWriter, read_shard
from jogak.verify import verify

Harm = Callable[[Output], None]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    made = write_corpus(tmp_path_factory.mktemp("corpus"), documents=120)
    run(made, workers=1, progress=False)
    return made


@pytest.fixture
def output(job: dict[str, Any], tmp_path: Path) -> Output:
    """A copy of the finished output, to plant faults in."""
    shutil.copytree(job["output"], tmp_path / "out")
    return Output(tmp_path / "out")


def test_a_finished_output_is_sound(job: dict[str, Any]) -> None:
    report = verify(job["output"], decode="all", show=False)
    assert report.faults == ()
    assert report.documents == report.decoded == 480
    assert report.shards > 5
    assert report.checked_bytes > 0


@pytest.mark.parametrize(("asked", "decoded"), [(0, 0), (7, 7), (480, 480), (9999, 480)])
def test_as_many_documents_are_decoded_as_asked(
    job: dict[str, Any], asked: int, decoded: int
) -> None:
    report = verify(job["output"], decode=asked, show=False)
    assert (report.decoded, report.faults) == (decoded, ())


def flip_bit(output: Output) -> None:
    path = output.tokens / "shard-00002.bin"
    data = bytearray(path.read_bytes())
    data[10] ^= 1
    path.write_bytes(data)


def cut_index(output: Output) -> None:
    path = output.tokens / "shard-00002.idx"
    path.write_bytes(path.read_bytes()[:-1])


def swap(output: Output) -> None:
    for end in (".bin", ".idx"):
        one, other = (output.tokens / f"shard-0000{n}{end}" for n in (1, 3))
        kept = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(kept)


def remove(name: str) -> Harm:
    return lambda output: (output.folder / name).unlink()


def edit(name: str, change: Callable[[dict[str, Any]], None]) -> Harm:
    def harm(output: Output) -> None:
        path = output.folder / name
        value = json.loads(path.read_text(encoding="utf-8"))
        change(value)
        write_json(path, value)

    return harm


def edit_shards(change: Callable[[list[ShardRecord]], object]) -> Harm:
    """Change the table of shards, with the manifest telling its new checksum."""

    def harm(output: Output) -> None:
        records = list(read_manifest(output).shards)
        change(records)
        write_table(output.shard_table, records)
        sha256 = file_sha256(output.shard_table)
        edit("manifest.json", lambda value: value.update(shards_sha256=sha256))(output)

    return harm


def edit_record(index: int, **values: Any) -> Harm:  # noqa: ANN401 (of any field)
    def change(records: list[ShardRecord]) -> None:
        records[index] = replace(records[index], **values)

    return edit_shards(change)


def damage_table(output: Output) -> None:
    data = bytearray(output.shard_table.read_bytes())
    data[100] ^= 1  # within a page
    output.shard_table.write_bytes(data)


def rewrite(change: Callable[[list[np.ndarray[Any, Any]]], None], dtype: str = "<u2") -> Harm:
    """Change the documents of shard 2, with sidecar and manifest telling the new checksums."""

    def harm(output: Output) -> None:
        prefix = output.shard(2)
        shard = read_shard(prefix)
        documents = [np.array(shard[index]) for index in range(len(shard))]
        change(documents)
        with ShardWriter(prefix, np.dtype(dtype)) as writer:
            lengths = np.array([len(document) for document in documents])
            writer.append(np.concatenate(documents), lengths)
        files = {
            f"{end}_{what}": value
            for end in ("bin", "idx")
            for what, value in (
                ("bytes", prefix.with_suffix(f".{end}").stat().st_size),
                ("sha256", file_sha256(prefix.with_suffix(f".{end}"))),
            )
        }
        kept = read_sealed(sidecar(prefix))
        assert kept is not None
        write_sealed(sidecar(prefix), {**kept, "record": {**kept["record"], **files}})
        edit_record(2, **files)(output)

    return harm


def put_id_out_of_range(documents: list[np.ndarray[Any, Any]]) -> None:
    documents[3][0] = 400


def drop_eos(documents: list[np.ndarray[Any, Any]]) -> None:
    documents[3][-1] = 65


def change_text(documents: list[np.ndarray[Any, Any]]) -> None:
    document = next(each for each in documents if len(each) > 2)
    document[0] = document[0] + 1


def add_shard(output: Output) -> None:
    shutil.copy(output.tokens / "shard-00001.bin", output.tokens / "shard-00999.bin")


def break_pointer(output: Output) -> None:
    path = output.tokens / "shard-00002.idx"
    data = bytearray(path.read_bytes())
    place = 34 + 4 * len(read_shard(output.shard(2))) + 8 * 5
    data[place] ^= 2
    path.write_bytes(data)


FAULTS: list[tuple[str, Harm, str]] = [
    ("one bit", flip_bit, "shard-00002.bin: sha256 is"),
    ("short index", cut_index, "shard-00002.idx: "),
    ("swapped", swap, "shard-00001.bin: holds what belongs to shard-00003"),
    ("pointer", break_pointer, "shard-00002.idx: document 5 is said to start at byte"),
    ("no shard", remove("tokens/shard-00002.bin"), "shard-00002.bin: no such file"),
    ("no sidecar", remove("tokens/shard-00002.json"), "shard-00002.json: missing or damaged"),
    ("no rejected", remove("rejected.jsonl"), "rejected.jsonl: no such file"),
    ("one too many", add_shard, "shard-00999.bin: not in the manifest"),
    ("id", rewrite(put_id_out_of_range), "shard-00002.bin: id 400 (token "),
    ("eos", rewrite(drop_eos), "shard-00002.bin: 1 documents lack the eos token 0, the first is "
     "document 3"),
    ("wide ids", rewrite(lambda _: None, "<u4"), "ids are uint32, but the manifest has uint16"),
    ("dtype", edit("manifest.json", lambda value: value.update(dtype="uint32")),
     "manifest.json: dtype is uint32, but ids of a vocabulary of 400 are kept as uint16"),
    ("tokens", edit("manifest.json", lambda value: value.update(tokens=5)),
     "manifest.json: 'tokens' is 5, but its shards say"),
    ("language", edit("manifest.json", lambda value: value["languages"]["ko"].update(bytes=1)),
     "manifest.json: 'languages' is"),
    ("record", edit_record(2, documents=1),
     "shard-00002.json: 'documents' differs from the manifest"),
    ("missing shard", edit_shards(lambda records: records.pop(2)),
     "shards.parquet: shards are missing, or out of order"),
    ("last shard", edit_shards(lambda records: records.pop()),
     "shards.parquet: shards are missing, or out of order (found "),
    ("order", edit_shards(lambda records: records.reverse()),
     "shards.parquet: shards are missing, or out of order"),
    ("checksum", edit("manifest.json", lambda value: value.update(shards_sha256="0")),
     "shards.parquet: sha256 is not 0"),
    ("vocabulary", edit("manifest.json", lambda value: value.update(vocab_size=300)),
     "tokenizer: 400 ids, but the manifest has 300"),
    ("report", edit("report.json", lambda value: value["total"].update(tokens=1)),
     "report.json: not what the manifest's sums give"),
    ("tokenizer", remove("tokenizer/tokenizer.json"), "tokenizer"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "harm", "says"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_a_planted_fault_is_found_and_named(
    output: Output, name: str, harm: Harm, says: str
) -> None:
    harm(output)
    faults = verify(output.folder, show=False).faults
    assert any(says in fault for fault in faults), (name, faults)


UNCHECKED = {"timings.json", ".lock"}
"""What differs between equal runs."""


@pytest.mark.parametrize("seed", [1, 2])
def test_any_flipped_bit_is_noticed_and_never_outlives_another_run(
    seed: int, tmp_path: Path
) -> None:
    """One bit anywhere in any file; the next run makes it good, or refuses and names the file."""
    rng = random.Random(seed)
    job = write_corpus(tmp_path, documents=24)
    (tmp_path / "bad.jsonl").write_text('{"text": null}\n{"text": "x"}\n' * 5)
    job["read"]["sources"].append({"path": str(tmp_path / "bad.jsonl")})
    job["read"]["on_bad_row"], job["encode"]["shard_bytes"] = "skip", 20_000
    run(job, workers=1, progress=False)
    folder = Path(job["output"])
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in UNCHECKED]
    whole = {path: path.read_bytes() for path in sorted(files)}
    for path in [*whole, *rng.choices(list(whole), k=6)]:
        data = bytearray(whole[path])
        at, bit = rng.randrange(len(data)), rng.randrange(8)
        data[at] ^= 1 << bit
        path.write_bytes(data)
        what = f"seed {seed}: bit {bit} of byte {at} of {path.name}"
        try:
            faults = verify(folder, show=False).faults
        except ShardError as error:
            faults = (str(error),)
        # A checksum in the manifest that is wrong is told of the file it is of.
        assert any(path.stem in fault for fault in faults), (what, faults)
        try:
            run(job, workers=1, progress=False)
        except JogakError:
            if path.name in {"job.yaml", "inputs.json"}:
                path.write_bytes(whole[path])
        changed = [each.name for each in whole if each.read_bytes() != whole[each]]
        assert not changed, (what, changed)


@pytest.mark.parametrize("harm", [damage_table, remove("shards.parquet")])
def test_without_a_whole_table_there_is_nothing_to_verify_by(output: Output, harm: Harm) -> None:
    harm(output)
    with pytest.raises(ShardError, match=r"shards\.parquet: missing or damaged"):
        verify(output.folder, show=False)


def test_every_fault_is_found_in_one_go(output: Output) -> None:
    flip_bit(output)
    add_shard(output)
    remove("tokens/shard-00004.idx")(output)
    faults = verify(output.folder, show=False).faults
    assert len(faults) == 3


def test_other_text_than_the_source_is_found_and_named(output: Output) -> None:
    rewrite(change_text)(output)
    assert verify(output.folder, show=False).faults == ()
    report = verify(output.folder, decode="all", show=False)
    assert report.decoded == 480
    (fault,) = report.faults
    assert "shard-00002.bin: document " in fault
    assert "decodes to other text than its source from byte 0 on" in fault


def test_a_source_that_changed_is_not_compared_with(tmp_path: Path) -> None:
    job = write_corpus(tmp_path, documents=8)
    run(job, workers=1, progress=False)
    (tmp_path / "web.jsonl").write_text('{"doc": {"body": "other"}}\n')
    report = verify(job["output"], decode=3, show=False)
    assert report.decoded == 0
    assert "the source changed since" in report.faults[0]


@pytest.mark.parametrize("content", [None, "{", '{"format": 99}', '{"format": 1}'])
def test_without_a_manifest_there_is_nothing_to_verify_by(
    output: Output, content: str | None
) -> None:
    output.manifest.unlink()
    if content is not None:
        output.manifest.write_text(content)
    with pytest.raises(ShardError, match=r"manifest\.json: "):
        verify(output.folder, show=False)

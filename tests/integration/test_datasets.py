"""Datasets that are no files, handed over by Python or streamed: the bytes are as from Parquet."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import jogak
from fakes import killed_run
from fakes.corpus import korean
from jogak.config import Job, ReadOptions, Source, TrainOptions
from jogak.errors import ConfigError, ShardError, SourceError
from jogak.plan.spool import index_path
from jogak.read import spool
from jogak.run import datasets as kept_datasets
from jogak.run import run
from jogak.verify import verify

ROWS = 400


@pytest.fixture
def texts() -> list[str]:
    rng = random.Random(3)
    return [korean(rng, rng.choice((0, 1, 5, 30))) for _ in range(ROWS)]


@pytest.fixture(autouse=True)
def no_bars(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def options(output: Path, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (any section)
    return {"train": {"vocab_size": 300, "allow_smaller": True}, "output": str(output), **more}


def contents(output: Path) -> dict[str, str]:
    """Return the checksums of all that equal runs make the same."""
    found = killed_run.contents(output)
    # The index of kept text names the times of its files.
    return {name: sha256 for name, sha256 in found.items() if not name.endswith("index.json")}


def tokens(output: Path) -> dict[str, str]:
    """Return the checksums of what decides ids: tokenizer and shards."""
    found = contents(output)
    ends = ("tokenizer.json", ".bin", ".idx")
    return {name: sha256 for name, sha256 in found.items() if name.endswith(ends)}


@pytest.fixture
def expected(texts: list[str], tmp_path: Path) -> dict[str, str]:
    """What the same rows give when they come from a Parquet file."""
    pq.write_table(pa.table({"text": texts}), tmp_path / "rows.parquet")
    source = {"path": str(tmp_path / "rows.parquet"), "language": "ko"}
    run(options(tmp_path / "parquet", read={"sources": [source]}), workers=1, progress=False)
    found = tokens(tmp_path / "parquet")
    assert len(found) == 3
    return found


def mapped(texts: list[str], folder: Path) -> datasets.Dataset:
    datasets.Dataset.from_dict({"id": range(len(texts)), "text": texts}).save_to_disk(
        str(folder), num_shards=3
    )
    return datasets.load_from_disk(str(folder))


def streamed(texts: list[str]) -> datasets.IterableDataset:
    return datasets.IterableDataset.from_generator(lambda: ({"text": text} for text in texts))


def chunked(texts: list[str]) -> pa.Table:
    half = len(texts) // 3
    return pa.concat_tables([pa.table({"text": texts[:half]}), pa.table({"text": texts[half:]})])


SHAPES: dict[str, Callable[[list[str], Path], Any]] = {
    "mapped Dataset": mapped,
    "Dataset in memory": lambda texts, _: datasets.Dataset.from_dict({"text": texts}),
    "Dataset with chosen rows": lambda texts, folder: mapped([*texts, "x"], folder).select(
        list(range(len(texts)))
    ),
    "split of a DatasetDict": lambda texts, folder: datasets.DatasetDict(
        {"train": mapped(texts, folder)}
    )["train"],
    "IterableDataset": lambda texts, _: streamed(texts),
    "Table": lambda texts, _: chunked(texts),
    "RecordBatch": lambda texts, _: pa.record_batch({"text": texts}),
    "reader": lambda texts, _: chunked(texts).to_reader(max_chunksize=7),
    "dictionary": lambda texts, _: pa.table({"text": pa.array(texts).dictionary_encode()}),
    "list": lambda texts, _: texts,
    "bytes": lambda texts, _: [text.encode() for text in texts],
    "generator": lambda texts, _: (text for text in texts),
    "array": lambda texts, _: pa.array(texts, pa.string_view()),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_dataset_gives_the_bytes_of_the_same_rows_in_parquet(
    shape: str, texts: list[str], expected: dict[str, str], tmp_path: Path
) -> None:
    dataset = SHAPES[shape](texts, tmp_path / "saved")
    manifest = run(options(tmp_path / "out"), dataset=dataset, workers=1, progress=False)
    assert manifest.total.documents == ROWS
    assert tokens(tmp_path / "out") == expected
    report = verify(tmp_path / "out", decode="all", show=False)
    assert (report.faults, report.decoded) == ((), ROWS)


def test_a_job_is_made_with_its_dataset(
    texts: list[str], expected: dict[str, str], tmp_path: Path
) -> None:
    plain = Job(train=TrainOptions(vocab_size=300), output=str(tmp_path / "a"), dataset=texts)
    run(plain, workers=1, progress=False)
    assert tokens(tmp_path / "a") == expected
    table = pa.table({"body": texts, "lang": ["ko"] * ROWS})
    source = Source(dataset="given", text="body", language_column="lang")
    named = Job(
        read=ReadOptions(sources=(source,)),
        train=TrainOptions(vocab_size=300),
        output=str(tmp_path / "b"),
        dataset=table,
    )
    manifest = run(named, workers=1, progress=False)
    assert tokens(tmp_path / "b") == expected
    assert list(manifest.by_language()) == ["ko"]


def test_a_mapped_dataset_is_read_where_it_lies(texts: list[str], tmp_path: Path) -> None:
    dataset = mapped(texts, tmp_path / "saved").remove_columns("id")
    run(options(tmp_path / "out"), dataset=dataset, workers=1, progress=False)
    kept = [path.name for path in (tmp_path / "out/dataset").rglob("*") if path.is_file()]
    assert kept == ["index.json"]


def test_a_mapped_batch_shares_the_memory_of_its_file(tmp_path: Path) -> None:
    dataset = mapped(["가나다 " * 1000] * 50, tmp_path / "saved")
    before = pa.total_allocated_bytes()
    (file, *_) = spool.mapped_files(dataset, "text")
    with pa.memory_map(file.path) as data, pa.ipc.open_stream(data) as batches:
        held = list(batches)
    assert sum(batch.nbytes for batch in held) > 100_000
    assert pa.total_allocated_bytes() - before < 20_000


@pytest.mark.parametrize("shape", ["mapped Dataset", "IterableDataset", "list"])
def test_a_run_goes_on_with_the_same_dataset_and_refuses_another(
    shape: str, texts: list[str], tmp_path: Path
) -> None:
    small = {"encode": {"shard_bytes": 4000}}
    whole, part = tmp_path / "whole", tmp_path / "part"
    for output in (whole, part):
        dataset = SHAPES[shape](texts, tmp_path / "saved")
        run(options(output, **small), dataset=dataset, workers=1, progress=False)
    times = {path.name: path.stat().st_mtime_ns for path in (part / "tokens").glob("*.bin")}
    assert len(times) > 4
    (part / "tokens/shard-00001.json").unlink()
    dataset = SHAPES[shape](texts, tmp_path / "saved2")
    if shape == "mapped Dataset":
        dataset = datasets.load_from_disk(str(tmp_path / "saved"))
    run(options(part, **small), dataset=dataset, workers=2, progress=False)
    assert contents(part) == contents(whole)
    again = {path.name: path.stat().st_mtime_ns for path in (part / "tokens").glob("*.bin")}
    assert [name for name in times if times[name] != again[name]] == ["shard-00001.bin"]
    other = SHAPES[shape]([*texts[:-1], "다른 글"], tmp_path / "other")
    with pytest.raises(ShardError, match="results of another dataset"):
        run(options(part, **small), dataset=other, workers=1, progress=False)
    (part / "tokens/shard-00000.json").unlink()
    run(part / "job.yaml", workers=1, progress=False)
    assert contents(part) == contents(whole)
    manifest = run(options(part, **small), dataset=other, workers=1, progress=False, restart=True)
    assert manifest.total.documents == ROWS
    assert contents(part) != contents(whole)


def test_units_are_cut_by_the_rows_and_not_by_how_they_come(
    texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "BLOCK_BYTES", 3000)
    monkeypatch.setattr(spool, "FILE_BLOCKS", 2)
    found = []
    for name, dataset in {
        "list": texts,
        "table": chunked(texts),
        "reader": chunked(texts).to_reader(max_chunksize=11),
    }.items():
        job = options(tmp_path / name, encode={"shard_bytes": 5000})
        run(job, dataset=dataset, workers=1, progress=False)
        assert len(list((tmp_path / name / "dataset/source-0").glob("*.arrow"))) > 3
        found.append(tokens(tmp_path / name))
    assert len(found[0]) > 8
    assert found[0] == found[1] == found[2]


def test_bad_rows_of_a_dataset_are_judged_as_those_of_files(tmp_path: Path) -> None:
    rows = ["하나", None, b"\xff\xfe", "둘 \ud800", "셋"]
    with pytest.raises(SourceError, match=r"dataset:.*row 1: null text"):
        run(options(tmp_path / "a"), dataset=rows, workers=1, progress=False)
    job = options(tmp_path / "b", read={"sources": [{"dataset": "given"}], "on_bad_row": "skip"})
    manifest = run(job, dataset=rows, workers=1, progress=False)
    assert manifest.total.documents == 2
    rejected = (tmp_path / "b/rejected.jsonl").read_text().splitlines()
    assert [json.loads(line)["row"] for line in rejected] == [1, 2, 3]


def test_a_dataset_that_cannot_be_read_is_explained(texts: list[str], tmp_path: Path) -> None:
    job = options(tmp_path / "out")
    both = datasets.DatasetDict({"train": datasets.Dataset.from_dict({"text": texts})})
    with pytest.raises(SourceError, match=r"several splits \(train\); give one"):
        run(job, dataset=both, workers=1, progress=False)
    with pytest.raises(SourceError, match=r"row 1: not a str or bytes \(found int\)"):
        run(job, dataset=["a", 1], workers=1, progress=False)
    with pytest.raises(SourceError, match="one str, not several documents"):
        run(job, dataset="text", workers=1, progress=False)
    with pytest.raises(SourceError, match=r"no column 'text' \(found: body\)"):
        run(job, dataset=pa.table({"body": texts}), workers=1, progress=False)
    files = {**job, "read": {"sources": [{"path": "a.parquet"}]}}
    with pytest.raises((ConfigError, SourceError), match=r"0 sources ask|no such file"):
        run(files, dataset=texts, workers=1, progress=False)
    asking = {**job, "read": {"sources": [{"dataset": "given"}]}}
    with pytest.raises(SourceError, match=r"'given' is not in .*jogak\.run\(job, dataset="):
        run(asking, workers=1, progress=False)


def write_lines(folder: Path, texts: list[str], files: int) -> None:
    folder.mkdir()
    for number in range(files):
        lines = [json.dumps({"id": 1, "text": text}) for text in texts[number::files]]
        (folder / f"part-{number}.jsonl").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("files", [1, 3])
def test_a_dataset_of_other_files_is_streamed_in_shards(
    files: int, texts: list[str], tmp_path: Path
) -> None:
    write_lines(tmp_path / "lines", texts, files)
    ordered = [text for number in range(files) for text in texts[number::files]]
    run(options(tmp_path / "given"), dataset=ordered, workers=1, progress=False)
    job = options(tmp_path / "out", read={"sources": [{"hf": str(tmp_path / "lines")}]})
    run(job, workers=2, progress=False)
    assert tokens(tmp_path / "out") == tokens(tmp_path / "given")
    shards = sorted((tmp_path / "out/dataset/source-0").glob("shard-*.json"))
    assert len(shards) == files
    assert not list((tmp_path / "cache").rglob("*.arrow"))
    report = verify(tmp_path / "out", decode="all", show=False)
    assert (report.faults, report.decoded) == ((), ROWS)


def test_finished_shards_of_a_stream_outlive_an_interruption(
    texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lines(tmp_path / "lines", texts, 3)
    job = options(tmp_path / "out", read={"sources": [{"hf": str(tmp_path / "lines")}]})
    write = kept_datasets.write_files

    def interrupted(folder: Path, stem: str, *rest: Any) -> Any:  # noqa: ANN401 - as write_files
        if stem == "shard-00001":
            raise KeyboardInterrupt
        return write(folder, stem, *rest)

    monkeypatch.setattr(kept_datasets, "write_files", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(job, workers=1, progress=False)
    monkeypatch.undo()
    first = index_path(tmp_path / "out/dataset", 0).with_name("shard-00000-00000.arrow")
    before = first.stat().st_mtime_ns
    run(job, workers=1, progress=False)
    assert first.stat().st_mtime_ns == before
    run(options(tmp_path / "b", read=job["read"]), workers=1, progress=False)
    assert tokens(tmp_path / "out") == tokens(tmp_path / "b")


def test_a_run_that_is_killed_while_it_keeps_text_goes_on(texts: list[str], tmp_path: Path) -> None:
    """Before (+) and after (-) changes on disk of the first shard, the last one and the index."""
    write_lines(tmp_path / "lines", texts, 2)
    job = options(tmp_path / "out", read={"sources": [{"hf": str(tmp_path / "lines")}]})
    (tmp_path / "job.json").write_text(json.dumps(job))
    moments = [1, -3, 6, 10, -14]
    done = subprocess.run(
        [sys.executable, killed_run.__file__, str(tmp_path / "job.json"), json.dumps(moments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == len(moments)
    for result in results:
        assert (result["died"], result["resumed"]) == (-signal.SIGKILL, 0), result
        assert result["equal"], result
        assert not result["leftovers"], result


def test_a_line_that_is_no_json_is_not_tried_again(tmp_path: Path) -> None:
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines/a.jsonl").write_text('{"text": "a"}\n{"text": ')
    job = options(tmp_path / "out", read={"sources": [{"hf": str(tmp_path / "lines")}]})
    with pytest.raises(SourceError, match=r"lines: shard 0 is not readable .*mend the dataset"):
        run(job, workers=1, progress=False)


def test_a_changed_file_of_a_streamed_dataset_is_noticed(texts: list[str], tmp_path: Path) -> None:
    write_lines(tmp_path / "lines", texts, 2)
    job = options(tmp_path / "out", read={"sources": [{"hf": str(tmp_path / "lines")}]})
    run(job, workers=1, progress=False)
    (tmp_path / "lines/part-1.jsonl").write_text('{"text": "다른 글"}\n')
    with pytest.raises(ShardError, match=r"part-1\.jsonl: .* bytes there"):
        run(job, workers=1, progress=False)
    manifest = run(job, workers=1, progress=False, restart=True)
    assert manifest.total.documents == ROWS // 2 + 1


def test_csv_is_streamed_too(tmp_path: Path) -> None:
    (tmp_path / "table").mkdir()
    (tmp_path / "table/a.csv").write_text('text,lang\n"하나, 둘",ko\none,en\n')
    source = {"hf": str(tmp_path / "table"), "split": "train", "language_column": "lang"}
    job = options(tmp_path / "out", read={"sources": [source]})
    manifest = run(job, workers=1, progress=False)
    assert {name: sums.documents for name, sums in manifest.by_language().items()} == {
        "en": 1,
        "ko": 1,
    }


def test_tokenize_streams_the_ids_of_a_dataset(texts: list[str]) -> None:
    counts = jogak.count_pretokens(texts)
    tokenizer = jogak.train(counts, vocab_size=300, special_tokens=("<|endoftext|>",))
    read = 0

    def counted() -> Iterator[str]:
        nonlocal read
        for text in texts:
            read += 1
            yield text

    found = []
    batches = jogak.tokenize(counted(), tokenizer, batch_bytes=2000)
    for batch in batches:
        assert len(found) or read < ROWS
        found += [batch[index].tolist() for index in range(len(batch))]
    assert found == [tokenizer.encode(text).tolist() for text in texts]
    table = pa.table({"body": texts})
    marked = [
        batch[index].tolist()
        for batch in jogak.tokenize(table, tokenizer, text="body", boundary="eos", threads=2)
        for index in range(len(batch))
    ]
    assert marked == [[*ids, tokenizer.eos_id] for ids in found]

"""Hugging Face datasets of Parquet files: planned by row group, read where they lie."""

from __future__ import annotations

import json
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.registry import _registry

from jogak.config import EncodeOptions, Job, ReadOptions, Source, TrainOptions
from jogak.errors import SourceError
from jogak.plan import list_inputs, plan_units
from jogak.read import read_unit
from jogak.run import run
from jogak.verify import verify

CARD = """---
configs:
- config_name: ko
  data_files:
  - {split: train, path: ko/train-*}
  - {split: test, path: ko/test-*}
- config_name: en
  data_files: en/*.parquet
---
"""
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A dataset as it lies on the hub: two configurations, one with two splits."""
    folder = tmp_path / "repository"
    for name, rows in {"ko/train-0": 60, "ko/train-1": 60, "ko/test-0": 5, "en/a": 7}.items():
        path = folder / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = [f"{name} {row} " + "가나다 " * 50 for row in range(rows)]
        pq.write_table(pa.table({"text": texts}), path, row_group_size=20, use_dictionary=False)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    return folder


@pytest.fixture
def hub(repository: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A stand-in for the hub: `owner/name` is the repository, its files have hf:// URLs.

    Gives the list of names and revisions that were asked for.
    """
    root = f"datasets/owner/name@{COMMIT}"
    asked = []
    load = datasets.load_dataset_builder

    class Hub(LocalFileSystem):
        protocol = "hf"
        cachable = False

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return str(path).removeprefix("hf://").replace(root, str(repository))

    def builder(name: str, config: str | None, revision: str | None) -> datasets.DatasetBuilder:
        asked.append(f"{name} {revision}")
        found = load(str(repository), config)
        for files in found.config.data_files.values():
            files[:] = [file.replace(str(repository), f"hf://{root}") for file in files]
        return found

    monkeypatch.setattr(datasets, "load_dataset_builder", builder)
    # fsspec registers for good; only its table can be put back.
    monkeypatch.setitem(_registry, "hf", Hub)
    return asked


def job_for(source: Source, output: str = "unused") -> Job:
    return Job(
        read=ReadOptions(sources=(source,)),
        train=TrainOptions(vocab_size=270),
        encode=EncodeOptions(shard_bytes=20_000),
        output=output,
    )


def texts_of(job: Job) -> list[str]:
    return [
        batch.document(index).decode().rsplit(" 가", 50)[0]
        for unit in plan_units(job)
        for batch in read_unit(unit, job.read, [])
        for index in range(len(batch))
    ]


def test_a_split_of_a_configuration_is_planned_by_row_groups(repository: Path) -> None:
    job = job_for(Source(hf=str(repository), config="ko", split="train"))
    units = plan_units(job)
    ranges = {
        (Path(part.path).name, part.start, part.stop) for unit in units for part in unit.parts
    }
    assert ranges == {(f"train-{file}.parquet", start, start + 20)
                      for file in (0, 1) for start in (0, 20, 40)}  # fmt: skip
    assert texts_of(job) == [f"ko/train-{file} {row}" for file in (0, 1) for row in range(60)]


def test_the_only_split_of_a_configuration_needs_no_name(repository: Path) -> None:
    job = job_for(Source(hf=str(repository), config="en"))
    assert texts_of(job) == [f"en/a {row}" for row in range(7)]


def test_files_on_the_hub_are_read_by_url_and_known_by_commit(
    hub: list[str], tmp_path: Path
) -> None:
    source = Source(hf="owner/name", config="ko", split="train", revision="main")
    job = job_for(source, str(tmp_path / "out"))
    names = [f"hf://datasets/owner/name@{COMMIT}/ko/train-{file}.parquet" for file in (0, 1)]
    assert [each.path for each in list_inputs(job)] == names
    assert hub[0] == "owner/name main"
    assert texts_of(job) == [f"ko/train-{file} {row}" for file in (0, 1) for row in range(60)]
    manifest = run(job, workers=1, progress=False)
    assert manifest.total.documents == 120
    assert list(manifest.by_source()) == ["owner/name"]
    report = verify(tmp_path / "out", decode="all", show=False)
    assert (report.faults, report.decoded) == ((), 120)


def test_lines_on_the_hub_are_streamed_and_known_by_commit(
    hub: list[str], repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in repository.rglob("*.parquet"):
        path.unlink()
    (repository / "README.md").unlink()
    for number in range(2):
        lines = [json.dumps({"text": f"글 {number} {row}"}) for row in range(30)]
        (repository / f"{number}.jsonl").write_text("\n".join(lines))
    load = datasets.load_dataset

    def stream(name: str, config: str | None, **options: object) -> datasets.IterableDataset:
        assert (name, options.pop("revision")) == ("owner/name", "v1")
        return load(str(repository), config, **options)

    monkeypatch.setattr(datasets, "load_dataset", stream)
    source = Source(hf="owner/name", split="train", revision="v1")
    job = job_for(source, str(tmp_path / "out"))
    manifest = run(job, workers=1, progress=False)
    assert manifest.total.documents == 60
    assert set(hub) == {"owner/name v1"}
    inputs = json.loads((tmp_path / "out/inputs.json").read_text())["inputs"]
    root = f"hf://datasets/owner/name@{COMMIT}"
    assert [each["path"] for each in inputs] == [
        f"{root}/0.jsonl",
        f"{root}/1.jsonl",
        "owner/name",
    ]
    report = verify(tmp_path / "out", decode="all", show=False)
    assert (report.faults, report.decoded) == ((), 60)


def test_a_configuration_that_is_not_there_is_named(repository: Path) -> None:
    with pytest.raises(SourceError, match=r"not a readable dataset .*'fr' not found.*\.hf"):
        plan_units(job_for(Source(hf=str(repository), config="fr")))

"""run: whose output it is, what counts as the same job, and what sources and workers are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import jogak
from fakes.corpus import write_corpus
from jogak.config import EngineOptions, Job, load_job
from jogak.errors import ConfigError, ShardError
from jogak.output import Output, owned, read_sealed, write_file, write_sealed
from jogak.plan import InputFile
from jogak.run import run
from jogak.run.claim import claim_output
from jogak.run.jobs import resolve_job, source_names, worker_count

INPUTS = (InputFile("/data/a.parquet", 10, 1), InputFile("/data/b.parquet", 20, 2))


def job_of(*sources: dict[str, Any], **sections: Any) -> Job:  # noqa: ANN401 (any section)
    sections = {"train": {"vocab_size": 300}, "output": "/out", **sections}
    return Job.model_validate({"read": {"sources": sources or ({"path": "/data/*"},)}, **sections})


@pytest.fixture
def output(tmp_path: Path) -> Output:
    return Output(tmp_path)


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        ([{"path": "/data/ko/*.parquet"}], ["*.parquet"]),
        ([{"path": "/d/ko/*.parquet"}, {"path": "/d/web.jsonl"}], ["ko/*.parquet", "web.jsonl"]),
        ([{"path": "/d/a.txt", "name": "books"}, {"hf": "owner/set"}], ["books", "owner/set"]),
        ([{"path": "/d/a.txt"}, {"path": "/d/a.txt", "text": "b"}], ["a.txt [0]", "a.txt [1]"]),
    ],
)
def test_sources_are_named_by_what_tells_them_apart(
    sources: list[dict[str, Any]], names: list[str]
) -> None:
    assert source_names(job_of(*sources)) == names


def test_the_callers_workers_come_before_the_jobs() -> None:
    job = job_of(engine={"workers": 3})
    assert worker_count(job, None, 10) == 3
    assert worker_count(job, 5, 10) == 5
    with pytest.raises(ConfigError, match="at least 1"):
        worker_count(job, 0, 10)


def test_little_work_is_done_in_one_process_unless_workers_are_asked_for() -> None:
    assert worker_count(job_of(), None, 10) == 1
    assert worker_count(job_of(), None, 2**40) == len(os.sched_getaffinity(0))


def test_paths_of_a_job_are_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"read": {"sources": [{"path": "a/*.txt"}]}, "tokenizer": {"load": "t"}, "output": "o"}
    job = resolve_job(given)
    assert job.read.sources[0].path == str(tmp_path / "a/*.txt")
    assert job.tokenizer is not None
    assert (job.output, job.tokenizer.load) == (str(tmp_path / "o"), str(tmp_path / "t"))


def test_a_mapping_that_is_no_job_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match=r"output"):
        resolve_job({"read": {"sources": []}})


@pytest.mark.parametrize("job", [None, b"job.yaml", 3])
def test_what_is_no_job_at_all_is_named(job: object) -> None:
    with pytest.raises(ConfigError, match=f"found {type(job).__name__}"):
        resolve_job(job)  # type: ignore[arg-type]  # that is the test


@pytest.mark.parametrize("stage", ["trian", "Encode", ""])
def test_an_unknown_stage_is_named_with_the_known_ones(stage: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=rf"no stage '{stage}' \(known: plan, count, train"):
        run(write_corpus(tmp_path, documents=4), stop_after=stage)


def test_an_output_may_be_claimed_again_by_the_same_run(output: Output) -> None:
    job = job_of()
    first = claim_output(output, job, INPUTS)
    files = {path: path.read_bytes() for path in output.folder.iterdir()}
    assert claim_output(output, job, INPUTS) == first
    assert {path: path.read_bytes() for path in output.folder.iterdir()} == files


def test_workers_and_place_are_no_difference(output: Output) -> None:
    claim = claim_output(output, job_of(), INPUTS)
    other = job_of(engine={"workers": 7}, output="/elsewhere")
    assert claim_output(output, other, INPUTS) == claim


def test_the_kept_job_goes_on_where_it_lies(output: Output) -> None:
    claim_output(output, job_of(engine={"workers": 7}), INPUTS)
    kept = load_job(output.job)
    assert kept.output == str(output.folder)
    assert kept.engine == EngineOptions()


def test_every_option_that_differs_is_named(output: Output) -> None:
    claim_output(output, job_of(), INPUTS)
    other = job_of(train={"vocab_size": 301}, encode={"boundary": "none"})
    with pytest.raises(ConfigError) as caught:
        claim_output(output, other, INPUTS)
    assert "train.vocab_size: 300 there, 301 now" in str(caught.value)
    assert "encode.boundary: 'eos' there, 'none' now" in str(caught.value)


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        (INPUTS[:1], "b.parquet: an input there, not now"),
        ((*INPUTS, InputFile("/data/c.parquet", 1, 1)), "c.parquet: an input now, not there"),
        ((INPUTS[0], InputFile("/data/b.parquet", 21, 2)), "b.parquet: 20 bytes there, 21 now"),
        ((INPUTS[0], InputFile("/data/b.parquet", 20, 3)), "b.parquet: changed since"),
    ],
)
def test_inputs_that_changed_are_named(
    output: Output, inputs: tuple[InputFile, ...], says: str
) -> None:
    claim_output(output, job_of(), INPUTS)
    with pytest.raises(ShardError, match=says):
        claim_output(output, job_of(), inputs)


def test_another_version_is_named(output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    claim_output(output, job_of(), INPUTS)
    monkeypatch.setattr(jogak, "__version__", "99.0")
    with pytest.raises(ShardError, match=r"version of jogak: .* there, 99\.0 now"):
        claim_output(output, job_of(), INPUTS)


@pytest.mark.parametrize("content", ["", "[1", "- a list"])
def test_a_damaged_job_file_is_not_taken_for_the_same(output: Output, content: str) -> None:
    claim_output(output, job_of(), INPUTS)
    output.job.write_text(content)
    with pytest.raises(ConfigError, match=r"job\.yaml: damaged"):
        claim_output(output, job_of(), INPUTS)


def test_a_long_list_of_differences_is_cut_short(output: Output) -> None:
    claim_output(output, job_of(), tuple(InputFile(f"/data/{n}", 1, 1) for n in range(30)))
    with pytest.raises(ShardError, match="and 20 more"):
        claim_output(output, job_of(), ())


def test_two_processes_do_not_share_an_output(output: Output) -> None:
    program = (
        "import sys\nfrom pathlib import Path\nfrom jogak.output import Output, owned\n"
        "from jogak.errors import ShardError\n"
        f"try:\n    with owned(Output(Path({str(output.folder)!r}))): print('owns it')\n"
        "except ShardError as error: print(error)\n"
    )

    def other() -> str:
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        return done.stdout

    with owned(output):
        said = other()
        assert "another process works on this output" in said
        assert f'"pid": {os.getpid()}' in said
        assert '"host": ' in said
    assert other() == "owns it\n"
    assert list(output.folder.iterdir()) == []


def test_a_lock_whose_owner_is_gone_is_no_hindrance(output: Output) -> None:
    (output.folder / ".lock").write_text('{"host": "elsewhere", "pid": 1}')
    with owned(output):
        owner = json.loads((output.folder / ".lock").read_text())
        assert owner["pid"] == os.getpid()


def test_leftovers_of_an_interrupted_run_are_swept(output: Output) -> None:
    output.create()
    (output.tokens / ".shard-00000.bin.123.tmp").touch()
    (output.folder / ".tokenizer.123.tmp").mkdir()
    (output.folder / ".tokenizer.123.tmp/tokenizer.json").touch()
    (output.folder / "mine.txt").touch()
    output.sweep()
    assert sorted(path.name for path in output.folder.iterdir()) == ["counts", "mine.txt", "tokens"]
    assert list(output.tokens.iterdir()) == []


def test_a_file_that_cannot_be_written_says_where_and_why(tmp_path: Path) -> None:
    with pytest.raises(ShardError, match=r"absent/file: cannot be written \(No such file"):
        write_file(tmp_path / "absent/file", "text")


def test_a_sealed_file_notices_any_change(tmp_path: Path) -> None:
    path = tmp_path / "sealed.json"
    value = {"count": 12, "names": ["가", "b"]}
    write_sealed(path, value)
    assert read_sealed(path) == value
    data = path.read_bytes()
    path.write_bytes(data.replace(b"12", b"13"))
    assert read_sealed(path) is None
    path.write_bytes(data[:-3])
    assert read_sealed(path) is None

"""A whole run: the same bytes for any number of workers, batch size and interruption."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from fakes.corpus import write_corpus
from jogak.count import tree
from jogak.errors import ConfigError, ShardError, SourceError
from jogak.manifest import read_manifest
from jogak.output import Output, file_sha256
from jogak.run import merging, run, run_stage
from jogak.shards import dtype_for, read_shard
from jogak.tokenizer import Tokenizer

Job = dict[str, Any]
DOCUMENTS = 100
"""In each file of the corpus, of which there are four."""
APART = {"timings.json", ".lock"}
"""What may differ between equal runs."""
ALWAYS = {
    "manifest.json",
    "rejected.jsonl",
    "report.html",
    "report.json",
    "report.md",
    "shards.parquet",
    "timings.json",
}
"""What every run writes, from what it finds."""


def contents(folder: Path | str) -> dict[str, str]:
    """Return the sha256 of every file that must be the same in equal runs."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file() and path.name not in APART
    }


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    return write_corpus(tmp_path_factory.mktemp("corpus"), documents=DOCUMENTS)


@pytest.fixture(scope="module")
def finished(job: Job) -> Path:
    """The output of an undisturbed run with one worker; tests do not change it."""
    run(job, workers=1, progress=False)
    return Path(job["output"])


def elsewhere(job: Job, folder: Path, **sections: Any) -> Job:  # noqa: ANN401 (any section)
    return {**job, "output": str(folder / "out"), **sections}


def test_two_workers_give_the_same_bytes(job: Job, finished: Path, tmp_path: Path) -> None:
    run(elsewhere(job, tmp_path), workers=2, progress=False)
    assert contents(tmp_path / "out") == contents(finished)


def test_a_run_imports_no_pandas(job: Job, tmp_path: Path) -> None:
    """Arrow does at the first list it is given, which costs 0.2 s and 40 MB in each process."""
    code = (
        "import json, sys; from jogak.run import run\n"
        "run(json.loads(sys.argv[1]), workers=1, progress=False)\n"
        "assert 'pandas' not in sys.modules"
    )
    pytest.importorskip("pandas")
    job = elsewhere(job, tmp_path)
    subprocess.run([sys.executable, "-c", code, json.dumps(job)], check=True)


def test_the_size_of_batches_does_not_change_tokens(
    job: Job, finished: Path, tmp_path: Path
) -> None:
    read = {**job["read"], "batch_bytes": 500}
    run(elsewhere(job, tmp_path, read=read), workers=1, progress=False)
    found, right = contents(tmp_path / "out"), contents(finished)
    assert {name for name in right if found[name] != right[name]} == {"job.yaml"}


def test_the_output_is_laid_out_as_documented(finished: Path) -> None:
    names = {path.name for path in finished.iterdir()}
    assert names == {
        "counts",
        "inputs.json",
        "job.yaml",
        "manifest.json",
        "rejected.jsonl",
        "report.html",
        "report.json",
        "report.md",
        "shards.parquet",
        "timings.json",
        "tokenizer",
        "tokens",
    }
    assert {path.suffix for path in (finished / "tokens").iterdir()} == {
        ".bin",
        ".idx",
        ".json",
        ".parquet",
    }
    assert {path.name for path in (finished / "tokenizer").iterdir()} == {
        "tokenizer.json",
        "tokenizer_config.json",
        "training.json",
    }


def test_the_manifest_describes_every_shard(finished: Path) -> None:
    output = Output(finished)
    manifest = read_manifest(output)
    assert len(manifest.shards) >= 5
    assert manifest.dtype == dtype_for(manifest.vocab_size or 0).name == "uint16"
    for record in manifest.shards:
        prefix = output.shard(record.index)
        shard = read_shard(prefix)
        assert (len(shard), len(shard.ids)) == (record.documents, record.tokens)
        assert file_sha256(prefix.with_suffix(".bin")) == record.bin_sha256
        assert file_sha256(prefix.with_suffix(".idx")) == record.idx_sha256
    kept = json.loads(output.manifest.read_text(encoding="utf-8"))
    assert kept["documents"] == kept["total"]["documents"] == 4 * DOCUMENTS
    assert kept["tokens"] == kept["total"]["tokens"] + kept["total"]["boundary_tokens"]
    assert list(kept["languages"]) == ["code", "en", "ko"]
    assert list(kept["sources"]) == ["ko/*.parquet", "mixed.parquet", "web.jsonl"]


def test_every_document_ends_with_the_eos_token(finished: Path) -> None:
    output = Output(finished)
    manifest = read_manifest(output)
    tokenizer = Tokenizer.load(output.tokenizer)
    assert manifest.boundary.eos == tokenizer.eos_id
    for record in manifest.shards:
        shard = read_shard(output.shard(record.index))
        ends = np.cumsum(shard.lengths) - 1
        assert (shard.ids[ends] == manifest.boundary.eos).all()
        assert int((shard.ids == manifest.boundary.eos).sum()) == len(shard)


def changed_since(before: dict[Path, int]) -> set[str]:
    return {path.name for path, time_ns in before.items() if path.stat().st_mtime_ns != time_ns}


def times(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_a_finished_run_is_not_done_again(job: Job, finished: Path) -> None:
    before, bytes_before = times(finished), contents(finished)
    run(job, workers=2, progress=False)
    assert contents(finished) == bytes_before
    redone = changed_since(before)
    assert redone <= ALWAYS


@pytest.fixture
def copy(job: Job, finished: Path, tmp_path: Path) -> Job:
    """The finished output, copied so that a test may harm it; and its job."""
    subprocess.run(["cp", "-a", str(finished), str(tmp_path / "out")], check=True)
    return elsewhere(job, tmp_path)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("harm", [flip, cut, Path.unlink], ids=["flip", "cut", "unlink"])
@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("tokens/shard-00004.bin", "shard-00004."),
        ("tokens/shard-00004.idx", "shard-00004."),
        ("tokens/shard-00004.json", "shard-00004."),
        ("tokens/shard-00004.usage.parquet", "shard-00004."),
        ("counts/pretokens.parquet", "pretokens."),
        ("counts/pretokens.json", "pretokens."),
        ("tokenizer/tokenizer.json", "t"),
        ("manifest.json", "manifest.json"),
        ("shards.parquet", "shards.parquet"),
    ],
)
def test_only_what_is_damaged_is_made_again(
    copy: Job, finished: Path, name: str, group: str, harm: Callable[[Path], None]
) -> None:
    folder = Path(copy["output"])
    harm(folder / name)
    before = times(folder)
    run(copy, workers=1, progress=False)
    assert contents(folder) == contents(finished)
    assert all(each.startswith(group) for each in changed_since(before) - ALWAYS)


def test_counts_of_units_that_a_killed_run_left_are_removed(copy: Job, finished: Path) -> None:
    folder = Path(copy["output"])
    (folder / "counts/unit-00001.parquet").touch()
    (folder / "counts/unit-00001.json").touch()
    run(copy, workers=1, progress=False)
    assert contents(folder) == contents(finished)


def test_timings_of_a_stage_are_those_of_the_run_that_did_it(copy: Job) -> None:
    timings = Output(Path(copy["output"])).timings
    before = json.loads(timings.read_text())
    run(copy, workers=1, progress=False)
    assert json.loads(timings.read_text())["stages"] == before["stages"]
    assert set(before["stages"]) == {"count", "train", "encode"}
    assert before["peak_bytes"] > 2**20


def test_another_job_is_refused_and_changes_nothing(copy: Job) -> None:
    folder = Path(copy["output"])
    before = contents(folder)
    with pytest.raises(ConfigError, match=r"train\.vocab_size: 400 there, 420 now"):
        run({**copy, "train": {"vocab_size": 420}}, progress=False)
    assert contents(folder) == before


def test_changed_inputs_are_refused(tmp_path: Path) -> None:
    job = write_corpus(tmp_path, documents=8)
    run(job, stop_after="count", workers=1, progress=False)
    with (tmp_path / "web.jsonl").open("a") as file:
        file.write('{"doc": {"body": "more"}}\n')
    with pytest.raises(ShardError, match=r"web\.jsonl: [\d,]+ bytes there, [\d,]+ now"):
        run(job, progress=False)


def test_stages_one_by_one_give_the_same_bytes(job: Job, finished: Path, tmp_path: Path) -> None:
    staged = elsewhere(job, tmp_path)
    for stage in ("count", "train", "encode", "report"):
        run_stage(staged, stage, workers=1, progress=False)
    assert contents(tmp_path / "out") == contents(finished)


@pytest.mark.parametrize(
    ("stage", "says"),
    [
        ("train", "not counted yet; run `jogak count`"),
        ("encode", "no tokenizer yet; run `jogak train`"),
        ("report", "no such file; run the job"),
    ],
)
def test_a_stage_without_the_one_before_it_is_refused(
    job: Job, tmp_path: Path, stage: str, says: str
) -> None:
    with pytest.raises(ShardError, match=says):
        run_stage(elsewhere(job, tmp_path), stage, progress=False)


def test_reporting_needs_no_input(tmp_path: Path) -> None:
    job = write_corpus(tmp_path, documents=8)
    manifest = run(job, workers=1, progress=False)
    (tmp_path / "web.jsonl").unlink()
    (tmp_path / "out/report.md").unlink()
    assert run_stage(job, "report") == manifest
    assert (tmp_path / "out/report.md").exists()


@pytest.mark.parametrize(
    ("stage", "there"),
    [
        ("plan", {"inputs.json", "job.yaml"}),
        ("count", {"pretokens.json", "pretokens.parquet"}),
        ("train", {"tokenizer.json", "training.json"}),
        ("encode", {"manifest.json", "shard-00000.bin"}),
    ],
)
def test_a_run_stops_after_the_stage_it_is_told(
    job: Job, finished: Path, tmp_path: Path, stage: str, there: set[str]
) -> None:
    stopped = elsewhere(job, tmp_path)
    run(stopped, stop_after=stage, workers=1, progress=False)
    found = contents(tmp_path / "out")
    assert there <= {Path(name).name for name in found}
    assert not found.keys() - contents(finished).keys()
    assert "report.md" not in found
    run(stopped, workers=1, progress=False)
    assert contents(tmp_path / "out") == contents(finished)


def test_a_tokenizer_that_is_given_encodes_as_the_one_it_was_trained_as(
    job: Job, finished: Path, tmp_path: Path
) -> None:
    given = elsewhere(job, tmp_path, tokenizer={"load": str(finished / "tokenizer")})
    del given["train"]
    run(given, workers=1, progress=False)
    found, right = contents(tmp_path / "out"), contents(finished)
    tokens = [name for name in right if name.endswith((".bin", ".idx"))]
    assert [found[name] for name in tokens] == [right[name] for name in tokens]
    assert not any(name.startswith("counts/") for name in found)


def write_bad_rows(folder: Path, bad: int) -> Job:
    lines = [json.dumps({"text": f"글 {number}"}, ensure_ascii=False) for number in range(60)]
    for number in range(bad):
        lines[number * 7] = '{"text": null}'
    (folder / "bad.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {
        "read": {"sources": [{"path": str(folder / "bad.jsonl")}], "on_bad_row": "skip"},
        "train": {"vocab_size": 262},
        "encode": {"shard_bytes": 300},
        "output": str(folder / "out"),
    }


def test_bad_rows_of_all_units_are_listed_in_order(tmp_path: Path) -> None:
    job = write_bad_rows(tmp_path, 5)
    manifest = run(job, workers=2, progress=False)
    lines = (tmp_path / "out/rejected.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["row"] for row in rows] == sorted(row["row"] for row in rows)
    assert len(rows) == 5
    assert sum(shard.rejected_rows for shard in manifest.shards) == 5
    assert manifest.total.documents == 55
    before = contents(tmp_path / "out")
    run(job, workers=1, progress=False)
    assert contents(tmp_path / "out") == before


def test_too_many_bad_rows_stop_the_run(tmp_path: Path) -> None:
    job = write_bad_rows(tmp_path, 5)
    job["read"]["max_bad_rows"] = 4
    with pytest.raises(SourceError, match=r"max_bad_rows: more than 4 rows are bad"):
        run(job, workers=1, progress=False)


def test_an_error_names_unit_and_file_and_keeps_what_is_finished(tmp_path: Path) -> None:
    job = write_bad_rows(tmp_path, 1)
    job["read"]["on_bad_row"] = "error"
    with pytest.raises(SourceError, match=r"unit 0 \(.*bad\.jsonl 0-\d+\): .*bad\.jsonl"):
        run(job, workers=2, progress=False)
    assert not list(Path(job["output"]).rglob("*.tmp"))


def test_a_script_without_a_main_guard_is_told_so(job: Job, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import jogak\njogak.run({elsewhere(job, tmp_path)!r}, workers=2)\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "WorkerError: unit " in last
    assert "needs `if __name__ == '__main__':`" in last
    assert "a worker process imports the script, which runs a job again" in done.stderr


def start(job: Job, folder: Path, workers: int) -> subprocess.Popen[bytes]:
    """Start `jogak run` as a user does, in a process group of its own."""
    path = folder / "job.yaml"
    path.write_text(yaml.safe_dump(job, allow_unicode=True), encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, "-m", "jogak", "run", str(path), "--workers", str(workers)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # A shell that runs the tests in the background has them ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def finish(process: subprocess.Popen[bytes]) -> None:
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()


def kill_and_resume(
    job: Job, folder: Path, rng: random.Random, workers: int, seconds: float
) -> int:
    """Kill a run's process group at random moments until one lives to its end; return kills."""
    kills = 0
    done: dict[Path, int] = {}
    while True:
        process = start(job, folder, workers)
        try:
            # On a machine so busy that nothing gets done in time, later attempts live longer.
            process.communicate(timeout=rng.uniform(0.3, seconds) * 1.3**kills)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            kills += 1
        shards = {
            path: each for path, each in times(folder / "out").items() if "shard" in path.name
        }
        again = [str(path) for path, each in done.items() if shards.get(path) != each]
        assert not again, f"encoded twice: {again}"
        done = {path: each for path, each in shards.items() if path.with_suffix(".json").exists()}
        if process.returncode == 0:
            return kills


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_any_moment_a_run_goes_on_to_the_same_bytes(
    job: Job, finished: Path, tmp_path: Path, workers: int
) -> None:
    seed = 11 + workers
    kill_and_resume(elsewhere(job, tmp_path), tmp_path, random.Random(seed), workers, 3.0)
    assert contents(tmp_path / "out") == contents(finished), f"seed {seed}"


@pytest.mark.slow
def test_many_kills_leave_the_same_bytes(job: Job, finished: Path, tmp_path: Path) -> None:
    kills, seed = 0, 0
    while kills < 20:
        folder = tmp_path / str(seed)
        folder.mkdir()
        rng = random.Random(seed)
        kills += kill_and_resume(elsewhere(job, folder), folder, rng, 1 + seed % 2, 3.0)
        assert contents(folder / "out") == contents(finished), f"seed {seed}"
        seed += 1


def test_interrupted_by_the_user_a_run_leaves_no_half_file(
    job: Job, finished: Path, tmp_path: Path
) -> None:
    process = start(elsewhere(job, tmp_path), tmp_path, 2)
    tokens = tmp_path / "out/tokens"
    limit = time.monotonic() + 60
    while not list(tokens.glob("*.json")) and time.monotonic() < limit:
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode in (0, 130), errors.decode()
    assert not list((tmp_path / "out").rglob("*.tmp"))
    assert not (tmp_path / "out/.lock").exists()
    right = contents(finished)
    assert not {
        name: digest for name, digest in contents(tmp_path / "out").items() if right[name] != digest
    }
    finish(start(elsewhere(job, tmp_path), tmp_path, 2))
    assert contents(tmp_path / "out") == right


def test_counts_merged_in_levels_are_those_merged_at_once(
    job: Job, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More units than files that may be open at once: groups of them are merged first."""
    monkeypatch.setattr(merging, "MERGED_AT_ONCE", 2)
    monkeypatch.setattr(tree, "MERGED_AT_ONCE", 2)
    run(elsewhere(job, tmp_path), stop_after="count", workers=1, progress=False)
    for name in ("pretokens.parquet", "pretokens.json"):
        assert (tmp_path / "out/counts" / name).read_bytes() == (
            finished / "counts" / name
        ).read_bytes()
    assert {path.name for path in (tmp_path / "out/counts").iterdir()} == {
        "pretokens.parquet",
        "pretokens.json",
    }

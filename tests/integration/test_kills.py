"""Killed between any two changes on disk, or by the loss of a worker, a run loses nothing."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from fakes import killed_run
from fakes.corpus import write_corpus
from jogak.run import run

Job = dict[str, Any]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    made = write_corpus(tmp_path_factory.mktemp("corpus"), documents=60)
    return {**made, "encode": {"shard_bytes": 12_000}}


@pytest.fixture(scope="module")
def finished(job: Job) -> Path:
    run(job, workers=1, progress=False)
    return Path(job["output"])


def kill_at(job: Job, folder: Path, moments: object) -> list[Any]:
    """Run the program of tests/fakes on a job; return what it prints."""
    path = folder / "job.json"
    path.write_text(json.dumps({**job, "output": str(folder / "out")}))
    done = subprocess.run(
        [sys.executable, killed_run.__file__, str(path), json.dumps(moments).strip('"')],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def judge(results: list[dict[str, Any]]) -> None:
    for result in results:
        assert result["died"] == -signal.SIGKILL, result
        assert result["resumed"] == 0, result
        assert result["equal"], result
        assert not result["twice"], result
        assert not result["leftovers"], result


def test_killed_at_a_change_on_disk_a_run_goes_on_to_the_same_bytes(
    job: Job, tmp_path: Path
) -> None:
    """Twenty of the moments, spread over all stages, before (+) or after (-) the change."""
    (moments,) = kill_at(job, tmp_path, "count")
    assert moments > 60
    rng = random.Random(moments)
    chosen = [round(1 + (moments - 1) * step / 19) * rng.choice([1, -1]) for step in range(20)]
    judge(kill_at(job, tmp_path, chosen))


@pytest.mark.slow
def test_killed_at_any_change_on_disk_a_run_goes_on_to_the_same_bytes(
    job: Job, tmp_path: Path
) -> None:
    """Forty moments more, drawn anew from each tree; JOGAK_ALL_KILLS=1 takes every one there is."""
    (moments,) = kill_at(job, tmp_path, "count")
    chosen = [sign * at for at in range(1, moments + 1) for sign in (1, -1)]
    if not os.environ.get("JOGAK_ALL_KILLS"):
        chosen = sorted(random.Random(7 * moments).sample(chosen, 40), key=abs)
    results = kill_at(job, tmp_path, chosen)
    judge(results)
    print(f"{len(results)} kills survived, {moments} changes on disk")


STAGES = ("count", "train", "encode", "manifest")
"""Where a worker, the parent or all are killed."""


def stage_of(folder: Path) -> str | None:
    """Tell what a run is about to do, by what lies on disk."""
    if (folder / "manifest.json").exists():
        return "manifest"
    if any((folder / "tokens").glob("*")):
        return "encode"
    if (folder / "counts/pretokens.json").exists():
        return "train"
    return "count" if (folder / "counts").exists() else None


def start(job: Job, folder: Path) -> subprocess.Popen[str]:
    path = folder / "job.yaml"
    path.write_text(yaml.safe_dump(job, allow_unicode=True), encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, "-m", "jogak", "run", str(path), "--workers", "2"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def kill(process: subprocess.Popen[str], who: str, rng: random.Random) -> bool:
    """Kill all, the parent or one worker; tell whether there was one to kill."""
    if who == "all":
        os.killpg(process.pid, signal.SIGKILL)
        return True
    if who == "parent":
        process.kill()
        return True
    try:
        children = psutil.Process(process.pid).children()
        # The first child may be multiprocess's resource tracker, which no unit depends on.
        workers = [each for each in children if "spawn_main" in " ".join(each.cmdline())]
        if workers:
            rng.choice(workers).kill()
        return bool(workers)
    except psutil.NoSuchProcess:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("who", ["all", "parent", "worker"])
def test_whoever_is_killed_in_whatever_stage_nothing_is_lost(
    job: Job, finished: Path, tmp_path: Path, who: str
) -> None:
    seed = 5
    rng, killed = random.Random(f"{seed} {who}"), Counter[str]()
    for attempt, stage in enumerate(STAGES * 3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        output = folder / "out"
        process = start({**job, "output": str(output)}, folder)
        while process.poll() is None and stage_of(output) != stage:
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.05))
        hit = process.poll() is None and kill(process, who, rng)
        _, errors = process.communicate(timeout=300)
        killed[stage] += hit
        if who == "worker" and hit and process.returncode:
            # A worker may also die when it has nothing left to do; then the run ends well.
            assert process.returncode == 1, errors
            assert "the worker process was killed by SIGKILL" in errors
            assert "unit " in errors
        before = killed_run.finished_shards(output)
        again = start({**job, "output": str(output)}, folder)
        _, errors = again.communicate(timeout=300)
        assert again.returncode == 0, errors
        assert killed_run.contents(output) == killed_run.contents(finished), (stage, attempt)
        after = killed_run.finished_shards(output)
        assert {name: after.get(name) for name in before} == before, "encoded twice"
        assert not list(output.rglob("*.tmp"))
    assert killed["count"], killed
    assert killed["encode"], killed
    print(f"{who}: {sum(killed.values())} kills survived: {dict(killed)}")

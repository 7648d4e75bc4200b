"""The engine `ray`: several raylets give the bytes of the local engine, whatever is killed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil
import pytest

import jogak
from fakes.corpus import write_corpus
from fakes.ray_tasks import (
    count_attempts,
    die_always,
    die_at_first,
    double,
    fail_at_first,
    take_time,
)
from jogak.config import EngineOptions
from jogak.count import tree
from jogak.engine import ray as engine
from jogak.engine.ray import run_units
from jogak.errors import SourceError, WorkerError
from jogak.run import merging, run

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

ray = pytest.importorskip("ray", reason="ray is not installed (pip install 'jogak[ray]')")

pytestmark = [
    pytest.mark.slow,
    # What Ray itself leaves behind when it is shut down.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning",
                               "ignore::DeprecationWarning", "ignore::UserWarning",
                               "ignore::pytest.PytestUnraisableExceptionWarning"),
]  # fmt: skip


NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "memory": 4 * 2**30}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Three raylets on this machine, of 2, 1 and 1 processors."""
    from ray.cluster_utils import Cluster

    places = [str(Path(jogak.__file__).parents[1]), str(Path(__file__).parents[1])]
    names = ("PYTHONPATH", "RAY_USAGE_STATS_ENABLED")
    before = {name: os.environ[name] for name in names if name in os.environ}
    os.environ.update(zip(names, (os.pathsep.join(places), "0"), strict=True))
    head = {**NODE, "num_cpus": 2, "include_dashboard": False}
    started = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(2):
            started.add_node(**NODE)
        ray.init(address=started.address, log_to_driver=False, configure_logging=False)
        yield started
    finally:
        ray.shutdown()
        started.shutdown()
        for name in names:
            os.environ.pop(name)
        os.environ.update(before)


def options(cluster: Cluster, **more: int) -> EngineOptions:
    return EngineOptions(kind="ray", address=cluster.address, **{"memory_per_unit": 2**28, **more})


def run_all(
    cluster: Cluster, function: Callable[..., Any], tasks: list[Any], **more: int
) -> list[Any]:
    """Run tasks; return their results, in the order of arrival."""
    results: list[Any] = []
    done = [0]
    try:
        peak = run_units(
            function,
            tasks,
            names=[f"unit {index}" for index in range(len(tasks))],
            weights=[1] * len(tasks),
            options=options(cluster, **more),
            on_result=results.append,
            on_progress=lambda count: done.__setitem__(0, done[0] + count),
        )
        assert peak > 2**20
    finally:
        assert done[0] == len(results)
    return results


def contents(folder: Path) -> dict[str, bytes]:
    kept = [path for path in folder.rglob("*") if path.is_file() and path.name != "timings.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(kept)}


def test_every_unit_is_done_once(cluster: Cluster) -> None:
    found = run_all(cluster, double, list(range(9)), max_in_flight=2)
    assert sorted(found) == list(range(0, 18, 2))


def test_a_unit_whose_process_dies_is_tried_again(cluster: Cluster, tmp_path: Path) -> None:
    tasks = [str(tmp_path / str(index)) for index in range(3)]
    assert sorted(run_all(cluster, die_at_first, tasks)) == tasks


def test_a_poisoned_unit_is_reported_when_the_others_are_done(cluster: Cluster) -> None:
    found: list[int] = []
    with pytest.raises(SourceError, match=r"unit 1: bad: odd \(failed 2 times; the other units"):
        run_units(
            die_always, [0, 1, 2], names=["unit 0", "unit 1", "unit 2"], weights=[1, 9, 1],
            options=options(cluster, attempts=2), on_result=found.append,
        )  # fmt: skip
    assert sorted(found) == [0, 2]
    with pytest.raises(WorkerError, match=r"2 units cannot be done .*\n  unit 0: .*\n  unit 1: "):
        run_all(cluster, die_always, [1, 3], attempts=1)


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_unit_is_attempted_as_often_as_the_options_say(
    cluster: Cluster, tmp_path: Path, attempts: int
) -> None:
    with pytest.raises(WorkerError, match=rf"(?s)unit 0: RuntimeError.*failed {attempts} times"):
        run_all(cluster, count_attempts, [str(tmp_path / "a")], attempts=attempts)
    assert (tmp_path / "a").read_text() == "x\n" * attempts


def test_a_unit_that_raised_is_tried_on_another_node(cluster: Cluster, tmp_path: Path) -> None:
    for nodes in run_all(cluster, fail_at_first, [str(tmp_path / str(i)) for i in range(3)]):
        assert nodes[0] != nodes[1]


def at_once(spans: list[tuple[str, float, float]]) -> int:
    """Return how many of some spans overlap at most."""
    edges = sorted([(began, 1) for _, began, _ in spans] + [(ended, -1) for _, _, ended in spans])
    depth = most = 0
    for _, step in edges:
        depth += step
        most = max(most, depth)
    return most


def test_no_more_units_are_in_flight_than_the_options_say(cluster: Cluster) -> None:
    assert at_once(run_all(cluster, take_time, [0.2] * 4, max_in_flight=1)) == 1
    assert at_once(run_all(cluster, take_time, [0.2] * 8, max_in_flight=2)) <= 2


def test_a_unit_gets_the_processors_and_the_memory_of_the_options(cluster: Cluster) -> None:
    """The nodes have 2, 1 and 1 processors, and 4 GiB each."""
    spans = run_all(cluster, take_time, [0.2] * 4, cpus_per_unit=2)
    assert len({node for node, _, _ in spans}) == at_once(spans) == 1
    spans = run_all(cluster, take_time, [0.2] * 6, memory_per_unit=3 * 2**30)
    for node in {node for node, _, _ in spans}:
        assert at_once([each for each in spans if each[0] == node]) == 1


def test_the_largest_unit_starts_first(cluster: Cluster) -> None:
    found: list[int] = []
    run_units(
        double, [0, 1, 2, 3], names=["unit"] * 4, weights=[5, 9, 9, 1],
        options=options(cluster, max_in_flight=1), on_result=found.append,
    )  # fmt: skip
    assert found == [2, 4, 0, 6]


def test_a_unit_that_fits_no_node_is_told_of(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    engine._warn_of_small_nodes(ray, options(cluster, cpus_per_unit=2))
    assert caplog.text == ""
    engine._warn_of_small_nodes(ray, options(cluster, cpus_per_unit=64))
    assert "no node of the cluster has the 64 processors and 256 MiB" in caplog.text
    assert "(at most 2, and 4096 MiB)" in caplog.text


class Whole(NamedTuple):
    """A job on the local engine, and what it wrote."""

    job: dict[str, Any]
    contents: dict[str, bytes]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    job = write_corpus(folder, documents=160)
    job["encode"] = {"shard_bytes": 1024}
    run(job, workers=1, progress=False)
    found = contents(folder / "out")
    assert sum(name.endswith(".bin") for name in found) > 30
    return Whole(job, found)


def on_cluster(job: dict[str, Any], cluster: Cluster, output: Path) -> dict[str, Any]:
    engine = {"kind": "ray", "address": cluster.address, "memory_per_unit": 2**28,
              "max_in_flight": 4}  # fmt: skip
    return {**job, "engine": engine, "output": str(output)}


def kill_worker(cluster: Cluster) -> None:
    """Kill one process of this cluster that has a unit.

    Raises:
        LookupError: there is none at the moment.
    """
    for process in psutil.process_iter(["cmdline"]):
        if "ray::_attempt" in " ".join(process.info["cmdline"] or []):
            raylet = process.parent()
            if raylet is not None and cluster.address in " ".join(raylet.cmdline()):
                process.kill()
                return
    raise LookupError


def kill_raylet(cluster: Cluster) -> None:
    """Kill a node that is not the driver's, with all its processes."""
    node = sorted(cluster.worker_nodes, key=lambda each: each.node_id)[0]
    cluster.remove_node(node, allow_graceful=False)


@contextlib.contextmanager
def killing(cluster: Cluster, output: Path, stage: str, what: str) -> Iterator[list[str]]:
    """Kill a process or a node when three units of a stage are done; yield the stage once it is."""
    folder, names = ("counts", "unit-*.json") if stage == "count" else ("tokens", "shard-*.json")
    hit: list[str] = []
    over = threading.Event()

    def kill() -> None:
        while not hit and not over.wait(0.01):
            if len(list((output / folder).glob(names))) >= 3:
                # A process that has just ended its unit is no process at work.
                with contextlib.suppress(LookupError, psutil.NoSuchProcess):
                    kill_raylet(cluster) if what == "raylet" else kill_worker(cluster)
                    hit.append(stage)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        yield hit
    finally:
        over.set()
        killer.join(60)
        if hit and what == "raylet":
            cluster.add_node(**NODE)


@pytest.mark.parametrize("what", ["process", "raylet"])
@pytest.mark.parametrize("stage", ["count", "encode"])
def test_whatever_is_killed_a_job_gives_the_bytes_of_the_local_engine(
    cluster: Cluster, whole: Whole, tmp_path: Path, stage: str, what: str,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    with killing(cluster, tmp_path / "out", stage, what) as hit:
        run(on_cluster(whole.job, cluster, tmp_path / "out"), progress=False)
    assert hit == [stage]
    assert contents(tmp_path / "out") == whole.contents
    assert "attempt 1 of 3: unit " in caplog.text or what == "raylet"


@pytest.mark.shared
def test_real_text_gives_the_bytes_of_the_local_engine_though_process_and_raylet_are_killed(
    cluster: Cluster, shared: Path, tmp_path: Path
) -> None:
    data = shared / "data"
    sources = [
        {"path": str(data / "ko/*.parquet"), "language": "ko"},
        {"path": str(data / "reviews/*.parquet"), "text": "document", "language": "ko"},
        {"path": str(data / "multi/*.parquet"), "language_column": "lang"},
    ]
    job = {
        "name": "real",
        "read": {"sources": sources, "on_bad_row": "empty", "max_bad_rows": 100_000},
        "train": {"vocab_size": 8000},
        "encode": {"shard_bytes": 2**21},
        "output": str(tmp_path / "local"),
    }
    run(job, workers=2, progress=False)
    out = tmp_path / "out"
    with (
        killing(cluster, out, "count", "process") as first,
        killing(cluster, out, "encode", "raylet") as then,
    ):
        run(on_cluster(job, cluster, out), progress=False)
    assert (first, then) == (["count"], ["encode"])
    right = contents(tmp_path / "local")
    assert sum(name.endswith(".bin") for name in right) > 30
    assert contents(out) == right


def test_a_run_whose_driver_was_killed_goes_on_to_the_same_bytes(
    cluster: Cluster, whole: Whole, tmp_path: Path
) -> None:
    (tmp_path / "job.json").write_text(json.dumps(on_cluster(whole.job, cluster, tmp_path / "out")))
    command = [sys.executable, "-m", "jogak", "run", str(tmp_path / "job.json")]

    def done() -> dict[Path, int]:
        """Return when each shard was written that has its sidecar; others are still at work."""
        shards = [path.with_suffix(".bin") for path in (tmp_path / "out").glob("tokens/*.json")]
        return {path: path.stat().st_mtime_ns for path in shards}

    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as driver:
        while driver.poll() is None and len(done()) < 5:
            time.sleep(0.01)
        driver.kill()
    assert not (tmp_path / "out/manifest.json").exists()
    time.sleep(1)  # Ray ends the tasks of a driver that is gone
    before = done()
    assert len(before) >= 5
    run(on_cluster(whole.job, cluster, tmp_path / "out"), progress=False)
    assert contents(tmp_path / "out") == whole.contents
    assert {path: done()[path] for path in before} == before


def test_counts_merged_as_tasks_in_levels_are_those_of_the_local_engine(
    cluster: Cluster, whole: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "MERGED_AT_ONCE", 7)
    monkeypatch.setattr(tree, "MERGED_AT_ONCE", 7)
    monkeypatch.setattr(merging, "merge_units", None)  # the driver's own way
    job = on_cluster(whole.job, cluster, tmp_path / "out")
    run(job, stop_after="count", progress=False)
    found = contents(tmp_path / "out/counts")
    assert found.keys() == {"pretokens.parquet", "pretokens.json"}
    for name, data in found.items():
        assert whole.contents[f"counts/{name}"] == data


def test_what_is_damaged_in_a_finished_output_is_found_and_made_again_by_the_cluster(
    cluster: Cluster, whole: Whole, tmp_path: Path
) -> None:
    job = on_cluster(whole.job, cluster, tmp_path / "out")
    shutil.copytree(whole.job["output"], tmp_path / "out")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out/tokens").iterdir()}
    (tmp_path / "out/tokens/shard-00003.bin").write_bytes(b"")
    (tmp_path / "out/tokens/shard-00009.json").unlink()
    run(job, progress=False)
    assert contents(tmp_path / "out") == whole.contents
    again = {path.name for path, time_ns in times.items() if path.stat().st_mtime_ns != time_ns}
    assert again
    assert all(name.startswith(("shard-00003.", "shard-00009.")) for name in again)

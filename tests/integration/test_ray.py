"""The engine `ray`: several raylets give the bytes of the local engine, whatever is killed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import jogak
from fakes.corpus import write_corpus
from fakes.ray_tasks import die_always, die_at_first, double
from jogak.config import EngineOptions
from jogak.engine.ray import run_units
from jogak.errors import SourceError, WorkerError
from jogak.run import run

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


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Three raylets of one processor each on this machine."""
    from ray.cluster_utils import Cluster

    places = [str(Path(jogak.__file__).parents[1]), str(Path(__file__).parents[1])]
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(places)
    node = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "memory": 4 * 2**30}
    started = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    try:
        for _ in range(2):
            started.add_node(**node)
        ray.init(address=started.address, log_to_driver=False, configure_logging=False)
        yield started
    finally:
        ray.shutdown()
        started.shutdown()
        os.environ.pop("PYTHONPATH")
        os.environ.update({} if before is None else {"PYTHONPATH": before})


def options(cluster: Cluster, **more: int) -> EngineOptions:
    return EngineOptions(kind="ray", address=cluster.address, memory_per_unit=2**28, **more)


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


def test_a_job_gives_the_bytes_of_the_local_engine_though_a_node_is_killed(
    cluster: Cluster, tmp_path: Path
) -> None:
    job = write_corpus(tmp_path / "corpus", documents=120)
    job["encode"] = {"shard_bytes": 1024}
    job["output"] = str(tmp_path / "local")
    run(job, workers=1, progress=False)
    total = len(list((tmp_path / "local/tokens").glob("shard-*.json")))
    engine = {"kind": "ray", "address": cluster.address, "memory_per_unit": 2**28,
              "max_in_flight": 4}  # fmt: skip
    other = {**job, "engine": engine, "output": str(tmp_path / "out")}
    left: list[int] = []
    node = sorted(cluster.worker_nodes, key=lambda each: each.node_id)[0]

    def shards() -> int:
        return len(list((tmp_path / "out/tokens").glob("shard-*.json")))

    def kill() -> None:
        while shards() < 3:
            time.sleep(0.01)
        left.append(total - shards())
        cluster.remove_node(node, allow_graceful=False)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    run(other, progress=False)
    killer.join(60)
    assert left[0] > 0  # otherwise nothing was left to be done without them
    assert contents(tmp_path / "out") == contents(tmp_path / "local")

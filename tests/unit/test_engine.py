"""engine/local: results of every unit, or the first error with its unit's name; never a hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from fakes import engine_tasks
from jogak.engine.local import run_units, start_early, stop_early
from jogak.errors import SourceError, WorkerError


def run(function, tasks, workers, weights=None):  # noqa: ANN001, ANN201 (any function's tasks)
    results, told = [], []
    peak = run_units(
        function,
        tasks,
        names=[f"unit {index}" for index in range(len(tasks))],
        weights=weights or [1] * len(tasks),
        workers=workers,
        on_result=results.append,
        on_progress=told.append,
    )
    return results, told, peak


@pytest.mark.parametrize("workers", [1, 2])
def test_every_task_gives_its_result(workers: int) -> None:
    results, told, _ = run(engine_tasks.square, list(range(9)), workers)
    assert sorted(each[:2] for each in results) == [(n, n * n) for n in range(9)]
    assert sum(told) == 9


def test_one_worker_is_this_process_and_two_are_others() -> None:
    for workers, here in ((1, True), (2, False)):
        results, _, _ = run(engine_tasks.square, [1, 2, 3], workers)
        assert all((process == os.getpid()) is here for _, _, process in results)


def test_a_single_unit_needs_no_worker_process() -> None:
    results, _, _ = run(engine_tasks.square, [4], 2)
    assert results == [(4, 16, os.getpid())]


def test_no_tasks_is_no_work() -> None:
    assert run(engine_tasks.square, [], 2)[0] == []


def test_the_largest_unit_starts_first() -> None:
    results, _, _ = run(engine_tasks.square, [0, 1, 2, 3], 1, weights=[5, 9, 9, 1])
    assert [each[0] for each in results] == [1, 2, 0, 3]


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_adds_up_to_the_weights_whatever_units_tell(workers: int) -> None:
    _, told, _ = run(engine_tasks.tell_in_parts, [1, 5, 0], workers, weights=[10, 10, 10])
    assert sum(told) == 30
    assert min(told) > 0


def test_one_worker_tells_progress_inside_a_unit() -> None:
    _, told, _ = run(engine_tasks.tell_in_parts, [3], 1, weights=[10])
    assert told == [3, 3, 3, 1]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_keeps_its_class_and_names_the_unit(workers: int) -> None:
    with pytest.raises(SourceError, match=r"^unit 3: corpus\.parquet: row 7: not text$"):
        run(engine_tasks.fail_at_three, list(range(6)), workers)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("function", "says"),
    [
        (engine_tasks.fault, r"^unit \d: IndexError: list index out of range"),
        (engine_tasks.fail_unpicklable, r"^unit \d: Unpicklable: \d"),
        (engine_tasks.out_of_memory, r"^unit \d: out of memory; use fewer workers"),
    ],
)
def test_another_exception_is_a_worker_error_naming_the_unit(function, says, workers: int) -> None:  # noqa: ANN001 (functions of the tasks)
    with pytest.raises(WorkerError, match=says):
        run(function, [0, 1], workers)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        (signal.SIGKILL, "killed by SIGKILL; if the system ran out of memory"),
        (signal.SIGSEGV, "killed by SIGSEGV; this is a fault in native code"),
        (signal.SIGTERM, "killed by SIGTERM; something outside Jogak"),
        (-7, "ended with exit code 7"),
    ],
)
def test_a_worker_that_dies_is_named_with_its_unit_and_cause(how: int, says: str) -> None:
    if how == signal.SIGSEGV and "JOGAK_SANITIZED" in os.environ:
        pytest.skip("AddressSanitizer takes SIGSEGV itself and ends the process by SIGABRT")
    tasks = [(0, 0), (1, 0), (2, how), (3, 0)]
    started = time.monotonic()
    with pytest.raises(WorkerError, match=rf"^unit 2: the worker process (was )?{says}"):
        run(engine_tasks.die, tasks, 2)
    assert time.monotonic() - started < 30


def test_processes_started_early_run_the_next_units() -> None:
    start_early(2, "jogak.encode")
    early = {
        each.pid for each in psutil.Process().children() if "spawn_main" in " ".join(each.cmdline())
    }
    results, _, _ = run(engine_tasks.square, [1, 2, 3, 4], 2)
    assert {process for _, _, process in results} <= early
    later, _, _ = run(engine_tasks.square, [1, 2, 3, 4], 2)
    assert not {process for _, _, process in later} & early


def test_processes_started_early_for_nothing_are_ended() -> None:
    start_early(2, "jogak.encode")
    stop_early()
    children = psutil.Process().children(recursive=True)
    assert [each for each in children if "spawn_main" in " ".join(each.cmdline())] == []


def test_an_early_process_that_died_is_named_with_the_unit_it_was_given() -> None:
    start_early(2, "jogak.no_such_module")
    with pytest.raises(WorkerError, match=r"^unit \d: the worker process ended with exit code 1"):
        run(engine_tasks.square, [1, 2, 3, 4], 2)


def test_no_worker_survives_an_error() -> None:
    with pytest.raises(WorkerError):
        run(engine_tasks.die, [(0, 0), (1, signal.SIGKILL), (2, 0)], 2)
    children = psutil.Process().children(recursive=True)
    assert [each for each in children if "spawn_main" in " ".join(each.cmdline())] == []


def test_peak_memory_is_the_workers_own() -> None:
    _, _, peak = run(engine_tasks.hold_memory, [200 * 2**20, 1], 2)
    assert 200 * 2**20 <= peak < 600 * 2**20


SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from fakes.engine_tasks import sleep_forever
from jogak.engine.local import run_units
if __name__ == "__main__":
    run_units(sleep_forever, sys.argv[1:], names="ab", weights=[1, 1], workers=2, on_result=print)
"""


def wait_for(condition, seconds: float = 20.0) -> None:  # noqa: ANN001 (a function of no arguments)
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "waited too long"
        time.sleep(0.02)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_parent(tmp_path: Path, how: int) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(tests=str(Path(__file__).parents[1])))
    marks = [tmp_path / "a", tmp_path / "b"]
    with subprocess.Popen(
        [sys.executable, str(script), *map(str, marks)],
        stderr=subprocess.PIPE,
        # A shell that runs the tests in the background has them ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as parent:
        wait_for(lambda: all(mark.exists() and mark.read_text() for mark in marks))
        workers = [int(mark.read_text()) for mark in marks]
        parent.send_signal(how)
        parent.communicate(timeout=20)
    wait_for(lambda: not any(psutil.pid_exists(worker) for worker in workers))

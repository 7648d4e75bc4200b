"""Runs units on processes of this machine: largest first, first error wins, no death unnoticed.

Each worker has a pipe of its own and one unit at a time, so whoever dies, it is known which unit
it held. Processes are spawned, never forked: a fork would copy locks of running threads.
"""

from __future__ import annotations

import contextlib
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import multiprocess
from multiprocess.connection import wait

from jogak.engine import Advance, Weights, largest_first
from jogak.engine.worker import Meter, peak_bytes, serve
from jogak.errors import JogakError, WorkerError

Task = TypeVar("Task")
Result = TypeVar("Result")

GUARD = "a script that calls jogak.run needs `if __name__ == '__main__':` around the call"

JOIN_S = 5.0
"""How long a worker that was told to end may take before it is killed."""


def run_units(
    function: Callable[[Task, Advance], Result],
    tasks: Sequence[Task],
    *,
    names: Sequence[str],
    weights: Weights,
    workers: int,
    on_result: Callable[[Result], None],
    on_progress: Advance = lambda _: None,
) -> int:
    """Apply `function` to every task; results arrive in any order.

    One worker runs in this process, several in processes of their own. When a unit fails, or its
    worker dies, the others are stopped; their finished results have been handed over by then.

    Args:
        function: of a module, so that workers can import it. It gets a task and a function to
            call with the bytes it has come further.
        tasks: values that can be pickled, small ones.
        names: what messages call each task.
        weights: bytes of each task; the largest start first, and progress adds up to their sum.
        workers: processes, at least 1.
        on_result: called in this process with each result.
        on_progress: called in this process with bytes done since the last call.

    Returns:
        Peak resident memory of the largest process that ran units, in bytes.

    Raises:
        JogakError: of the class that the unit raised, its message naming the unit.
        WorkerError: a unit raised another exception, or its process died.
    """
    order = largest_first(weights)
    if workers == 1 or len(tasks) <= 1:
        for index in order:
            meter = Meter(int(weights[index]), on_progress)
            # Whatever a unit raises is to name the unit, as it does from a worker.
            try:
                result = function(tasks[index], meter.advance)
            # Whatever a unit raises is told with the unit's name, its own class kept.
            except Exception as error:
                raise named(error, names[index]) from error
            meter.finish()
            on_result(result)
        return peak_bytes()
    pool = _Pool(function, min(workers, len(tasks)))
    try:
        peak = pool.run(order, tasks, names, weights, on_result, on_progress)
        pool.close()
    finally:
        pool.kill()
    return peak


def refuse_inside_worker() -> None:
    """Stop a script that, imported by a worker it has started, would start all over again.

    Raises:
        WorkerError: this process is a worker that still imports the script.
    """
    # multiprocessing itself guards Process.start by this attribute, in the same situation.
    if getattr(multiprocess.current_process(), "_inheriting", False):
        message = f"a worker process imports the script, which runs a job again; {GUARD}"
        raise WorkerError(message)


def named(error: Exception, name: str) -> JogakError:
    """Return the error to raise for a unit: its own class if it is Jogak's, naming the unit."""
    if isinstance(error, JogakError):
        return type(error)(f"{name}: {error}")
    if isinstance(error, MemoryError):
        return WorkerError(f"{name}: out of memory; use fewer workers (engine.workers)")
    trace = "".join(traceback.format_exception(error)).rstrip()
    return WorkerError(f"{name}: {type(error).__name__}: {error}; this is a fault\n{trace}")


@dataclass(slots=True)
class _Worker:
    process: Any
    connection: Any
    unit: int | None = None


class _Pool:
    """Worker processes, a pipe each."""

    def __init__(self, function: Callable[..., Any], count: int) -> None:
        self._workers: list[_Worker] = []
        try:
            while len(self._workers) < count:
                self._workers.append(_early.pop() if _early else _started(None))
            for worker in self._workers:
                # A worker that died is noticed by its sentinel, with its exit code.
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    worker.connection.send(function)
        except BaseException:
            self.kill()
            raise

    def run(
        self,
        order: Iterator[int],
        tasks: Sequence[Any],
        names: Sequence[str],
        weights: Weights,
        on_result: Callable[[Any], None],
        on_progress: Advance,
    ) -> int:
        """Feed units to whoever is free until all are done; return the largest peak."""
        peak = 0
        for worker in self._workers:
            self._give(worker, order, tasks, weights)
        while any(worker.unit is not None for worker in self._workers):
            for worker, (kind, value, worker_peak) in self._messages(names):
                if kind == "progress":
                    on_progress(value)
                    continue
                if kind == "error":
                    raise value if worker.unit is None else named(value, names[worker.unit])
                peak = max(peak, worker_peak)
                self._give(worker, order, tasks, weights)
                on_result(value)
        return peak

    def _give(
        self, worker: _Worker, order: Iterator[int], tasks: Sequence[Any], weights: Weights
    ) -> None:
        worker.unit = next(order, None)
        if worker.unit is not None:
            # A worker that died is noticed by its sentinel, with its exit code.
            with contextlib.suppress(BrokenPipeError):
                worker.connection.send((tasks[worker.unit], int(weights[worker.unit])))

    def _messages(self, names: Sequence[str]) -> Iterator[tuple[_Worker, tuple[str, Any, int]]]:
        """Wait for workers; yield what they say; raise WorkerError for the dead."""
        busy = [worker for worker in self._workers if worker.unit is not None]
        ready = wait([part for each in busy for part in (each.connection, each.process.sentinel)])
        for worker in busy:
            # What a worker said before it died counts: a result must not be lost.
            with contextlib.suppress(EOFError, ConnectionResetError):
                while worker.unit is not None and worker.connection.poll():
                    yield worker, worker.connection.recv()
            if worker.unit is not None and worker.process.sentinel in ready:
                worker.process.join()
                raise _death(names[worker.unit], worker.process.exitcode)

    def close(self) -> None:
        """Let idle workers end by themselves."""
        for worker in self._workers:
            worker.connection.close()
        for worker in self._workers:
            worker.process.join(JOIN_S)

    def kill(self) -> None:
        """End whoever still runs, at once; temporary files are the caller's to sweep."""
        _kill(self._workers)


_early: list[_Worker] = []
"""Workers that `start_early` started and nobody has taken yet."""


def start_early(count: int, module: str) -> None:
    """Start processes that the next `run_units` of this process will use.

    Starting one and importing what it needs takes half a second, in which this process may well
    have something else to do. Whoever calls this calls `stop_early` in the end.

    Args:
        count: how many.
        module: what they import meanwhile.
    """
    while len(_early) < count:
        _early.append(_started(module))


def stop_early() -> None:
    """End the processes that nobody has taken."""
    _kill(_early)
    _early.clear()


def _started(module: str | None) -> _Worker:
    context = multiprocess.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, module), daemon=True)
    try:
        process.start()
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return _Worker(process, ours)


def _kill(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        if worker.process.is_alive():
            worker.process.kill()
    for worker in workers:
        worker.process.join()
        worker.connection.close()


def _death(name: str, exit_code: int) -> WorkerError:
    if exit_code >= 0:
        cause = f"ended with exit code {exit_code}; its own message is above"
        return WorkerError(f"{name}: the worker process {cause}; {GUARD}")
    try:
        cause = signal.Signals(-exit_code).name
    except ValueError:
        cause = f"signal {-exit_code}"
    advice = {
        "SIGKILL": "if the system ran out of memory, use fewer workers (engine.workers)",
        "SIGTERM": "something outside Jogak ended it; run again to go on",
    }.get(cause, "this is a fault in native code; report it together with the unit's input")
    return WorkerError(f"{name}: the worker process was killed by {cause}; {advice}")

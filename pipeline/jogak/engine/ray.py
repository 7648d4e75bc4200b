"""Runs units as tasks of a Ray cluster: Ray places them, Jogak bounds, repeats and judges them.

A task gets a unit's description and returns paths and small sums; texts and ids go through the file
system that all nodes share, never through Ray's object store. At most `max_in_flight` tasks are
known to Ray at a time, the largest first. Ray itself retries nothing, so that an attempt is counted
once, whatever it died of: its own error, its process, or its node.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from jogak.config import EngineOptions
from jogak.engine import Advance, Weights
from jogak.engine.local import named
from jogak.engine.worker import peak_bytes
from jogak.errors import ConfigError, JogakError, WorkerError

Task = TypeVar("Task")
Result = TypeVar("Result")

MOST_TOLD = 10
"""Poisoned units that the message names."""

logger = logging.getLogger(__name__)


def run_units(
    function: Callable[[Task, Advance], Result],
    tasks: Sequence[Task],
    *,
    names: Sequence[str],
    weights: Weights,
    options: EngineOptions,
    on_result: Callable[[Result], None],
    on_progress: Advance = lambda _: None,
) -> int:
    """Apply `function` to every task; as `local.run_units`, but a unit that fails is tried again.

    When a unit has failed `options.attempts` times it is poisoned: the others are finished first.

    Returns:
        Peak resident memory of the largest process that ran units, in bytes.

    Raises:
        ConfigError: ray is not installed, or there is no cluster at the address.
        JogakError: of the class that the only poisoned unit raised.
        WorkerError: several units are poisoned, or one's process or node died each time.
    """
    ray = _connect(options)
    attempt = ray.remote(
        num_cpus=options.cpus_per_unit,
        memory=options.memory_per_unit,
        max_retries=0,
        scheduling_strategy="SPREAD",
    )(_attempt)
    judge = _Judge(names, options.attempts)
    # Popped from the end: the largest first, and what failed before anything new.
    waiting = sorted(range(len(tasks)), key=lambda index: (weights[index], -index))
    running: dict[Any, int] = {}
    peak = 0
    try:
        while waiting or running:
            while waiting and len(running) < options.max_in_flight:
                index = waiting.pop()
                running[attempt.remote(function, tasks[index])] = index
            done, _ = ray.wait(list(running), num_returns=1)
            index = running.pop(done[0])
            try:
                result, worker_peak = ray.get(done[0])
            # What a unit raises, and what Ray says of a process or node that died.
            except Exception as error:
                if judge.gets_another(index, error):
                    waiting.append(index)
                continue
            peak = max(peak, worker_peak)
            on_progress(weights[index])
            on_result(result)
    finally:
        for left in running:
            ray.cancel(left, force=True)
    judge.close()
    return peak


class _Judge:
    """Counts the failures of units."""

    def __init__(self, names: Sequence[str], attempts: int) -> None:
        self._names = names
        self._attempts = attempts
        self._failures: dict[int, int] = {}
        self._poisoned: dict[int, JogakError] = {}

    def gets_another(self, index: int, error: Exception) -> bool:
        """Take down a failure; tell whether the unit is to be tried again."""
        failures = self._failures[index] = self._failures.get(index, 0) + 1
        reason = _reason(error, self._names[index])
        if failures < self._attempts:
            logger.warning("attempt %d of %d: %s", failures, self._attempts, reason)
            return True
        self._poisoned[index] = reason
        return False

    def close(self) -> None:
        """Raise if some unit is poisoned."""
        reasons = [error for _, error in sorted(self._poisoned.items())]
        if not reasons:
            return
        tail = f"(failed {self._attempts} times; the other units are done and kept)"
        if len(reasons) == 1:
            message = f"{reasons[0]} {tail}"
            raise type(reasons[0])(message)
        lines = "".join(f"\n  {error}" for error in reasons[:MOST_TOLD])
        message = f"{len(reasons)} units cannot be done {tail}:{lines}"
        raise WorkerError(message)


def _connect(options: EngineOptions) -> Any:  # noqa: ANN401 - a module that may be absent
    try:
        import ray
    except ImportError as error:
        message = "engine.kind: ray is not installed; pip install 'jogak[ray]', or set local"
        raise ConfigError(message) from error
    if not ray.is_initialized():
        try:
            ray.init(address=options.address, log_to_driver=False, configure_logging=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:200]
            message = (
                f"engine.address: no Ray cluster at '{options.address}' ({reason}); start one "
                "(ray start --head), or set engine.kind to local"
            )
            raise ConfigError(message) from error
    return ray


def _attempt(function: Callable[[Any, Advance], Any], task: Any) -> tuple[Any, int]:  # noqa: ANN401 - any task
    """Run one unit; in a process of the cluster."""
    return function(task, lambda _: None), peak_bytes()


def _reason(error: Exception, name: str) -> JogakError:
    """Return the error of a failed attempt, naming the unit; its own class if it is Jogak's."""
    import ray

    cause = getattr(error, "cause", None)
    if isinstance(error, ray.exceptions.RayTaskError) and isinstance(cause, Exception):
        return named(cause, name)
    if isinstance(error, JogakError | MemoryError):
        return named(error, name)
    first = next(iter(str(error).splitlines()), "")
    return WorkerError(f"{name}: {type(error).__name__}: {first}")

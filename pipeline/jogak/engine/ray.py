"""Runs units as tasks of a Ray cluster: Ray places them, Jogak bounds, repeats and judges them.

A task gets a unit's description and returns paths and small sums; texts and ids go through the file
system that all nodes share, never through Ray's object store. At most `max_in_flight` tasks are
known to Ray at a time, the largest first. Ray itself retries nothing, so that an attempt is counted
once, whatever it died of: its own error, its process, or its node.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from jogak.config import EngineOptions
from jogak.engine import Advance, Weights, largest_first
from jogak.engine.local import named
from jogak.engine.worker import peak_bytes, portable
from jogak.errors import ConfigError, JogakError, WorkerError

Task = TypeVar("Task")
Result = TypeVar("Result")

MOST_TOLD = 10
"""Poisoned units that the message names."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Done:
    """What an attempt that came to its end sends back."""

    result: Any
    error: Exception | None
    node: str
    peak_bytes: int


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
    A unit that raised is tried on another node, if there is one.

    Returns:
        Peak resident memory of the largest process that ran units, in bytes.

    Raises:
        ConfigError: ray is not installed, or there is no cluster at the address.
        JogakError: of the class that the only poisoned unit raised.
        WorkerError: several units are poisoned, or one's process or node died each time.
    """
    ray = _connect(options)
    _warn_of_small_nodes(ray, options)
    attempt = ray.remote(
        num_cpus=options.cpus_per_unit,
        memory=options.memory_per_unit,
        max_retries=0,
        scheduling_strategy="SPREAD",
    )(_attempt)
    shared = ray.put(function)
    judge = _Judge(names, options.attempts)
    order = largest_first(weights)
    again: list[tuple[int, str | None]] = []
    running: dict[Any, int] = {}
    peak = 0
    try:
        while True:
            while len(running) < options.max_in_flight:
                # What failed goes before anything new.
                index, node = again.pop() if again else (next(order, None), None)
                if index is None:
                    break
                placed = attempt.options(**_elsewhere(ray, node)) if node else attempt
                running[placed.remote(shared, tasks[index])] = index
            if not running:
                break
            done, _ = ray.wait(list(running), num_returns=1)
            index = running.pop(done[0])
            ended = _outcome(ray, done[0])
            if ended.error is not None:
                if judge.gets_another(index, ended.error):
                    again.append((index, ended.node))
                continue
            peak = max(peak, ended.peak_bytes)
            on_progress(int(weights[index]))
            on_result(ended.result)
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


def _warn_of_small_nodes(ray: Any, options: EngineOptions) -> None:  # noqa: ANN401 - the module
    """Say so when no node can ever hold a unit; a cluster that grows may get one that can."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    wanted = {"CPU": options.cpus_per_unit, "memory": options.memory_per_unit}
    if not any(all(node.get(name, 0) >= least for name, least in wanted.items()) for node in nodes):
        cpus, memory = (int(max(node.get(name, 0) for node in nodes)) for name in wanted)
        logger.warning(
            "engine: no node of the cluster has the %d processors and %d MiB that a unit is to "
            "have (at most %d, and %d MiB), so units wait for one that has; lower "
            "engine.cpus_per_unit or engine.memory_per_unit",
            options.cpus_per_unit,
            options.memory_per_unit >> 20,
            cpus,
            memory >> 20,
        )


def _elsewhere(ray: Any, node: str) -> dict[str, Any]:  # noqa: ANN401 - the module
    """Return options that place a task on another node than this one, if there is another."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    alive = sorted(each["NodeID"] for each in ray.nodes() if each["Alive"])
    others = [each for each in alive if each > node] + [each for each in alive if each < node]
    if not others:
        return {}
    # Soft: should that node go, any will do.
    return {"scheduling_strategy": NodeAffinitySchedulingStrategy(others[0], soft=True)}


def _attempt(function: Callable[[Any, Advance], Any], task: Any) -> _Done:  # noqa: ANN401 - any task
    """Run one unit; in a process of the cluster."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    # Whatever a unit raises is judged where the others are known: this is the process boundary.
    try:
        return _Done(function(task, lambda _: None), None, node, peak_bytes())
    # The one that runs the job decides what becomes of it.
    except Exception as error:
        return _Done(None, portable(error), node, peak_bytes())


def _outcome(ray: Any, reference: Any) -> _Done:  # noqa: ANN401 - the module, and an ObjectRef
    """Return what a task sent, or what Ray says of a process or node that died under it."""
    try:
        done: _Done = ray.get(reference)
    except ray.exceptions.RayError as error:
        return _Done(None, error, "", 0)
    return done


def _reason(error: Exception, name: str) -> JogakError:
    """Return the error of a failed attempt, naming the unit; its own class if it is Jogak's."""
    if isinstance(error, JogakError | MemoryError):
        return named(error, name)
    first = next(iter(str(error).splitlines()), "")
    return WorkerError(f"{name}: {type(error).__name__}: {first}")

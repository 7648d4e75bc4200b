"""What all stages of a run share: the job, its plan, the output folder, workers, timings."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from jogak import progress
from jogak.config import (
    EngineOptions,
    Job,
)
from jogak.engine import Advance, Weights, local
from jogak.engine.worker import peak_bytes
from jogak.output import Output, hashed_at_once, read_json, write_json
from jogak.plan import Plan
from jogak.run.claim import Claim
from jogak.run.lazy import Made
from jogak.run.mirror import Mirror

CHECKED_TOGETHER = 32
"""Units whose results one task of a cluster checks."""
TIMED = ("count", "tokenizer", "train", "encode")
"""Stages of which timings.json tells."""


@dataclass(frozen=True)
class Context:
    """A run at work.

    Attributes:
        job: the job, its paths absolute.
        output: where results go.
        units: the plan.
        claim: the identity of what results are made from.
        workers: processes to use.
        show: whether to draw bars.
        encodes: whether the stage `encode` is to come.
        mirror: the output in a store, if it goes to one.
        timings: by stage, what a run took; never part of the results.
        reused: by stage, bytes of text that an earlier run has done.
    """

    job: Job
    output: Output
    units: Plan
    claim: Claim
    workers: int
    show: bool
    encodes: bool = False
    mirror: Mirror | None = None
    timings: dict[str, dict[str, float | int]] = field(default_factory=dict)
    reused: dict[str, int] = field(default_factory=dict)

    @property
    def text_bytes(self) -> int:
        """Planned bytes of text."""
        return self.units.text_bytes

    @contextmanager
    def stage(
        self, name: str, inputs: str, *, total: int, unit: str = "B"
    ) -> Iterator[progress.Stage]:
        """Show a stage and take its time."""
        started = time.perf_counter()
        with progress.stage(name, inputs, total=total, unit=unit, show=self.show) as running:
            yield running
        elapsed_s = time.perf_counter() - started
        if self.reused.get(name, 0) == total:
            return
        timing = self.timings.setdefault(name, {})
        timing["elapsed_s"] = round(elapsed_s, 3)
        if unit == "B":
            done = running.done - self.reused.get(name, 0)
            timing["text_bytes"] = done
            timing["mb_per_s"] = round(done / elapsed_s / 1e6, 1)

    def run_units(
        self,
        function: Callable[[Any, Advance], Any],
        tasks: Sequence[Any],
        *,
        names: Sequence[str],
        weights: Weights,
        on_result: Callable[[Any], None],
        on_progress: Advance,
    ) -> int:
        """Run units on the job's engine; as `engine.local.run_units`."""
        return run_units(
            self.job.engine,
            self.workers,
            function,
            tasks,
            names=names,
            weights=weights,
            on_result=on_result,
            on_progress=on_progress,
        )

    def publish(self) -> None:
        """Put what a stage has made into the store, if the output goes to one."""
        if self.mirror is not None:
            self.mirror.put()

    def check_units(
        self,
        function: Callable[[Any], Any],
        tasks: Sequence[Any],
        on_result: Callable[[Any], None],
    ) -> None:
        """Apply a function that mostly hashes what an earlier run left; results in any order.

        On a cluster its processes do it, many units to a task: to read again what a cluster wrote
        is too much for one machine.
        """
        if self.job.engine.kind == "local":
            for found in hashed_at_once(function, tasks):
                on_result(found)
            return

        def take(found: list[Any]) -> None:
            for each in found:
                on_result(each)

        starts = np.arange(0, len(tasks), CHECKED_TOGETHER)
        batches = Made(lambda at: (function, [*tasks[at : at + CHECKED_TOGETHER]]), starts)
        self.run_units(
            _check_batch,
            batches,
            names=Made(lambda at: f"units {at} to {at + CHECKED_TOGETHER - 1}", starts),
            weights=np.ones(len(starts), np.int64),
            on_result=take,
            on_progress=lambda _: None,
        )

    def start_encoders(self) -> None:
        """Start the processes that will encode, while this one still saves the tokenizer."""
        count = min(self.workers, len(self.units))
        if self.encodes and self.job.engine.kind == "local" and count > 1:
            local.start_early(count, "jogak.encode")

    def note_peak(self, name: str, worker_bytes: int = 0) -> None:
        """Record the largest process so far, this one included."""
        timing = self.timings.setdefault(name, {})
        timing["peak_bytes"] = max(timing.get("peak_bytes", 0), worker_bytes, peak_bytes())

    def write_timings(self) -> None:
        """Write timings.json: what differs between equal runs.

        Stages that were not run, or found done, keep the figures of the run that did them.
        """
        old = (read_json(self.output.timings) or {}).get("stages", {})
        stages: dict[str, dict[str, float | int]] = {
            name: self.timings.get(name, old.get(name, {}))
            for name in TIMED
            if name in self.timings or name in old
        }
        write_json(
            self.output.timings,
            {
                "host": socket.gethostname(),
                "processors": os.cpu_count(),
                "workers": self.workers,
                "peak_bytes": max(
                    (each.get("peak_bytes", 0) for each in stages.values()), default=0
                ),
                "stages": stages,
            },
        )


def run_units(
    engine: EngineOptions,
    workers: int,
    function: Callable[[Any, Advance], Any],
    tasks: Sequence[Any],
    *,
    names: Sequence[str],
    weights: Weights,
    on_result: Callable[[Any], None],
    on_progress: Advance,
) -> int:
    """Run units on an engine; as `engine.local.run_units`."""
    run = partial(local.run_units, workers=workers)
    if engine.kind == "ray" and tasks:
        from jogak.engine import ray

        options = engine.model_copy(update={"max_in_flight": workers})
        run = partial(ray.run_units, options=options)
    return run(
        function,
        tasks,
        names=names,
        weights=weights,
        on_result=on_result,
        on_progress=on_progress,
    )


def _check_batch(task: tuple[Callable[[Any], Any], list[Any]], _: Advance) -> list[Any]:
    function, tasks = task
    return [function(each) for each in tasks]

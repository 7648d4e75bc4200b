"""What all stages of a run share: the job, its plan, the output folder, workers, timings."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from jogak import progress
from jogak.config import TRIVIAL_TOKENIZERS, Job, load_job, options_from
from jogak.engine import Advance, Weights, local
from jogak.engine.worker import peak_bytes
from jogak.errors import ConfigError
from jogak.manifest import ComparedTokenizer
from jogak.output import Output, hashed_at_once, read_json, write_json
from jogak.plan import Plan
from jogak.run.claim import Claim
from jogak.run.lazy import Made
from jogak.tokenizer import Tokenizer

CHECKED_TOGETHER = 32
"""Units whose results one task of a cluster checks."""
TIMED = ("count", "tokenizer", "train", "encode")
"""Stages of which timings.json tells."""
WORKER_BYTES = 16 * 2**20
"""Text below which one more process costs more than it brings: starting one takes about as long as
encoding this much."""


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
        run = partial(local.run_units, workers=self.workers)
        if self.job.engine.kind == "ray" and tasks:
            from jogak.engine import ray

            options = self.job.engine.model_copy(update={"max_in_flight": self.workers})
            run = partial(ray.run_units, options=options)
        return run(
            function,
            tasks,
            names=names,
            weights=weights,
            on_result=on_result,
            on_progress=on_progress,
        )

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


def _check_batch(task: tuple[Callable[[Any], Any], list[Any]], _: Advance) -> list[Any]:
    function, tasks = task
    return [function(each) for each in tasks]


def source_names(job: Job) -> list[str]:
    """Return what the report calls each source: its name, or its path from where paths part.

    >>> # /data/ko/*.parquet and /data/web.jsonl are called ko/*.parquet and web.jsonl
    """
    local = [each.path for each in job.read.sources if each.path and "://" not in each.path]
    paths = [Path(path) for path in local]
    shared = os.path.commonpath([path.parent for path in paths]) if paths else ""
    names = [
        each.name
        or (os.path.relpath(each.path, shared) if each.path in local else each.path or str(each.hf))
        for each in job.read.sources
    ]
    return [
        name if names.count(name) == 1 else f"{name} [{index}]" for index, name in enumerate(names)
    ]


def compared_tokenizers(job: Job) -> tuple[ComparedTokenizer, ...]:
    """Return the tokenizers that the report compares, each loaded once to know what it is.

    A file is called by its name, or by its folder's where every such file has the same name.
    """
    found = []
    for path in job.report.compare:
        if path in TRIVIAL_TOKENIZERS:
            found.append(ComparedTokenizer(path, path, 0, ""))
            continue
        tokenizer = Tokenizer.load(path)
        name = Path(path).parent.name if path.endswith("tokenizer.json") else Path(path).stem
        found.append(ComparedTokenizer(name, path, tokenizer.vocab_size, tokenizer.fingerprint))
    names = [each.name for each in found]
    return tuple(
        each if names.count(each.name) == 1 else replace(each, name=f"{each.name} [{index}]")
        for index, each in enumerate(found)
    )


def resolve_job(job: Job | Mapping[str, Any] | Path | str) -> Job:
    """Return a job with absolute paths, from a file, a mapping as in a file, or a Job.

    Raises:
        ConfigError: it is not a valid job.
    """
    if isinstance(job, Path | str):
        return load_job(job)
    if not isinstance(job, Job):
        if not isinstance(job, Mapping):
            message = (
                f"jogak.run: expected a job's file, its content or a Job (found "
                f"{type(job).__name__}); pass the path of the file"
            )
            raise ConfigError(message)
        job = options_from(Job, job, "jogak.run")
    sources = tuple(
        source.model_copy(
            update={"path": _absolute(source.path), "hf": _absolute_folder(source.hf)}
        )
        for source in job.read.sources
    )
    update: dict[str, Any] = {
        "read": job.read.model_copy(update={"sources": sources}),
        "output": _absolute(job.output),
    }
    if job.tokenizer is not None:
        load = _absolute(job.tokenizer.load)
        update["tokenizer"] = job.tokenizer.model_copy(update={"load": load})
    compare = tuple(
        each if each in TRIVIAL_TOKENIZERS else str(_absolute(each)) for each in job.report.compare
    )
    update["report"] = job.report.model_copy(update={"compare": compare})
    return job.model_copy(update=update)


def _absolute(path: str | None) -> str | None:
    if path is None or "://" in path:
        return path
    return os.path.normpath(Path(path).expanduser().absolute())


def _absolute_folder(name: str | None) -> str | None:
    """Make a saved dataset's folder absolute; a name on the hub stays as it is."""
    return _absolute(name) if name is not None and Path(name).is_dir() else name


def worker_count(job: Job, workers: int | None, text_bytes: int) -> int:
    """Return how many units run at a time: the caller's wish, the job's, or as many as pay off.

    Args:
        job: the job.
        workers: the caller's wish.
        text_bytes: the work there is.
    """
    if job.engine.kind == "ray":
        return workers or job.engine.max_in_flight
    wanted = workers if workers is not None else job.engine.workers
    if wanted == "auto":
        affinity = getattr(os, "sched_getaffinity", None)
        processors = len(affinity(0)) if affinity else os.cpu_count() or 1
        return max(1, min(processors, text_bytes // WORKER_BYTES))
    if wanted < 1:
        message = f"workers: at least 1 is needed (got {wanted})"
        raise ConfigError(message)
    return wanted

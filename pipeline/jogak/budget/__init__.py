"""budget: how many tokens a dataset holds, by language and source, without writing any.

In: a job, or files, folders and globs; tokenizers. Out: a Budget: counts where everything was read,
or estimates from a sample of units with their intervals.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from jogak import progress
from jogak.budget.counting import CountTask, UnitCount, count_unit
from jogak.budget.inputs import Inputs, PathOptions, is_job, job_of
from jogak.budget.result import Budget, Counted
from jogak.budget.summary import Sampled, sampled_budget, whole_budget
from jogak.budget.table import budget_text
from jogak.budget.units import SampleUnit, choose_units
from jogak.config import Boundary, Job
from jogak.detect import DETECT, describe_detector
from jogak.engine.local import refuse_inside_worker, run_units
from jogak.errors import ConfigError
from jogak.plan import plan_units
from jogak.run.jobs import worker_count
from jogak.run.naming import check_bad_rows, unit_names
from jogak.shards import dtype_for
from jogak.tokenizer import Tokenizer

logger = logging.getLogger(__name__)

__all__ = ["Budget", "budget", "budget_text"]


def budget(
    inputs: Inputs,
    tokenizers: Path | str | Sequence[Path | str] = (),
    *,
    sample: float | None = None,
    seed: int = 0,
    text: str = "text",
    language: str | None = None,
    language_column: str | None = None,
    boundary: Boundary = "eos",
    workers: int | None = None,
    show_progress: bool = True,
) -> Budget:
    """Count, or estimate from a sample, the tokens of a dataset.

    Args:
        inputs: a job (file, content or Job), or files, folders and globs.
        tokenizers: one or several; for a job that loads one, that one by default.
        sample: the part of the units to read, above 0 and below 1; all of them by default.
        seed: which units those are.
        text: for paths: the column of text.
        language: for paths: the language of every document, or `detect`.
        language_column: for paths: the column of languages.
        boundary: for paths: the boundary policy whose tokens are counted.
        workers: processes; as many as pay off by default.
        show_progress: whether to draw a bar on a terminal.

    Raises:
        JogakError: as reading and tokenizing do, or an argument is wrong.
    """
    refuse_inside_worker()
    if sample is not None and not 0 < sample < 1:
        message = (
            f"sample: expected a part above 0 and below 1 (found {sample:g}); leave it out to "
            "read everything"
        )
        raise ConfigError(message)
    paths = [tokenizers] if isinstance(tokenizers, Path | str) else list(tokenizers)
    options = PathOptions(text, language, language_column, boundary)
    job = job_of(inputs, options, str(paths[0]) if paths else None)
    named = [str(path) for path in paths] or _own_tokenizer(job, inputs)
    counted = [_describe(name) for name in dict.fromkeys(named)]
    if any(source.language == DETECT for source in job.read.sources):
        logger.info("budget: %s", describe_detector())
    if sample is None:
        units = [SampleUnit.whole(unit) for unit in plan_units(job)]
        return whole_budget(job, counted, _count(job, units, counted, workers, show_progress))
    chosen = choose_units(job, sample, seed)
    units = [unit for each in chosen for unit in each.units]
    counts = _count(job, units, counted, workers, show_progress)
    return sampled_budget(job, counted, Sampled(chosen, counts, sample, seed))


def _own_tokenizer(job: Job, inputs: Inputs) -> list[str]:
    if job.tokenizer is not None and is_job(inputs):
        return [job.tokenizer.load]
    message = "tokenizers: none named; give one (--tokenizer)"
    raise ConfigError(message)


def _describe(name: str) -> Counted:
    tokenizer = Tokenizer.load(name)
    size = tokenizer.vocab_size
    return Counted(name, size, tokenizer.fingerprint, dtype_for(size).name)


def _count(
    job: Job,
    units: Sequence[SampleUnit],
    tokenizers: Sequence[Counted],
    workers: int | None,
    show: bool,
) -> list[UnitCount]:
    """Count units in parallel; return the counts in the order of the units."""
    names = tuple(tokenizer.name for tokenizer in tokenizers)
    tasks = [CountTask(unit, job.read, job.normalize, names) for unit in units]
    planned = [unit.unit for unit in units]
    text_bytes = sum(unit.text_bytes for unit in planned)
    found: dict[int, UnitCount] = {}

    def take(done: UnitCount) -> None:
        found[done.index] = done
        check_bad_rows(job, sum(each.rejected_rows for each in found.values()))

    with progress.stage("budget", f"{len(units):,} units", total=text_bytes, show=show) as stage:
        run_units(
            count_unit,
            tasks,
            names=unit_names(planned),
            weights=[unit.text_bytes for unit in planned],
            workers=worker_count(job, workers, text_bytes * len(names)),
            on_result=take,
            on_progress=stage.advance,
        )
    return [found[unit.index] for unit in units]

"""The counts of units -> a Budget: added up, or estimated where only a sample was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jogak.budget.counting import UnitCount
from jogak.budget.estimate import Drawn, Group, estimate_group, half_widths
from jogak.budget.result import Budget, Counted, Design, Figure, Row
from jogak.budget.units import Chosen
from jogak.config import Job
from jogak.documents import SkippedFile
from jogak.run.jobs import source_names

BOUNDARY_TOKENS = {"none": 0, "eos": 1, "bos": 1, "both": 2}


@dataclass(frozen=True, slots=True)
class Sampled:
    """What was drawn and counted.

    Attributes:
        chosen: by source.
        counts: of the drawn units, in order.
        fraction, seed: of the sample.
    """

    chosen: Sequence[Chosen]
    counts: Sequence[UnitCount]
    fraction: float
    seed: int


def whole_budget(job: Job, tokenizers: Sequence[Counted], counts: Sequence[UnitCount]) -> Budget:
    """Return the budget of a dataset that was read whole."""
    table = _Table(job, tokenizers, counts)

    def count(language: str | None, source: int | None) -> Row:
        own = [each for each in counts if source in (None, each.source)]
        return table.row(table.values(own, language).sum(axis=0), np.zeros(table.width))

    return table.budget(count)


def sampled_budget(job: Job, tokenizers: Sequence[Counted], sampled: Sampled) -> Budget:
    """Return the budget that a sample estimates.

    A language that shares units with others is a domain: its tokens in each unit are the variable,
    so units without it count as zeros.
    """
    counts = sampled.counts
    table = _Table(job, tokenizers, counts)
    at = {each.index: each for each in counts}

    def group(language: str | None, number: int) -> Group | None:
        chosen = sampled.chosen[number]
        if not chosen.units:
            return None
        sizes = np.array([unit.size for unit in chosen.units])
        values = table.values([at[unit.index] for unit in chosen.units], language)
        strata, done = [], 0
        for stratum in chosen.strata:
            part = slice(done, done + len(stratum.drawn))
            strata.append(Drawn(stratum.units, sizes[part], values[part]))
            done = part.stop
        return estimate_group(strata, chosen.size)

    def estimate(language: str | None, source: int | None) -> Row:
        numbers = range(len(sampled.chosen)) if source is None else [source]
        found = [group(language, number) for number in numbers]
        groups = [each for each in found if each is not None]
        totals = sum((each.totals for each in groups), np.zeros(table.width))
        widths = half_widths(groups) if groups else np.zeros(table.width)
        return table.row(totals, widths)

    design = tuple(_design(chosen) for chosen in sampled.chosen)
    return table.budget(estimate, design, sampled)


def _design(chosen: Chosen) -> Design:
    return Design(
        source=chosen.source,
        units=chosen.count,
        strata=len(chosen.strata),
        drawn=len(chosen.units),
        unit_bytes=chosen.unit_bytes,
        size_bytes=round(chosen.size),
        drawn_bytes=round(sum(unit.size for unit in chosen.units)),
        basis=chosen.basis,
    )


class _Table:
    """What counting and estimating share: variables in columns, and how rows are made of them.

    The variables are documents, bytes, then tokens and tokens with boundary tokens by tokenizer.
    """

    def __init__(
        self, job: Job, tokenizers: Sequence[Counted], counts: Sequence[UnitCount]
    ) -> None:
        self._job = job
        self._tokenizers = tokenizers
        self._counts = counts
        self._boundary = BOUNDARY_TOKENS[job.encode.boundary]
        self.width = 2 + 2 * len(tokenizers)

    def values(self, counts: Sequence[UnitCount], language: str | None) -> NDArray[np.float64]:
        """Return the variables of units, float64 (units, variables)."""
        plain = np.zeros((len(counts), 2 + len(self._tokenizers)))
        for index, each in enumerate(counts):
            for name, row in each.languages.items():
                if language in (None, name):
                    plain[index] += row
        marked = plain[:, 2:] + self._boundary * plain[:, :1]
        return np.concatenate([plain, marked], axis=1)

    def row(self, totals: NDArray[np.float64], widths: NDArray[np.float64]) -> Row:
        """Return the figures of totals and half-widths, float64 (variables,) each."""
        pairs = zip(totals.tolist(), widths.tolist(), strict=True)
        figures = tuple(Figure(value, width) for value, width in pairs)
        middle = 2 + len(self._tokenizers)
        return Row(figures[0], figures[1], figures[2:middle], figures[middle:])

    def budget(
        self,
        figures: Callable[[str | None, int | None], Row],
        design: tuple[Design, ...] = (),
        sampled: Sampled | None = None,
    ) -> Budget:
        """Return the budget, asking for the figures of each language and source."""
        languages = sorted({name for each in self._counts for name in each.languages})
        skipped: list[SkippedFile] = [file for each in self._counts for file in each.skipped_files]
        return Budget(
            tokenizers=tuple(self._tokenizers),
            languages={name: figures(name, None) for name in languages},
            sources={
                name: figures(None, number) for number, name in enumerate(source_names(self._job))
            },
            total=figures(None, None),
            boundary=self._boundary,
            normalize=self._job.normalize.form,
            design=design,
            fraction=sampled.fraction if sampled else None,
            seed=sampled.seed if sampled else None,
            rejected_rows=sum(each.rejected_rows for each in self._counts),
            skipped_files=tuple(skipped),
        )

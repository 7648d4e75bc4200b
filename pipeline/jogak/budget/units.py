"""The units of a sample: each source cut finely enough that a small part of it is many units."""

from __future__ import annotations

from dataclasses import dataclass

from jogak.budget.sample import Stratum, draw
from jogak.budget.sizes import size_basis
from jogak.config import Job
from jogak.errors import SourceError
from jogak.plan import Unit, source_units
from jogak.run.context import source_names

UNITS_DRAWN = 40
"""Units to draw from a source, about: with fewer, the spread between them is badly known."""
LEAST_BYTES = 32 * 2**10
"""Text of a unit, at least: below, opening files costs more than reading them."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A source's units and which of them are drawn.

    Attributes:
        source: its name.
        strata: of the units by their number within the source.
        units: the drawn ones, in order, numbered through all sources.
        count, size: how many units the source has, and their plan's bytes of text.
        unit_bytes: how large units were to be.
        basis: what is known of sizes.
        numbers: the drawn units' numbers within the source.
    """

    source: str
    strata: tuple[Stratum, ...]
    units: tuple[Unit, ...]
    count: int
    size: int
    unit_bytes: int
    basis: str

    @property
    def numbers(self) -> tuple[int, ...]:
        """The drawn units' numbers within the source, ascending."""
        return tuple(number for stratum in self.strata for number in stratum.drawn)


def choose_units(job: Job, fraction: float, seed: int) -> list[Chosen]:
    """Cut every source and draw from it; a source without documents gives nothing to read.

    Raises:
        SourceError: an input is missing, or all are empty.
    """
    chosen: list[Chosen] = []
    first = 0
    for number, name in enumerate(source_names(job)):
        coarse = sum(u.text_bytes for u in source_units(job, number, job.encode.shard_bytes))
        wanted = max(int(coarse * fraction / UNITS_DRAWN), LEAST_BYTES)
        unit_bytes = min(wanted, job.encode.shard_bytes)
        units = list(source_units(job, number, unit_bytes, first))
        strata = draw(len(units), fraction, f"{seed} {number}")
        drawn = tuple(units[index] for stratum in strata for index in stratum.drawn)
        basis = size_basis(job.read.sources[number], units[0].parts[0].path) if units else "empty"
        size = sum(unit.text_bytes for unit in units)
        chosen.append(Chosen(name, strata, drawn, len(units), size, unit_bytes, basis))
        first += len(units)
    if first == 0:
        message = "read.sources: no documents (every input is empty)"
        raise SourceError(message)
    return chosen

"""The units of a sample: each source cut so finely that a small part of it is many units.

A ratio estimate needs the size of every unit, known before anything is read. Uncompressed files
have their bytes. A compressed file is one unit, its size the compressed bytes, scaled as the plan
does. A Parquet footer states the size of the text column by row group, and a row group is cut into
slots of equal size: a slot has all documents in its range of the text, of those at its ends the
share that lies in it. So units are alike in size even where one document fills a row group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jogak.budget.sample import Stratum, draw
from jogak.config import Job, Source
from jogak.errors import SourceError
from jogak.plan import Part, Unit, source_parts
from jogak.plan.inputs import classify
from jogak.run.jobs import source_names

UNITS_DRAWN = 40
"""Units to draw from a source, about: with fewer, the spread between them is badly known."""
LEAST_BYTES = 32 * 2**10
"""Text of a unit, at least: below, opening files costs more than reading them."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the plan, or slot `slot` of `slots` equal ones of its text."""

    part: Part
    slot: int = 0
    slots: int = 1


@dataclass(frozen=True, slots=True)
class SampleUnit:
    """What may be drawn: pieces of one source, and their size in the plan's bytes of text."""

    index: int
    source: int
    pieces: tuple[Piece, ...]
    size: float

    @classmethod
    def whole(cls, unit: Unit) -> SampleUnit:
        """Return a unit of the plan as it is."""
        pieces = tuple(Piece(part) for part in unit.parts)
        return cls(unit.index, unit.source, pieces, unit.text_bytes)

    @property
    def unit(self) -> Unit:
        """The unit as messages name it, and as progress weighs it."""
        parts = tuple(piece.part for piece in self.pieces)
        return Unit(self.index, self.source, parts, round(self.size))


@dataclass(frozen=True, slots=True)
class Chosen:
    """A source's units and which of them are drawn.

    Attributes:
        source: its name.
        strata: of the units.
        units: the drawn ones, in the order of the strata, numbered through all sources.
        count, size: how many units the source has, and the sum of their sizes.
        unit_bytes: how large units were to be.
        basis: what is known of sizes.
    """

    source: str
    strata: tuple[Stratum, ...]
    units: tuple[SampleUnit, ...]
    count: int
    size: float
    unit_bytes: int
    basis: str


def choose_units(job: Job, fraction: float, seed: int) -> list[Chosen]:
    """Cut every source and draw from it; a source without documents gives nothing to read.

    Raises:
        SourceError: an input is missing, or all are empty.
    """
    chosen: list[Chosen] = []
    first = 0
    for number, name in enumerate(source_names(job)):
        size = sum(
            part.text_bytes
            for part in source_parts(job, number, job.encode.shard_bytes, cut_rows=False)
        )
        wanted = max(int(size * fraction / UNITS_DRAWN), LEAST_BYTES)
        unit_bytes = min(wanted, job.encode.shard_bytes)
        units = list(cut(job, number, unit_bytes, first))
        sizes = [unit.size for unit in units]
        strata = draw(sizes, fraction, f"{seed} {number}")
        drawn = tuple(units[index] for stratum in strata for index in stratum.drawn)
        basis = _basis(job.read.sources[number], units[0].pieces[0].part.path) if units else ""
        chosen.append(Chosen(name, strata, drawn, len(units), sum(sizes), unit_bytes, basis))
        first += len(units)
    if first == 0:
        message = "read.sources: no documents (every input is empty)"
        raise SourceError(message)
    return chosen


def cut(job: Job, number: int, unit_bytes: int, first: int) -> Iterator[SampleUnit]:
    """Cut a source into units of about `unit_bytes`, numbered from `first`; O(parts)."""
    source = job.read.sources[number]
    held: list[Piece] = []
    total = 0.0
    for part in source_parts(job, number, unit_bytes, cut_rows=False):
        has_rows = source.path is None or classify(part.path)[0] == "parquet"
        slots = -(-part.text_bytes // unit_bytes) if has_rows and part.stop else 1
        if held and total + part.text_bytes > unit_bytes:
            yield SampleUnit(first, number, tuple(held), total)
            first, held, total = first + 1, [], 0.0
        if slots > 1:
            for slot in range(slots):
                piece = Piece(part, slot, slots)
                yield SampleUnit(first, number, (piece,), part.text_bytes / slots)
                first += 1
        else:
            held.append(Piece(part))
            total += part.text_bytes
    if held:
        yield SampleUnit(first, number, tuple(held), total)


def _basis(source: Source, path: str) -> str:
    """Say what is known of a source's size beforehand, by one of its files."""
    if source.path is None:
        return "stored text of datasets"
    kind, compression = classify(path)
    if kind == "parquet":
        return "text columns as Parquet footers state them"
    if compression:
        return f"compressed bytes of {compression} files, whose text bytes are estimated too"
    return "bytes of files"

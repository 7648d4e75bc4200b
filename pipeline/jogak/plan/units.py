"""Units of work, and the plan: all of them in columns, since there may be ten million."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Part:
    """A range of one file.

    Attributes:
        path: the file, or the dataset as the job names it.
        start: first row (Parquet, datasets), first byte (uncompressed JSON lines) or 0.
        stop: one past the last row or byte; 1 for a file that is read whole; 0 for a damaged one
            that could not be planned, under `read.on_bad_file: skip`.
        text_bytes: planned bytes of text, for progress and balance; not exact.
    """

    path: str
    start: int
    stop: int
    text_bytes: int


@dataclass(frozen=True, slots=True)
class Unit:
    """What one worker does at a time; unit k makes shard k."""

    index: int
    source: int
    parts: tuple[Part, ...]
    text_bytes: int


class Plan(Sequence[Unit]):
    """Units in order, each made of its numbers when it is asked for.

    Memory: 24 bytes a unit and 32 bytes a part, and each path once.
    """

    def __init__(self) -> None:
        """Begin without units."""
        self._sources = array("q")
        self._ends = array("q")
        self._sizes = array("q")
        self._paths: dict[str, int] = {}
        self._names: list[str] = []
        self._parts = array("q")
        self._order: NDArray[np.int64] | None = None

    def append(self, source: int, parts: Iterable[Part]) -> None:
        """Add a unit of a source."""
        text_bytes = 0
        for part in parts:
            path = self._paths.setdefault(part.path, len(self._names))
            if path == len(self._names):
                self._names.append(part.path)
            self._parts.extend((path, part.start, part.stop, part.text_bytes))
            text_bytes += part.text_bytes
        self._sources.append(source)
        self._ends.append(len(self._parts))
        self._sizes.append(text_bytes)

    def reordered(self, order: NDArray[np.int64]) -> Plan:
        """Return the same units in another order and numbered so; O(1), nothing is copied."""
        plan = Plan()
        plan.__dict__.update(self.__dict__)
        plan._order = order if self._order is None else self._order[order]
        return plan

    def __len__(self) -> int:
        """Return the number of units."""
        return len(self._sources)

    @overload
    def __getitem__(self, index: int) -> Unit: ...
    @overload
    def __getitem__(self, index: slice) -> list[Unit]: ...
    def __getitem__(self, index: int | slice) -> Unit | list[Unit]:
        """Return a unit, or several."""
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        place = number if self._order is None else int(self._order[number])
        numbers = self._parts[self._ends[place - 1] if place else 0 : self._ends[place]]
        columns = zip(*(numbers[column::4] for column in range(4)), strict=True)
        parts = tuple(Part(self._names[path], *rest) for path, *rest in columns)
        return Unit(number, self._sources[place], parts, self._sizes[place])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Planned bytes of text of every unit, int64 (units,)."""
        sizes = np.array(self._sizes, np.int64)
        return sizes if self._order is None else sizes[self._order]

    @property
    def text_bytes(self) -> int:
        """Planned bytes of text of all units."""
        return sum(self._sizes)

    def __eq__(self, other: object) -> bool:
        """Tell whether two plans have equal units in the same order."""
        if not isinstance(other, Plan) or len(self) != len(other):
            return NotImplemented
        return all(one == two for one, two in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment] # as other things that can grow

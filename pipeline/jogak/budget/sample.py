"""Which units are read: strata of neighbouring units, a few drawn from each by a seed.

Neighbours in a file resemble each other, so a source is cut into blocks of consecutive units and
every block is drawn from: the sample covers the source from end to end.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")

DRAWN_PER_STRATUM = 4
"""Units drawn from a stratum, about: few, so that strata are narrow; more than 2, so that the
spread between them is known."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """Consecutive units of a source, by index, and which of them are drawn."""

    first: int
    stop: int
    drawn: tuple[int, ...]

    @property
    def units(self) -> int:
        """How many units it has."""
        return self.stop - self.first


def draw(units: int, fraction: float, seed: str) -> tuple[Stratum, ...]:
    """Cut `units` units into strata and draw from each.

    At least two are drawn from every stratum, or its only one; so a source of few units is read
    in a larger part than asked for, and one of one or two units whole.

    Args:
        units: how many there are; none gives no stratum.
        fraction: of them to draw, above 0, at most 1.
        seed: what decides the draw, besides `units` and `fraction`.
    """
    wanted = min(max(math.ceil(units * fraction - 1e-9), 2), units)
    blocks = max(1, min(wanted // DRAWN_PER_STRATUM, units // 2))
    rng = random.Random(seed)  # a string's SHA-512 seeds it: the same on every machine
    strata = []
    for block in range(blocks if units else 0):
        first, stop = (units * edge // blocks for edge in (block, block + 1))
        share = wanted * (block + 1) // blocks - wanted * block // blocks
        count = min(max(share, 2), stop - first)
        strata.append(Stratum(first, stop, tuple(sorted(rng.sample(range(first, stop), count)))))
    return tuple(strata)

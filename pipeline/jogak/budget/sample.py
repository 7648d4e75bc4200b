"""Which units are read: strata of neighbouring units, some drawn from each by a seed.

Neighbours in a file resemble each other, so a source is cut into blocks of consecutive units and
every block is drawn from: the sample covers the source from end to end. Units so large that they
alone would decide the result are read in any case.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

DRAWN_PER_STRATUM = 4
"""Units drawn from a stratum, about: few, so that strata are narrow; more than 2, so that the
spread between them is known."""
LARGE = 2
"""A unit this many times the mean, and with more than its share of what is read, is certain."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """How many units it has, and which of the source's are drawn, by index."""

    units: int
    drawn: tuple[int, ...]


def draw(sizes: Sequence[float], fraction: float, seed: str) -> tuple[Stratum, ...]:
    """Cut units into strata and draw from each.

    At least two are drawn from every stratum, or its only one; so a source of few units is read
    in a larger part than asked for, and one of one or two units whole.

    Args:
        sizes: of the units; none gives no stratum.
        fraction: of them to draw, above 0, at most 1.
        seed: what decides the draw, besides the other arguments.
    """
    total, units = sum(sizes), len(sizes)
    wanted = min(max(math.ceil(units * fraction - 1e-9), 2), units)
    limit = max(total / wanted, LARGE * total / units) if units else 0
    large = tuple(index for index, size in enumerate(sizes) if size > limit)
    rest = [index for index, size in enumerate(sizes) if size <= limit]
    strata = [Stratum(len(large), large)] if large else []
    wanted = min(max(wanted - len(large), 2), len(rest))
    blocks = max(1, min(wanted // DRAWN_PER_STRATUM, len(rest) // 2)) if rest else 0
    rng = random.Random(seed)  # a string's SHA-512 seeds it: the same on every machine
    for block in range(blocks):
        first, stop = (len(rest) * edge // blocks for edge in (block, block + 1))
        share = wanted * (block + 1) // blocks - wanted * block // blocks
        count = min(max(share, 2), stop - first)
        drawn = sorted(rng.sample(range(first, stop), count))
        strata.append(Stratum(stop - first, tuple(rest[index] for index in drawn)))
    return tuple(strata)

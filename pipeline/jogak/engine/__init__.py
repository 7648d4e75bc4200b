"""Engines run units and do nothing else: what a unit means is known to its function only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Advance", "Weights", "largest_first"]

Advance = Callable[[int], None]
Weights = Sequence[int] | NDArray[np.int64]


def largest_first(weights: Weights) -> Iterator[int]:
    """Yield the numbers of tasks: the largest first, in order among equals. 8 bytes a task."""
    return map(int, np.argsort(-np.asarray(weights, np.int64), kind="stable"))

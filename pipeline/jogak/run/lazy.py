"""Sequences whose items are made when they are asked for: ten million tasks need no memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item")


class Made(Sequence[Item]):
    """What a function makes of each of some numbers. Memory: 8 bytes an item."""

    def __init__(self, make: Callable[[int], Item], numbers: NDArray[np.int64]) -> None:
        """Make item i of `numbers[i]`."""
        self._make = make
        self._numbers = numbers

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        """Return an item, made anew each time; or the items of a slice, not made yet."""
        if isinstance(index, slice):
            return Made(self._make, self._numbers[index])
        return self._make(int(self._numbers[index]))

    def chosen(self, numbers: NDArray[np.int64]) -> Made[Item]:
        """Return what is made of other numbers."""
        return Made(self._make, numbers)

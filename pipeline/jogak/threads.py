"""Doing several things at a time that mostly wait, or that run without the GIL."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Generic, Self, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

BEGUN = 4
"""Items begun for each thread: the results of those that end early wait for their turn."""


def processors() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """Apply a function to every item in threads; yield results in order.

    Items are taken as they are needed. An error, or Ctrl-C, does not wait for items that are not
    begun.
    """
    pool = ThreadPoolExecutor(threads)
    begun: deque[Future[Result]] = deque()
    try:
        for item in items:
            begun.append(pool.submit(function, item))
            if len(begun) > BEGUN * threads:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


class InTurn(Generic[Item]):
    """An iterator that threads read in turn, so that what makes the items need not know of them."""

    def __init__(self, items: Iterable[Item]) -> None:
        """Wrap what only one thread at a time may read."""
        self._items = iter(items)
        self._lock = Lock()

    def __iter__(self) -> Self:
        """Return itself."""
        return self

    def __next__(self) -> Item:
        """Return an item that no other thread gets."""
        with self._lock:
            return next(self._items)

    def close(self) -> None:
        """End, for all threads."""
        with self._lock:
            self._items = iter(())

"""Functions that the engine's tests run on worker processes (which import them by this name)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from jogak.errors import SourceError

Advance = Callable[[int], None]


def square(task: int, advance: Advance) -> tuple[int, int, int]:
    """Return the task, its square, and the process that did it."""
    advance(1)
    return task, task * task, os.getpid()


def tell_in_parts(task: int, advance: Advance) -> int:
    """Tell more bytes than there are, in parts."""
    for _ in range(task):
        advance(3)
    return task


def fail_at_three(task: int, advance: Advance) -> int:
    """Raise one of Jogak's errors for task 3."""
    if task == 3:
        message = "corpus.parquet: row 7: not text"
        raise SourceError(message)
    return square(task, advance)[0]


def fault(task: int, advance: Advance) -> int:
    """Raise what nobody expects."""
    advance(0)
    return [][task]


def out_of_memory(task: int, _: Advance) -> int:
    """Run out of memory at once."""
    raise MemoryError(task)


class Unpicklable(Exception):
    """Cannot be rebuilt from its arguments."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} {second}")


def fail_unpicklable(task: int, _: Advance) -> int:
    """Raise an exception that no other process can rebuild."""
    raise Unpicklable(task, 2)


def die(task: tuple[int, int], _: Advance) -> int:
    """Be killed by a signal (or leave with an exit code) at the task that says so."""
    number, how = task
    if how > 0:
        os.kill(os.getpid(), how)
    if how < 0:
        os._exit(-how)
    return number


def sleep_forever(task: str, _: Advance) -> None:
    """Leave a mark, then work until somebody ends it."""
    Path(task).write_text(str(os.getpid()))
    while True:
        time.sleep(0.05)


def hold_memory(task: int, _: Advance) -> int:
    """Touch so many bytes."""
    return int(np.ones(task, dtype=np.uint8).sum())

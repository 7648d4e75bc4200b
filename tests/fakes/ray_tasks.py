"""What the tests let a Ray cluster do; in a module that its processes can import."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

from jogak.errors import SourceError

Advance = Callable[[int], None]


def double(task: int, advance: Advance) -> int:
    """Return twice the task."""
    advance(1)
    return 2 * task


def die_at_first(task: str, _: Advance) -> str:
    """Kill the process at the first attempt, which leaves a file of the task's name."""
    if not Path(task).exists():
        Path(task).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def die_always(task: int, _: Advance) -> int:
    """Fail for odd tasks."""
    if task % 2:
        message = "bad: odd"
        raise SourceError(message)
    return task

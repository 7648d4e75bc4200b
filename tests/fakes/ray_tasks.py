"""What the tests let a Ray cluster do; in a module that its processes can import."""

from __future__ import annotations

import os
import signal
import time
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


def fail_at_first(task: str, _: Advance) -> tuple[str, str]:
    """Raise at the first attempt; return the nodes of both."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    if not Path(task).exists():
        Path(task).write_text(node)
        message = "bad: this node"
        raise SourceError(message)
    return Path(task).read_text(), node


def count_attempts(task: str, _: Advance) -> None:
    """Raise always; leave a line for each attempt."""
    with Path(task).open("a") as file:
        file.write("x\n")
    raise RuntimeError(task)


def take_time(task: float, _: Advance) -> tuple[str, float, float]:
    """Take some seconds; return the node, and when it began and ended."""
    import ray

    began = time.time()
    time.sleep(task)
    return ray.get_runtime_context().get_node_id(), began, time.time()

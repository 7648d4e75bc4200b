"""Progress bars and logging, set up together: both on stderr, and neither breaks the other.

A stage says what it starts with and what it ends with, one line each, and shows a bar between them
where stderr is a terminal. The library never configures logging; `configure` is for programs.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Stage:
    """A stage at work.

    Attributes:
        outputs: what it has made, for the line at its end; set it before the stage ends.
        done: bytes (or whatever its unit is) that it has finished.
    """

    bar: tqdm[Any]
    outputs: str = ""
    done: int = field(default=0, init=False)

    def advance(self, amount: int) -> None:
        """Move the bar forward."""
        self.done += amount
        self.bar.update(amount)

    def expect(self, total: int) -> None:
        """Set how much there is to do, where that turned out to be less than was thought."""
        self.bar.total = total

    def note(self, text: str) -> None:
        """Show what is worked on behind the bar."""
        self.bar.set_postfix_str(text, refresh=False)


@contextmanager
def stage(
    name: str, inputs: str, *, total: int, unit: str = "B", show: bool = True
) -> Iterator[Stage]:
    """Show a stage from its start to its end.

    Args:
        name: the stage's word.
        inputs: what it starts with, for the line at its start.
        total: how much there is to do: bytes of text, unless `unit` says otherwise.
        unit: what is counted, `B` for bytes.
        show: False for no bar even on a terminal.
    """
    from tqdm import tqdm

    logger.info("%s: starts with %s", name, inputs)
    started = time.perf_counter()
    with tqdm(
        total=total,
        desc=name,
        unit=unit,
        unit_scale=True,
        leave=False,
        dynamic_ncols=True,
        disable=None if show else True,  # None: no bar where stderr is not a terminal
        file=sys.stderr,
    ) as bar:
        running = Stage(bar)
        yield running
    elapsed_s = time.perf_counter() - started
    made = f"{running.outputs}, " if running.outputs else ""
    logger.info("%s: %s%s", name, made, _speed(running.done, unit, elapsed_s))


def _speed(done: int, unit: str, elapsed_s: float) -> str:
    """Write seconds, and the rate where anything was counted."""
    spent = f"{elapsed_s:.1f} s"
    if not done or elapsed_s <= 0:
        return spent
    if unit == "B":
        return f"{spent}, {done / elapsed_s / 1e6:.1f} MB/s"
    return f"{spent}, {done / elapsed_s:,.0f} {unit.strip()}/s"


class _BarHandler(logging.Handler):
    """Writes records above the bar that may be on screen."""

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm import tqdm

        tqdm.write(self.format(record), file=sys.stderr)


class _Formatter(logging.Formatter):
    """Names the level only where it says something."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        level = f"{record.levelname.lower()}: " if record.levelno != logging.INFO else ""
        return f"{time.strftime('%H:%M:%S', time.localtime(record.created))} {level}{text}"


def configure(*, verbose: bool = False) -> None:
    """Send Jogak's log to stderr; for programs, at their start, not for libraries."""
    handler = _BarHandler()
    handler.setFormatter(_Formatter())
    log = logging.getLogger("jogak")
    log.handlers[:] = [handler]
    log.setLevel(logging.DEBUG if verbose else logging.INFO)
    log.propagate = False

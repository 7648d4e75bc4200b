"""What runs units: this process, or one of its own that gets them through a pipe."""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

import multiprocess
from multiprocess.connection import Connection

from jogak.engine import Advance
from jogak.errors import JogakError, WorkerError

REPORT_S = 0.1
"""How often a worker tells how far it is, at most."""


def peak_bytes() -> int:
    """Return the peak resident memory of this process."""
    # ru_maxrss of a spawned process starts at its parent's on Linux; VmHWM is its own.
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class Meter:
    """Passes on progress so that a unit adds up to its weight, whatever its function tells."""

    def __init__(self, weight: int, report: Advance, interval_s: float = 0.0) -> None:
        """Prepare for a unit of so many bytes; report at most once in an interval."""
        self._left = weight
        self._pending = 0
        self._report = report
        self._interval_s = interval_s
        self._reported_at = time.monotonic()

    def advance(self, count: int) -> None:
        """Take down that the unit came so many bytes further."""
        count = min(count, self._left)
        self._left -= count
        self._pending += count
        now = time.monotonic()
        if self._pending and now - self._reported_at >= self._interval_s:
            self._report(self._pending)
            self._pending, self._reported_at = 0, now

    def finish(self) -> None:
        """Report what is left of the weight."""
        self._pending += self._left
        self._left = 0
        if self._pending:
            self._report(self._pending)


def serve(connection: Connection, module: str | None) -> None:
    """Run units until the pipe closes; the life of a worker process.

    Args:
        connection: brings the function, then units, each with its weight.
        module: what to import meanwhile; what the function needs takes half a second.
    """
    # Ctrl-C reaches the whole process group; the parent decides what happens.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def report(count: int) -> None:
        connection.send(("progress", count, 0))

    # A pipe that breaks is a parent that is gone: nobody is left to tell.
    with contextlib.suppress(EOFError, BrokenPipeError):
        if module is not None:
            importlib.import_module(module)
        function = connection.recv()
        while True:
            task, weight = connection.recv()
            meter = Meter(weight, report, REPORT_S)
            # Whatever is raised here must reach the parent: this is the process boundary.
            try:
                result = function(task, meter.advance)
            # The parent raises it: a worker that died of it instead would hide the cause.
            except Exception as error:
                connection.send(("error", portable(error), peak_bytes()))
            else:
                meter.finish()
                connection.send(("done", result, peak_bytes()))
    # Everything is written by now; taking the interpreter apart would only cost time.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def portable(error: Exception) -> Exception:
    """Return an error that any process can unpickle."""
    if isinstance(error, JogakError | MemoryError):
        return error
    trace = "".join(traceback.format_exception(error)).rstrip()
    return WorkerError(f"{type(error).__name__}: {error}; this is a fault\n{trace}")


def _end_with_parent() -> None:
    """End this process when its parent dies, so that nothing writes without an owner."""
    multiprocess.parent_process().join()
    os._exit(1)

"""A run that is killed at its k-th change on disk; `python killed_run.py JOB.json MOMENTS.json`.

Every rename, removal and flush of a file is a moment; the process dies right before or right after
it. Children are forked from this process, which has loaded everything and started no thread.
Printed: a line of JSON for each moment, or the number of moments if MOMENTS is `count`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from jogak import Tokenizer, run, train, verify  # noqa: F401 - loaded before any fork
from jogak.run import counting, encoding, training  # noqa: F401

pa.set_cpu_count(1)
CHANGES = ("replace", "rename", "unlink", "fsync", "rmdir")


def count_changes(at: int, *, after: bool) -> list[int]:
    """Die at change number `at`; return where the number of changes so far is kept."""
    seen = [0]

    def watched(change: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - os's
            seen[0] += 1
            doomed = seen[0] == at
            if doomed and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return change(*arguments, **options)
            finally:
                if doomed:
                    os.kill(os.getpid(), signal.SIGKILL)

        return call

    for name in CHANGES:
        setattr(os, name, watched(getattr(os, name)))
    return seen


def in_child(work: Callable[[], object]) -> tuple[int, str]:
    """Do something in a forked child; return how it ended, and what it returned."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.write(theirs, str(work()).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        said = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def contents(folder: Path) -> dict[str, str]:
    """Return the sha256 of every file that equal runs make the same."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in {"timings.json", ".lock"}
    }


def finished_shards(folder: Path) -> dict[str, int]:
    """Return when the shards that are declared finished were written."""
    sidecars = (folder / "tokens").glob("shard-*.json")
    return {path.name: path.with_suffix(".bin").stat().st_mtime_ns for path in sidecars}


def main() -> None:
    """Run, kill and resume at each moment asked for."""
    job = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(job["output"])

    def whole() -> int:
        seen = count_changes(0, after=False)
        run(job, workers=1, progress=False)
        return seen[0]

    code, moments = in_child(whole)
    assert code == 0
    expected = contents(folder)
    if sys.argv[2] == "count":
        print(moments)
        return
    for at in json.loads(sys.argv[2]):
        shutil.rmtree(folder)

        def killed(at: int = at) -> None:
            count_changes(abs(at), after=at < 0)
            run(job, workers=1, progress=False)

        died, _ = in_child(killed)
        left, before = len(contents(folder)), finished_shards(folder)
        code, _ = in_child(lambda: run(job, workers=1, progress=False).name)
        after = finished_shards(folder)
        result = {
            "at": at,
            "died": died,
            "files": left,
            "resumed": code,
            "equal": contents(folder) == expected,
            "leftovers": [str(path) for path in folder.rglob("*.tmp")],
            "twice": [name for name, time_ns in before.items() if after.get(name) != time_ns],
        }
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()

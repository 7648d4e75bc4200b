"""Usage: scripts/fuzz TARGET|all [--seconds N] [--seed S]: fuzz the core against its oracles.

Inputs are mutations of seeds; where the core is built with coverage (as scripts/fuzz does), inputs
that reach new code are mutated further. The same seed gives the same inputs, as long as no clock
decides how many. The input under way lies in build/fuzz/TARGET.input, so that a crash keeps it;
`--input FILE` runs one again. `all` runs as many at once as there
are processors.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from fuzz.mutate import mutate
from fuzz.targets import TARGETS, seeds
from jogak import _core

KEPT = Path(__file__).parents[2] / "build" / "fuzz"


class Coverage:
    """The map of the core, if it is built with one."""

    def __init__(self) -> None:
        found = sorted(Path(_core.__file__).parent.glob("libjogak_coverage.*"))
        self._library = ctypes.CDLL(str(found[0])) if found else None
        for name in ("new", "reached"):
            if self._library is not None:
                self._library[f"jogak_coverage_{name}"].restype = ctypes.c_size_t

    def start(self) -> None:
        """Begin an input."""
        if self._library is not None:
            self._library.jogak_coverage_start()

    def is_new(self) -> bool:
        """Tell whether the input reached what none before it had."""
        return self._library is not None and self._library.jogak_coverage_new() > 0

    @property
    def reached(self) -> int:
        """Places of the core that were reached so far."""
        return self._library.jogak_coverage_reached() if self._library is not None else 0


def fuzz(name: str, seconds: float, seed: int, inputs: int | None = None) -> dict[str, object]:
    """Run a target until the time or the number of inputs is used up; a fault is raised."""
    rng, coverage = random.Random(f"{name} {seed}"), Coverage()
    run, corpus = TARGETS[name], seeds(name)
    KEPT.mkdir(parents=True, exist_ok=True)
    queue, done, size, slowest = list(corpus), 0, 0, 0.0
    started = time.monotonic()
    with (KEPT / f"{name}.input").open("wb") as file:
        while time.monotonic() - started < seconds and done != inputs:
            data = queue.pop() if queue else mutate(rng, rng.choice(corpus), corpus)
            file.seek(0)
            file.truncate()
            file.write(data)
            file.flush()
            coverage.start()
            began = time.monotonic()
            try:
                run(data)
            except BaseException:
                keep = KEPT / f"{name}.fault"
                keep.write_bytes(data)
                print(f"{name}: fault after {done} inputs, seed {seed}; kept as {keep}")
                raise
            slowest = max(slowest, time.monotonic() - began)
            if coverage.is_new() and data not in corpus:
                corpus.append(data)
            done, size = done + 1, size + len(data)
    return {
        "target": name,
        "seed": seed,
        "inputs": done,
        "bytes": size,
        "seconds": round(time.monotonic() - started, 1),
        "kept": len(corpus),
        "places": coverage.reached,
        "slowest_s": round(slowest, 3),
    }


def main() -> None:
    """Parse the command line; print one line of JSON for each target."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("target", choices=[*TARGETS, "all"])
    parser.add_argument("--seconds", type=float, default=24, help="for each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--input", type=Path, help="run this input alone")
    options = parser.parse_args()
    if options.input is not None:
        TARGETS[options.target](options.input.read_bytes())
        return
    if options.target != "all":
        print(json.dumps(fuzz(options.target, options.seconds, options.seed)), flush=True)
        return
    if not all(ThreadPoolExecutor(os.cpu_count()).map(partial(run_alone, options), TARGETS)):
        sys.exit(1)


def run_alone(options: argparse.Namespace, name: str) -> bool:
    """Run a target in a process of its own, which prints for itself; tell whether it held."""
    command = [sys.executable, __file__, name, "--seconds", str(options.seconds)]
    command += ["--seed", str(options.seed)]
    return subprocess.run(command, check=False).returncode == 0


if __name__ == "__main__":
    main()

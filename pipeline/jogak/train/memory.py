"""What training will need, judged before it starts: an error now rather than a kill later."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jogak.count import PretokenCounts
from jogak.errors import TokenizerError

UNIT_BYTES = 16
"""Memory of training for each byte of the distinct pretokens (one more for each pretoken), at most;
tests/integration/test_train_memory.py measures it."""

ID_BYTES = 4
"""The same, for the ids of pretokens that are encoded first."""

GROUP = Path("/sys/fs/cgroup")


def available_bytes(meminfo: Path = Path("/proc/meminfo"), group: Path = GROUP) -> int | None:
    """Return the memory that may still be used here; None where the system does not say.

    Source: Linux' estimate of what can be had without swapping, and a container's limit (control
    groups, version 2), of which cached files are not counted as used.
    """
    try:
        lines = meminfo.read_text().splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    try:
        limit = int((group / "memory.max").read_text())
        used = int((group / "memory.current").read_text())
        stat = (group / "memory.stat").read_text().splitlines()
        cached = sum(int(line.split()[1]) for line in stat if line.startswith("file "))
        found.append(max(limit - used + cached, 0))
    except (OSError, ValueError):  # no such group, or no limit ("max")
        pass
    return min(found, default=None)


def training_bytes(counts: PretokenCounts, *, encoded: bool = False) -> int:
    """Return the memory that training on these counts is taken to need besides them."""
    units = int(counts.offsets[-1] - counts.offsets[0]) + len(counts)
    return units * (UNIT_BYTES + encoded * ID_BYTES)


def check_memory(
    counts: PretokenCounts, available: int | None = None, *, encoded: bool = False
) -> None:
    """Refuse counts whose training would not fit into memory.

    Args:
        counts: what is to be trained on; they are in memory already.
        available: bytes; what the system says by default.
        encoded: the pretokens are encoded first.

    Raises:
        TokenizerError: it would not; says how much is needed, and which cut would fit.
    """
    available = available_bytes() if available is None else available
    if available is None:
        return
    needed = training_bytes(counts, encoded=encoded)
    if needed <= available:
        return
    reached = np.cumsum(np.diff(counts.offsets) + 1)
    share = available / needed
    fitting = int(np.searchsorted(reached, share * int(reached[-1]), side="right"))
    message = (
        f"train: {len(counts):,} distinct pretokens need about {needed >> 20:,} MiB of memory "
        f"(found {available >> 20:,} MiB available); the {fitting:,} most frequent would fit, "
        f"those that occur at least {int(counts.counts[fitting]) + 1:,} times; set count.sample to "
        f"{share:.2g} or less, or use a larger machine"
    )
    raise TokenizerError(message)

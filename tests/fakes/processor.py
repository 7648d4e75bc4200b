"""What the processor of this machine has."""

from __future__ import annotations

import contextlib

from jogak import _core


def usable_isas() -> list[str]:
    """Return the instruction sets that kernels can be asked for, the scalar one among them."""
    found = []
    for isa in ("scalar", "avx2", "avx512"):
        with contextlib.suppress(RuntimeError):
            _core.Scanner("a", isa)
            found.append(isa)
    return found


ISAS = usable_isas()

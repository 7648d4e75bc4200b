"""The order of shuffled output, item by item with Python's whole numbers."""

from __future__ import annotations

import hashlib

MASK = 2**64 - 1


def key(number: int, seed: int, name: str) -> int:
    """Return the key of item `number`, from 0: splitmix64 after number + 1 steps."""
    digest = hashlib.sha256(f"jogak shuffle {seed} {name}".encode()).digest()
    state = (int.from_bytes(digest[:8], "little") + (number + 1) * 0x9E3779B97F4A7C15) & MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 31)


def order(count: int, seed: int, name: str) -> list[int]:
    """Return the items 0 to count - 1 in shuffled order."""
    return sorted(range(count), key=lambda number: key(number, seed, name))

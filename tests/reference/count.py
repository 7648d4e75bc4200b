"""The slow, obvious counter that the native one must equal."""

from __future__ import annotations

from collections.abc import Iterable


def count_slowly(
    documents: Iterable[tuple[int, list[bytes]]], base: int = 0
) -> list[tuple[bytes, int, int]]:
    """Count pretokens with a dictionary.

    Args:
        documents: for each document its position and its pretokens.
        base: added to every position.

    Returns:
        (pretoken, count, first position), by count descending, then by first position.
    """
    counted: dict[bytes, list[int]] = {}
    for position, pretokens in documents:
        at = base + position
        for pretoken in pretokens:
            entry = counted.setdefault(pretoken, [0, at])
            entry[0] += 1
            entry[1] = min(entry[1], at)
            at += len(pretoken)
    rows = [(pretoken, count, first) for pretoken, (count, first) in counted.items()]
    return sorted(rows, key=lambda row: (-row[1], row[2], row[0]))

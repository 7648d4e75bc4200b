"""Adding up counts that are in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.count.counts import PretokenCounts, sum_totals
from jogak.errors import SourceError


def merge_counts(parts: Iterable[PretokenCounts | Path | str]) -> PretokenCounts:
    """Add up counts of several corpora or units; exact, whatever the order of the parts.

    Raises:
        SourceError: no part at all, or parts that were cut or normalized differently.
    """
    loaded = [p if isinstance(p, PretokenCounts) else PretokenCounts.load(p) for p in parts]
    if not loaded:
        message = "counts: nothing to merge (found no files); count a unit first"
        raise SourceError(message)
    head = loaded[0]
    for part in loaded[1:]:
        for name in ("pattern", "normalize"):
            if getattr(part, name) != getattr(head, name):
                message = (
                    f"counts: parts differ in {name} (found: {getattr(head, name)!r} and "
                    f"{getattr(part, name)!r}); merge counts that were made alike"
                )
                raise SourceError(message)
    counter = _core.PretokenCounter(single_part=True)
    for part in loaded:
        counter.add_counts(0, part.data, part.offsets, part.counts, part.first)
    data, offsets, counts, first = counter.finish(0)
    totals = sum_totals([part.totals for part in loaded])
    by_language = _by_language(loaded, totals, data, offsets)
    return PretokenCounts(
        data,
        offsets,
        counts,
        first,
        head.pattern,
        head.normalize,
        totals,
        *by_language,
        sample_of_all([part.sample for part in loaded]),
    )


def _by_language(
    parts: Sequence[PretokenCounts],
    languages: Iterable[str],
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
) -> tuple[dict[str, NDArray[np.uint32]], dict[str, NDArray[np.uint64]]]:
    """Return the rows of each of several languages among the merged pretokens, and its counts."""
    rows: dict[str, NDArray[np.uint32]] = {}
    row_counts: dict[str, NDArray[np.uint64]] = {}
    names = list(languages)
    if len(names) < 2:
        return rows, row_counts
    places = [_core.find_pretokens(data, offsets, part.data, part.offsets) for part in parts]
    for language in names:
        dense = np.zeros(len(offsets) - 1, dtype=np.uint64)
        for part, place in zip(parts, places, strict=True):
            if language in part.totals:
                dense[place] += part.language_counts(language)
        rows[language] = np.flatnonzero(dense).astype(np.uint32)
        row_counts[language] = dense[rows[language]]
    return rows, row_counts


def sample_of_all(samples: Sequence[str]) -> str:
    """Return what counts say that were added up from parts with these samples."""
    distinct = sorted(set(samples))
    return distinct[0] if len(distinct) == 1 else "; ".join(text or "all" for text in distinct)

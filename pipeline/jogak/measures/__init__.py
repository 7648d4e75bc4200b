"""measures: what is summed over documents and their tokens, and the ratios between the sums.

Sums add up, ratios do not: whatever is grouped (documents, shards, languages, sources) is summed
first, and a ratio is taken last.
"""

from __future__ import annotations

from jogak.measures.sums import (
    DEFINITIONS,
    RATIOS,
    Sums,
    TokenSums,
    ratio,
    ratios,
    renyi_efficiency,
    vocabulary_used,
)

__all__ = [
    "DEFINITIONS",
    "RATIOS",
    "Sums",
    "TokenSums",
    "ratio",
    "ratios",
    "renyi_efficiency",
    "vocabulary_used",
]

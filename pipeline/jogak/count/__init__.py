"""Distinct pretokens and how often each occurs: what training needs of a corpus, and all it needs.

Documents go in as TextBatches, a PretokenCounts comes out. The one design decision: counts are
exact sums and positions exact minima over bytes, so the result depends on the text alone, never on
workers, batch sizes or the order in which units finish.
"""

from __future__ import annotations

from jogak.count.combine import merge_counts
from jogak.count.counter import DocumentCounter
from jogak.count.counts import LanguageTotals, PretokenCounts
from jogak.count.merge import MergedCounts, merge_units
from jogak.count.sample import Sample
from jogak.count.texts import count_pretokens
from jogak.count.unit import CountedUnit, CountTask, count_unit

__all__ = [
    "CountTask",
    "CountedUnit",
    "DocumentCounter",
    "LanguageTotals",
    "MergedCounts",
    "PretokenCounts",
    "Sample",
    "count_pretokens",
    "count_unit",
    "merge_counts",
    "merge_units",
]

"""Distinct pretokens and how often each occurs: what training needs of a corpus, and all it needs.

Documents go in as TextBatches, a PretokenCounts comes out. The one design decision: counts are
exact sums and positions exact minima over bytes, so the result depends on the text alone, never on
workers, batch sizes or the order in which units finish.
"""

from __future__ import annotations

from jogak.count.combine import merge_counts
from jogak.count.counter import DocumentCounter
from jogak.count.counts import LanguageTotals, PretokenCounts
from jogak.count.merge import MergedCounts, merge_units, working_folder
from jogak.count.sample import Sample
from jogak.count.texts import count_pretokens
from jogak.count.tree import (
    MERGED_AT_ONCE,
    JoinTask,
    group_task,
    join_sorted,
    merge_group,
    part_tasks,
    sort_part,
)
from jogak.count.unit import CountedUnit, CountTask, count_unit

__all__ = [
    "MERGED_AT_ONCE",
    "CountTask",
    "CountedUnit",
    "DocumentCounter",
    "JoinTask",
    "LanguageTotals",
    "MergedCounts",
    "PretokenCounts",
    "Sample",
    "count_pretokens",
    "count_unit",
    "group_task",
    "join_sorted",
    "merge_counts",
    "merge_group",
    "merge_units",
    "part_tasks",
    "sort_part",
    "working_folder",
]

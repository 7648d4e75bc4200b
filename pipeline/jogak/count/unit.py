"""Counting one unit of the plan into one file: the task that workers run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jogak.config import NormalizeOptions, ReadOptions, WordMarker
from jogak.count.counter import NO_LIMIT, DocumentCounter
from jogak.count.sample import ALL, Sample
from jogak.documents import RejectedRow
from jogak.normalize import normalize_batch
from jogak.plan import Unit
from jogak.pretokenize import Pretokenizer
from jogak.pretokenize.words import word_pattern
from jogak.read import read_unit

POSITION_BITS = 40
"""A first position is (unit index << POSITION_BITS) | byte offset in the unit's text."""


@dataclass(frozen=True, slots=True)
class CountTask:
    """One unit to count.

    Attributes:
        unit: what to read.
        read: how to read it.
        normalize: how to normalize it.
        pattern: how to cut it, as configured.
        path: the run to write (Arrow IPC); `merge_units` makes the counts file of all.
        memory_bytes: what the worker's tables may hold: its share of `count.memory`.
        word_marker: what tells words apart in the vocabulary that is to be trained.
        sample: which documents to count.
    """

    unit: Unit
    read: ReadOptions
    normalize: NormalizeOptions
    pattern: str
    path: str
    memory_bytes: int = NO_LIMIT
    word_marker: WordMarker = "none"
    sample: Sample = ALL


@dataclass(frozen=True, slots=True)
class CountedUnit:
    """What a worker says of a unit it has counted.

    Attributes:
        index: the unit's index in the plan.
        path: the run.
        documents: documents counted.
        text_bytes: bytes of normalized text.
        pretokens: pretokens, repetitions included.
        changed: documents that normalization changed.
        spilled_bytes: what went to disk for a while since the budget was full.
        rejected: rows that were not counted as they stand.
    """

    index: int
    path: str
    documents: int
    text_bytes: int
    pretokens: int
    changed: int
    spilled_bytes: int
    rejected: tuple[RejectedRow, ...]


def count_unit(task: CountTask, advance: Callable[[int], None] = lambda _: None) -> CountedUnit:
    """Read, normalize and count one unit; its file appears whole or not at all.

    Args:
        task: the unit and how to count it.
        advance: called with bytes of text that are done.
    """
    rejected: list[RejectedRow] = []
    changed = 0
    spill = Path(task.path + ".runs")
    shutil.rmtree(spill, ignore_errors=True)  # of a worker that was killed
    with DocumentCounter(
        Pretokenizer(word_pattern(task.pattern, task.word_marker)),
        task.normalize,
        base=task.unit.index << POSITION_BITS,
        memory_bytes=task.memory_bytes,
        spill=spill,
        word_marker=task.word_marker,
        sample=task.sample,
    ) as counter:
        for batch in read_unit(task.unit, task.read, rejected):
            taken = task.sample.take(batch)
            normalized, batch_changed = normalize_batch(taken, task.normalize)
            changed += batch_changed
            counter.add(normalized)
            advance(int(batch.offsets[-1] - batch.offsets[0]))
        totals = counter.save_run(Path(task.path)).totals.values()
        spilled_bytes = counter.spilled_bytes
    shutil.rmtree(spill, ignore_errors=True)
    return CountedUnit(
        index=task.unit.index,
        path=task.path,
        documents=sum(total.documents for total in totals),
        text_bytes=sum(total.text_bytes for total in totals),
        pretokens=sum(total.pretokens for total in totals),
        changed=changed,
        spilled_bytes=spilled_bytes,
        rejected=tuple(rejected),
    )

"""Counting one unit of the plan into one file: the task that workers run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jogak.config import NormalizeOptions, ReadOptions
from jogak.count.counter import DocumentCounter
from jogak.documents import RejectedRow
from jogak.normalize import normalize_batch
from jogak.plan import Unit
from jogak.pretokenize import Pretokenizer
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
        path: the counts file to write (Parquet).
    """

    unit: Unit
    read: ReadOptions
    normalize: NormalizeOptions
    pattern: str
    path: str


@dataclass(frozen=True, slots=True)
class CountedUnit:
    """What a worker says of a unit it has counted.

    Attributes:
        index: the unit's index in the plan.
        path: the counts file.
        documents: documents counted.
        text_bytes: bytes of normalized text.
        pretokens: pretokens, repetitions included.
        distinct: distinct pretokens.
        changed: documents that normalization changed.
        rejected: rows that were not counted as they stand.
    """

    index: int
    path: str
    documents: int
    text_bytes: int
    pretokens: int
    distinct: int
    changed: int
    rejected: tuple[RejectedRow, ...]


def count_unit(task: CountTask, advance: Callable[[int], None] = lambda _: None) -> CountedUnit:
    """Read, normalize and count one unit; its file appears whole or not at all.

    Args:
        task: the unit and how to count it.
        advance: called with bytes of text that are done.
    """
    rejected: list[RejectedRow] = []
    changed = 0
    counter = DocumentCounter(
        Pretokenizer(task.pattern), task.normalize, task.unit.index << POSITION_BITS
    )
    for batch in read_unit(task.unit, task.read, rejected):
        normalized, batch_changed = normalize_batch(batch, task.normalize)
        changed += batch_changed
        counter.add(normalized)
        advance(int(batch.offsets[-1] - batch.offsets[0]))
    counts = counter.counts()
    counts.save(Path(task.path))
    return CountedUnit(
        index=task.unit.index,
        path=task.path,
        documents=counts.documents,
        text_bytes=counts.text_bytes,
        pretokens=counts.pretokens,
        distinct=len(counts),
        changed=changed,
        rejected=tuple(rejected),
    )

"""One unit, counted: documents, bytes and tokens by language, with every tokenizer; no ids kept."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jogak.budget.sizes import unit_size
from jogak.config import NormalizeOptions, ReadOptions
from jogak.documents import RejectedRow, SkippedFile, TextBatch
from jogak.normalize import normalize_batch
from jogak.plan import Unit
from jogak.read import read_unit
from jogak.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class CountTask:
    """A unit to count.

    Attributes:
        unit: what to read.
        read, normalize: the job's options.
        tokenizers: their files or folders.
        measured: whether the unit's share of the known size is wanted (a sample needs it).
    """

    unit: Unit
    read: ReadOptions
    normalize: NormalizeOptions
    tokenizers: tuple[str, ...]
    measured: bool


@dataclass(frozen=True, slots=True)
class UnitCount:
    """What was counted in a unit.

    Attributes:
        index, source: of the unit.
        size: its share of the source's known size; 0 where that was not asked for.
        languages: by language: documents, bytes as read, and tokens by tokenizer.
        rejected_rows: rows that were not counted as they stand.
        skipped_files: files, or parts of them, that were left out as damaged.
    """

    index: int
    source: int
    size: float
    languages: dict[str, tuple[int, ...]]
    rejected_rows: int
    skipped_files: tuple[SkippedFile, ...]


def count_unit(task: CountTask, advance: Callable[[int], None] = lambda _: None) -> UnitCount:
    """Count one unit.

    Args:
        task: the unit and how to count it.
        advance: called with bytes of text that are done.

    Raises:
        SourceError: a document cannot be read, and `read` does not provide for it.
        TokenizerError: a tokenizer cannot be loaded, or cannot encode the text.
    """
    tokenizers = _load(task.tokenizers)
    rejected: list[RejectedRow] = []
    skipped: list[SkippedFile] = []
    sums: dict[str, NDArray[np.int64]] = {}
    for batch in read_unit(task.unit, task.read, rejected, skipped):
        _add(sums, batch, _count_batch(batch, task.normalize, tokenizers))
        advance(int(batch.offsets[-1] - batch.offsets[0]))
    return UnitCount(
        index=task.unit.index,
        source=task.unit.source,
        size=unit_size(task.unit, task.read) if task.measured else 0,
        languages={name: tuple(row.tolist()) for name, row in sorted(sums.items())},
        rejected_rows=len(rejected),
        skipped_files=tuple(skipped),
    )


@functools.lru_cache(maxsize=1)
def _load(paths: tuple[str, ...]) -> list[Tokenizer]:
    """Load the tokenizers once for all the units of this process."""
    return [Tokenizer.load(path) for path in paths]


def _count_batch(
    batch: TextBatch, options: NormalizeOptions, tokenizers: list[Tokenizer]
) -> NDArray[np.int64]:
    """Return documents, bytes and tokens of each document, int64 (documents, 2 + tokenizers)."""
    text, _ = normalize_batch(batch, options)
    columns = [np.ones(len(batch), dtype=np.int64), np.diff(batch.offsets)]
    for tokenizer in tokenizers:
        _, ends = tokenizer.encode_documents(text.data, text.offsets)
        columns.append(np.diff(ends, prepend=0))
    return np.column_stack(columns)


def _add(sums: dict[str, NDArray[np.int64]], batch: TextBatch, rows: NDArray[np.int64]) -> None:
    for code in np.unique(batch.languages):
        name = batch.language_names[code]
        sums[name] = sums.get(name, np.int64(0)) + rows[batch.languages == code].sum(axis=0)

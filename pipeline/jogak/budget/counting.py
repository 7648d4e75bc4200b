"""One unit, counted: documents, bytes and tokens by language, with every tokenizer; no ids kept."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from jogak.budget.units import Piece, SampleUnit
from jogak.config import NormalizeOptions, ReadOptions
from jogak.documents import RejectedRow, SkippedFile, TextBatch
from jogak.errors import BadFileError
from jogak.normalize import normalize_batch
from jogak.plan import Part, Unit
from jogak.read import read_unit
from jogak.read.unit import part_rows
from jogak.tokenizer import Tokenizer

Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CountTask:
    """A unit to count.

    Attributes:
        unit: what to read.
        read, normalize: the job's options.
        tokenizers: their files or folders.
    """

    unit: SampleUnit
    read: ReadOptions
    normalize: NormalizeOptions
    tokenizers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnitCount:
    """What was counted in a unit.

    Attributes:
        index, source: of the unit.
        languages: by language: documents, bytes as read, and tokens by tokenizer; whole numbers
            unless documents at the ends of a slot are shared with its neighbours.
        rejected_rows: rows that were not counted as they stand.
        skipped_files: files, or parts of them, that were left out as damaged.
    """

    index: int
    source: int
    languages: dict[str, tuple[float, ...]]
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
    sums: dict[str, NDArray[np.float64]] = {}
    for part, weights in _weighted_parts(task):
        unit = Unit(task.unit.index, task.unit.source, (part,), part.text_bytes)
        for batch in read_unit(unit, task.read, rejected, skipped):
            rows = _count_batch(batch, task.normalize, tokenizers).astype(np.float64)
            if weights is not None:
                rows *= weights[batch.rows - part.start, None]
            _add(sums, batch, rows)
            advance(int(batch.offsets[-1] - batch.offsets[0]))
    return UnitCount(
        index=task.unit.index,
        source=task.unit.source,
        languages={name: tuple(row.tolist()) for name, row in sorted(sums.items())},
        rejected_rows=len(rejected),
        skipped_files=tuple(skipped),
    )


def _weighted_parts(task: CountTask) -> Iterator[tuple[Part, Weights | None]]:
    """Yield what to read, and how much of each row counts; None for all of it."""
    for piece in task.unit.pieces:
        if piece.slots == 1:
            yield piece.part, None
            continue
        try:
            lengths = _lengths(piece.part, task.read, task.unit.source)
        except BadFileError:
            if task.read.on_bad_file == "error":
                raise
            yield piece.part, None  # reading it says what is wrong, and leaves it out
            continue
        yield slot_rows(piece, lengths)


def slot_rows(piece: Piece, lengths: NDArray[np.int64]) -> tuple[Part, Weights]:
    """Return the rows of a slot, and the share of each that lies in it, float64 (rows,).

    Args:
        piece: one of several slots of a part.
        lengths: int64 (rows,); bytes of text of each row of the part.
    """
    # A byte more for each row gives empty documents a place, and a text of them alone a length.
    ends = np.cumsum(lengths + 1)
    begins = ends - lengths - 1
    total = int(ends[-1])
    low, high = (total * edge / piece.slots for edge in (piece.slot, piece.slot + 1))
    first = int(np.searchsorted(ends, low, side="right"))
    stop = int(np.searchsorted(begins, high, side="left"))
    inside = np.minimum(ends[first:stop], high) - np.maximum(begins[first:stop], low)
    start = piece.part.start
    part = replace(
        piece.part,
        start=start + first,
        stop=start + stop,
        text_bytes=piece.part.text_bytes // piece.slots,
    )
    return part, inside / (lengths[first:stop] + 1)


@functools.lru_cache(maxsize=16)
def _lengths(part: Part, read: ReadOptions, number: int) -> NDArray[np.int64]:
    """Return the bytes of text of each row, int64 (rows,); kept for the part's other slots."""
    rows = part_rows(part, read, number)
    return np.concatenate([np.zeros(0, np.int64), *(np.diff(each.offsets) for each in rows)])


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


def _add(sums: dict[str, NDArray[np.float64]], batch: TextBatch, rows: Weights) -> None:
    for code in np.unique(batch.languages):
        name = batch.language_names[code]
        row = rows[batch.languages == code].sum(axis=0)
        sums[name] = sums[name] + row if name in sums else row

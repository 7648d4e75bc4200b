"""A unit of the plan -> TextBatches: each part by the reader of its kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from jogak.config import ReadOptions
from jogak.detect import DETECT, detect_batch
from jogak.documents import RejectedRow, SkippedFile, TextBatch
from jogak.errors import BadFileError
from jogak.plan import Part, Unit
from jogak.plan.hub import open_dataset
from jogak.plan.inputs import classify, source_columns
from jogak.plan.spool import find_kept, require_kept
from jogak.plan.storage import is_url
from jogak.read.columns import language_codes
from jogak.read.jsonlines import count_lines, read_lines
from jogak.read.parquet import read_parquet, table_rows
from jogak.read.python import dataset_rows
from jogak.read.rows import Judge, Rows
from jogak.read.stream import read_whole


def read_unit(
    unit: Unit,
    options: ReadOptions,
    rejected: list[RejectedRow],
    skipped: list[SkippedFile] | None = None,
) -> Iterator[TextBatch]:
    """Read the documents of a unit in order.

    Args:
        unit: a unit of the plan made from the same options.
        options: the `read` section of the job.
        rejected: bad rows are appended; `max_bad_rows` bounds its length.
        skipped: files are appended that `options.on_bad_file` left out.

    Raises:
        SourceError: a file is missing, damaged or changed, or a row is bad, and `options` do not
            provide for it.
    """
    source = options.sources[unit.source]
    for part in unit.parts:
        if options.on_bad_file == "skip":
            damage = _find_damage(part, options, unit.source)
            if damage is not None:
                if skipped is not None:
                    skipped.append(SkippedFile(part.path, part.start, part.stop, damage))
                continue
        judge = Judge(
            path=part.path,
            source=unit.source,
            batch_bytes=options.batch_bytes,
            on_bad_row=options.on_bad_row,
            max_bad_rows=options.max_bad_rows,
            rejected=rejected,
            first_row=lambda part=part: _first_row(part),  # type: ignore[misc] # default binds it
        )
        for rows in part_rows(part, options, unit.source):
            batches = judge.batches(rows)
            yield from map(detect_batch, batches) if source.language == DETECT else batches


def _find_damage(part: Part, options: ReadOptions, number: int) -> str | None:
    """Read a part to its end; return what is wrong with the file, or None.

    Damage shows only where it is, and how far before it the last batch ends depends on the size of
    batches; so a part is delivered whole or not at all.
    """
    try:
        for _ in part_rows(part, options, number):
            pass
    except BadFileError as error:
        return str(error)
    return None


def _first_row(part: Part) -> int:
    """Row of the file at which the reader of a part counts 0."""
    is_file = is_url(part.path) or Path(part.path).is_file()
    is_byte_range = is_file and classify(part.path) == ("jsonl", "")
    return count_lines(part.path, part.start) if is_byte_range and part.start else 0


def part_rows(part: Part, options: ReadOptions, number: int) -> Iterator[Rows]:
    """Read the rows of a part of source `number` as its reader delivers them, not judged yet."""
    source, batch_bytes = options.sources[number], options.batch_bytes
    kept = require_kept(options, number) if source.dataset else find_kept(options, number)
    if kept is not None:
        columns = [[name] for name in (kept.text, kept.language) if name is not None]
        for first, batch in kept.batches(part.start, part.stop):
            yield from table_rows(batch, columns, source.language, first, batch_bytes)
        return
    if source.hf is not None and part.path == source.hf:
        dataset = open_dataset(source.hf, source, number)
        columns = source_columns(dataset.features.arrow_schema, source, number, part.path)
        chosen = dataset.select(range(part.start, part.stop))
        yield from dataset_rows(chosen, columns, source.language, part.start, batch_bytes)
        return
    kind, compression = classify(part.path)
    if kind == "parquet":
        yield from read_parquet(part, source, number, batch_bytes)
    elif kind == "jsonl":
        yield from read_lines(part, compression, source, batch_bytes)
    else:
        text = read_whole(part.path, compression)
        languages, names = language_codes(None, source.language, 1)
        yield Rows(
            data=np.frombuffer(text, np.uint8),
            offsets=np.array([0, len(text)], np.int64),
            languages=languages,
            language_names=names,
            rows=np.zeros(1, np.int64),
        )

"""plan: the inputs of a job -> units of work of about `encode.shard_bytes` of text each.

In: the sources of a Job. Out: Units, each a run of Parts (row or byte ranges of files). The plan
is a function of the job and the input listing alone, never of the machine or the number of
workers: unit k makes shard k, so the plan decides the bytes of the output. It reads Parquet
footers, and of JSON lines only what it takes to find the newlines to cut at.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jogak.detect import DETECT, describe_detector
from jogak.errors import BadFileError, SourceError
from jogak.plan.hub import open_dataset, parquet_files
from jogak.plan.inputs import classify, list_files, open_parquet, row_groups, source_columns
from jogak.plan.spool import find_kept, require_kept
from jogak.plan.storage import is_url, open_lines, url_status
from jogak.plan.units import Part, Plan, Unit
from jogak.threads import in_threads

if TYPE_CHECKING:
    from jogak.config import Job, Source

__all__ = [
    "InputFile",
    "Part",
    "Plan",
    "Unit",
    "describe_plan",
    "list_inputs",
    "plan_units",
    "source_parts",
]

logger = logging.getLogger(__name__)

COMPRESSION_RATIO = 4
"""Planned text of a compressed file per byte of it: gzip and zstd do 3 to 5 on prose."""

CUTS_WORTH_A_WARNING = 8

MANY_UNITS = 1_000_000
"""More units than a folder of shards should hold."""

REQUESTS_AT_ONCE = 16
"""Files of a store that are looked at together."""

UNCUT = 2**62
"""More text than there is."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file as the run's fingerprint knows it.

    Attributes:
        path: its name or URL.
        size: bytes.
        mtime_ns: time of change; 0 in a store.
        version: what its store tells versions of the file apart by; None for a file here.
    """

    path: str
    size: int
    mtime_ns: int
    version: str | None = None

    @classmethod
    def of(cls, path: str) -> InputFile:
        """Describe a file: by its time of change here, by what its store says elsewhere."""
        if is_url(path):
            found = url_status(path)
            return cls(path, found.size, 0, found.version)
        status = Path(path).stat()
        return cls(path, status.st_size, status.st_mtime_ns)


def plan_units(job: Job) -> Plan:
    """Cut the inputs into units: in the order of the sources, of file names, and of rows.

    A unit stays within one source. Small files share a unit; a large file, or a row group above
    `encode.shard_bytes`, is cut.

    Raises:
        SourceError: an input is missing, is not what its name says, lacks a column, or all are
            empty.
    """
    plan = Plan()
    target = job.encode.shard_bytes
    for number in range(len(job.read.sources)):
        for parts in _pack(source_parts(job, number, target), target):
            plan.append(number, parts)
    if not plan:
        message = "read.sources: no documents (every input is empty)"
        raise SourceError(message)
    if len(plan) > MANY_UNITS:
        logger.warning(
            "plan: %d units make %d files or more; raise encode.shard_bytes (docs/scaling.md)",
            len(plan),
            3 * len(plan),
        )
    return plan


def describe_plan(job: Job, units: Sequence[Unit]) -> Iterator[str]:
    """Yield the plan as comments, so that what `check` prints is a job file itself."""
    yield "# plan: source, files, units, bytes of text"
    files: list[set[str]] = [set() for _ in job.read.sources]
    counts, sizes = [0] * len(files), [0] * len(files)
    for unit in units:
        files[unit.source].update(part.path for part in unit.parts)
        counts[unit.source] += 1
        sizes[unit.source] += unit.text_bytes
    for index, source in enumerate(job.read.sources):
        numbers = f"{len(files[index]):,}  {counts[index]:,}  {sizes[index]:,}"
        yield f"#   {source.name or source_label(source)}  {numbers}"
    yield f"#   total  {sum(counts):,} units  {sum(sizes):,} bytes"
    if any(source.language == DETECT for source in job.read.sources):
        yield f"# {describe_detector()}"


def list_inputs(job: Job) -> tuple[InputFile, ...]:
    """List the files of all sources with size and time of change, in the order of the plan."""
    inputs = []
    for number, source in enumerate(job.read.sources):
        paths = [] if source.dataset is not None else list_files(source, number)
        at_once = REQUESTS_AT_ONCE if any(map(is_url, paths)) else 1
        inputs_of = [*in_threads(InputFile.of, paths, at_once)]
        inputs += inputs_of
        kept = require_kept(job.read, number) if source.dataset else find_kept(job.read, number)
        if kept is not None:
            label = source_label(source)
            inputs.append(InputFile(label, kept.text_bytes, 0, kept.version))
        elif source.hf is not None and not inputs_of:
            # A dataset without files that are known; its name and revision stand for it.
            inputs.append(InputFile(f"hf://datasets/{source.hf}@{source.revision}", 0, 0))
    return tuple(inputs)


def source_label(source: Source) -> str:
    """Return what a source is called where it has no name: its files or its dataset."""
    return source.path or source.hf or f"dataset:{source.dataset}"


def source_parts(job: Job, number: int, target: int, *, cut_rows: bool = True) -> Iterator[Part]:
    """Cut one source into parts of at most about `target` bytes of text, in order.

    Args:
        job: the job.
        number: of the source.
        target: bytes of text.
        cut_rows: False to leave row groups and datasets whole.

    Raises:
        SourceError: as for `plan_units`; but a source without documents gives no parts.
    """
    source = job.read.sources[number]
    row_bytes = target if cut_rows else UNCUT
    kept = require_kept(job.read, number) if source.dataset else find_kept(job.read, number)
    if kept is not None:
        for first, rows, size in kept.blocks():
            yield from _row_parts(source_label(source), first, rows, size, row_bytes)
        return
    if source.hf is not None and not parquet_files(source, number):
        yield from _dataset_parts(source.hf, source, number, row_bytes)
        return

    def parts(path: str) -> Iterator[Part]:
        kind, compression = classify(path)
        size = InputFile.of(path).size
        if kind == "parquet":
            try:
                # As a list, so that a file is planned whole or not at all.
                yield from list(_parquet_parts(path, source, number, row_bytes))
            except BadFileError:
                if job.read.on_bad_file == "error":
                    raise
                yield Part(path, 0, 0, 0)  # the unit that reads it says what is wrong
        elif kind == "jsonl" and not compression:
            yield from _line_parts(path, size, target)
        else:
            yield Part(path, 0, 1, size * COMPRESSION_RATIO if compression else size)

    paths = list_files(source, number)
    if any(map(is_url, paths)):
        # A store answers many at a time, each after some hundredths of a second.
        yield from itertools.chain.from_iterable(
            in_threads(lambda path: [*parts(path)], paths, REQUESTS_AT_ONCE)
        )
    else:
        yield from itertools.chain.from_iterable(map(parts, paths))


def _parquet_parts(path: str, source: Source, number: int, target: int) -> Iterator[Part]:
    with open_parquet(path) as file:
        row = 0
        for index, (rows, text_bytes) in enumerate(row_groups(file, source, number, path)):
            cuts = -(-text_bytes // target)
            if cuts >= CUTS_WORTH_A_WARNING:
                logger.warning(
                    "%s: row group %d holds %d MiB of text and is cut by rows into %d; "
                    "each cut decodes it from its start, so smaller row groups read faster",
                    path, index, text_bytes >> 20, cuts,
                )  # fmt: skip
            yield from _row_parts(path, row, rows, text_bytes, target)
            row += rows


def _dataset_parts(hf: str, source: Source, number: int, target: int) -> Iterator[Part]:
    dataset = open_dataset(hf, source, number)
    names = source_columns(dataset.features.arrow_schema, source, number, hf)[0]
    stored = dataset.data.column(names[0])
    text_bytes = stored.nbytes * len(dataset) // max(len(stored), 1)
    yield from _row_parts(hf, 0, len(dataset), text_bytes, target)


def _row_parts(path: str, first: int, rows: int, text_bytes: int, target: int) -> Iterator[Part]:
    """Cut rows into equal ranges of at most about `target` bytes."""
    cuts = min(max(-(-text_bytes // target), 1), rows)
    edges = [first + rows * cut // cuts for cut in range(cuts + 1)] if cuts else []
    for start, stop in itertools.pairwise(edges):
        yield Part(path, start, stop, text_bytes * (stop - start) // rows)


def _line_parts(path: str, size: int, target: int) -> Iterator[Part]:
    """Cut a file of lines behind the newlines next to equal parts."""
    cuts = -(-size // target)
    start = 0
    with open_lines(path) if is_url(path) else Path(path).open("rb") as file:
        for cut in range(1, cuts + 1):
            stop = size * cut // cuts
            if cut < cuts and stop > start:
                file.seek(stop - 1)
                while chunk := file.readline(2**20):
                    if chunk.endswith(b"\n"):
                        break
                stop = file.tell()
            if stop > start:
                yield Part(path, start, stop, stop - start)
                start = stop


def _pack(parts: Iterator[Part], unit_bytes: int) -> Iterator[tuple[Part, ...]]:
    """Group consecutive parts up to `unit_bytes`; neighbours in a file become one."""
    packed: list[Part] = []
    total = 0
    for part in parts:
        if packed and total + part.text_bytes > unit_bytes:
            yield tuple(packed)
            packed, total = [], 0
        last = packed[-1] if packed else None
        if last is not None and (last.path, last.stop) == (part.path, part.start):
            part = Part(part.path, last.start, part.stop, last.text_bytes + part.text_bytes)
            packed.pop()
            total -= last.text_bytes
        packed.append(part)
        total += part.text_bytes
    if packed:
        yield tuple(packed)

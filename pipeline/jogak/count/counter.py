"""Counting documents within a budget of memory: the state of one worker, and texts in memory."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.config import NormalizeOptions, WordMarker
from jogak.count.counts import LanguageTotals, PretokenCounts
from jogak.count.files import Header
from jogak.count.merge import gather_parts
from jogak.count.runs import assemble, merge_runs, table_parts, write_run
from jogak.count.sample import Sample
from jogak.documents import UNDETERMINED, TextBatch
from jogak.pretokenize import Pretokenizer
from jogak.pretokenize.words import SPACE_MARKER, mark_words
from jogak.threads import InTurn

NO_LIMIT = 2**62


@dataclass(frozen=True, slots=True)
class _Placed:
    """A batch, the table of each of its documents, and the position of the first one."""

    batch: TextBatch
    codes: NDArray[np.int32]
    base: int


class DocumentCounter:
    """Counts normalized documents by language; a context manager.

    What passes the budget is written to a folder as runs, which the result adds up again: exact
    whatever the budget and the number of threads.
    """

    def __init__(
        self,
        pretokenizer: Pretokenizer,
        normalize: NormalizeOptions,
        *,
        base: int = 0,
        threads: int = 1,
        memory_bytes: int = NO_LIMIT,
        spill: Path | None = None,
        word_marker: WordMarker = "none",
        sample: Sample | None = None,
        expected_bytes: int = 0,
    ) -> None:
        """Start empty.

        Args:
            pretokenizer: how to cut documents; with a word marker, by its `word_pattern`.
            normalize: how they were normalized, for the record.
            base: position of the first document (see PretokenCounts.first).
            threads: counters that work at the same time.
            memory_bytes: what all counters' tables together may hold.
            spill: where runs go; a temporary folder by default.
            word_marker: `▁` is put into the text before it is cut.
            sample: which documents the batches were left with, for the record.
            expected_bytes: how much text there is, about, for tables that fit it; 0 if unknown.
        """
        self._sample = "" if sample is None else sample.description
        self._marked = word_marker == SPACE_MARKER
        self._pretokenizer = pretokenizer
        self._normalize = normalize
        self._next = base
        self._limit = memory_bytes // threads
        self._spill = spill
        self._stack = ExitStack()
        self._runs: list[Path] = []
        self._numbers = itertools.count()
        self._lock = Lock()
        self._counters = [_core.PretokenCounter() for _ in range(threads)]
        if memory_bytes == NO_LIMIT:
            for counter in self._counters:
                counter.expect(expected_bytes // threads)
        self._codes: dict[str, int] = {}
        self._documents: list[int] = []
        self._text_bytes: list[int] = []

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove the runs."""
        for path in self._runs:
            path.unlink(missing_ok=True)
        self._stack.close()

    @property
    def spilled_bytes(self) -> int:
        """Bytes of runs on disk."""
        return sum(path.stat().st_size for path in self._runs)

    def add(self, batch: TextBatch) -> None:
        """Count the documents of a batch that is normalized already."""
        if len(batch) > 0:
            self._count(self._counters[0], self._placed(batch))

    def add_all(self, batches: Iterable[TextBatch]) -> None:
        """Count batches on all threads; each takes the next one as soon as it is done with one."""
        source = InTurn(self._placed(batch) for batch in batches if len(batch) > 0)

        def work(counter: _core.PretokenCounter) -> None:
            try:
                for placed in source:
                    self._count(counter, placed)
            finally:
                source.close()  # where one fails, the others stop

        first, *others = self._counters
        if not others:
            work(first)
            return
        with ThreadPoolExecutor(len(others)) as pool:
            begun = [pool.submit(work, other) for other in others]
            work(first)
        for each in begun:
            each.result()

    def counts(self, *, keep: bool = True) -> PretokenCounts:
        """Return what was counted, in memory; without `keep` it is counted no further."""
        header = self._finish()
        if self._runs:
            self._write_run(self._counters[0])
            return gather_parts(self._runs, header.totals)
        if not header.totals:
            header = self._header({UNDETERMINED: LanguageTotals()})
        first, *others = self._counters
        finish = partial(first.finish, keep=keep, others=others, threads=len(self._counters))
        return assemble(finish, header)

    def save_run(self, path: Path) -> Header:
        """Write what was counted as one run, within the budget."""
        header = self._finish()
        if self._runs:
            self._write_run(self._counters[0])
            merge_runs(self._runs, path, header.totals)
        else:
            first, *others = self._counters
            for other in others:
                first.merge(other)
                other.clear()
            write_run(path, header, table_parts(first, len(header.totals)))
        return header

    def _placed(self, batch: TextBatch) -> _Placed:
        """Prepare a batch, in the order of the text, for being counted in any order."""
        codes = self._language_codes(batch)
        if self._marked:
            data, offsets = mark_words(batch.data, batch.offsets)
            batch = replace(batch, data=data, offsets=offsets)
        base = self._next
        self._next += int(batch.offsets[-1] - batch.offsets[0])
        return _Placed(batch, codes, base)

    def _count(self, counter: _core.PretokenCounter, placed: _Placed) -> None:
        """Count a batch, and spill whenever the tables are full."""
        batch, codes, base = placed.batch, placed.codes, placed.base
        scanner = self._pretokenizer.scanner
        ends = None
        if scanner is None:
            ends, _ = self._pretokenizer.boundaries(batch.data, batch.offsets)
        place = (0, 0, 0)
        while True:
            if scanner is not None:
                place = counter.add(
                    scanner, batch.data, batch.offsets, codes, base, place, self._limit
                )
            elif ends is not None:
                place = counter.add_ends(
                    batch.data, batch.offsets, ends, codes, base, place, self._limit
                )
            if place[0] == len(batch):
                return
            self._write_run(counter)

    def _finish(self) -> Header:
        """Sum up; if there are runs, only the first counter still holds something afterwards."""
        totals = {
            name: LanguageTotals(
                self._documents[code],
                self._text_bytes[code],
                sum(counter.pretokens(code) for counter in self._counters),
            )
            for name, code in self._codes.items()
        }
        if self._runs:
            for other in self._counters[1:]:
                self._write_run(other)
        return self._header(totals)

    def _header(self, totals: Mapping[str, LanguageTotals]) -> Header:
        return Header(self._pretokenizer.pattern, self._normalize, totals, self._sample)

    def _write_run(self, counter: _core.PretokenCounter) -> None:
        """Write a counter's tables as a run, and empty them."""
        with self._lock:
            if self._spill is None:
                self._spill = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        path = self._spill / f"run-{next(self._numbers):05d}.arrow"
        names = list(self._codes)[: counter.languages]
        header = self._header(dict.fromkeys(names, LanguageTotals()))
        write_run(path, header, table_parts(counter, len(names)), durable=False)
        self._runs.append(path)
        counter.clear()

    def _language_codes(self, batch: TextBatch) -> NDArray[np.int32]:
        """Number languages in the order in which their names are met; count their documents."""
        table = np.zeros(len(batch.language_names), dtype=np.int32)
        if len(table) == 1:  # the common case, and quick where documents are lines
            documents = np.array([len(batch)])
            text_bytes = batch.offsets[-1:] - batch.offsets[:1]
        else:
            documents = np.bincount(batch.languages, minlength=len(table))
            # Floating point, but exact below 2^53 bytes.
            text_bytes = np.bincount(batch.languages, np.diff(batch.offsets), len(table))
        for number in np.flatnonzero(documents).tolist():
            code = self._codes.setdefault(batch.language_names[number], len(self._codes))
            if code == len(self._documents):
                self._documents.append(0)
                self._text_bytes.append(0)
            self._documents[code] += int(documents[number])
            self._text_bytes[code] += int(text_bytes[number])
            table[number] = code
        return table[batch.languages]

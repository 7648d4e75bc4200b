"""Counting documents: the state of one worker, and the function that counts texts in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.config import NormalForm, NormalizeOptions
from jogak.count.counts import LanguageTotals, PretokenCounts, merge_counts
from jogak.documents import TextBatch
from jogak.normalize import normalize_batch
from jogak.pretokenize import Pretokenizer
from jogak.read import batch_texts

if TYPE_CHECKING:
    import pyarrow as pa


class DocumentCounter:
    """Counts normalized documents by language; `counts` gives the result at any time."""

    def __init__(
        self, pretokenizer: Pretokenizer, normalize: NormalizeOptions, base: int = 0
    ) -> None:
        """Start empty, at position `base` (see PretokenCounts.first)."""
        self._pretokenizer = pretokenizer
        self._normalize = normalize
        self._next = base
        self._counter = _core.PretokenCounter()
        self._codes: dict[str, int] = {}
        self._documents: list[int] = []
        self._text_bytes: list[int] = []

    def add(self, batch: TextBatch) -> None:
        """Count the documents of a batch that is normalized already."""
        if len(batch) == 0:
            return
        codes = self._language_codes(batch)
        scanner = self._pretokenizer.scanner
        if scanner is not None:
            self._counter.add(scanner, batch.data, batch.offsets, codes, self._next)
        else:
            ends, _ = self._pretokenizer.boundaries(batch.data, batch.offsets)
            self._counter.add_ends(batch.data, batch.offsets, ends, codes, self._next)
        self._next += int(batch.offsets[-1] - batch.offsets[0])
        sizes = np.diff(batch.offsets)
        for code in np.unique(codes):
            chosen = codes == code
            self._documents[code] += int(chosen.sum())
            self._text_bytes[code] += int(sizes[chosen].sum())

    def counts(self) -> PretokenCounts:
        """Return what was counted so far."""
        parts = [self._language(name, code) for name, code in self._codes.items()]
        if not parts:
            pattern = self._pretokenizer.pattern
            parts = [PretokenCounts.from_mapping({}, pattern=pattern, normalize=self._normalize)]
        return parts[0] if len(parts) == 1 else merge_counts(parts)

    def _language(self, name: str, code: int) -> PretokenCounts:
        data, offsets, counts, first = self._counter.finish(code)
        totals = LanguageTotals(self._documents[code], self._text_bytes[code], int(counts.sum()))
        return PretokenCounts(
            data,
            offsets,
            counts,
            first,
            self._pretokenizer.pattern,
            self._normalize,
            {name: totals},
        )

    def _language_codes(self, batch: TextBatch) -> NDArray[np.int32]:
        """Number languages in the order in which this counter meets their names."""
        table = np.zeros(len(batch.language_names), dtype=np.int32)
        for code in np.unique(batch.languages):
            name = batch.language_names[code]
            if name not in self._codes:
                self._codes[name] = len(self._codes)
                self._documents.append(0)
                self._text_bytes.append(0)
            table[code] = self._codes[name]
        return table[batch.languages]


def count_pretokens(
    texts: Iterable[str | bytes] | Iterable[TextBatch] | pa.Array[Any] | pa.ChunkedArray[Any],
    *,
    pattern: str = "gpt2",
    normalize: NormalForm | NormalizeOptions = "nfc",
) -> PretokenCounts:
    """Count the distinct pretokens of texts; each text is one document.

    Args:
        texts: strings, an Arrow string array, or batches as `read_unit` and `read_dataset` give.
        pattern: a pattern's name or a regex, as `pretokenize.pattern` in a job.
        normalize: a normal form, or all the options of `normalize` in a job.
    """
    if isinstance(texts, str | bytes):
        message = f"texts: expected texts (found one {type(texts).__name__}); pass [text]"
        raise TypeError(message)
    options = normalize
    if not isinstance(options, NormalizeOptions):
        options = NormalizeOptions(form=options)
    counter = DocumentCounter(Pretokenizer(pattern), options)
    for batch in _batches(texts):
        counter.add(normalize_batch(batch, options)[0])
    return counter.counts()


def _batches(
    texts: Iterable[str | bytes] | Iterable[TextBatch] | pa.Array[Any] | pa.ChunkedArray[Any],
) -> Iterator[TextBatch]:
    iterator = iter(texts)
    head = next(iterator, None)
    if isinstance(head, TextBatch):
        yield head
        for batch in iterator:
            if not isinstance(batch, TextBatch):
                message = f"texts: batches and {type(batch).__name__} are mixed; pass either"
                raise TypeError(message)
            yield batch
    elif head is not None:
        yield from batch_texts(texts if iter(texts) is not iterator else chain([head], iterator))

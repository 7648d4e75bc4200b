"""PretokenCounts: the counts of a corpus in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.config import NormalizeOptions
from jogak.documents import UNDETERMINED
from jogak.errors import SourceError


@dataclass(frozen=True, slots=True)
class LanguageTotals:
    """What was counted in one language: normalized text, repetitions included."""

    documents: int = 0
    text_bytes: int = 0
    pretokens: int = 0


@dataclass(frozen=True, slots=True)
class PretokenCounts:
    """Distinct pretokens, by count descending, then by first position.

    Attributes:
        data: uint8; the pretokens' bytes, end to end.
        offsets: int64 (n + 1,); pretoken i is data[offsets[i]:offsets[i + 1]].
        counts: uint64 (n,); occurrences in all languages together.
        first: uint64 (n,); position of the first occurrence: (unit << 40) | byte offset in the
            unit's normalized text; plain byte offset where there are no units.
        pattern: the pattern that cut the text, as configured.
        normalize: how the text was normalized.
        totals: what was counted, by language.
        rows: by language, uint32 (k,) ascending: the pretokens that occur in it. Empty when there
            is one language only, since then its counts are `counts`.
        row_counts: by language, uint64 (k,): their counts in it.
        sample: which of the documents were counted; empty for all.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    counts: NDArray[np.uint64]
    first: NDArray[np.uint64]
    pattern: str
    normalize: NormalizeOptions
    totals: Mapping[str, LanguageTotals]
    rows: Mapping[str, NDArray[np.uint32]] = field(default_factory=dict)
    row_counts: Mapping[str, NDArray[np.uint64]] = field(default_factory=dict)
    sample: str = ""

    def __len__(self) -> int:
        """Return the number of distinct pretokens."""
        return len(self.counts)

    def __repr__(self) -> str:
        """Say how much was counted, and how."""
        languages = ", ".join(self.totals)
        return (
            f"PretokenCounts({len(self):,} distinct of {self.pretokens:,} pretokens, "
            f"pattern={self.pattern!r}, languages=[{languages}])"
        )

    @property
    def normal_form(self) -> str:
        """The normal form of the counted text."""
        return self.normalize.form

    @property
    def pretokens(self) -> int:
        """Pretokens counted, repetitions included."""
        return sum(totals.pretokens for totals in self.totals.values())

    @property
    def documents(self) -> int:
        """Documents counted."""
        return sum(totals.documents for totals in self.totals.values())

    @property
    def text_bytes(self) -> int:
        """Bytes of normalized text counted."""
        return sum(totals.text_bytes for totals in self.totals.values())

    def pretoken(self, row: int) -> bytes:
        """Return the bytes of one pretoken; for messages and tests, not for loops."""
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()

    def language_counts(self, language: str) -> NDArray[np.uint64]:
        """Return uint64 (n,): the counts in one language, 0 where a pretoken is absent."""
        if language not in self.totals:
            known = ", ".join(self.totals)
            message = f"counts: no language '{language}' (found: {known}); name one of these"
            raise SourceError(message)
        if not self.rows:
            return self.counts
        dense = np.zeros(len(self), dtype=np.uint64)
        dense[self.rows[language]] = self.row_counts[language]
        return dense

    @classmethod
    def from_mapping(
        cls,
        counts: Mapping[bytes, int] | Mapping[str, int],
        *,
        pattern: str = "none",
        normalize: NormalizeOptions | None = None,
        language: str = UNDETERMINED,
    ) -> PretokenCounts:
        """Take counts made elsewhere; the order of the mapping stands for the text's order.

        >>> PretokenCounts.from_mapping({"학교": 3, "집": 5}).pretoken(0).decode()
        '집'
        """
        words = [word.encode() if isinstance(word, str) else word for word in counts]
        ends = np.cumsum([0, *map(len, words)], dtype=np.int64)
        counter = _core.PretokenCounter()
        counter.add_counts(
            0,
            np.frombuffer(b"".join(words), dtype=np.uint8),
            ends,
            np.fromiter(counts.values(), dtype=np.uint64, count=len(words)),
            ends[:-1].astype(np.uint64),
        )
        text_bytes = sum(len(w) * n for w, n in zip(words, counts.values(), strict=True))
        totals = LanguageTotals(0, text_bytes, sum(counts.values()))
        arrays = counter.finish(0)
        return cls(*arrays, pattern, normalize or NormalizeOptions(), {language: totals})

    def save(self, path: Path | str) -> None:
        """Write one Parquet file, under a temporary name first; `load` gives an equal object."""
        from jogak.count.files import table_of, write_table

        write_table(Path(path), table_of(self).schema, iter([table_of(self)]))

    @classmethod
    def load(cls, path: Path | str) -> PretokenCounts:
        """Read what `save` wrote.

        Raises:
            SourceError: the file is missing or is not a counts file of this format.
        """
        from jogak.count.files import read_counts

        return read_counts(Path(path))


def sum_totals(parts: Sequence[Mapping[str, LanguageTotals]]) -> dict[str, LanguageTotals]:
    """Add up totals by language; languages come out in alphabetical order."""
    sums: dict[str, LanguageTotals] = {}
    for part in parts:
        for language, totals in part.items():
            so_far = sums.get(language, LanguageTotals())
            sums[language] = LanguageTotals(
                so_far.documents + totals.documents,
                so_far.text_bytes + totals.text_bytes,
                so_far.pretokens + totals.pretokens,
            )
    return dict(sorted(sums.items()))

"""PretokenCounts: the counts of a corpus in memory and, as Parquet, on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.config import NormalizeOptions
from jogak.documents import UNDETERMINED
from jogak.errors import ShardError, SourceError

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
METADATA_KEY = b"jogak.counts"
LANGUAGE_COLUMN = "count[{}]"


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
        import pyarrow.parquet as pq

        target = Path(path)
        temporary = target.with_name(target.name + ".tmp")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("wb") as file:
                pq.write_table(self._table(), file, compression="zstd", use_dictionary=False)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except OSError as error:
            message = f"{target}: cannot be written ({error}); free space or choose another folder"
            raise ShardError(message) from error

    def _table(self) -> pa.Table:
        import pyarrow as pa

        buffers = [None, *(pa.py_buffer(array.data) for array in (self.offsets, self.data))]
        text = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(self), buffers)
        columns: dict[str, pa.Array[Any]] = {"pretoken": text}
        columns["count"] = pa.array(self.counts)
        columns["first"] = pa.array(self.first)
        for language in self.rows:
            columns[LANGUAGE_COLUMN.format(language)] = pa.array(self.language_counts(language))
        header = {
            "format": FORMAT,
            "jogak": _library_version(),
            "pattern": self.pattern,
            "normalize": self.normalize.model_dump(),
            "totals": {language: asdict(totals) for language, totals in self.totals.items()},
        }
        return pa.table(columns, metadata={METADATA_KEY: json.dumps(header).encode()})

    @classmethod
    def load(cls, path: Path | str) -> PretokenCounts:
        """Read what `save` wrote.

        Raises:
            SourceError: the file is missing or is not a counts file of this format.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            table = pq.read_table(path)
        except (OSError, pa.ArrowInvalid) as error:
            message = f"{path}: cannot be read as a counts file ({error}); count again"
            raise SourceError(message) from error
        header = json.loads((table.schema.metadata or {}).get(METADATA_KEY, b"{}"))
        if header.get("format") != FORMAT:
            found = header.get("format", "no header")
            message = f"{path}: not a counts file of format {FORMAT} (found: {found}); count again"
            raise SourceError(message)
        data, offsets = _text(table["pretoken"])
        totals = {name: LanguageTotals(**value) for name, value in header["totals"].items()}
        rows, row_counts = {}, {}
        for language in totals if len(totals) > 1 else ():
            dense = table[LANGUAGE_COLUMN.format(language)].to_numpy()
            rows[language] = np.flatnonzero(dense).astype(np.uint32)
            row_counts[language] = dense[rows[language]]
        return cls(
            data=data,
            offsets=offsets,
            counts=table["count"].to_numpy(),
            first=table["first"].to_numpy(),
            pattern=header["pattern"],
            normalize=NormalizeOptions(**header["normalize"]),
            totals=totals,
            rows=rows,
            row_counts=row_counts,
        )


def _library_version() -> str:
    try:
        return version("jogak")
    except PackageNotFoundError:  # the source tree is used without being installed
        return "0"


def _text(column: pa.ChunkedArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    import pyarrow as pa

    array = column.combine_chunks().cast(pa.large_binary())
    array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    _, offsets, data = array.buffers()
    begin, end = array.offset, array.offset + len(array) + 1
    return (
        np.frombuffer(memoryview(data or b""), dtype=np.uint8),
        np.frombuffer(memoryview(offsets or bytes(8)), dtype=np.int64)[begin:end],
    )


def merge_counts(
    parts: Iterable[PretokenCounts | Path | str],
) -> PretokenCounts:
    """Add up counts of several corpora or units; exact, whatever the order of the parts.

    Raises:
        SourceError: no part at all, or parts that were cut or normalized differently.
    """
    loaded = [p if isinstance(p, PretokenCounts) else PretokenCounts.load(p) for p in parts]
    if not loaded:
        message = "counts: nothing to merge (found no files); count a unit first"
        raise SourceError(message)
    head = loaded[0]
    for part in loaded[1:]:
        for name in ("pattern", "normalize"):
            if getattr(part, name) != getattr(head, name):
                message = (
                    f"counts: parts differ in {name} (found: {getattr(head, name)!r} and "
                    f"{getattr(part, name)!r}); merge counts that were made alike"
                )
                raise SourceError(message)
    counter = _core.PretokenCounter()
    for part in loaded:
        counter.add_counts(0, part.data, part.offsets, part.counts, part.first)
    data, offsets, counts, first = counter.finish(0)
    totals = _sum_totals(loaded)
    rows, row_counts = {}, {}
    if len(totals) > 1:
        places = [_core.find_pretokens(data, offsets, p.data, p.offsets) for p in loaded]
        for language in totals:
            dense = np.zeros(len(counts), dtype=np.uint64)
            for part, place in zip(loaded, places, strict=True):
                if language in part.totals:
                    dense[place] += part.language_counts(language)
            rows[language] = np.flatnonzero(dense).astype(np.uint32)
            row_counts[language] = dense[rows[language]]
    return PretokenCounts(
        data, offsets, counts, first, head.pattern, head.normalize, totals, rows, row_counts
    )


def _sum_totals(parts: Sequence[PretokenCounts]) -> dict[str, LanguageTotals]:
    sums: dict[str, LanguageTotals] = {}
    for part in parts:
        for language, totals in part.totals.items():
            so_far = sums.get(language, LanguageTotals())
            sums[language] = LanguageTotals(
                so_far.documents + totals.documents,
                so_far.text_bytes + totals.text_bytes,
                so_far.pretokens + totals.pretokens,
            )
    return dict(sorted(sums.items()))

"""The records of a run: one for each finished shard, and what they are made of. Sums only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jogak.documents import SkippedFile
from jogak.measures import Sums, TokenSums


@dataclass(frozen=True, slots=True)
class Tally:
    """The sums of one language within one source."""

    language: str
    source: str
    sums: Sums


@dataclass(frozen=True, slots=True)
class Compared:
    """What another tokenizer makes of one language within one source."""

    tokenizer: str
    language: str
    source: str
    sums: TokenSums


@dataclass(frozen=True, slots=True)
class ComparedTokenizer:
    """A tokenizer that the job compares with its own.

    Attributes:
        name: what the report calls it.
        path: its file or folder; `chars` and `words` are the two that need none.
        vocab_size: the largest id plus one, 0 for those two.
        sha256: its fingerprint, nothing for those two.
    """

    name: str
    path: str
    vocab_size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class UnitPart:
    """Which documents of which file are in a shard: rows, or bytes of uncompressed lines."""

    path: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class ShardRecord:
    """One finished shard.

    Attributes:
        index: the unit's number, from 0, which is also the shard's.
        name: the files' name without its end, such as `shard-00000`.
        documents, tokens: as in the index; boundary tokens are counted.
        bin_bytes, bin_sha256, idx_bytes, idx_sha256: the files.
        changed_documents: documents that normalization changed.
        special_text: how often a special token's text occurs inside documents.
        rejected_rows: rows that were not encoded as they stand.
        rejected_sha256: of the list of those rows, or nothing where there is none.
        skipped_files: files, or this unit's parts of them, that were left out as damaged.
        parts: what was to be read, in order.
        tallies: sums by language, in order of their names.
        usage_sha256: of the file that says how often each id occurs.
        compared: what the job's other tokenizers make of the same documents.
    """

    index: int
    name: str
    documents: int
    tokens: int
    bin_bytes: int
    bin_sha256: str
    idx_bytes: int
    idx_sha256: str
    changed_documents: int
    special_text: int
    rejected_rows: int
    rejected_sha256: str | None
    skipped_files: tuple[SkippedFile, ...]
    parts: tuple[UnitPart, ...]
    tallies: tuple[Tally, ...]
    usage_sha256: str | None = None
    compared: tuple[Compared, ...] = ()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ShardRecord:
        """Return the record that `asdict` made this of.

        Raises:
            KeyError, TypeError: it is no such record.
        """
        parts = tuple(UnitPart(**part) for part in value["parts"])
        skipped = tuple(SkippedFile(**each) for each in value["skipped_files"])
        tallies = tuple(
            Tally(tally["language"], tally["source"], Sums(**tally["sums"]))
            for tally in value["tallies"]
        )
        compared = tuple(
            Compared(**{**each, "sums": TokenSums(**each["sums"])}) for each in value["compared"]
        )
        changed = {"parts": parts, "tallies": tallies, "skipped_files": skipped}
        return cls(**{**value, **changed, "compared": compared})


@dataclass(frozen=True, slots=True)
class Boundary:
    """The ids that are put around every document; None where none is."""

    bos: int | None = None
    eos: int | None = None

    @property
    def tokens(self) -> int:
        """How many each document gets."""
        return (self.bos is not None) + (self.eos is not None)

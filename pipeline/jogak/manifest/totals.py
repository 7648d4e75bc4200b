"""The sums over all shards, gathered in one pass over their records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from operator import add, attrgetter
from typing import Any

from jogak.documents import SkippedFile
from jogak.manifest.records import ShardRecord
from jogak.measures import Sums, TokenSums


@dataclass(frozen=True, slots=True)
class Totals:
    """What all shards are together.

    Attributes:
        shards, documents, tokens, changed_documents, special_text, rejected_rows: see ShardRecord.
        file_bytes: of .bin and .idx.
        languages: sums by language, in order of their names.
        sources: sums by source, in the job's order.
        compared: sums of the other tokenizers, by name and language.
        skipped_files: files, or units' parts of them, that were left out as damaged.
    """

    shards: int = 0
    documents: int = 0
    tokens: int = 0
    changed_documents: int = 0
    special_text: int = 0
    rejected_rows: int = 0
    file_bytes: int = 0
    languages: dict[str, Sums] = field(default_factory=dict)
    sources: dict[str, Sums] = field(default_factory=dict)
    compared: dict[tuple[str, str], TokenSums] = field(default_factory=dict)
    skipped_files: tuple[SkippedFile, ...] = ()

    @property
    def total(self) -> Sums:
        """The sums of everything."""
        return sum(self.languages.values(), Sums())

    def to_json(self) -> dict[str, Any]:
        """Return what manifest.json holds of it."""
        return {
            **{name: getattr(self, name) for name in NUMBERS},
            "skipped_files": [asdict(each) for each in self.skipped_files],
            "total": asdict(self.total),
            "languages": {name: asdict(sums) for name, sums in self.languages.items()},
            "sources": {name: asdict(sums) for name, sums in self.sources.items()},
            "compared_sums": [
                {"tokenizer": tokenizer, "language": language, "sums": asdict(sums)}
                for (tokenizer, language), sums in self.compared.items()
            ],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Totals:
        """Return the totals that `to_json` made this of.

        Raises:
            KeyError, TypeError: there are none in it.
        """
        return cls(
            **{name: value[name] for name in NUMBERS},
            languages={name: Sums(**sums) for name, sums in value["languages"].items()},
            sources={name: Sums(**sums) for name, sums in value["sources"].items()},
            compared={
                (each["tokenizer"], each["language"]): TokenSums(**each["sums"])
                for each in value["compared_sums"]
            },
            skipped_files=tuple(SkippedFile(**each) for each in value["skipped_files"]),
        )


NUMBERS = tuple(each.name for each in fields(Totals))[:7]
"""The totals that are single numbers."""
_OF_RECORD = attrgetter(*NUMBERS[1:-1])
_OF_SUMS = attrgetter(*(each.name for each in fields(Sums)))
_OF_TOKENS = attrgetter(*(each.name for each in fields(TokenSums)))


class Adder:
    """Adds up records one by one. Memory: the totals."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._shards = self._file_bytes = 0
        self._numbers: tuple[int, ...] = (0,) * len(NUMBERS[1:-1])
        self._languages: dict[str, tuple[int, ...]] = {}
        self._sources: dict[str, tuple[int, ...]] = {}
        self._compared: dict[tuple[str, str], tuple[int, ...]] = {}
        self._skipped: list[SkippedFile] = []

    def add(self, record: ShardRecord) -> None:
        """Add a shard; they come in order, which decides the order of the sources."""
        self._shards += 1
        self._file_bytes += record.bin_bytes + record.idx_bytes
        self._numbers = _added(self._numbers, _OF_RECORD(record))
        for tally in record.tallies:
            values = _OF_SUMS(tally.sums)
            for groups, key in ((self._languages, tally.language), (self._sources, tally.source)):
                groups[key] = _added(groups[key], values) if key in groups else values
        for each in record.compared:
            pair, values = (each.tokenizer, each.language), _OF_TOKENS(each.sums)
            found = self._compared.get(pair)
            self._compared[pair] = values if found is None else _added(found, values)
        self._skipped += record.skipped_files

    def totals(self) -> Totals:
        """Return the totals of what was added."""
        return Totals(
            shards=self._shards,
            **dict(zip(NUMBERS[1:-1], self._numbers, strict=True)),
            file_bytes=self._file_bytes,
            languages={name: Sums(*self._languages[name]) for name in sorted(self._languages)},
            sources={name: Sums(*values) for name, values in self._sources.items()},
            compared={pair: TokenSums(*self._compared[pair]) for pair in sorted(self._compared)},
            skipped_files=tuple(self._skipped),
        )


def totals_of(records: Iterable[ShardRecord]) -> Totals:
    """Return the totals of shards, which come in order."""
    adder = Adder()
    for record in records:
        adder.add(record)
    return adder.totals()


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(add, one, other))

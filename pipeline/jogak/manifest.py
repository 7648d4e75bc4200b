"""What a run made: a record of each shard, written beside it, and the manifest of them all.

Both hold sums only. A sidecar also holds the identity of what the shard was made from, so that a
later run can prove it done; the manifest holds nothing that differs between equal runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from jogak.documents import SkippedFile
from jogak.errors import ShardError
from jogak.measures import Sums, TokenSums
from jogak.output import Output, read_json, write_json

FORMAT = 2
"""Version of manifest.json and of the sidecars."""


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

    bos: int | None
    eos: int | None

    @property
    def tokens(self) -> int:
        """How many each document gets."""
        return (self.bos is not None) + (self.eos is not None)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a run made.

    A run that was told to stop before `encode` gives a manifest without shards, and one that
    stopped before `train` has no tokenizer; neither is written to disk.

    Attributes:
        name: the job's name.
        job_sha256: of the options that have an effect on the output.
        versions: of what decides the bytes: jogak, and unicode (normalization).
        dtype: `uint16` or `uint32`, little-endian; the type of every id on disk.
        vocab_size: the largest id plus one, special tokens included.
        tokenizer_sha256: the tokenizer's fingerprint.
        boundary: the ids around documents.
        count_sample: which of the documents the tokenizer was trained on, such as `all`; None
            where it was not trained by this run's job.
        shards: in order.
        compared: the tokenizers that the job compares with its own, in its order.
        parallel: whether the documents of all languages are translations of each other.
    """

    name: str
    job_sha256: str
    versions: dict[str, str]
    dtype: str | None = None
    vocab_size: int | None = None
    tokenizer_sha256: str | None = None
    boundary: Boundary = Boundary(None, None)
    count_sample: str | None = None
    shards: tuple[ShardRecord, ...] = ()
    compared: tuple[ComparedTokenizer, ...] = ()
    parallel: bool = False

    @property
    def total(self) -> Sums:
        """The sums of everything."""
        return sum((tally.sums for tally in self._tallies()), Sums())

    def by_language(self) -> dict[str, Sums]:
        """Return sums by language, in order of their names."""
        return dict(sorted(_grouped(self._tallies(), lambda tally: tally.language).items()))

    def by_source(self) -> dict[str, Sums]:
        """Return sums by source, in the job's order."""
        return _grouped(self._tallies(), lambda tally: tally.source)

    @property
    def skipped_files(self) -> tuple[SkippedFile, ...]:
        """Files, or units' parts of them, that were left out as damaged."""
        return tuple(each for shard in self.shards for each in shard.skipped_files)

    def _tallies(self) -> list[Tally]:
        return [tally for shard in self.shards for tally in shard.tallies]

    def to_json(self) -> dict[str, Any]:
        """Return what manifest.json holds."""
        return {
            "format": FORMAT,
            "name": self.name,
            "job_sha256": self.job_sha256,
            "versions": self.versions,
            "dtype": self.dtype,
            "byte_order": "little",
            "vocab_size": self.vocab_size,
            "tokenizer_sha256": self.tokenizer_sha256,
            "boundary": asdict(self.boundary),
            "count_sample": self.count_sample,
            "compared": [asdict(each) for each in self.compared],
            "parallel": self.parallel,
            "documents": sum(shard.documents for shard in self.shards),
            "tokens": sum(shard.tokens for shard in self.shards),
            "rejected_rows": sum(shard.rejected_rows for shard in self.shards),
            "skipped_files": [asdict(each) for each in self.skipped_files],
            "total": asdict(self.total),
            "languages": {name: asdict(sums) for name, sums in self.by_language().items()},
            "sources": {name: asdict(sums) for name, sums in self.by_source().items()},
            "shards": [asdict(shard) for shard in self.shards],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Manifest:
        """Return the manifest that `to_json` made this of.

        Raises:
            KeyError, TypeError: it is no such manifest.
        """
        return cls(
            name=value["name"],
            job_sha256=value["job_sha256"],
            versions=value["versions"],
            dtype=value["dtype"],
            vocab_size=value["vocab_size"],
            tokenizer_sha256=value["tokenizer_sha256"],
            boundary=Boundary(**value["boundary"]),
            count_sample=value["count_sample"],
            shards=tuple(ShardRecord.from_json(shard) for shard in value["shards"]),
            compared=tuple(ComparedTokenizer(**each) for each in value["compared"]),
            parallel=value["parallel"],
        )


def _grouped(tallies: Iterable[Tally], key: Callable[[Tally], str]) -> dict[str, Sums]:
    groups: dict[str, Sums] = {}
    for tally in tallies:
        groups[key(tally)] = groups.get(key(tally), Sums()) + tally.sums
    return groups


def write_manifest(output: Output, manifest: Manifest) -> None:
    """Write manifest.json; every shard must be there by now."""
    write_json(output.manifest, manifest.to_json())


def read_manifest(output: Output) -> Manifest:
    """Read manifest.json.

    Raises:
        ShardError: it is missing, damaged, or of another version of the format.
    """
    value = read_json(output.manifest)
    if value is None:
        found = "it is damaged" if output.manifest.exists() else "no such file"
        message = f"{output.manifest}: {found}; run the job to its end (jogak run) to make it"
        raise ShardError(message)
    if value.get("format") != FORMAT:
        message = (
            f"{output.manifest}: format {value.get('format')}, but this version reads {FORMAT}; "
            "use the version of Jogak that wrote it"
        )
        raise ShardError(message)
    try:
        return Manifest.from_json(value)
    except (KeyError, TypeError) as error:
        message = f"{output.manifest}: it is damaged ({error}); run the job again to make it anew"
        raise ShardError(message) from error

"""What a run made: a record of each shard, written beside it, and the manifest of them all.

The records hold sums only. A sidecar also holds the identity of what the shard was made from, so
that a later run can prove it done; the manifest holds nothing that differs between equal runs. It
is two files: manifest.json, small however many shards there are, and shards.parquet, their records,
which readers stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from jogak.documents import SkippedFile
from jogak.errors import ShardError
from jogak.manifest.records import (
    Boundary,
    Compared,
    ComparedTokenizer,
    ShardRecord,
    Tally,
    UnitPart,
)
from jogak.manifest.spool import RecordSpool
from jogak.manifest.table import ShardTable, write_table
from jogak.manifest.totals import Totals, totals_of
from jogak.measures import Sums
from jogak.output import Output, file_sha256, read_json, write_json

__all__ = [
    "FORMAT",
    "Boundary",
    "Compared",
    "ComparedTokenizer",
    "Manifest",
    "RecordSpool",
    "ShardRecord",
    "ShardTable",
    "Tally",
    "Totals",
    "UnitPart",
    "read_manifest",
    "totals_of",
    "write_manifest",
]

FORMAT = 3
"""Version of manifest.json, of shards.parquet and of the sidecars."""


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
        compared: the tokenizers that the job compares with its own, in its order.
        parallel: whether the documents of all languages are translations of each other.
        shards: in order; a `ShardTable`, which reads them as they are asked for, once on disk.
        shards_sha256: of the table's file; None before it is on disk.
        stated: the sums over all shards as manifest.json has them; None before it is on disk.
    """

    name: str
    job_sha256: str
    versions: dict[str, str]
    dtype: str | None = None
    vocab_size: int | None = None
    tokenizer_sha256: str | None = None
    boundary: Boundary = field(default_factory=Boundary)
    count_sample: str | None = None
    compared: tuple[ComparedTokenizer, ...] = ()
    parallel: bool = False
    shards: Sequence[ShardRecord] = field(default=(), compare=False)
    shards_sha256: str | None = None
    stated: Totals | None = None

    @property
    def totals(self) -> Totals:
        """The sums over all shards: as stated, or added up where nothing is stated yet."""
        return totals_of(self.shards) if self.stated is None else self.stated

    @property
    def total(self) -> Sums:
        """The sums of everything."""
        return self.totals.total

    def by_language(self) -> dict[str, Sums]:
        """Return sums by language, in order of their names."""
        return self.totals.languages

    def by_source(self) -> dict[str, Sums]:
        """Return sums by source, in the job's order."""
        return self.totals.sources

    @property
    def skipped_files(self) -> tuple[SkippedFile, ...]:
        """Files, or units' parts of them, that were left out as damaged."""
        return self.totals.skipped_files

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
            "shards_sha256": self.shards_sha256,
            **self.totals.to_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any], output: Output) -> Manifest:
        """Return the manifest that `to_json` made this of; its shards are the output's table.

        Raises:
            KeyError, TypeError: it is no such manifest.
        """
        totals = Totals.from_json(value)
        return cls(
            name=value["name"],
            job_sha256=value["job_sha256"],
            versions=value["versions"],
            dtype=value["dtype"],
            vocab_size=value["vocab_size"],
            tokenizer_sha256=value["tokenizer_sha256"],
            boundary=Boundary(**value["boundary"]),
            count_sample=value["count_sample"],
            compared=tuple(ComparedTokenizer(**each) for each in value["compared"]),
            parallel=value["parallel"],
            shards=ShardTable(output.shard_table, totals.shards),
            shards_sha256=value["shards_sha256"],
            stated=totals,
        )


def write_manifest(
    output: Output, manifest: Manifest, records: Iterable[ShardRecord] | None = None
) -> Manifest:
    """Write shards.parquet, then manifest.json; every shard must be there by now.

    Args:
        output: where.
        manifest: what is the same for all shards.
        records: of all shards in order, which are taken one by one; those in the manifest when
            left out.

    Returns:
        The manifest as it is on disk.
    """
    path = output.shard_table
    totals = write_table(path, manifest.shards if records is None else records)
    made = replace(
        manifest,
        shards=ShardTable(path, totals.shards),
        shards_sha256=file_sha256(path),
        stated=totals,
    )
    write_json(output.manifest, made.to_json())
    return made


def read_manifest(output: Output) -> Manifest:
    """Read manifest.json; the records of the shards are read when they are asked for.

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
        return Manifest.from_json(value, output)
    except (KeyError, TypeError, AttributeError) as error:
        message = f"{output.manifest}: it is damaged ({error}); run the job again to make it anew"
        raise ShardError(message) from error

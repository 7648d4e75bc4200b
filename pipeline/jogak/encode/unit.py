"""One unit, from its files to a shard and the sidecar that declares it finished."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.config import NormalizeOptions, ReadOptions, ShuffleOptions, SpecialText
from jogak.documents import RejectedRow, SkippedFile, TextBatch
from jogak.encode.boundary import with_boundaries
from jogak.encode.shuffle import Spool
from jogak.encode.sidecar import sidecar, write_rejected, write_sidecar
from jogak.encode.special import SpecialFinder
from jogak.errors import TokenizerError
from jogak.manifest import Boundary, ShardRecord, Tally, UnitPart
from jogak.measures import Sums
from jogak.normalize import normalize_batch
from jogak.plan import Unit
from jogak.read import read_unit
from jogak.shards import ShardFiles, ShardWriter
from jogak.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class EncodeTask:
    """One unit to encode.

    Attributes:
        unit: what to read.
        source: what the report calls the unit's source.
        read, normalize, special_text: the job's options.
        tokenizer: the tokenizer's folder or file.
        tokenizer_sha256: the fingerprint it must have.
        boundary: ids around every document.
        dtype: the type of ids on disk.
        shuffle: how documents are put in another order, or None.
        prefix: the shard's path without `.bin`.
        identity: what the shard is made from; kept in the sidecar.
    """

    unit: Unit
    source: str
    read: ReadOptions
    normalize: NormalizeOptions
    special_text: SpecialText
    tokenizer: str
    tokenizer_sha256: str
    boundary: Boundary
    dtype: str
    shuffle: ShuffleOptions | None
    prefix: Path
    identity: Mapping[str, Any]


def encode_unit(task: EncodeTask, advance: Callable[[int], None] = lambda _: None) -> ShardRecord:
    """Encode one unit into PREFIX.bin and PREFIX.idx, then write PREFIX.json.

    Args:
        task: the unit and how to encode it.
        advance: called with bytes of text that are done.

    Raises:
        SourceError: a document cannot be read, or has the text of a special token against the
            job's wish.
        TokenizerError: the tokenizer is not the one the run began with.
        ShardError: the files cannot be written.
    """
    tokenizer = _load_tokenizer(task.tokenizer, task.tokenizer_sha256)
    encoder = _Encoder(task, tokenizer)
    rejected: list[RejectedRow] = []
    skipped: list[SkippedFile] = []
    # An older sidecar must not vouch for files that are about to change.
    sidecar(task.prefix).unlink(missing_ok=True)
    with ShardWriter(task.prefix, np.dtype(task.dtype)) as writer:

        def encode_into(sink: ShardWriter | Spool) -> None:
            for batch in read_unit(task.unit, task.read, rejected, skipped):
                sink.append(*encoder.encode(batch))
                advance(int(batch.offsets[-1] - batch.offsets[0]))

        if task.shuffle is None:
            encode_into(writer)
        else:
            with Spool(task.prefix) as spool:
                encode_into(spool)
                for ids, lengths in spool.shuffled(task.shuffle, task.unit.index):
                    writer.append(ids, lengths)
        files = writer.close()
    sha256 = write_rejected(task.prefix, rejected)
    record = _record(task, encoder, files, len(rejected), sha256, skipped)
    write_sidecar(task.prefix, task.identity, record)
    return record


@functools.lru_cache(maxsize=1)
def _load_tokenizer(path: str, fingerprint: str) -> Tokenizer:
    """Load the tokenizer once for all the units of this process."""
    tokenizer = Tokenizer.load(path)
    if tokenizer.fingerprint != fingerprint:
        message = (
            f"{path}: not the tokenizer this run began with (fingerprint {tokenizer.fingerprint}, "
            f"expected {fingerprint}); it changed meanwhile, run again from the start"
        )
        raise TokenizerError(message)
    return tokenizer


class _Encoder:
    """Encodes the batches of one unit and sums up what the report needs."""

    def __init__(self, task: EncodeTask, tokenizer: Tokenizer) -> None:
        self._task = task
        self._tokenizer = tokenizer
        self._special = SpecialFinder(tokenizer, task.special_text)
        self._sums: dict[str, Sums] = {}
        self.changed_documents = 0

    def encode(self, batch: TextBatch) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return the ids of a batch, uint32 (n,), and tokens by document, int64 (documents,)."""
        characters, eojeol = _core.measure_text(batch.data, batch.offsets)
        text, changed = normalize_batch(batch, self._task.normalize)
        self.changed_documents += changed
        ids, ends = self._tokenizer.encode_documents(text.data, text.offsets)
        ids, lengths = self._special.apply(text, ids, np.diff(ends, prepend=0))
        sizes = np.diff(batch.offsets)
        marks = np.full(len(batch), self._task.boundary.tokens, dtype=np.int64)
        ones = np.ones(len(batch), dtype=np.int64)
        self._add(batch, [ones, sizes == 0, sizes, characters, eojeol, lengths, marks])
        return with_boundaries(ids, lengths, self._task.boundary)

    def _add(self, batch: TextBatch, columns: list[NDArray[Any]]) -> None:
        for code in np.unique(batch.languages):
            chosen = batch.languages == code
            name = batch.language_names[code]
            sums = Sums(*(int(column[chosen].sum(dtype=np.int64)) for column in columns))
            self._sums[name] = self._sums.get(name, Sums()) + sums

    @property
    def special_text(self) -> int:
        """How often special tokens' texts occurred so far."""
        return self._special.count

    def tallies(self) -> tuple[Tally, ...]:
        """Return the sums by language, in order of their names."""
        ordered = sorted(self._sums.items())
        return tuple(Tally(name, self._task.source, sums) for name, sums in ordered)


def _record(
    task: EncodeTask,
    encoder: _Encoder,
    files: ShardFiles,
    rejected_rows: int,
    rejected_sha256: str | None,
    skipped: list[SkippedFile],
) -> ShardRecord:
    return ShardRecord(
        index=task.unit.index,
        name=task.prefix.name,
        **asdict(files),
        changed_documents=encoder.changed_documents,
        special_text=encoder.special_text,
        rejected_rows=rejected_rows,
        rejected_sha256=rejected_sha256,
        skipped_files=tuple(skipped),
        parts=tuple(UnitPart(part.path, part.start, part.stop) for part in task.unit.parts),
        tallies=encoder.tallies(),
    )

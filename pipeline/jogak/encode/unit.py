"""One unit, from its files to a shard and the sidecar that declares it finished."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jogak.config import NormalizeOptions, ReadOptions, ShuffleOptions, SpecialText
from jogak.documents import RejectedRow, SkippedFile, TextBatch
from jogak.encode.boundary import with_boundaries
from jogak.encode.measuring import Measurer, write_usage
from jogak.encode.shuffle import Spool
from jogak.encode.sidecar import sidecar, write_rejected, write_sidecar
from jogak.encode.special import SpecialFinder
from jogak.errors import TokenizerError
from jogak.manifest import Boundary, Compared, ComparedTokenizer, ShardRecord, Tally, UnitPart
from jogak.normalize import normalize_documents
from jogak.plan import Unit
from jogak.read import read_unit
from jogak.shards import ShardFiles, ShardWriter
from jogak.store import Store, fetch_folder, publish_shard
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
        compare: other tokenizers to measure on the same documents.
        store: where the shard goes when it is whole, and the claim that must hold there; None
            where it stays.
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
    compare: tuple[ComparedTokenizer, ...] = ()
    store: tuple[str, bytes] | None = None


def encode_unit(
    task: EncodeTask,
    advance: Callable[[int], None] = lambda _: None,
    tokenizer: Tokenizer | None = None,
) -> ShardRecord:
    """Encode one unit into PREFIX.bin and PREFIX.idx, then write PREFIX.json.

    Args:
        task: the unit and how to encode it.
        advance: called with bytes of text that are done.
        tokenizer: the task's, where the caller has it already; it is loaded otherwise.

    Raises:
        SourceError: a document cannot be read, or has the text of a special token against the
            job's wish.
        TokenizerError: the tokenizer is not the one the run began with.
        ShardError: the files cannot be written.
    """
    url = None if task.store is None else task.store[0]
    if tokenizer is None:
        tokenizer = _load_tokenizer(task.tokenizer, task.tokenizer_sha256, url)
    encoder = _Encoder(task, tokenizer)
    rejected: list[RejectedRow] = []
    skipped: list[SkippedFile] = []
    if url is not None:
        task.prefix.parent.mkdir(parents=True, exist_ok=True)  # a node may be new to the run
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
    usage_sha256 = write_usage(task.prefix, encoder.measurer)
    record = _record(task, encoder, files, len(rejected), sha256, skipped, usage_sha256)
    write_sidecar(task.prefix, task.identity, record)
    if task.store is not None:
        publish_shard(task.store[0], task.prefix, task.store[1])
    return record


@functools.lru_cache(maxsize=1)
def _load_tokenizer(path: str, fingerprint: str, url: str | None) -> Tokenizer:
    """Load the tokenizer once for all the units of this process."""
    if url is None or Path(path).is_dir():
        tokenizer = Tokenizer.load(path)
    else:  # another node's folder
        with tempfile.TemporaryDirectory(prefix="jogak-") as folder:
            fetch_folder(Store(url), "tokenizer", Path(folder))
            tokenizer = Tokenizer.load(folder)
    if tokenizer.fingerprint != fingerprint:
        message = (
            f"{path}: not the tokenizer this run began with (fingerprint {tokenizer.fingerprint}, "
            f"expected {fingerprint}); it changed meanwhile, run again from the start"
        )
        raise TokenizerError(message)
    return tokenizer


@functools.lru_cache(maxsize=16)
def _load_compared(compared: ComparedTokenizer) -> Tokenizer:
    """Load a tokenizer to compare with once for all the units of this process."""
    tokenizer = Tokenizer.load(compared.path)
    if tokenizer.fingerprint != compared.sha256:
        message = f"{compared.path}: it changed meanwhile; run again from the start"
        raise TokenizerError(message)
    return tokenizer


class _Encoder:
    """Encodes the batches of one unit and sums up what the report needs."""

    def __init__(self, task: EncodeTask, tokenizer: Tokenizer) -> None:
        self._task = task
        self._tokenizer = tokenizer
        self._special = SpecialFinder(tokenizer, task.special_text)
        self.measurer = Measurer(tokenizer, [_load_compared(each) for each in task.compare])

    def encode(self, batch: TextBatch) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return the ids of a batch, uint32 (n,), and tokens by document, int64 (documents,)."""
        text, changed = normalize_documents(batch, self._task.normalize)
        ids, ends = self._tokenizer.encode_documents(text.data, text.offsets)
        ids, lengths = self._special.apply(text, ids, np.diff(ends, prepend=0))
        marks = self._task.boundary.tokens
        self.measurer.add(batch, text, changed, self._special.found, marks, ids, lengths)
        return with_boundaries(ids, lengths, self._task.boundary)


def _record(
    task: EncodeTask,
    encoder: _Encoder,
    files: ShardFiles,
    rejected_rows: int,
    rejected_sha256: str | None,
    skipped: list[SkippedFile],
    usage_sha256: str,
) -> ShardRecord:
    source, measurer = task.source, encoder.measurer
    sums = measurer.sums()
    return ShardRecord(
        index=task.unit.index,
        name=task.prefix.name,
        **asdict(files),
        changed_documents=sum(each.changed_documents for each in sums.values()),
        special_text=sum(each.special_text for each in sums.values()),
        rejected_rows=rejected_rows,
        rejected_sha256=rejected_sha256,
        skipped_files=tuple(skipped),
        parts=tuple(UnitPart(part.path, part.start, part.stop) for part in task.unit.parts),
        tallies=tuple(Tally(language, source, each) for language, each in sums.items()),
        usage_sha256=usage_sha256,
        compared=tuple(
            Compared(task.compare[place].name, language, source, each)
            for place, language, each in measurer.compared_sums()
        ),
    )

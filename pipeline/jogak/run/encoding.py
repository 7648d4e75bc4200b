"""The stage `encode` of a run: a shard for each unit, then the manifest of them all."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from jogak.count import Sample
from jogak.encode import (
    EncodeTask,
    boundary_ids,
    encode_unit,
    finished_in_store,
    finished_shard,
    rejected_rows,
    shard_units,
)
from jogak.manifest import Manifest, RecordSpool, ShardRecord, write_manifest
from jogak.output import explained, sync_folder, temporary_path
from jogak.run.context import Context
from jogak.run.jobs import compared_tokenizers, source_names
from jogak.run.lazy import Made
from jogak.run.naming import check_bad_rows, unit_name
from jogak.shards import dtype_for
from jogak.store import Store, shard_files
from jogak.tokenizer import Tokenizer

logger = logging.getLogger(__name__)


def describe(context: Context, manifest: Manifest, tokenizer: Tokenizer) -> Manifest:
    """Return the manifest with what the tokenizer decides.

    Raises:
        TokenizerError: the job's boundary needs a token that the tokenizer lacks.
    """
    job = context.job
    sample = Sample.of(job.count, context.text_bytes).description or "all"
    return replace(
        manifest,
        dtype=dtype_for(tokenizer.vocab_size).name,
        vocab_size=tokenizer.vocab_size,
        tokenizer_sha256=tokenizer.fingerprint,
        boundary=boundary_ids(tokenizer, job.encode),
        count_sample=sample if job.train is not None else None,
        compared=compared_tokenizers(job),
        parallel=job.report.parallel,
    )


def encode(context: Context, manifest: Manifest, tokenizer: Tokenizer) -> Manifest:
    """Encode every unit that is not a finished shard; write rejected.jsonl and the manifest.

    Args:
        context: the run.
        manifest: with the tokenizer described, without shards.
        tokenizer: the one of the output folder.

    Returns:
        The manifest with all shards, as it is on disk.
    """
    inputs = f"{len(context.units):,} units, vocabulary of {manifest.vocab_size:,}"
    with (
        context.stage("encode", inputs, total=context.text_bytes) as stage,
        RecordSpool(len(context.units)) as records,
    ):
        _encode_units(context, _tasks(context, manifest), tokenizer, records, stage.advance)
        manifest = write_manifest(context.output, manifest, _joining_rejected(context, records))
        total = manifest.total
        tokens = total.tokens + total.boundary_tokens
        stage.outputs = f"{tokens:,} tokens in {len(manifest.shards):,} shards"
    return manifest


def _tasks(context: Context, manifest: Manifest) -> Made[EncodeTask]:
    job, names = context.job, source_names(context.job)
    fingerprint = str(manifest.tokenizer_sha256)
    units = shard_units(context.units, job.encode.shuffle)
    identity = context.claim.identity(
        tokenizer_sha256=fingerprint,
        **{f"compared {each.name}": each.sha256 for each in manifest.compared},
    )
    mirror, url = context.mirror, str(context.output.url)
    store = None if mirror is None else (url, mirror.claim)
    compare = tuple(each for each in manifest.compared if each.sha256)

    def task(index: int) -> EncodeTask:
        return EncodeTask(
            unit=units[index],
            source=names[units[index].source],
            read=job.read,
            normalize=job.normalize,
            special_text=job.encode.special_text,
            tokenizer=str(context.output.tokenizer),
            tokenizer_sha256=fingerprint,
            boundary=manifest.boundary,
            dtype=str(manifest.dtype),
            shuffle=job.encode.shuffle,
            prefix=context.output.shard(index),
            identity=identity,
            compare=compare,
            store=store,
        )

    return Made(task, np.arange(len(units)))


def _encode_units(
    context: Context,
    tasks: Made[EncodeTask],
    tokenizer: Tokenizer,
    records: RecordSpool,
    advance: Callable[[int], None],
) -> None:
    """Take the record of every unit; only unfinished ones are encoded."""
    rejected = 0

    def keep(record: ShardRecord | None) -> None:
        nonlocal rejected
        if record is not None:
            records.add(record)
            rejected += record.rejected_rows

    if context.mirror is not None or next(context.output.tokens.iterdir(), None) is not None:
        context.check_units(_finder(context), tasks, keep)
    numbers = records.absent()
    left = tasks.chosen(numbers)
    if len(left):
        # A manifest vouches for every shard, so it goes before one of them does.
        context.output.manifest.unlink(missing_ok=True)
        if context.mirror is not None:
            context.mirror.drop_manifest()
    weights = shard_units(context.units, context.job.encode.shuffle).sizes[numbers]
    reused = context.text_bytes - int(weights.sum())
    context.reused["encode"] = reused
    advance(reused)

    def take(record: ShardRecord) -> None:
        nonlocal rejected
        records.add(record)
        rejected += record.rejected_rows
        for file in record.skipped_files:
            logger.warning("left out as damaged: %s", file.reason)
        check_bad_rows(context.job, rejected)

    # Reading a vocabulary of 200,000 takes four times as long as a copy of it. On a cluster each
    # node reads it once: a copy would travel with every unit.
    is_local = context.job.engine.kind == "local"
    peak = context.run_units(
        partial(encode_unit, tokenizer=tokenizer) if is_local else encode_unit,
        left,
        names=Made(lambda index: unit_name(tasks[index].unit), numbers),
        weights=weights,
        on_result=take,
        on_progress=advance,
    )
    if len(left):
        context.timings.setdefault("encode", {})["units"] = len(left)
        context.note_peak("encode", peak)


def _finder(context: Context) -> Callable[[EncodeTask], ShardRecord | None]:
    """Return what tells whether a unit is done, where the output lies."""
    mirror = context.mirror
    if mirror is None:
        return _encoded
    store = Store(str(context.output.url))
    return lambda task: finished_in_store(store, mirror.shards, task.prefix.name, task.identity)


def _encoded(task: EncodeTask) -> ShardRecord | None:
    return finished_shard(task.prefix, task.identity)


def _joining_rejected(context: Context, records: RecordSpool) -> Iterator[ShardRecord]:
    """Yield every record; write rejected.jsonl from the lists of the units on the way."""
    path = context.output.rejected
    temporary = temporary_path(path)
    with explained(path):
        with temporary.open("wb") as joined:
            for record in records:
                if record.rejected_rows:
                    listed = rejected_rows(context.output.shard(record.index))
                    with (
                        shard_files(context.output, record.name, [".rejected.jsonl"]),
                        listed.open("rb") as rows,
                    ):
                        shutil.copyfileobj(rows, joined)
                yield record
        temporary.replace(path)
        sync_folder(path.parent)

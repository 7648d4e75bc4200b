"""The stage `encode` of a run: a shard for each unit, then the manifest of them all."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from jogak.count import Sample
from jogak.encode import (
    EncodeTask,
    boundary_ids,
    encode_unit,
    finished_shard,
    rejected_rows,
    shard_units,
)
from jogak.manifest import Manifest, ShardRecord, write_manifest
from jogak.output import explained, hashed_at_once, sync_folder, temporary_path
from jogak.run.context import Context, compared_tokenizers, source_names
from jogak.run.naming import check_bad_rows, unit_names
from jogak.shards import dtype_for
from jogak.tokenizer import Tokenizer

logger = logging.getLogger(__name__)


def describe(context: Context, manifest: Manifest, tokenizer: Tokenizer) -> Manifest:
    """Return the manifest with what the tokenizer decides.

    Raises:
        TokenizerError: the job's boundary needs a token that the tokenizer lacks.
    """
    job = context.job
    sample = Sample(job.count.sample, job.count.seed).description or "all"
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
    with context.stage("encode", inputs, total=context.text_bytes) as stage:
        records = _encode_units(context, _tasks(context, manifest), tokenizer, stage.advance)
        _join_rejected(context, records)
        manifest = replace(manifest, shards=tuple(records))
        write_manifest(context.output, manifest)
        total = manifest.total
        tokens = total.tokens + total.boundary_tokens
        stage.outputs = f"{tokens:,} tokens in {len(records):,} shards"
    return manifest


def _tasks(context: Context, manifest: Manifest) -> list[EncodeTask]:
    job, names = context.job, source_names(context.job)
    fingerprint = str(manifest.tokenizer_sha256)
    return [
        EncodeTask(
            unit=unit,
            source=names[unit.source],
            read=job.read,
            normalize=job.normalize,
            special_text=job.encode.special_text,
            tokenizer=str(context.output.tokenizer),
            tokenizer_sha256=fingerprint,
            boundary=manifest.boundary,
            dtype=str(manifest.dtype),
            shuffle=job.encode.shuffle,
            prefix=context.output.shard(unit.index),
            identity=context.claim.identity(
                tokenizer_sha256=fingerprint,
                **{f"compared {each.name}": each.sha256 for each in manifest.compared},
            ),
            compare=tuple(each for each in manifest.compared if each.sha256),
        )
        for unit in shard_units(context.units, job.encode.shuffle)
    ]


def _encode_units(
    context: Context,
    tasks: list[EncodeTask],
    tokenizer: Tokenizer,
    advance: Callable[[int], None],
) -> list[ShardRecord]:
    """Return the record of every unit, in order; only unfinished ones are encoded."""
    found = hashed_at_once(lambda task: finished_shard(task.prefix, task.identity), tasks)
    records = {record.index: record for record in found if record is not None}
    left = [task for task in tasks if task.unit.index not in records]
    if left:
        # A manifest vouches for every shard, so it goes before one of them does.
        context.output.manifest.unlink(missing_ok=True)
    reused = context.text_bytes - sum(task.unit.text_bytes for task in left)
    context.reused["encode"] = reused
    advance(reused)

    def take(record: ShardRecord) -> None:
        records[record.index] = record
        for file in record.skipped_files:
            logger.warning("left out as damaged: %s", file.reason)
        check_bad_rows(context.job, sum(each.rejected_rows for each in records.values()))

    # Reading a vocabulary of 200,000 takes four times as long as a copy of it. On a cluster each
    # node reads it once: a copy would travel with every unit.
    is_local = context.job.engine.kind == "local"
    peak = context.run_units(
        partial(encode_unit, tokenizer=tokenizer) if is_local else encode_unit,
        left,
        names=unit_names(task.unit for task in left),
        weights=[task.unit.text_bytes for task in left],
        on_result=take,
        on_progress=advance,
    )
    if left:
        context.timings.setdefault("encode", {})["units"] = len(left)
        context.note_peak("encode", peak)
    return [records[index] for index in sorted(records)]


def _join_rejected(context: Context, records: list[ShardRecord]) -> None:
    """Write rejected.jsonl from the lists of the units, in their order."""
    path = context.output.rejected
    temporary = temporary_path(path)
    with explained(path):
        with temporary.open("wb") as joined:
            for record in records:
                if record.rejected_rows:
                    with rejected_rows(context.output.shard(record.index)).open("rb") as rows:
                        shutil.copyfileobj(rows, joined)
        temporary.replace(path)
        sync_folder(path.parent)

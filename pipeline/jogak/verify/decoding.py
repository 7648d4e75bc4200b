"""Decodes documents of an output and compares them with the normalized source, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Literal

import numpy as np

from jogak import progress
from jogak.config import Job, load_job
from jogak.documents import TextBatch
from jogak.encode import document_order, shard_units
from jogak.errors import JogakError
from jogak.manifest import Manifest, ShardRecord
from jogak.normalize import normalize_batch
from jogak.output import Output, read_json
from jogak.plan import Unit, list_inputs, plan_units
from jogak.read import read_unit
from jogak.shards import Shard, read_shard
from jogak.store import shard_files
from jogak.tokenizer import Tokenizer
from jogak.tokenizer.losses import loses_normalized_text

MOST_TOLD = 5
"""Documents of a shard that are named when their text differs."""


def compare_with_source(
    output: Output,
    manifest: Manifest,
    tokenizer: Tokenizer,
    decode: int | Literal["all"],
    *,
    show: bool = True,
) -> tuple[int, list[str]]:
    """Decode documents and compare them with their source.

    Args:
        output: the output folder; its job.yaml says where the source is.
        manifest: of that folder.
        tokenizer: of that folder.
        decode: how many documents, spread evenly; or all.
        show: whether to draw a bar on a terminal.

    Returns:
        How many documents were compared; what is wrong.
    """
    try:
        job = load_job(output.job)
        units = shard_units(plan_units(job), job.encode.shuffle)
        inputs = [asdict(each) for each in list_inputs(job)]
    except JogakError as error:
        return 0, [f"the source cannot be read to compare with: {error}"]
    if (read_json(output.inputs) or {}).get("inputs") != inputs or len(units) != len(
        manifest.shards
    ):
        return 0, ["the source changed since, so decoded text cannot be compared with it"]
    total = manifest.totals.documents
    count = total if decode == "all" else min(decode, total)
    decoded, faults, first = 0, [], 0
    with progress.stage(
        "decode", output.folder.name, total=count, unit=" documents", show=show
    ) as stage:
        # A table that is too short is told of as such.
        for unit, record in zip(units, manifest.shards, strict=False):
            chosen = _spread(total, count, first, first + record.documents) - first
            first += record.documents
            if len(chosen):
                comparison = _Comparison(output, manifest, tokenizer, job)
                faults += comparison.faults(unit, record, chosen)
                decoded += comparison.compared
                stage.advance(len(chosen))
    return decoded, faults


def _spread(
    total: int, count: int, first: int, stop: int
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return those of `count` document numbers, evenly spread over `total`, within a range.

    Number k is (2k + 1) total / 2 count, rounded down; ascending. O(those within).
    """
    if not count:
        return np.empty(0, np.int64)
    low, high = (max(0, -((total - 2 * count * each) // (2 * total))) for each in (first, stop))
    chosen = range(low, min(high, count))
    return np.array([(2 * k + 1) * total // (2 * count) for k in chosen], np.int64)


class _Comparison:
    """Compares chosen documents of one unit with its shard."""

    def __init__(self, output: Output, manifest: Manifest, tokenizer: Tokenizer, job: Job) -> None:
        self.compared = 0
        self._output = output
        self._boundary = manifest.boundary
        self._tokenizer = tokenizer
        self._job = job

    def faults(
        self, unit: Unit, record: ShardRecord, chosen: np.ndarray[tuple[int], np.dtype[np.int64]]
    ) -> list[str]:
        """Return what is wrong with the chosen documents (numbers within the shard, ascending)."""
        path = self._output.tokens / f"{record.name}.bin"
        try:
            with shard_files(self._output, record.name, (".bin", ".idx")):
                shard = read_shard(self._output.tokens / record.name)
                found = list(self._differences(unit, shard, chosen))
        except JogakError as error:
            return [str(error)]
        told = [f"{path}: {difference}" for difference in found[:MOST_TOLD]]
        if len(found) > MOST_TOLD:
            told.append(f"{path}: and {len(found) - MOST_TOLD:,} documents more")
        return told

    def _differences(
        self, unit: Unit, shard: Shard, chosen: np.ndarray[tuple[int], np.dtype[np.int64]]
    ) -> Iterator[str]:
        # Documents are met in the order of the source; `place` says where each is in the shard.
        order = document_order(len(shard), self._job.encode.shuffle, unit.index)
        place = np.argsort(order) if self._job.encode.shuffle is not None else order
        absent = chosen[chosen >= len(shard)].tolist()
        yield from (f"document {document:,} is not in the index" for document in absent)
        chosen = np.sort(order[chosen[chosen < len(shard)]])
        first, last = 0, int(chosen[-1]) if len(chosen) else -1
        for batch in read_unit(unit, self._job.read, []):
            text = normalize_batch(batch, self._job.normalize)[0]
            here = chosen[(chosen >= first) & (chosen < first + len(text))]
            for document in here.tolist():
                at = int(place[document])
                difference = self._difference(text, document - first, shard, at)
                self.compared += 1
                if difference is not None:
                    yield difference
            first += len(text)
            if first > last:
                return
        yield f"the source has {first:,} documents, but the shard's index has {len(shard):,}"

    def _difference(self, text: TextBatch, index: int, shard: Shard, document: int) -> str | None:
        ids = shard[document]
        ids = ids[self._boundary.bos is not None : len(ids) - (self._boundary.eos is not None)]
        found, right = self._tokenizer.decode_bytes(ids), text.document(index)
        if found != right and loses_normalized_text(self._tokenizer.spec):
            # Then the best that can be asked for is what the source itself decodes to.
            special = "allow" if self._job.encode.special_text == "allow" else "plain"
            again = self._tokenizer.encode(right, special=special)
            right = self._tokenizer.decode_bytes(again)
        if found == right:
            return None
        place = next(
            (at for at, (a, b) in enumerate(zip(found, right, strict=False)) if a != b),
            min(len(found), len(right)),
        )
        return (
            f"document {document:,} ({text.path} row {text.rows[index]}) decodes to other text "
            f"than its source from byte {place:,} on"
        )

"""Checks a finished output: every byte against its checksum, every index, id, boundary and total.

Nothing is changed. Each fault is named with the file it is in; the check goes on behind it, so one
run finds them all. With `decode`, documents are decoded and compared with their source.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jogak import progress
from jogak.errors import JogakError
from jogak.manifest import Manifest, ShardRecord, read_manifest
from jogak.output import Output, hashed_at_once, read_json
from jogak.report import gather, report_html, report_json, report_markdown
from jogak.store import SHARD_ENDS, opened, shard_files, told
from jogak.tokenizer import Tokenizer
from jogak.verify.decoding import compare_with_source
from jogak.verify.listing import manifest_faults
from jogak.verify.provenance import provenance_faults
from jogak.verify.shard import shard_faults

__all__ = ["VerifyReport", "verify"]


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was checked, and what is wrong.

    Attributes:
        path: the output folder.
        shards, documents, tokens: what the manifest lists.
        checked_bytes: bytes of shards that were read.
        decoded: documents that were decoded and compared with their source.
        faults: what is wrong, each naming its file; empty when all is well.
    """

    path: str
    shards: int
    documents: int
    tokens: int
    checked_bytes: int
    decoded: int
    faults: tuple[str, ...]


def verify(
    path: Path | str, *, decode: int | Literal["all"] | None = None, show: bool = True
) -> VerifyReport:
    """Check an output.

    Args:
        path: the folder that `run` wrote, or its URL.
        decode: how many documents to decode and compare with the normalized source, spread evenly
            over the output; `all` of them; none when left out.
        show: whether to draw a bar on a terminal.

    Raises:
        ShardError: there is no manifest to check by, or no table of shards.
    """
    with opened(path, counts=True) as output:
        return _verify(output, str(path), decode, show=show)


def _verify(
    output: Output, path: str, decode: int | Literal["all"] | None, *, show: bool
) -> VerifyReport:
    manifest = read_manifest(output)
    size = manifest.totals.file_bytes
    faults = list(manifest_faults(output, manifest))
    faults += _report_faults(output, manifest)
    faults += provenance_faults(output, manifest)
    tokenizer, tokenizer_faults = _tokenizer(output, manifest)
    faults += tokenizer_faults
    name = f"{len(manifest.shards):,} shards"
    with progress.stage("verify", name, total=size, show=show) as stage:

        def check(record: ShardRecord) -> list[str]:
            with shard_files(output, record.name, SHARD_ENDS):
                found = list(shard_faults(output, manifest, record))
            stage.advance(record.bin_bytes + record.idx_bytes)
            return found

        for found in hashed_at_once(check, manifest.shards):
            faults += found
    decoded = 0
    if decode is not None and tokenizer is not None:
        decoded, found = compare_with_source(output, manifest, tokenizer, decode, show=show)
        faults += found
    return VerifyReport(
        path=path,
        shards=len(manifest.shards),
        documents=manifest.totals.documents,
        tokens=manifest.totals.tokens,
        checked_bytes=size,
        decoded=decoded,
        faults=tuple(told(output, fault) for fault in faults),
    )


def _report_faults(output: Output, manifest: Manifest) -> Iterator[str]:
    """Make the report again, and compare; a missing one is none."""
    advice = "not what the manifest's sums give; run `jogak report` to make it anew"
    try:
        report = gather(output, manifest)
        sums, pages = report_json(report), {"md": report_markdown(report)}
        pages["html"] = report_html(report)
    except JogakError:
        return  # a usage file or the tokenizer is damaged, of which its own check tells
    path = output.folder / "report.json"
    if path.exists() and read_json(path) != json.loads(json.dumps(sums)):
        yield f"{path}: {advice}"
    for end, page in pages.items():
        path = output.folder / f"report.{end}"
        if path.exists() and path.read_bytes() != page.encode():
            yield f"{path}: {advice}"


def _tokenizer(output: Output, manifest: Manifest) -> tuple[Tokenizer | None, list[str]]:
    """Return the output's tokenizer, and what is wrong with it."""
    try:
        tokenizer = Tokenizer.load(output.tokenizer)
    except JogakError as error:
        return None, [str(error)]
    faults = []
    if tokenizer.fingerprint != manifest.tokenizer_sha256:
        faults.append(
            f"{output.tokenizer}: not the tokenizer of these shards (fingerprint "
            f"{tokenizer.fingerprint}, the manifest has {manifest.tokenizer_sha256})"
        )
    if tokenizer.vocab_size != manifest.vocab_size:
        faults.append(
            f"{output.tokenizer}: {tokenizer.vocab_size:,} ids, but the manifest has "
            f"{manifest.vocab_size:,}"
        )
    return (None if faults else tokenizer), faults

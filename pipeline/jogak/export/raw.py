"""Layouts of raw ids with a file or a header beside them: datatrove, OLMo-core, llm.c."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np

from jogak.errors import ShardError
from jogak.export.blocks import Advance, all_blocks
from jogak.shards import Tokens

LLMC_HEADERS = {"uint16": (20240520, 1), "uint32": (20240801, 7)}
"""Magic number and version by type of ids; the second is llm.c's for Llama 3.

Source: karpathy/llm.c, dev/data/data_common.py.
"""
METRIC = (" ", " k", " M", " G", " T", " P")


def write_datatrove(tokens: Tokens, folder: Path, advance: Advance) -> dict[str, Any]:
    """Write NAME.ds (ids), .ds.index (uint64 ends of documents) and .ds.metadata.

    Source: datatrove 0.10.1, pipeline/tokens/tokenizer.py, TokenizedFile.
    """
    for name, blocks in all_blocks(tokens, advance):
        path, count = folder / f"{name}.ds", 0
        with path.open("wb") as ids, (folder / f"{name}.ds.index").open("wb") as index:
            for block in blocks:
                ids.write(np.ascontiguousarray(block.ids).data)
                index.write((block.ends + count).astype("<u8").data)
                count += len(block.ids)
        lines = [f"{tokens.folder / 'tokenizer'}|{tokens.dtype.itemsize}", str(count)]
        readable = _metric(count)
        (folder / f"{name}.ds.metadata").write_text("\n".join([*lines, readable]))
    return {"token_size": tokens.dtype.itemsize}


def _metric(count: int) -> str:
    """Write a number of tokens as humanize.metric does: three digits and a prefix."""
    count = round(count, min(3 - len(str(count)), 0))
    power = min((len(str(count)) - 1) // 3, len(METRIC) - 1)
    digits = max(2 - (len(str(count)) - 1) % 3, 0)
    return f"{count / 1000**power:.{digits}f}{METRIC[power]}T"


def write_olmo(tokens: Tokens, folder: Path, advance: Advance) -> dict[str, Any]:
    """Write part-0-NNNNN.npy (ids, without a header) and .csv.gz: start,end,id,src,loc.

    The ids' type is the smallest that holds the vocabulary, which OLMo-core takes for granted.
    `id` is the document's number over all shards, `src` the shard and `loc` its number there.

    Source: OLMo-core 3.0.0, data/utils.py, iter_document_indices and get_document_indices.
    """
    dtype = np.min_scalar_type(tokens.vocab_size - 1).newbyteorder("<")
    for number, (name, blocks) in enumerate(all_blocks(tokens, advance)):
        part = folder / f"part-0-{number:05d}"
        start = within = 0
        with (
            part.with_suffix(".npy").open("wb") as ids,
            part.with_suffix(".csv.gz").open("wb") as raw,
            # Neither time nor name, so that equal outputs give equal files.
            gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
            io.TextIOWrapper(packed, encoding="ascii", newline="") as rows,
        ):
            for block in blocks:
                ids.write(np.ascontiguousarray(block.ids, dtype).data)
                begin = start
                for document, end in enumerate(block.ends.tolist()):
                    number_of = f"{block.first + document},{name},{within + document}"
                    rows.write(f"{begin},{start + end},{number_of}\n")
                    begin = start + end
                start += len(block.ids)
                within += len(block.ends)
    return {"dtype": dtype.name}


def write_llmc(tokens: Tokens, folder: Path, advance: Advance) -> dict[str, Any]:
    """Write NAME.bin: 256 int32 (magic, version, count, zeros), then ids.

    llm.c wants a token before each document, which `encode.boundary: bos` of the job gives.
    """
    for index, (name, blocks) in enumerate(all_blocks(tokens, advance)):
        count = tokens.size(index)[1]
        if count >= 2**31:
            message = f"{name}: {count:,} ids, but llm.c counts below 2^31; lower shard_bytes"
            raise ShardError(message)
        header = np.zeros(256, "<i4")
        header[:3] = *LLMC_HEADERS[tokens.dtype.name], count
        with (folder / f"{name}.bin").open("wb") as file:
            file.write(header.data)
            for block in blocks:
                file.write(np.ascontiguousarray(block.ids).data)
    return {}

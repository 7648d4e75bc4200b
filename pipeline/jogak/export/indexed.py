"""Layouts that keep the bytes of each item: MDS (mosaicml-streaming) and litdata.

Both begin a file with the number of items and uint32 offsets, so no file reaches 4 GiB.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from jogak.errors import ShardError
from jogak.export.blocks import Advance, all_blocks, documents_of
from jogak.shards import Tokens

MDS_BYTES = 2**26
"""Bytes of a file, as the library's own writer limits them."""
LITDATA_TYPES = {"uint16": 5, "uint32": 6}
"""Source: litdata 0.2.76, constants.py, _NUMPY_SCTYPES."""


class _MdsWriter:
    """Gathers samples of one column `tokens` up to a file's size.

    Source: mosaicml-streaming 0.13.0, base/format/mds: writer.py and encodings.py (NDArray).
    """

    def __init__(self, folder: Path, dtype: np.dtype[Any]) -> None:
        self.shards: list[dict[str, Any]] = []
        self._folder = folder
        self._dtype = dtype
        self._config = {
            "column_encodings": [f"ndarray:{dtype.name}"],
            "column_names": ["tokens"],
            "column_sizes": [None],
            "compression": None,
            "format": "mds",
            "hashes": [],
            "size_limit": MDS_BYTES,
            "version": 2,
        }
        self._header = json.dumps(self._config, sort_keys=True).encode()
        self._samples: list[bytes] = []
        self._size = self._fixed = 8 + len(self._header)

    def add(self, ids: np.ndarray[Any, Any]) -> None:
        width = next(code for code in (1, 2, 4) if len(ids) < 1 << 8 * code)
        shape = bytes([1 << 2 | width // 2]) + len(ids).to_bytes(width, "little")
        data = shape + np.ascontiguousarray(ids, self._dtype).tobytes()
        if len(data) >= 2**32 - 2**20:
            message = f"a document of {len(ids):,} ids, too long for MDS (4 GiB); split it"
            raise ShardError(message)
        sample = len(data).to_bytes(4, "little") + data
        if self._samples and self._size + len(sample) + 4 > MDS_BYTES:
            self.flush()
        self._samples.append(sample)
        self._size += len(sample) + 4

    def flush(self) -> None:
        if not self._samples:
            return
        name, count = f"shard.{len(self.shards):05d}.mds", len(self._samples)
        offsets = np.cumsum([0, *map(len, self._samples)]) + 8 + 4 * count + len(self._header)
        with (self._folder / name).open("wb") as file:
            file.write(count.to_bytes(4, "little") + offsets.astype("<u4").tobytes())
            file.write(self._header)
            file.writelines(self._samples)
        raw = {"basename": name, "bytes": int(offsets[-1]), "hashes": {}}
        self.shards.append({"samples": count, "raw_data": raw, "zip_data": None, **self._config})
        self._samples, self._size = [], self._fixed


def write_mds(tokens: Tokens, folder: Path, advance: Advance) -> dict[str, Any]:
    """Write shard.NNNNN.mds and index.json: a sample for each document, column `tokens`."""
    writer = _MdsWriter(folder, tokens.dtype)
    for _, blocks in all_blocks(tokens, advance):
        for block in blocks:
            for ids in documents_of(block):
                writer.add(ids)
    writer.flush()
    index = {"version": 2, "shards": writer.shards}
    (folder / "index.json").write_text(json.dumps(index, sort_keys=True))
    return {}


def write_litdata(tokens: Tokens, folder: Path, advance: Advance) -> dict[str, Any]:
    """Write chunk-0-N.bin for each shard, and index.json, for litdata's TokensLoader.

    That loader cuts each chunk into blocks and leaves out what remains at its end.
    """
    chunks: list[dict[str, Any]] = []
    for index, (name, blocks) in enumerate(all_blocks(tokens, advance)):
        documents, ids = tokens.size(index)
        head = 4 * (documents + 2)
        size = head + ids * tokens.dtype.itemsize
        if size >= 2**32:
            message = f"{name}: {size:,} bytes, too long for litdata (4 GiB); lower shard_bytes"
            raise ShardError(message)
        filename = f"chunk-0-{index}.bin"
        with (folder / filename).open("wb") as file:
            file.write(np.array([documents, head], "<u4").data)
            lengths = tokens.shard(index).lengths
            ends = np.cumsum(lengths, dtype=np.int64) * tokens.dtype.itemsize
            file.write((ends + head).astype("<u4").data)
            for block in blocks:
                file.write(np.ascontiguousarray(block.ids).data)
        chunks.append(
            {"chunk_bytes": size, "chunk_size": documents, "dim": ids, "filename": filename}
        )
    config = {
        "chunk_bytes": max((each["chunk_bytes"] for each in chunks), default=0),
        "chunk_size": None,
        "compression": None,
        "data_format": [f"no_header_numpy:{LITDATA_TYPES[tokens.dtype.name]}"],
        # The tree of an item that is one array, as torch and litdata write it.
        "data_spec": '[1, {"type": null, "context": null, "children_spec": []}]',
        "encryption": None,
        "item_loader": "TokensLoader",
    }
    text = json.dumps({"chunks": chunks, "config": config}, sort_keys=True)
    (folder / "index.json").write_text(text)
    return {}

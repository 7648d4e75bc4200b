"""The layout: type codes, limits, and the index, written in constant memory."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from jogak.errors import ShardError

TokenType = np.dtype[np.uint16] | np.dtype[np.uint32]
"""The types of ids on disk."""

MAGIC = b"MMIDIDX\x00\x00"
HEADER = struct.Struct("<9sQBQQ")
TYPE_CODES: dict[TokenType, int] = {np.dtype("<u2"): 8, np.dtype("<u4"): 4}
MAX_IDS: dict[TokenType, int] = {np.dtype("<u2"): 2**16, np.dtype("<u4"): 2**31}
"""Ids that a type can hold, first one that it cannot; uint32 is read as int32 by Megatron."""
MAX_DOCUMENTS = 2**31 - 1
"""Megatron's loaders keep sequence numbers as int32."""
INDEX_BLOCK = 2**16
"""Documents of which the index is in memory at once."""


def dtype_for(vocab_size: int) -> TokenType:
    """Return the type of ids 0 to vocab_size - 1, special tokens included.

    >>> dtype_for(65_536), dtype_for(65_537)
    (dtype('uint16'), dtype('uint32'))
    """
    if not 0 < vocab_size <= 2**31:
        message = f"vocab_size: must be between 1 and 2^31, but got {vocab_size}"
        raise ShardError(message)
    return np.dtype("<u2") if vocab_size <= 2**16 else np.dtype("<u4")


def byte_pointers(
    lengths: NDArray[np.int32], first: int, item_bytes: int
) -> tuple[NDArray[np.int64], int]:
    """Return where documents start in .bin, and where the next one will.

    Args:
        lengths: int32 (documents,); tokens of each.
        first: byte at which the first of them starts.
        item_bytes: bytes of an id.

    Returns:
        int64 (documents,) byte offsets; the byte after the last document. All arithmetic is in
        64 bits (int32 lengths times a Python int overflow in numpy 2).
    """
    ends = first + np.cumsum(lengths, dtype=np.int64) * item_bytes
    starts = np.empty(len(lengths), dtype=np.int64)
    starts[:1] = first
    starts[1:] = ends[:-1]
    return starts, int(ends[-1]) if len(ends) else first


class IndexWriter:
    """Writes a .idx into an open file: lengths as they come, the rest by `finish`."""

    def __init__(self, file: BinaryIO, dtype: TokenType) -> None:
        """Leave room for the header in `file`, which is empty and may be read and written."""
        self.documents = 0
        self._file = file
        self._dtype = dtype
        file.write(bytes(HEADER.size))

    def append(self, lengths: NDArray[np.int32]) -> None:
        """Add documents by their lengths in tokens, int32 (documents,)."""
        self.documents += len(lengths)
        if self.documents > MAX_DOCUMENTS:
            message = (
                f"{self._file.name}: more than {MAX_DOCUMENTS:,} documents in one shard, which "
                "loaders cannot address; lower encode.shard_bytes"
            )
            raise ShardError(message)
        self._file.write(lengths.astype("<i4", copy=False).tobytes())

    def finish(self) -> str:
        """Write header, pointers and document starts; return the sha256 (hex) of the whole."""
        file, count = self._file, self.documents
        header = HEADER.pack(MAGIC, 1, TYPE_CODES[self._dtype], count, count + 1)
        file.seek(0)
        file.write(header)
        digest = hashlib.sha256(header)
        for lengths in self._lengths():
            digest.update(lengths.tobytes())
        pointer, written = 0, 0
        for lengths in self._lengths():
            starts, pointer = byte_pointers(lengths, pointer, self._dtype.itemsize)
            self._put(HEADER.size + 4 * count + 8 * written, starts, digest)
            written += len(starts)
        for first in range(0, count + 1, INDEX_BLOCK):
            starts = np.arange(first, min(first + INDEX_BLOCK, count + 1), dtype="<i8")
            self._put(HEADER.size + 12 * count + 8 * first, starts, digest)
        return digest.hexdigest()

    def _lengths(self) -> Iterator[NDArray[np.int32]]:
        """Yield the lengths written so far, block by block, from the file itself."""
        for first in range(0, self.documents, INDEX_BLOCK):
            block = min(INDEX_BLOCK, self.documents - first)
            self._file.seek(HEADER.size + 4 * first)
            yield np.frombuffer(self._file.read(4 * block), dtype="<i4")

    def _put(self, position: int, values: NDArray[np.int64], digest: hashlib._Hash) -> None:
        data = values.astype("<i8", copy=False).tobytes()
        self._file.seek(position)
        self._file.write(data)
        digest.update(data)

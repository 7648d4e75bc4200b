"""Maps a shard into memory, once its sizes and header agree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jogak.errors import ShardError
from jogak.shards.layout import HEADER, MAGIC, TYPE_CODES, TokenType


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard on disk, mapped into memory; nothing is read before it is used.

    Attributes:
        ids: uint16 or uint32 (tokens,).
        lengths: int32 (documents,); tokens of each document.
        pointers: int64 (documents,); byte of .bin at which each document starts.
        starts: int64 (documents + 1,); sequence at which each document starts: 0, 1, 2, ...
    """

    ids: NDArray[np.uint16] | NDArray[np.uint32]
    lengths: NDArray[np.int32]
    pointers: NDArray[np.int64]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.lengths)

    def __getitem__(self, index: int) -> NDArray[np.uint16] | NDArray[np.uint32]:
        """Return the ids of one document."""
        start = int(self.pointers[index]) // self.ids.dtype.itemsize
        return self.ids[start : start + int(self.lengths[index])]


def read_shard(prefix: Path) -> Shard:
    """Map PREFIX.bin and PREFIX.idx into memory.

    Sizes and header are checked here; what the index says is checked by `verify`.

    Raises:
        ShardError: a file is missing, no shard of this layout, or not of the size the index tells.
    """
    bin_path, idx_path = (
        prefix.with_name(prefix.name + ".bin"),
        prefix.with_name(prefix.name + ".idx"),
    )
    for path in (bin_path, idx_path):
        if not path.is_file():
            message = f"{path}: no such file; run the job again to make it"
            raise ShardError(message)
    dtype, count = _read_header(idx_path)
    size = bin_path.stat().st_size
    if size % dtype.itemsize:
        message = f"{bin_path}: {size} bytes are no whole number of {dtype} ids; it is cut off"
        raise ShardError(message)
    return Shard(
        ids=_mapped(bin_path, dtype, 0, size // dtype.itemsize),
        lengths=_mapped(idx_path, np.dtype("<i4"), HEADER.size, count),
        pointers=_mapped(idx_path, np.dtype("<i8"), HEADER.size + 4 * count, count),
        starts=_mapped(idx_path, np.dtype("<i8"), HEADER.size + 12 * count, count + 1),
    )


def _read_header(path: Path) -> tuple[TokenType, int]:
    """Return the type and the number of documents of a .idx, whose size must agree."""
    with path.open("rb") as file:
        header = file.read(HEADER.size)
    if len(header) < HEADER.size or not header.startswith(MAGIC):
        message = f"{path}: not a Megatron index (it does not start with 'MMIDIDX')"
        raise ShardError(message)
    _, version, code, sequences, documents = HEADER.unpack(header)
    dtype = next((known for known, number in TYPE_CODES.items() if number == code), None)
    if version != 1 or dtype is None or documents != sequences + 1:
        message = (
            f"{path}: not an index that Jogak writes (version {version}, type code {code}, "
            f"{sequences} sequences, {documents} document starts)"
        )
        raise ShardError(message)
    expected, found = HEADER.size + 20 * sequences + 8, path.stat().st_size
    if found != expected:
        message = f"{path}: {found} bytes, but {sequences} documents take {expected}"
        raise ShardError(message)
    return dtype, sequences


def _mapped(path: Path, dtype: np.dtype[Any], offset: int, count: int) -> NDArray[Any]:
    """Return `count` values of a file, read-only; an empty range cannot be mapped, so is made."""
    if count == 0:
        return np.empty(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=(count,)).view(np.ndarray)

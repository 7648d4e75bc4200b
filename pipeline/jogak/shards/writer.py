"""Writes a shard: range checks, checksums, and names that appear only when files are whole."""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from jogak.errors import ShardError
from jogak.output import explained, sync_folder, temporary_path
from jogak.shards.layout import MAX_IDS, IndexWriter, TokenType


@dataclass(frozen=True, slots=True)
class ShardFiles:
    """What a finished pair of files holds."""

    documents: int
    tokens: int
    bin_bytes: int
    bin_sha256: str
    idx_bytes: int
    idx_sha256: str


class ShardWriter:
    """Writes one shard; its files appear under their names only when they are whole.

    >>> with ShardWriter(Path("tokens/shard-00000"), dtype_for(32_000)) as writer:  # doctest: +SKIP
    ...     writer.append(np.array([1, 2, 3]), np.array([3, 0]))
    >>> writer.files.documents  # doctest: +SKIP
    2
    """

    def __init__(self, prefix: Path, dtype: TokenType) -> None:
        """Open temporary files beside `prefix`.

        Raises:
            ShardError: they cannot be created.
        """
        self.files: ShardFiles | None = None
        self._paths = (
            prefix.with_name(prefix.name + ".bin"),
            prefix.with_name(prefix.name + ".idx"),
        )
        self._dtype = dtype
        self._tokens = 0
        self._digest = hashlib.sha256()
        self._open: list[BinaryIO] = []
        try:
            with explained(self._paths[0]):
                for path in self._paths:
                    self._open.append(temporary_path(path).open("w+b"))
                self._index = IndexWriter(self._open[1], dtype)
        except ShardError:
            self._discard()
            raise

    def append(self, ids: NDArray[np.integer], document_lengths: NDArray[np.integer]) -> None:
        """Add documents: their ids, shape (n,), and lengths in tokens, summing to n.

        Raises:
            ShardError: an id does not fit the type, a length is out of range, or the disk refuses.
        """
        self._check(ids, document_lengths)
        with explained(self._paths[0]):
            data = np.ascontiguousarray(ids, dtype=self._dtype).data.cast("B")
            self._open[0].write(data)
            self._index.append(document_lengths.astype(np.int32))
        self._digest.update(data)
        self._tokens += len(ids)

    def _check(self, ids: NDArray[np.integer], lengths: NDArray[np.integer]) -> None:
        name, limit = self._paths[0], MAX_IDS[self._dtype]
        if len(ids) and not (int(ids.min()) >= 0 and int(ids.max()) < limit):
            message = (
                f"{name}: ids {int(ids.min())} to {int(ids.max())} do not fit {self._dtype} "
                f"(0 to {limit - 1}); the tokenizer gave an id outside its own vocabulary"
            )
            raise ShardError(message)
        if len(lengths) and not (int(lengths.min()) >= 0 and int(lengths.max()) < 2**31):
            message = (
                f"{name}: a document of {int(lengths.max())} tokens (the least: "
                f"{int(lengths.min())}); the layout holds 0 to {2**31 - 1}; split that document"
            )
            raise ShardError(message)
        if int(lengths.sum(dtype=np.int64)) != len(ids):
            message = f"{name}: {len(ids)} ids, but lengths that sum to {lengths.sum()}"
            raise ShardError(message)

    def close(self) -> ShardFiles:
        """Finish the index, flush both files to disk, give them their names."""
        with explained(self._paths[0]):
            idx_sha256 = self._index.finish()
            sizes = []
            for file in self._open:
                file.flush()
                os.fsync(file.fileno())
                sizes.append(os.fstat(file.fileno()).st_size)
                file.close()
            for path in self._paths:
                temporary_path(path).replace(path)
            sync_folder(self._paths[0].parent)
        self.files = ShardFiles(
            documents=self._index.documents,
            tokens=self._tokens,
            bin_bytes=sizes[0],
            bin_sha256=self._digest.hexdigest(),
            idx_bytes=sizes[1],
            idx_sha256=idx_sha256,
        )
        return self.files

    def _discard(self) -> None:
        for file, path in zip(self._open, self._paths, strict=False):
            # Closing flushes what is buffered, which fails again on a full disk.
            with contextlib.suppress(OSError):
                file.close()
            temporary_path(path).unlink(missing_ok=True)

    def __enter__(self) -> ShardWriter:
        """Return the writer."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close; after an error (Ctrl-C too) remove the temporary files instead."""
        try:
            if kind is None and self.files is None:
                self.close()
        finally:
            if self.files is None:
                self._discard()

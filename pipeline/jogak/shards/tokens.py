"""A finished output as one sequence: document number -> ids, over all shards, mapped into memory.

What a training loop needs and no more: `len`, an index, and a state that other processes unpickle.
No framework is imported; torch's DataLoader takes the view as a map-style dataset.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from jogak.errors import ShardError
from jogak.manifest import Boundary, Manifest, ShardTable, read_manifest
from jogak.shards.fetched import Fetched
from jogak.shards.reader import Shard, read_shard

Ids = NDArray[np.integer[Any]]

MAPPED_SHARDS = 256
"""Shards mapped at once: each takes four maps, and Linux allows a process 65,530."""


class Tokens:
    """Documents of a finished output in order, as ids; nothing is read before it is used.

    Attributes:
        place: the output's folder or URL.
        dtype: the type of ids on disk, uint16 or uint32.
        vocab_size: the largest id plus one.
        boundary: the ids around every document; they are part of it.
        tokens: ids in all documents.
        shards: how many there are.
    """

    def __init__(self, folder: Path | str, dtype: DTypeLike | None = None) -> None:
        """Read the manifest of a finished output.

        Args:
            folder: what `run` wrote, or its URL.
            dtype: give ids in this type (a copy, which may be written), such as int64 for torch.
                When left out they are read-only views of the file.

        Raises:
            ShardError: the output is not finished.
        """
        self.place = str(folder)
        self._fetched = Fetched(self.place)
        output = self._fetched.output
        manifest = read_manifest(output)
        if manifest.dtype is None or manifest.vocab_size is None:
            message = f"{folder}: its manifest has no shards; run the job to its end"
            raise ShardError(message)
        self.dtype = np.dtype(manifest.dtype).newbyteorder("<")
        self.vocab_size = manifest.vocab_size
        self.boundary: Boundary = manifest.boundary
        self.tokens = manifest.totals.tokens
        self.shards = manifest.totals.shards
        self._wanted = None if dtype is None else np.dtype(dtype)
        # Columns of the table, not records: 16 bytes for each shard.
        table = ShardTable(output.shard_table, self.shards)
        self._token_counts = table.numbers("tokens")
        self._ends = np.cumsum(table.numbers("documents"), dtype=np.int64)
        self._mapped: dict[int, Shard] = {}

    @property
    def folder(self) -> Path:
        """The output folder; of an output in a store, where its files are copied to."""
        return self._fetched.output.folder

    @property
    def manifest(self) -> Manifest:
        """The manifest, read anew."""
        return read_manifest(self._fetched.output)

    def __len__(self) -> int:
        """Return the number of documents, the empty ones included."""
        return int(self._ends[-1]) if len(self._ends) else 0

    @overload
    def __getitem__(self, index: SupportsIndex) -> Ids: ...
    @overload
    def __getitem__(self, index: slice | ArrayLike) -> list[Ids]: ...
    def __getitem__(self, index: SupportsIndex | slice | ArrayLike) -> Ids | list[Ids]:
        """Return the ids of a document (n,), or of several as a list.

        Args:
            index: a number, which may be negative; a slice; or an array of numbers.

        Raises:
            IndexError: there is no such document.
        """
        if isinstance(index, slice):
            return [self._document(each) for each in range(*index.indices(len(self)))]
        if isinstance(index, SupportsIndex) and np.ndim(index) == 0:  # type: ignore[arg-type] # any object has a dimension
            return self._document(operator.index(index))
        numbers = np.asarray(index)
        if numbers.ndim != 1 or (len(numbers) and not np.issubdtype(numbers.dtype, np.integer)):
            message = "documents are asked for by a number, a slice or a list of numbers"
            raise TypeError(message)
        return [self._document(each) for each in numbers.tolist()]

    def __getitems__(self, indices: Sequence[int]) -> list[Ids]:
        """Return the ids of several documents: what torch's DataLoader calls for a batch."""
        return [self._document(each) for each in indices]

    def __iter__(self) -> Iterator[Ids]:
        """Yield every document in order."""
        for number in range(len(self)):
            yield self._document(number)

    def name(self, index: int) -> str:
        """Return the name of a shard's files, without their ends."""
        return self._fetched.output.shard(index).name

    def size(self, index: int) -> tuple[int, int]:
        """Return the documents and the ids of a shard."""
        before = int(self._ends[index - 1]) if index else 0
        return int(self._ends[index]) - before, int(self._token_counts[index])

    def shard(self, index: int) -> Shard:
        """Return one shard, mapped into memory, once its sizes are those of the manifest.

        Raises:
            ShardError: its files are missing, or not of the sizes that the manifest tells.
        """
        found = self._mapped.pop(index, None)
        if found is None:
            found = self._open(index)
            while len(self._mapped) >= self._fetched.most(MAPPED_SHARDS):
                oldest = next(iter(self._mapped))
                self._mapped.pop(oldest)
                self._fetched.drop(self.name(oldest))
        self._mapped[index] = found
        return found

    def _open(self, index: int) -> Shard:
        name, (documents, tokens) = self.name(index), self.size(index)
        shard = read_shard(self._fetched.prefix(name))
        found = (shard.ids.dtype, len(shard), len(shard.ids), int(shard.lengths.sum(dtype="i8")))
        if found != (self.dtype, documents, tokens, tokens):
            message = (
                f"{self.place}/tokens/{name}: {found[1]:,} documents and {found[2]:,} ids of "
                f"{found[0]}, but the manifest has {documents:,} and {tokens:,} of {self.dtype}; "
                "run `jogak verify`"
            )
            raise ShardError(message)
        return shard

    def _document(self, number: int) -> Ids:
        count = len(self)
        place = number + count if number < 0 else number
        if not 0 <= place < count:
            message = f"no document {number} (found {count:,} in {self.place})"
            raise IndexError(message)
        index = int(np.searchsorted(self._ends, place, side="right"))
        shard = self.shard(index)
        ids = shard[place - int(self._ends[index]) + len(shard)]
        return ids if self._wanted is None else ids.astype(self._wanted)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without maps: another process makes its own."""
        return {**self.__dict__, "_mapped": {}}

    def __repr__(self) -> str:
        """Return where it lies and how much it is."""
        return f"Tokens('{self.place}', documents={len(self):,}, tokens={self.tokens:,})"


def open_tokens(folder: Path | str, dtype: DTypeLike | None = None) -> Tokens:
    """Open a finished output as a sequence of documents; the arguments are those of `Tokens`."""
    return Tokens(folder, dtype)

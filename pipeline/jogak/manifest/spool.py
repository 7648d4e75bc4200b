"""Records of shards as they come in, in any order, to be read once more in the order of the shards.

They lie in a nameless temporary file, which ends with this process: ten million of them would take
tens of gigabytes of memory.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from jogak.manifest.records import ShardRecord

HELD_BYTES = 2**26
"""What is held in memory before a file is made."""


class RecordSpool:
    """Takes the record of each shard once. Memory: 8 bytes a shard and HELD_BYTES."""

    def __init__(self, count: int) -> None:
        """Expect the records of shards 0 to count - 1."""
        self._places = np.full(count, -1, np.int64)
        # Closed by __exit__, as the spool itself is a context manager.
        self._file = tempfile.SpooledTemporaryFile(HELD_BYTES)  # noqa: SIM115
        self._end = 0

    def add(self, record: ShardRecord) -> None:
        """Take a record."""
        # Of this process and for it alone, so that nothing needs to outlive a version of Jogak.
        data = pickle.dumps(record, pickle.HIGHEST_PROTOCOL)
        self._places[record.index] = self._end
        if self._file.tell() != self._end:
            self._file.seek(self._end)
        self._file.write(data)
        self._end += len(data)

    def absent(self) -> NDArray[np.int64]:
        """Return the numbers of the shards whose records are not there, ascending."""
        return np.flatnonzero(self._places < 0)

    def __iter__(self) -> Iterator[ShardRecord]:
        """Yield the records that are there, in the order of the shards."""
        at = -1
        for place in map(int, self._places):
            if place < 0:
                continue
            # Seeking drops what is buffered, and most records came in order.
            if place != at:
                self._file.seek(place)
            record: ShardRecord = pickle.load(self._file)
            at = self._file.tell()
            yield record

    def __enter__(self) -> RecordSpool:
        """Return the spool."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Drop the file."""
        self._file.close()

"""TextBatch, the type that flows from read to encode: Arrow buffers and language codes.

Text is kept as Arrow large_string holds it (UTF-8 bytes and int64 offsets), so it crosses into
the native core without a copy and never becomes a list of Python strings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNDETERMINED = "und"
"""The language of a document whose source states none (BCP 47)."""


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Consecutive documents of one file.

    Attributes:
        data: uint8 (n,); the bytes of the documents. Valid UTF-8 once a batch has left `read`.
        offsets: int64 (documents + 1,); document i is data[offsets[i]:offsets[i + 1]].
            offsets[0] may be above 0, since a batch may view a part of a larger buffer.
        languages: int32 (documents,); index of each document's language in `language_names`.
        language_names: language codes (BCP 47, or `code`), `und` where none is stated.
        rows: int64 (documents,); row of each document in its file, from 0. For a byte range of a
            JSON lines file: line in the range, from 0 (messages name the line of the file).
        path: the file, as messages name it.
        source: index of the source in the job's `read.sources`.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    languages: NDArray[np.int32]
    language_names: tuple[str, ...]
    rows: NDArray[np.int64]
    path: str
    source: int

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.offsets) - 1

    def document(self, index: int) -> bytes:
        """Return the bytes of one document; for messages and tests, not for loops."""
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file, or the part of it that one unit reads, that was left out because it is damaged.

    Attributes:
        path: the file.
        start, stop: the rows or bytes that the unit was to read; both 0 where that much could not
            be found out.
        reason: what is wrong.
    """

    path: str
    start: int
    stop: int
    reason: str


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that was not encoded as it stands, and why.

    Attributes:
        path: the file.
        row: row in the file, from 0.
        reason: what is wrong, with the byte offset for invalid UTF-8.
        action: `skip` (no document), `empty` (an empty document) or `replace` (U+FFFD put in).
    """

    path: str
    row: int
    reason: str
    action: str

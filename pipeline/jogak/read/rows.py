"""What becomes of rows: good ones are batched by bytes, bad ones judged by `read.on_bad_row`."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.config import BadRow
from jogak.documents import RejectedRow, TextBatch
from jogak.errors import SourceError
from jogak.read.columns import cut_by_bytes

DOCUMENT_LIMIT = 2**32
"""Documents are shorter than this: the scanner writes pretoken ends as uint32."""

HINT_BYTES = 2**16


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a row is bad, and its text with U+FFFD put in where that mends it."""

    reason: str
    mended: bytes | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """Consecutive rows as a reader delivers them, not judged yet.

    Attributes:
        data, offsets, languages, language_names, rows: as in TextBatch, but any bytes.
        faults: what the reader itself found wrong, by index into the rows.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    languages: NDArray[np.int32]
    language_names: tuple[str, ...]
    rows: NDArray[np.int64]
    faults: dict[int, Fault] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judge:
    """Turns the rows of one file into batches, and bad rows into errors or records.

    Attributes:
        path: the file, as messages name it.
        source: index of the source in the job.
        batch_bytes: bytes of text per batch, unless one document has more.
        on_bad_row: `error`, `skip`, `empty` or `replace`.
        max_bad_rows: more rejected rows than this stop the run.
        rejected: the record; rows are appended.
        first_row: row of the file that row 0 is; called only when a bad row must be named.
        advice: what the message of a bad row tells the user to do.
    """

    path: str
    source: int
    batch_bytes: int
    on_bad_row: BadRow
    max_bad_rows: int
    rejected: list[RejectedRow]
    first_row: Callable[[], int] = lambda: 0
    advice: str = "; set read.on_bad_row to 'skip', 'empty' or 'replace' to go on"

    def batches(self, rows: Rows) -> Iterator[TextBatch]:
        """Judge rows and cut them into batches.

        Raises:
            SourceError: a bad row under `error`, one that cannot be mended under `replace`, or
                more bad rows than `max_bad_rows`.
        """
        faults = self._find_faults(rows)
        if faults:
            rows = self._settle(rows, faults)
        for start, stop in cut_by_bytes(rows.offsets, self.batch_bytes):
            yield TextBatch(
                data=rows.data,
                offsets=rows.offsets[start : stop + 1],
                languages=rows.languages[start:stop],
                language_names=rows.language_names,
                rows=rows.rows[start:stop],
                path=self.path,
                source=self.source,
            )

    def _find_faults(self, rows: Rows) -> dict[int, Fault]:
        faults = dict(rows.faults)
        invalid = _core.validate_utf8(rows.data, rows.offsets)
        for index in np.flatnonzero(invalid >= 0).tolist():
            if index not in faults:
                document = rows.data[rows.offsets[index] : rows.offsets[index + 1]].tobytes()
                faults[index] = invalid_utf8(document, int(invalid[index]))
        if rows.offsets[-1] - rows.offsets[0] < DOCUMENT_LIMIT:
            return faults
        for index in np.flatnonzero(np.diff(rows.offsets) >= DOCUMENT_LIMIT).tolist():
            length = int(rows.offsets[index + 1] - rows.offsets[index])
            faults[index] = Fault(f"a document of {length} bytes, over the limit of 4 GiB")
        return faults

    def _settle(self, rows: Rows, faults: dict[int, Fault]) -> Rows:
        """Put the settled text of bad rows in place of what was found there, or nothing."""
        lengths = np.diff(rows.offsets)
        kept = np.ones(len(lengths), bool)
        pieces: list[NDArray[np.uint8]] = []
        start = 0
        for index in sorted(faults):
            pieces.append(rows.data[rows.offsets[start] : rows.offsets[index]])
            text = self._judge(int(rows.rows[index]), faults[index])
            kept[index] = text is not None
            pieces.append(np.frombuffer(text or b"", np.uint8))
            lengths[index] = len(text or b"")
            start = index + 1
        pieces.append(rows.data[rows.offsets[start] : rows.offsets[-1]])
        return Rows(
            data=np.concatenate(pieces),
            offsets=np.concatenate([[0], np.cumsum(lengths[kept])]).astype(np.int64),
            languages=rows.languages[kept],
            language_names=rows.language_names,
            rows=rows.rows[kept],
        )

    def _judge(self, row: int, fault: Fault) -> bytes | None:
        """Return the text a bad row gets (None: the row is skipped), and record it."""
        row += self.first_row()
        where = f"{self.path}: row {row}: {fault.reason}"
        if self.on_bad_row == "error":
            raise SourceError(where + self.advice)
        if self.on_bad_row == "replace" and fault.mended is None:
            message = f"{where}; 'replace' mends invalid UTF-8 only, use 'skip' or 'empty'"
            raise SourceError(message)
        self.rejected.append(RejectedRow(self.path, row, fault.reason, self.on_bad_row))
        if len(self.rejected) > self.max_bad_rows:
            message = (
                f"{where}; that makes {len(self.rejected)} bad rows, and read.max_bad_rows is "
                f"{self.max_bad_rows}"
            )
            raise SourceError(message)
        if self.on_bad_row == "replace":
            return fault.mended
        return b"" if self.on_bad_row == "empty" else None


def invalid_utf8(document: bytes, position: int) -> Fault:
    """Describe the first invalid byte, name the encoding if it shows, and mend as Python does."""
    reason = f"invalid UTF-8 at byte {position} of the document (found 0x{document[position]:02X})"
    encoding = guess_encoding(document)
    if encoding is not None:
        reason += f", which reads as {encoding}: convert it to UTF-8"
    return Fault(reason, document.decode("utf-8", "replace").encode())


def guess_encoding(document: bytes) -> str | None:
    """Name the Korean or 16-bit encoding that bytes are in, if their beginning makes sense so."""
    if document.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "UTF-32"
    if document.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "UTF-16"
    foreign_at = re.search(rb"[^\x00-\x7f]", document)
    if foreign_at is not None and foreign_at.start() >= HINT_BYTES // 2:
        document = document[foreign_at.start() - foreign_at.start() % 2 :]
    for name, codec in (("CP949", "cp949"), ("UTF-16", "utf-16-le"), ("UTF-16", "utf-16-be")):
        try:
            text = codecs.getincrementaldecoder(codec)().decode(document[:HINT_BYTES])
        except UnicodeDecodeError:
            continue
        foreign = [character for character in text if character > "\x7f"]
        hangul = sum("가" <= character <= "힣" for character in foreign)
        if hangul >= 2 and 2 * hangul > len(foreign):
            return name
    return None

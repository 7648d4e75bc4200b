"""JSON lines: blocks of whole lines through pyarrow.json, and line by line where it balks.

pyarrow parses a block in one go but refuses it whole for one bad line. Then each line is parsed
by itself, which says what is wrong with which row. Both give the same text (tested).
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jogak.config import Source
from jogak.documents import UNDETERMINED
from jogak.errors import SourceError
from jogak.plan import Part
from jogak.read.columns import language_codes, null_rows, select_field, text_buffers
from jogak.read.rows import Fault, Rows, guess_encoding
from jogak.read.stream import BYTE_ORDER_MARK, read_chunks

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "an array",
    dict: "an object",
}


def read_lines(part: Part, compression: str, source: Source, batch_bytes: int) -> Iterator[Rows]:
    """Read a file of JSON lines, or a byte range of one that begins and ends behind a newline.

    Blank lines are no rows, but count in the numbers of the rows behind them.
    """
    limit = None if compression else part.stop - part.start
    first, found = 0, 0
    for block in _blocks(read_chunks(part.path, compression, part.start, limit), batch_bytes):
        found += len(block)
        at_start = part.start == 0 and first == 0
        text = block.removeprefix(BYTE_ORDER_MARK) if at_start else block
        lines = _find_lines(text)
        yield from _parse_block(text, lines, first, source)
        first += len(lines.starts)
    if limit is not None and found < limit:
        message = f"{part.path}: ends at byte {part.start + found}, planned {part.stop}; run again"
        raise SourceError(message)


def count_lines(path: str, stop: int) -> int:
    """Count the newlines before byte `stop` of a file."""
    return sum(chunk.count(b"\n") for chunk in read_chunks(path, "", 0, stop))


@dataclass(frozen=True, slots=True)
class _Lines:
    """Where the lines of a block are, the newline not included."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    filled: NDArray[np.int64]  # which lines are not blank
    regular: bool  # each filled line begins with { and ends with }


def _blocks(chunks: Iterator[bytes], block_bytes: int) -> Iterator[bytes]:
    """Yield blocks of whole lines of about `block_bytes`; a long line makes a larger block."""
    held: list[bytes] = []
    size = 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        end = chunk.rfind(b"\n") + 1
        if size >= block_bytes and end:
            held[-1] = chunk[:end]
            yield b"".join(held)
            held = [chunk[end:]]
            size = len(held[0])
    if size:
        yield b"".join(held)


def _find_lines(block: bytes) -> _Lines:
    data = np.frombuffer(block, np.uint8)
    newlines = np.flatnonzero(data == ord("\n"))
    unfinished = len(data) > 0 and data[-1] != ord("\n")
    ends = np.append(newlines, len(data)) if unfinished else newlines
    starts = np.concatenate([[0], ends[:-1] + 1])[: len(ends)]
    # Blank lines and line ends of CRLF are rare enough to look at in Python.
    filled = ends > starts
    for line in np.flatnonzero(filled & (np.isin(data[np.minimum(starts, len(data) - 1)], BLANKS))):
        filled[line] = bool(block[starts[line] : ends[line]].strip())
    chosen = np.flatnonzero(filled)
    last = data[ends[chosen] - 1]
    last = np.where(last == ord("\r"), data[ends[chosen] - 2], last)
    regular = bool(np.all(data[starts[chosen]] == ord("{")) and np.all(last == ord("}")))
    return _Lines(starts, ends, chosen, regular)


BLANKS = np.frombuffer(b" \t\r\n", np.uint8)


def _parse_block(block: bytes, lines: _Lines, first: int, source: Source) -> Iterator[Rows]:
    """Parse a block whose first line is line `first` of the file (or of the byte range)."""
    # If every line is {..}, each newline lies between objects, so as many rows as lines means
    # one object per line; without that check two lines could share one object.
    table = _parse_with_arrow(block, source) if lines.regular and len(lines.filled) else None
    if table is None or table.num_rows != len(lines.filled):
        yield _parse_each(block, lines, lines.filled, first, source)
        return
    position = 0
    for batch in table.to_batches():
        chosen = lines.filled[position : position + len(batch)]
        data, offsets, plain = text_buffers(select_field(batch, source.text.split(".")))
        faults = {}
        for index in null_rows(plain):
            line = chosen[index]
            faults[index] = _parse_line(block[lines.starts[line] : lines.ends[line]], source).fault
        named = None
        if source.language_column is not None:
            named = select_field(batch, source.language_column.split("."))
        languages, names = language_codes(named, source.language, len(batch))
        if any(fault is None for fault in faults.values()):
            # A key that itself contains a dot: only the parser of lines finds it.
            yield _parse_each(block, lines, chosen, first, source)
        else:
            known = {index: fault for index, fault in faults.items() if fault is not None}
            yield Rows(data, offsets, languages, names, chosen + first, known)
        position += len(batch)


def _parse_with_arrow(block: bytes, source: Source) -> pa.Table | None:
    """Parse a block with the keys of the source alone; None if anything in it is amiss."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    tree: dict[str, Any] = {}
    for column in filter(None, (source.text, source.language_column)):
        *parents, leaf = column.split(".")
        node = tree
        for name in parents:
            node = node.setdefault(name, {})
        node[leaf] = pa.large_string()
    try:
        return arrow_json.read_json(
            io.BytesIO(block),
            read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(block)),
            parse_options=arrow_json.ParseOptions(
                explicit_schema=pa.schema(_arrow_fields(tree)), unexpected_field_behavior="ignore"
            ),
        )
    except (pa.ArrowException, OverflowError):
        return None


def _arrow_fields(tree: dict[str, Any]) -> list[tuple[str, pa.DataType]]:
    import pyarrow as pa

    return [
        (name, pa.struct(_arrow_fields(kind)) if isinstance(kind, dict) else kind)
        for name, kind in tree.items()
    ]


@dataclass(frozen=True, slots=True)
class _Row:
    text: bytes = b""
    language: str = UNDETERMINED
    fault: Fault | None = None


def _parse_each(
    block: bytes, lines: _Lines, chosen: NDArray[np.int64], first: int, source: Source
) -> Rows:
    """Parse lines one by one."""
    found = [_parse_line(block[lines.starts[i] : lines.ends[i]], source) for i in chosen.tolist()]
    ends = np.cumsum([0, *(len(row.text) for row in found)], dtype=np.int64)
    names = dict.fromkeys(row.language for row in found)
    code_of = {name: code for code, name in enumerate(names)}
    return Rows(
        data=np.frombuffer(b"".join(row.text for row in found), np.uint8),
        offsets=ends,
        languages=np.array([code_of[row.language] for row in found], np.int32),
        language_names=tuple(names),
        rows=chosen + first,
        faults={index: row.fault for index, row in enumerate(found) if row.fault is not None},
    )


def _parse_line(line: bytes, source: Source) -> _Row:
    """Parse one line; a fault says what is wrong with it."""
    try:
        # Invalid bytes come through as they are, to be judged in the text alone.
        # A number is no text however long it is, so its length may stand for it.
        value = json.loads(line.decode("utf-8", "surrogateescape"), parse_int=len)
    except RecursionError as error:
        table = _parse_with_arrow(line, source)  # which nesting does not trouble
        if table is None or table.num_rows != 1:
            return _Row(fault=Fault(f"not valid JSON ({error})"))
        value = table.to_pylist()[0]
    except ValueError as error:
        encoding = guess_encoding(line)
        hint = f"; it reads as {encoding}: convert it to UTF-8" if encoding else ""
        return _Row(fault=Fault(f"not valid JSON ({error}){hint}"))
    text, fault = _find_text(value, source.text, "text")
    if fault is not None or text is None:
        return _Row(fault=fault or Fault("null text"))
    language: str | None = source.language
    if source.language_column is not None:
        language, fault = _find_text(value, source.language_column, "language")
        if fault is not None and not fault.reason.startswith("no key"):
            return _Row(fault=fault)
    try:
        return _Row(text.encode("utf-8"), language or UNDETERMINED)
    except UnicodeEncodeError as error:
        return _mend(line, text, error, language or UNDETERMINED)


def _mend(line: bytes, text: str, error: UnicodeEncodeError, language: str) -> _Row:
    """Tell invalid bytes, which `surrogateescape` let through, from lone surrogates."""
    try:
        raw = text.encode("utf-8", "surrogateescape")
        line.decode("utf-8")
    except UnicodeEncodeError:
        pass
    except UnicodeDecodeError:
        return _Row(raw, language)
    position = error.start
    mended = "".join("\ufffd" if "\ud800" <= mark <= "\udfff" else mark for mark in text).encode()
    reason = f"lone surrogate U+{ord(text[position]):04X} at character {position} of the document"
    return _Row(b"", language, Fault(reason, mended))


def _find_text(value: Any, column: str, role: str) -> tuple[str | None, Fault | None]:  # noqa: ANN401 - JSON
    """Find a string by key or by the path `a.b`; None for null."""
    rest = column
    while isinstance(value, dict) and rest not in value and "." in rest:
        head, _, rest = rest.partition(".")
        value = value.get(head)
    if value is None:
        return None, None
    if not isinstance(value, dict):
        return None, Fault(f"{KINDS.get(type(value), 'a string')} where an object should be")
    if rest not in value:
        found = ", ".join(list(value)[:20])
        return None, Fault(f"no key '{column}' (found: {found})")
    value = value[rest]
    if value is None or isinstance(value, str):
        return value, None
    return None, Fault(f"{role} is {KINDS[type(value)]}, not a string")

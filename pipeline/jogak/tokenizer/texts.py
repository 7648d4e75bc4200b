"""What callers hand in as text, as UTF-8 bytes and offsets; anything not valid is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.errors import SourceError, TokenizerError

Buffers = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""uint8 (n,) and int64 (documents + 1,), as `TextBatch` holds them."""


def text_bytes(text: str | bytes, index: int | None = None) -> bytes:
    """Return the UTF-8 of one text; bytes must be UTF-8 already.

    Raises:
        TokenizerError: a lone surrogate, invalid UTF-8 (with its offset), or not a text at all.
    """
    where = "text" if index is None else f"text {index}"
    if isinstance(text, str):
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            message = (
                f"{where}: lone surrogate U+{ord(text[error.start]):04X} at character "
                f"{error.start}; replace it, it has no UTF-8"
            )
            raise TokenizerError(message) from error
    if isinstance(text, bytes):
        try:
            text.decode()
        except UnicodeDecodeError as error:
            message = f"{where}: invalid UTF-8 at byte {error.start}; decode or repair it first"
            raise TokenizerError(message) from error
        return text
    message = f"{where}: expected str or bytes (found {type(text).__name__})"
    raise TokenizerError(message)


def one_text(data: bytes) -> Buffers:
    """Return one document's buffers."""
    return np.frombuffer(data, dtype=np.uint8), np.array([0, len(data)], dtype=np.int64)


def is_utf8(data: bytes) -> bool:
    """Tell whether bytes are UTF-8."""
    return int(_core.validate_utf8(*one_text(data))[0]) < 0


def stretches(data: bytes) -> list[tuple[int, int, bool]]:
    """Cut bytes into longest stretches that are UTF-8 and that are not: start, stop, which."""
    found: list[tuple[int, int, bool]] = []
    position = 0
    while position < len(data):
        invalid = int(_core.validate_utf8(*one_text(data[position:]))[0])
        stop = len(data) if invalid < 0 else position + invalid
        if stop > position:
            found.append((position, stop, True))
        start = stop
        while stop < len(data) and not _begins_character(data, stop):
            stop += 1
        if stop > start:
            found.append((start, stop, False))
        position = stop
    return found


def _begins_character(data: bytes, place: int) -> bool:
    """Tell whether a whole character stands at a place."""
    size = 1 if data[place] < 0x80 else 2 if data[place] < 0xE0 else 3 if data[place] < 0xF0 else 4
    return is_utf8(data[place : place + size])


def batches(
    texts: Iterable[str | bytes] | Any,  # noqa: ANN401  # Arrow arrays of any library
    *,
    raw: bool,
) -> list[Buffers] | tuple[bytes, ...]:
    """Return the buffers of texts: a list of str or bytes, or any Arrow string array.

    The chunks of an Arrow array are batches of their own; they are never concatenated. Where `raw`
    bytes are taken and some are not UTF-8, all texts are returned as bytes instead.
    """
    if hasattr(texts, "__arrow_c_array__") or hasattr(texts, "__arrow_c_stream__"):
        return _arrow_batches(texts)
    if isinstance(texts, str | bytes):
        message = "texts: expected a list of texts, found a single one; use encode"
        raise TokenizerError(message)
    listed = list(texts)
    joined = _core.join_texts(listed)
    if joined is not None:
        return [joined]
    has_bytes = any(isinstance(text, bytes) for text in listed)
    encoded = [
        text if isinstance(text, bytes) else text_bytes(text, index)
        for index, text in enumerate(listed)
    ]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    if has_bytes:
        invalid = _core.validate_utf8(data, offsets)
        if len(invalid) and invalid.max() >= 0:
            if raw:
                return tuple(encoded)
            first = int(np.argmax(invalid >= 0))
            text_bytes(encoded[first], first)  # refuses, with the place
    return [(data, offsets)]


def _arrow_batches(texts: Any) -> list[Buffers]:  # noqa: ANN401  # Arrow arrays
    import pyarrow as pa

    from jogak.read import batch_texts

    if not isinstance(texts, pa.Array | pa.ChunkedArray):
        texts = pa.chunked_array(texts)
    try:
        return [(batch.data, batch.offsets) for batch in batch_texts(texts)]
    except SourceError as error:
        raise TokenizerError(*error.args) from error


def parts(buffers: Buffers, count: int) -> list[Buffers]:
    """Cut documents into at most `count` runs of about equally many bytes."""
    data, offsets = buffers
    documents = len(offsets) - 1
    if count < 2 or documents < 2:
        return [buffers]
    marks = np.linspace(offsets[0], offsets[-1], count + 1)[1:-1]
    cuts = np.unique(np.concatenate([[0], np.searchsorted(offsets, marks), [documents]]))
    return [
        (data, offsets[start : stop + 1])
        for start, stop in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    ]

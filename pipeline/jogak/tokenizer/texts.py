"""What callers hand in as text, as UTF-8 bytes and offsets; anything not valid is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def batches(texts: Iterable[str | bytes] | Any) -> list[Buffers]:  # noqa: ANN401  # Arrow arrays
    """Return the buffers of texts: a list of str or bytes, or any Arrow string array.

    The chunks of an Arrow array are batches of their own; they are never concatenated.
    """
    if hasattr(texts, "__arrow_c_array__") or hasattr(texts, "__arrow_c_stream__"):
        return _arrow_batches(texts)
    if isinstance(texts, str | bytes):
        message = "texts: expected a list of texts, found a single one; use encode"
        raise TokenizerError(message)
    encoded = [text_bytes(text, index) for index, text in enumerate(texts)]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    return [(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)]


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

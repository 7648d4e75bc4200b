"""Arrow columns as buffers: offsets widened to int64, bytes shared, dictionaries as codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jogak.arrow import filled
from jogak.documents import UNDETERMINED

if TYPE_CHECKING:
    import pyarrow as pa


def select_field(batch: pa.RecordBatch, names: list[str]) -> pa.Array:
    """Return a column, or a field in structs; a null struct makes its fields null."""
    column = batch.column(names[0])
    if not names[1:]:
        return column
    import pyarrow.compute as pc

    return pc.struct_field(column, names[1:])


def text_buffers(array: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64], pa.Array]:
    """View a text array as data, int64 offsets into it, and the plain array they came from.

    Only string views and dictionaries are copied, and 32-bit offsets are widened; the bytes of
    null slots are whatever the writer left there.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_string_view(array.type) or pa.types.is_null(array.type):
        array = array.cast(pa.large_string())
    elif pa.types.is_binary_view(array.type):
        array = array.cast(pa.large_binary())
    if len(array) == 0:
        return np.zeros(0, np.uint8), np.zeros(1, np.int64), array
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    _, offset_buffer, data_buffer = array.buffers()
    stored = np.frombuffer(offset_buffer, np.int64 if wide else np.int32)
    offsets: NDArray[np.int64] = stored[array.offset : array.offset + len(array) + 1].astype(
        np.int64, copy=False
    )
    data = np.zeros(0, np.uint8) if data_buffer is None else np.frombuffer(data_buffer, np.uint8)
    return data, offsets, array


def null_rows(array: pa.Array) -> list[int]:
    """Return the indices of nulls.

    Arrow's own `to_numpy` imports pandas where that is installed: 0.2 s and 40 MB in each process.
    """
    if array.null_count == 0:
        return []
    bits = np.frombuffer(array.buffers()[0], np.uint8)
    valid = np.unpackbits(bits, bitorder="little")[array.offset : array.offset + len(array)]
    return [int(index) for index in np.flatnonzero(valid == 0)]


def split_by_bytes(array: pa.Array, limit: int) -> Iterator[pa.Array]:
    """Cut a dictionary array where its decoded text passes `limit` bytes; others stay whole.

    A dictionary of long documents decodes to any multiple of its own size.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        yield array
        return
    import pyarrow.compute as pc

    lengths = filled(pc.take(pc.binary_length(array.dictionary), array.indices), 0)
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    for start, stop in cut_by_bytes(ends, limit):
        yield array.slice(start, stop - start)


def cut_by_bytes(offsets: NDArray[np.int64], limit: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of documents of at most `limit` bytes, or of one document above that."""
    start, count = 0, len(offsets) - 1
    while start < count:
        stop = int(np.searchsorted(offsets, offsets[start] + limit, side="right")) - 1
        stop = min(max(stop, start + 1), count)
        yield start, stop
        start = stop


def language_codes(
    array: pa.Array | None, constant: str | None, count: int
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return the language of each document as a code into a tuple of names.

    A null or empty language is `und`. Without an array every document has the constant one.
    """
    if array is None:
        return np.zeros(count, np.int32), (constant or UNDETERMINED,)
    import pyarrow as pa

    if pa.types.is_string_view(array.type) or pa.types.is_null(array.type):
        array = array.cast(pa.large_string())
    elif pa.types.is_binary_view(array.type):
        array = array.cast(pa.large_binary())
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    spelled = [_language_name(value) for value in array.dictionary.to_pylist()] + [UNDETERMINED]
    names = tuple(dict.fromkeys(spelled))
    position = {name: code for code, name in enumerate(names)}
    code_of = np.array([position[name] for name in spelled], np.int32)
    return code_of[filled(array.indices, len(spelled) - 1)], names


def _language_name(value: Any) -> str:  # noqa: ANN401 - what Arrow found: str, bytes or None
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return value or UNDETERMINED

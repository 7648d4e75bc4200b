"""Arrow arrays over NumPy memory.

Where pandas is installed, `pa.array` and `pa.scalar` import it to know its objects, which takes
a quarter of a second of every process; these do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


def number_array(values: NDArray[np.number]) -> pa.Array[Any]:
    """View contiguous numbers as an Arrow array, without a copy."""
    import pyarrow as pa

    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values.data)])


def string_array(texts: Sequence[str | None]) -> pa.Array[Any]:
    """Return texts as an Arrow array of strings, None as null."""
    import pyarrow as pa

    data = [(text or "").encode() for text in texts]
    present = np.array([text is not None for text in texts], bool)
    known = np.packbits(present, bitorder="little")
    ends = np.cumsum([0, *map(len, data)], dtype=np.int32)
    buffers = [pa.py_buffer(known.data), pa.py_buffer(ends.data), pa.py_buffer(b"".join(data))]
    return pa.Array.from_buffers(pa.string(), len(data), buffers)


def numbers(column: pa.ChunkedArray[Any]) -> NDArray[Any]:
    """Return a column of numbers without nulls, (n,)."""
    parts = [np.from_dlpack(part) for part in column.chunks]
    if len(parts) == 1:
        return parts[0]  # a view, which is not to be written to
    return np.concatenate([np.zeros(0, column.type.to_pandas_dtype()), *parts])  # NumPy's


def filled(array: pa.Array[Any], value: int) -> NDArray[np.int64]:
    """Return whole numbers, int64 (n,), with a value in the place of nulls."""
    import pyarrow as pa
    import pyarrow.compute as pc

    place = number_array(np.array([value], np.int64))[0]
    return np.asarray(np.from_dlpack(pc.fill_null(array.cast(pa.int64()), place)))

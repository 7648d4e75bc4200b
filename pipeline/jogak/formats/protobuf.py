"""The protobuf wire format, as far as a SentencePiece model needs it: fields in, by number.

Source: protobuf.dev, "Encoding". Groups do not occur and are refused.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

Value = int | bytes
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def fields(message: bytes) -> Iterator[tuple[int, Value]]:
    """Yield the number and value of each field; fixed-width ones as their bytes.

    Raises:
        ValueError: the bytes are not a message.
    """
    position = 0
    while position < len(message):
        key, position = _varint(message, position)
        kind = key & 7
        if kind == _VARINT:
            value, position = _varint(message, position)
            yield key >> 3, value
            continue
        if kind == _BYTES:
            size, position = _varint(message, position)
        elif kind in (_FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
        else:
            detail = f"wire type {kind} at byte {position}"
            raise ValueError(detail)
        if position + size > len(message):
            detail = f"a field of {size} bytes at byte {position} ends behind the message"
            raise ValueError(detail)
        yield key >> 3, message[position : position + size]
        position += size


def as_float(value: Value) -> float:
    """Read a fixed-width field as a 32-bit float."""
    if not isinstance(value, bytes) or len(value) != 4:
        detail = f"expected 4 bytes of float (found {value!r})"
        raise ValueError(detail)
    return float(struct.unpack("<f", value)[0])


def as_int(value: Value) -> int:
    """Read a varint field as a signed 64-bit integer."""
    if not isinstance(value, int):
        detail = f"expected a number (found {len(value)} bytes)"
        raise ValueError(detail)
    return value - (1 << 64) if value >> 63 else value


def as_bytes(value: Value) -> bytes:
    """Read a field as bytes."""
    if not isinstance(value, bytes):
        detail = f"expected bytes (found {value})"
        raise ValueError(detail)
    return value


def _varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(message) and shift < 64:
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    detail = f"a number at byte {position} does not end"
    raise ValueError(detail)

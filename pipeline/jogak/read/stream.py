"""Bytes of plain and compressed files; a compressed file that ends early is an error."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from jogak.errors import BadFileError
from jogak.plan.inputs import damage
from jogak.plan.storage import READ_BYTES, is_url, open_url, url_status

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
CHUNK_BYTES = 2**20


def read_chunks(
    path: str, compression: str, start: int = 0, limit: int | None = None
) -> Iterator[bytes]:
    """Read the uncompressed bytes of a file; gzip members and zstd frames are joined.

    Args:
        path: the file.
        compression: `.gz`, `.zst` or none.
        start: where to begin, for a file that is not compressed.
        limit: how much to read at most.

    Raises:
        BadFileError: the file cannot be read, is damaged, or ends within a member or frame.
    """
    import pyarrow as pa

    position, stop = start, None if limit is None else start + limit
    try:
        size = url_status(path).size if is_url(path) else Path(path).stat().st_size
        if compression and size == 0:
            message = f"{path}: empty, which no {compression} file is; restore the file"
            raise BadFileError(message)
        most = READ_BYTES if is_url(path) else CHUNK_BYTES
        with _open(path, compression) as stream:
            if start:
                stream.seek(start)
            while stop is None or position < stop:
                size = most if stop is None else min(most, stop - position)
                chunk = stream.read(size)
                if not chunk:
                    return
                position += len(chunk)
                yield chunk
    except (EOFError, OSError, zlib.error, pa.ArrowException) as error:
        what = f"{path}: cannot be read behind byte {position} of its text ({error})"
        raise damage(what, error) from error


def read_whole(path: str, compression: str) -> bytes:
    """Read a file that is one document; a byte order mark is no part of its text."""
    return b"".join(read_chunks(path, compression)).removeprefix(BYTE_ORDER_MARK)


def _open(path: str, compression: str) -> IO[bytes]:
    import pyarrow as pa

    if is_url(path):
        if not compression:
            return open_url(path)
        remote = io.BufferedReader(cast("io.RawIOBase", open_url(path)), READ_BYTES)
        if compression == ".gz":
            return cast("IO[bytes]", gzip.GzipFile(fileobj=remote))
        return cast("IO[bytes]", pa.input_stream(remote, compression="zstd"))
    if compression == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if compression == ".zst":
        return cast("IO[bytes]", pa.input_stream(path, compression="zstd"))
    return Path(path).open("rb")

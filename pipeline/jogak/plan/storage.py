"""Inputs by URL (s3://, gs://, hf://, any of fsspec's): listed, described, read in ranges.

A file is read by exactly the ranges that its reader asks for, so that a row group costs a row group
and not the file. A request that fails for a reason that may pass is made again, a little later each
time; what fails for good names the URL and how often it was tried.
"""

from __future__ import annotations

import io
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, TypeVar, cast

from jogak.errors import JogakError, SourceError

Result = TypeVar("Result")

ATTEMPTS = 5
FIRST_WAIT_S = 0.5
"""Pause before the second attempt; each further one waits twice as long."""
READ_BYTES = 2**22
"""What a file of lines or text is asked for at once."""
LINE_BYTES = 2**16
"""What is asked for to find the end of a line."""

EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs"}
"""Which extra brings the access to a scheme."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Status:
    """What a store says of a file.

    Attributes:
        size: bytes.
        version: its ETag, checksum or time of change: what differs when the content does.
    """

    size: int
    version: str


def is_url(path: str) -> bool:
    """Tell an URL from a path of this machine."""
    return "://" in path


def list_urls(pattern: str) -> list[str]:
    """List the files that an URL with or without glob characters names, sorted."""
    store, inner = open_store(pattern)
    scheme = pattern.partition("://")[0]

    def find() -> list[str]:
        store.invalidate_cache()  # another run of this process may have listed it long ago
        if store.isfile(inner):
            return [inner]
        # What ends in a slash is how some stores show an empty folder.
        found = store.glob(inner, detail=True).items()
        return [name for name, each in found if each["type"] == "file" and name[-1:] != "/"]

    found = retried(find, pattern)
    return sorted(f"{scheme}://{name.partition('://')[2] or name}" for name in found)


def url_status(url: str) -> Status:
    """Return size and version of a file."""
    store, inner = open_store(url)
    info = retried(lambda: store.info(inner), url)
    keys = ("ETag", "etag", "blob_id", "md5Hash", "LastModified", "mtime", "created")
    version = next((str(info[key]) for key in keys if info.get(key)), "")
    return Status(int(info["size"]), version)


def open_url(url: str) -> IO[bytes]:
    """Open a file for reading in ranges; nothing is kept that was not asked for."""
    return cast("IO[bytes]", RangeReader(url, url_status(url).size))


def open_lines(url: str) -> IO[bytes]:
    """Open a file for looking at single lines."""
    return cast("IO[bytes]", io.BufferedReader(RangeReader(url, url_status(url).size), LINE_BYTES))


class RangeReader(io.RawIOBase):
    """A file in a store: each read is one request for a range, tried again if need be."""

    def __init__(self, url: str, size: int) -> None:
        """Prepare for reading; makes no request."""
        super().__init__()
        self._url = url
        self._size = size
        self._position = 0
        self._store, self._inner = open_store(url)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move; makes no request."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(base + offset, 0)
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        """Read a range; shorter only at the end of the file."""
        start = self._position
        stop = self._size if size is None or size < 0 else min(start + size, self._size)
        if start >= stop:
            return b""

        def ask() -> bytes:
            data = self._store.cat_file(self._inner, start=start, end=stop)
            if len(data) != stop - start:
                message = f"{len(data)} bytes came for {stop - start}"
                raise OSError(message)
            return bytes(data)

        data = retried(ask, self._url)
        self._position += len(data)
        return data

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - Buffer has no name before 3.12
        """Read into a buffer."""
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)


def retried(
    request: Callable[[], Result],
    url: str,
    *,
    what: str = "read",
    kind: type[JogakError] = SourceError,
) -> Result:
    """Make a request to a store, again while that may help.

    Args:
        request: what to do.
        url: of what.
        what: what it is that cannot be done, for the message.
        kind: the error to raise.

    Raises:
        SourceError: it failed for good; names the URL and the attempt.
    """
    for attempt in range(1, ATTEMPTS + 1):
        # Each store's library has errors of its own, for time-outs and statuses alike.
        try:
            return request()
        except JogakError:
            raise
        except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
            message = f"{url}: {_reason(error)} (attempt {attempt}); check the name and your access"
            raise kind(message) from error
        except Exception as error:
            if attempt == ATTEMPTS:
                message = (
                    f"{url}: cannot be {what} ({_reason(error)}; attempt {attempt} of {ATTEMPTS}); "
                    "run again to go on when the store answers"
                )
                raise kind(message) from error
            wait_s = FIRST_WAIT_S * 2 ** (attempt - 1)
            logger.warning(
                "%s: attempt %d of %d failed (%s); again in %.1f s",
                url, attempt, ATTEMPTS, _reason(error), wait_s,
            )  # fmt: skip
            time.sleep(wait_s)
    raise AssertionError  # the loop returns or raises


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def open_store(url: str) -> tuple[Any, str]:
    """Return fsspec's file system for an URL, and the name in it."""
    import fsspec

    try:
        store, inner = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        scheme = url.partition("://")[0]
        extra = EXTRAS.get(scheme)
        extra = f"; pip install 'jogak[{extra}]'" if extra else "; install what it names"
        message = f"{url}: no access to {scheme}:// ({error}){extra}"
        raise SourceError(message) from error
    return store, str(inner)

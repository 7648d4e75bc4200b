"""
The native core of Jogak: scanning, normalizing, counting, training, encoding.
"""

from typing import Annotated

import numpy
from numpy.typing import NDArray


class Scanner:
    """A compiled pattern; immutable, shared by threads."""

    def __init__(self, pattern: str) -> None:
        """Compile a pattern; ValueError names a construct outside the subset."""

    def scan(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Find the pretokens of documents (valid UTF-8): their ends as offsets into data,
        int64 (pretokens,), and how many there are up to each document's end, int64 (documents,).
        """

class PretokenCounter:
    """
    Counts distinct pretokens, one table per language; one thread at a time.
    """

    def __init__(self) -> None: ...

    def add(self, scanner: Scanner, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], languages: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], base: int) -> None:
        """
        Count the pretokens of documents; languages int32 (documents,) chooses the tables.
        A pretoken's position is base plus its offset from the first document's beginning.
        """

    def add_ends(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], languages: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], base: int) -> None:
        """
        Count pretokens found elsewhere: ends int64 (pretokens,), offsets into data.
        """

    def add_counts(self, language: int, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Add pretokens counted elsewhere: counts are summed, first positions minimized.
        """

    def finish(self, language: int) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]:
        """
        Return a table as (data uint8, offsets int64 (n + 1,), counts uint64 (n,), first
        uint64 (n,)), by count descending, then first position. The table stays as it is.
        """

    @property
    def languages(self) -> int:
        """The number of tables."""

    @property
    def pretokens(self) -> int:
        """Pretokens counted in documents so far, repetitions included."""

    @property
    def memory_bytes(self) -> int:
        """Bytes that the tables hold."""

def find_pretokens(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], wanted_data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], wanted_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Return the rows, int64 (wanted,), at which wanted pretokens stand among distinct
    ones, -1 where they do not.
    """

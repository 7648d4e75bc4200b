"""
The native core of Jogak: scanning, normalizing, counting, training, encoding.
"""

from typing import Annotated

import numpy
from numpy.typing import NDArray


class Scanner:
    """A compiled pattern; immutable, shared by threads."""

    def __init__(self, pattern: str, isa: str = '') -> None:
        """
        Compile a pattern; ValueError names a construct outside the subset.

        isa is scalar, avx2 or avx512; by default what JOGAK_ISA says, or the best there is.
        """

    def scan(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Find the pretokens of documents (valid UTF-8): their ends as offsets into data,
        int64 (pretokens,), and how many there are up to each document's end, int64 (documents,).
        """

    @property
    def matches_everything(self) -> bool:
        """No text has a part that the pattern leaves unmatched."""

    @property
    def linear(self) -> bool:
        """No text is read more than a few times."""

    @property
    def by_masks(self) -> bool:
        """Vector kernels scan this pattern here."""

    @property
    def states(self) -> int:
        """The states of the automaton."""

def character_class(pattern: str) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
    """
    Find the code points that a pattern of one character matches, Unicode 16: uint32
    (2 * ranges,), the first and last of each range; ValueError outside the subset.
    """

def unicode_version() -> str:
    """The version of the Unicode tables."""

class Encoder:
    """
    A byte-level BPE vocabulary, ready to encode; immutable, shared by threads.
    """

    def __init__(self, token_data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], token_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], merges: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], rule: str, whole_first: bool, *, _narrow_slots: int = 0, _wide_slots: int = 0, _cutting: bool = True, _classes: int = 8192) -> None:
        """
        Token i's bytes are token_data[token_offsets[i]:token_offsets[i + 1]], none for ids
        without bytes. rule 'pairs': merges, uint32 (3 * merges,), are left, right and result
        in rank order; 'ranks': a token's rank is its id and merges is empty.
        ValueError names a merge or ids that contradict each other. The underscored sizes
        (0: chosen by vocabulary) are for tests.
        """

    def encode(self, scanner: Scanner | None, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Encode documents of valid UTF-8, cut by a scanner or at given ends of pretokens
        (int64 (pretokens,), offsets into data): ids, uint32 (n,), and how many there are up
        to each document's end, int64 (documents,).
        """

    @property
    def cutting(self) -> bool:
        """Whether pretokens are cut where no token can join two characters."""

    @property
    def shared_bytes(self) -> int:
        """Memory of the tables, which all threads share."""

    @property
    def thread_bytes(self) -> int:
        """Memory that each concurrent call of encode adds."""

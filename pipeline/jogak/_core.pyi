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

"""
The native core of Jogak: scanning, normalizing, counting, training, encoding.
"""

from typing import Annotated

import numpy
from numpy.typing import NDArray


def validate_utf8(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Find the first byte of each document that is not valid UTF-8: int64 (documents,),
    the offset in the document as Python's UnicodeDecodeError.start, or -1.
    """

def measure_text(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Count the characters and the eojeol (len(text.split()) of Python) of each document
    of valid UTF-8: int64 (documents,) and int64 (documents,).
    """

def check_form(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], form: str) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
    """
    Check each document of valid UTF-8 for a normal form (nfc, nfkc, nfkc_keep_jamo):
    uint8 (documents,), 0 in the form, 1 but for jamo that compose, 2 unknown.
    """

def compose_jamo(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
    """
    Compose conjoining jamo: data, offsets and which documents changed, uint8
    (documents,). When none did, data and offsets are empty.
    """

def clean_text(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, lf_newlines: bool, remove_control: bool, collapse_spaces: bool) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
    """
    Apply cleaning rules: data, offsets and which documents changed, uint8
    (documents,). When none did, data and offsets are empty.
    """

class Scanner:
    """A compiled pattern; immutable, shared by threads."""

    def __init__(self, pattern: str) -> None:
        """Compile a pattern; ValueError names a construct outside the subset."""

    def scan(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Find the pretokens of documents (valid UTF-8): their ends as offsets into data,
        int64 (pretokens,), and how many there are up to each document's end, int64 (documents,).
        """

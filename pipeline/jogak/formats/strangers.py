"""Files of strangers: whatever is in a tokenizer file, loading gives a tokenizer or one error.

A file is judged where it is read, by name; what nobody thought of ends here. Ids bound the size of
tables, so they are bounded by the number of tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from jogak.errors import TokenizerError

MALFORMED = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What reading a file of another shape than expected ends in."""

FREE_IDS = 2**20
"""Ids up to here cost nothing worth a refusal, however few tokens there are."""
IDS_PER_TOKEN = 16
"""Vocabularies have holes, but none is known where they outnumber the tokens."""


@contextmanager
def judged(path: Path | str) -> Iterator[None]:
    """Turn errors that a file's unexpected shape causes into a TokenizerError naming the file."""
    try:
        yield
    except MALFORMED as error:
        said = str(error)
        said = said if len(said) <= 200 else said[:200] + ".."
        message = (
            f"{path}: not a well-formed tokenizer file ({type(error).__name__}: {said}); "
            "it is damaged, or of a kind that is not known"
        )
        raise TokenizerError(message) from error


def table_size(ids: Collection[object], where: str) -> int:
    """Return the largest id plus one, once every id is one that a table may be made for.

    Raises:
        TokenizerError: an id is no whole number, negative, or far beyond the number of tokens.
    """
    limit = max(FREE_IDS, IDS_PER_TOKEN * len(ids))
    whole = [index for index in ids if type(index) is int]
    if len(whole) == len(ids) and min(whole, default=0) >= 0 and max(whole, default=-1) < limit:
        return max(whole, default=-1) + 1
    index = next(index for index in ids if type(index) is not int or not 0 <= index < limit)
    message = (
        f"{where}: {index!r} is no id of a vocabulary of {len(ids):,} tokens (0 to "
        f"{limit - 1:,}); the file is damaged"
    )
    raise TokenizerError(message)

"""Boundary tokens: which ids mark a document, and putting them around many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jogak.config import EncodeOptions
from jogak.errors import TokenizerError
from jogak.manifest import Boundary

if TYPE_CHECKING:
    from jogak.tokenizer import Tokenizer


def boundary_ids(tokenizer: Tokenizer, options: EncodeOptions) -> Boundary:
    """Return the ids that the job's boundary policy puts around documents.

    Raises:
        TokenizerError: the policy needs a token that is not named, or not in the vocabulary.
    """

    def resolve(part: str, wanted: bool, content: str | None, own: int | None) -> int | None:
        if not wanted:
            return None
        if content is None and own is not None:
            return own
        special = tokenizer.special_tokens
        if content in special:
            return special[content]
        candidates = ", ".join(sorted(special)) or "none; the tokenizer has no special tokens"
        found = "the tokenizer names none" if content is None else f"no special token '{content}'"
        message = (
            f"encode.boundary: '{options.boundary}' needs a {part} token, but {found}; set "
            f"encode.{part}_token (candidates: {candidates}) or encode.boundary: none"
        )
        raise TokenizerError(message)

    policy = options.boundary
    return Boundary(
        bos=resolve("bos", policy in ("bos", "both"), options.bos_token, tokenizer.bos_id),
        eos=resolve("eos", policy in ("eos", "both"), options.eos_token, tokenizer.eos_id),
    )


def with_boundaries(
    ids: NDArray[np.uint32], lengths: NDArray[np.int64], boundary: Boundary
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return ids and lengths with the boundary tokens put around every document. O(n)."""
    if boundary.tokens == 0:
        return ids, lengths
    total = lengths + boundary.tokens
    ends = np.cumsum(total)
    marked = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.uint32)
    is_text = np.ones(len(marked), dtype=bool)
    for mark, places in ((boundary.bos, ends - total), (boundary.eos, ends - 1)):
        if mark is not None:
            marked[places] = mark
            is_text[places] = False
    marked[is_text] = ids
    return marked, total

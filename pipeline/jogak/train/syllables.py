"""The Hangul syllables that a vocabulary has from the start, and the merges that build them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jogak.characters import KSX1001_SYLLABLES


def syllable_merges(base: Sequence[bytes]) -> tuple[list[bytes], NDArray[np.uint32]]:
    """Return the tokens that build the syllables of KS X 1001, and their merges.

    Ordered by bytes: first what begins a syllable (two bytes), then the syllables. A lead byte and
    the two that continue it belong to one character, so none of these crosses characters.

    Args:
        base: the tokens so far, with every byte among them.

    Returns:
        The new tokens' bytes, and the merges, uint32 (k, 3): left, right, result.
    """
    ids = {token: index for index, token in enumerate(base) if token}
    syllables = sorted(syllable.encode() for syllable in KSX1001_SYLLABLES)
    beginnings = sorted({syllable[:2] for syllable in syllables})
    made = [*beginnings, *syllables]
    merges = []
    for number, token in enumerate(made):
        ids[token] = len(base) + number
        merges.append((ids[token[:-1]], ids[token[-1:]], ids[token]))
    return made, np.array(merges, dtype=np.uint32)

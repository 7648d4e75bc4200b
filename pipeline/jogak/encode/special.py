"""The text of special tokens inside documents: found, counted, allowed or refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jogak.config import SpecialText
from jogak.documents import TextBatch
from jogak.errors import SourceError

if TYPE_CHECKING:
    from jogak.tokenizer import Tokenizer


class SpecialFinder:
    """Looks for special tokens' texts in the documents of one unit.

    Attributes:
        found: by document of the last batch, how many there were.
    """

    def __init__(self, tokenizer: Tokenizer, policy: SpecialText) -> None:
        """Prepare for a tokenizer; without special tokens there is nothing to find."""
        self.found: dict[int, int] = {}
        self._tokenizer = tokenizer
        self._policy = policy
        contents = sorted(tokenizer.special_tokens, key=len)
        literals = [re.escape(content.encode()) for content in reversed(contents)]
        self._pattern = re.compile(b"|".join(literals)) if literals else None

    def apply(
        self, text: TextBatch, ids: NDArray[np.uint32], lengths: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Count special text in a batch and treat it as the job says.

        Args:
            text: normalized documents.
            ids: what encoding them as plain text gave, uint32 (n,).
            lengths: tokens of each document, int64 (documents,).

        Returns:
            The same, or with `allow` the documents that hold special text encoded anew.

        Raises:
            SourceError: there is special text, and the job says `error`.
        """
        self.found = self._documents(text)
        if self._policy != "allow" or not self.found:
            return ids, lengths
        starts = np.cumsum(lengths) - lengths
        lengths = lengths.copy()
        pieces, done = [], 0
        for document in self.found:
            start = int(starts[document])
            content = text.document(document).decode()
            new = self._tokenizer.encode(content, special="allow")
            pieces += [ids[done:start], new]
            done = start + int(lengths[document])
            lengths[document] = len(new)
        return np.concatenate([*pieces, ids[done:]]), lengths

    def _documents(self, text: TextBatch) -> dict[int, int]:
        """Count special text, by the documents that hold some, ascending."""
        if self._pattern is None:
            return {}
        # One search over the whole batch is fast, but may match across two documents; those that
        # it touches are then searched one by one.
        touched: set[int] = set()
        for match in self._pattern.finditer(text.data.data):
            first, last = np.searchsorted(text.offsets, (match.start(), match.end() - 1), "right")
            touched.update(range(max(int(first) - 1, 0), min(int(last), len(text))))
        having = {}
        for document in sorted(touched):
            start, stop = text.offsets[document : document + 2].tolist()
            found = list(self._pattern.finditer(text.data.data, start, stop))
            if found and self._policy == "error":
                raise self._refusal(text, document, found[0])
            if found:
                having[document] = len(found)
        return having

    @staticmethod
    def _refusal(text: TextBatch, document: int, match: re.Match[bytes]) -> SourceError:
        place = match.start() - int(text.offsets[document])
        message = (
            f"{text.path}: row {text.rows[document]}: holds the text of the special token "
            f"'{match.group().decode()}' (at byte {place} of the document); set "
            "encode.special_text to 'plain' or 'allow'"
        )
        return SourceError(message)

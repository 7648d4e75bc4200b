"""Which special strings in a text count as tokens: none by default, all, some, or an error."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from jogak.errors import TokenizerError
from jogak.tokenizer.added import AddedTokens
from jogak.tokenizer.pieces import Pieces
from jogak.tokenizer.prepare import apply_steps, apply_to_text
from jogak.vocabulary import NormalizeStep, TokenizerSpec

Special = Literal["plain", "allow", "error"] | Collection[str]
"""`plain`: text; `allow`: tokens; `error`: refused; or the contents of the tokens to allow."""


class SpecialText:
    """Takes added tokens out of text and applies the normalizer to what lies between."""

    def __init__(self, spec: TokenizerSpec) -> None:
        """Sort the added tokens into the two passes in which they are matched."""
        self._spec = spec
        before = [token for token in spec.added if not token.normalized]
        after = [token for token in spec.added if token.normalized]
        self._before = AddedTokens(before, str)
        self._after = AddedTokens(after, lambda text: apply_to_text(spec.normalizer, text))
        size = max((token.id for token in spec.added), default=-1) + 1
        self._all = np.ones(size, dtype=np.bool_)
        self._plain = self._all.copy()
        for token in spec.added:
            self._plain[token.id] = not token.special
        self._ids = {token.content: token.id for token in spec.added}
        self._is_trivial = not any(not token.special for token in spec.added)

    @property
    def plain_is_text(self) -> bool:
        """Whether plain text goes through untouched: nothing to normalize or to match."""
        return self._is_trivial and not self._spec.normalizer

    @property
    def plain_strings(self) -> tuple[bytes, ...]:
        """The strings that are tokens in plain text too."""
        return tuple(
            text.encode()
            for tokens, _ in self.passes
            for text, token in zip(tokens.texts, tokens.tokens, strict=True)
            if not token.special
        )

    @property
    def passes(self) -> tuple[tuple[AddedTokens, tuple[NormalizeStep, ...]], ...]:
        """The tokens of each pass, and what is done to the text before it."""
        return ((self._before, ()), (self._after, self._spec.normalizer))

    def allowed(self, special: Special) -> NDArray[np.bool_]:
        """Return, by id, which added tokens a text may hold."""
        if isinstance(special, str):
            if special == "plain":
                return self._plain
            if special in ("allow", "error"):
                return self._all
            message = f"special: expected 'plain', 'allow', 'error' or a set (found {special!r})"
            raise TokenizerError(message)
        allowed = self._plain.copy()
        for content in special:
            if content not in self._ids:
                message = f"special: {content!r} is not an added token of this tokenizer"
                raise TokenizerError(message)
            allowed[self._ids[content]] = True
        return allowed

    def take_out(self, pieces: Pieces, special: Special) -> Pieces:
        """Cut documents at the added tokens that count and normalize the text between them.

        Raises:
            TokenizerError: `special` is "error" and a special string is in the text.
        """
        allowed = self.allowed(special)
        for tokens, steps in self.passes:
            if steps:
                pieces = apply_steps(steps, pieces)
            if not any(allowed[token.id] for token in tokens.tokens):
                continue
            found = tokens.find(pieces.data, pieces.offsets, allowed)
            if special == "error":
                self._refuse(pieces, found[0], found[2])
            pieces = pieces.cut(*found)
        return pieces

    def _refuse(self, pieces: Pieces, starts: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
        for start, token_id in zip(starts.tolist(), ids.tolist(), strict=True):
            if self._plain[token_id]:
                continue
            piece = int(np.searchsorted(pieces.offsets, start, side="right")) - 1
            document = int(pieces.documents[np.flatnonzero(pieces.items < 0)[piece]])
            first = int(pieces.offsets[piece])
            offset = len(pieces.data[first:start].tobytes().decode())
            content = next(token.content for token in self._spec.added if token.id == token_id)
            message = (
                f"text {document}: special token {content!r} at character {offset}; "
                "pass special='plain' or 'allow'"
            )
            raise TokenizerError(message)

"""Which tokens no text gives: those whose own bytes, encoded, become other tokens.

A token is judged by itself: `encode(bytes of the token) == [id]`. That is what a whole pretoken of
these bytes becomes; a token that fails might still be made inside a longer pretoken, which is rare
and not looked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jogak import _core
from jogak.formats.piece_vocabulary import BYTE_PIECES
from jogak.tokenizer import Tokenizer
from jogak.tokenizer.models import ByteModel, make_model
from jogak.vocabulary import pack_tokens

EXAMPLES = 8

Encode = Callable[
    [NDArray[np.uint8], NDArray[np.int64]], tuple[NDArray[np.uint32], NDArray[np.int64]]
]


def reach_facts(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return how many tokens are unreachable, and how many could not be judged."""
    if tokenizer.spec.model == "bytes":
        found, not_judged = _of_bytes(tokenizer), 0
    else:
        found, not_judged = _of_pieces(tokenizer)
    texts = [tokenizer.token_bytes(index).decode(errors="backslashreplace") for index in found]
    return {
        "unreachable": {
            "tokens": len(found),
            "not_judged": not_judged,
            "examples": texts[:EXAMPLES],
            "ids": found[:EXAMPLES],
        }
    }


def _of_bytes(tokenizer: Tokenizer) -> list[int]:
    """Judge the tokens of a byte-level vocabulary, normalizer and pattern included."""
    tokens = [(index, token) for index, token in enumerate(tokenizer.spec.tokens()) if token]
    added = {token.id for token in tokenizer.spec.added}
    tokens = [(index, token) for index, token in tokens if index not in added]
    invalid = _core.validate_utf8(*pack_tokens([token for _, token in tokens])) >= 0
    whole = [each for each, broken in zip(tokens, invalid.tolist(), strict=True) if not broken]
    found = _missed(whole, tokenizer.encode_documents)
    # Bytes that are no characters are a pretoken of their own.
    model = ByteModel(tokenizer.spec)
    for index, token in (tokens[at] for at in np.flatnonzero(invalid).tolist()):
        if model.encode_uncut(np.frombuffer(token, dtype=np.uint8)).tolist() != [index]:
            found.append(index)
    return sorted(found)


def _of_pieces(tokenizer: Tokenizer) -> tuple[list[int], int]:
    """Judge the pieces of a vocabulary of characters, given to the model as they are."""
    spec = tokenizer.spec
    rules = spec.characters
    others = {token.id for token in spec.added} | {index for index, _ in spec.inert}
    pieces, not_judged = [], 0
    byte_pieces = {piece.encode() for piece in BYTE_PIECES} if rules.byte_fallback else set()
    for index, piece in enumerate(spec.tokens()):
        if not piece or index in others or index == rules.unknown_id or piece in byte_pieces:
            continue
        text = _alone(piece, rules.prefix.encode(), rules.suffix.encode())
        if text is None:
            not_judged += 1
        else:
            pieces.append((index, text))
    return _missed(pieces, make_model(spec, judged=False).encode), not_judged


def _alone(piece: bytes, prefix: bytes, suffix: bytes) -> bytes | None:
    """Return the word that a piece is, or None where it only stands inside one."""
    if prefix and piece.startswith(prefix):
        return None
    if suffix:
        return piece.removesuffix(suffix) if piece.endswith(suffix) else None
    return piece


def _missed(tokens: list[tuple[int, bytes]], encode: Encode) -> list[int]:
    """Return the ids whose texts do not encode to them alone."""
    if not tokens:
        return []
    ids, ends = encode(*pack_tokens([token for _, token in tokens]))
    wanted = np.array([index for index, _ in tokens])
    lengths = np.diff(ends, prepend=0)
    single = lengths == 1
    right = np.zeros(len(wanted), dtype=np.bool_)
    right[single] = ids[ends[single] - 1] == wanted[single]
    return [int(index) for index in wanted[~right].tolist()]

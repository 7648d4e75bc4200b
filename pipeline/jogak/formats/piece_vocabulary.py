"""Vocabularies whose tokens are pieces of text: character BPE, WordPiece, Unigram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jogak.errors import TokenizerError
from jogak.formats.byte_vocabulary import Vocabulary, by_id, read_merges, trim, unproducible
from jogak.vocabulary import AddedToken, CharacterRules, pack_tokens

BYTE_PIECES: tuple[str, ...] = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""The pieces that stand for single bytes under byte fallback, by byte."""


def read_model(model: Mapping[str, Any], added: Sequence[AddedToken], where: str) -> Vocabulary:
    """Read `model` of a tokenizer.json whose tokens are characters.

    Raises:
        TokenizerError: merges and vocabulary do not fit each other, byte fallback without its 256
            pieces, or an unknown token that is not in the vocabulary.
    """
    vocab: dict[str, int] = model["vocab"]
    prefix = model.get("continuing_subword_prefix") or ""
    texts = by_id(vocab, where)
    merges = read_merges(model.get("merges", ()), vocab, where, prefix)
    rules = CharacterRules(
        byte_fallback=bool(model.get("byte_fallback", False)),
        unknown_id=_unknown(model.get("unk_token"), vocab, where),
        fuse_unknown=bool(model.get("fuse_unk", False)),
        suffix=model.get("end_of_word_suffix") or "",
        prefix=prefix,
    )
    if rules.byte_fallback:
        check_byte_pieces(vocab, where)
    kept = list(texts)
    for index in unproducible(added, texts, merges):
        kept[index] = ""
    data, offsets = pack_tokens(list(map(str.encode, kept)))
    return Vocabulary(data, trim(offsets), merges, rules=rules)


def check_byte_pieces(vocab: Mapping[str, int], where: str) -> None:
    """Refuse byte fallback whose 256 pieces are not all there."""
    missing = [piece for piece in BYTE_PIECES if piece not in vocab]
    if missing:
        message = (
            f"{where}: byte_fallback needs the 256 pieces <0x00>..<0xFF>, but {len(missing)} are "
            f"missing ({', '.join(missing[:4])}); add them or switch byte_fallback off"
        )
        raise TokenizerError(message)


def _unknown(token: str | None, vocab: Mapping[str, int], where: str) -> int | None:
    if token is None:
        return None
    if token not in vocab:
        message = f"{where}: unk_token {token!r} is not in the vocabulary"
        raise TokenizerError(message)
    return vocab[token]

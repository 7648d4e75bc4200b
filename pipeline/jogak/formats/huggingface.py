"""tokenizer.json and tokenizer_config.json: Hugging Face's format, and Jogak's own.

What is read is what `tokenizers` would do with the file, as a spec; whatever cannot be done exactly
is refused by name. Truncation and padding are left to whoever makes batches.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jogak.errors import TokenizerError
from jogak.formats import byte_vocabulary, library, piece_vocabulary
from jogak.formats.settings import OWN_KEY, SETTINGS, apply_settings, read_json
from jogak.formats.steps import (
    read_decoder,
    read_normalizer,
    read_pretokenizer,
)
from jogak.formats.template import read_template
from jogak.vocabulary import AddedToken, CharacterRules, TokenizerSpec, pack_tokens


def read(content: Mapping[str, Any], path: Path) -> TokenizerSpec:
    """Read the content of a tokenizer.json and, where it lies beside, its tokenizer_config.json.

    Raises:
        TokenizerError: not such a file, or something in it cannot be honoured exactly.
    """
    where = str(path)
    model = content.get("model")
    if not isinstance(model, dict) or "vocab" not in model:
        message = f"{where}: no model.vocab; give a tokenizer.json of Hugging Face tokenizers"
        raise TokenizerError(message)
    kind = model.get("type") or ("BPE" if "merges" in model else "unknown")
    if kind == "BPE":
        spec = _read_bpe(content, where)
    elif kind == "Unigram" and _is_native_unigram(path.parent):
        spec = _read_unigram(content, where)
    elif kind in ("WordPiece", "Unigram"):
        spec = library.read(content, where)
    else:
        message = f"{where}: model {kind!r} is not supported (BPE, WordPiece, Unigram are)"
        raise TokenizerError(message)
    return apply_settings(spec, path.parent)


def read_added(
    content: Mapping[str, Any], vocab: Mapping[str, int], where: str
) -> list[AddedToken]:
    """Read the added tokens and check their ids against those that `tokenizers` gives them.

    The library numbers an added token by its own rule and ignores the number in the file, so a
    file whose numbers differ means different ids to different readers.
    """
    added: list[AddedToken] = []
    seen: dict[str, int] = {}
    for entry in content.get("added_tokens") or ():
        token = AddedToken(
            id=int(entry["id"]),
            content=entry["content"],
            special=bool(entry.get("special", False)),
            normalized=bool(entry.get("normalized", True)),
            lstrip=bool(entry.get("lstrip", False)),
            rstrip=bool(entry.get("rstrip", False)),
            single_word=bool(entry.get("single_word", False)),
        )
        expected = library_id(token.content, vocab, seen)
        if token.id != expected:
            message = (
                f"{where}: added token {token.content!r} has id {token.id}, but the library "
                f"gives it {expected}; put it into model.vocab under its id"
            )
            raise TokenizerError(message)
        if token.content not in seen:
            added.append(token)
        seen[token.content] = token.id
    return added


def library_id(content: str, vocab: Mapping[str, int], seen: Mapping[str, int]) -> int:
    """Return the id `tokenizers` gives to the next added token; `seen` are those before it."""
    if content in seen:
        return seen[content]
    if content in vocab:
        return vocab[content]
    size = len(vocab)
    largest = max(seen.values(), default=None)
    return size if largest is None or (largest < size and size > 0) else largest + 1


def _is_native_unigram(folder: Path) -> bool:
    own = read_json(folder / SETTINGS).get(OWN_KEY) or {}
    return bool(own.get("unigram") == "sentencepiece")


def _read_unigram(content: Mapping[str, Any], where: str) -> TokenizerSpec:
    """Read a Unigram model that Jogak wrote, to be run as SentencePiece runs it."""
    model = content["model"]
    vocab = {text: index for index, (text, _) in enumerate(model["vocab"])}
    added = read_added(content, vocab, where)
    special = {token.id for token in added if token.special}
    tokens = [b"" if i in special else text.encode() for i, (text, _) in enumerate(model["vocab"])]
    data, offsets = pack_tokens(tokens)
    rules = CharacterRules(
        byte_fallback=bool(model.get("byte_fallback")),
        unknown_id=model.get("unk_id"),
        fuse_unknown=True,
    )
    return TokenizerSpec(
        token_data=data,
        token_offsets=offsets,
        merges=np.zeros((0, 3), dtype=np.uint32),
        model="unigram",
        normalizer=read_normalizer(content.get("normalizer"), where),
        added=tuple(added),
        characters=read_decoder(content.get("decoder"), rules, _unknown_piece(model), where),
        scores=np.array([score for _, score in model["vocab"]], dtype=np.float32),
    )


def _unknown_piece(model: Mapping[str, Any]) -> str | None:
    index = model.get("unk_id")
    return None if index is None else model["vocab"][index][0]


def _read_bpe(content: Mapping[str, Any], where: str) -> TokenizerSpec:
    model = content["model"]
    vocab: dict[str, int] = model["vocab"]
    if model.get("dropout"):
        message = f"{where}: dropout {model['dropout']} makes ids random; set it to null"
        raise TokenizerError(message)
    added = read_added(content, vocab, where)
    cutting = read_pretokenizer(content.get("pre_tokenizer"), where)
    make = byte_vocabulary.read_model if cutting.byte_level else piece_vocabulary.read_model
    found = make(model, added, where)
    rules = found.rules
    if not cutting.byte_level:
        rules = read_decoder(content.get("decoder"), rules, model.get("unk_token"), where)
    before, after = read_template(content.get("post_processor"), where)
    return TokenizerSpec(
        token_data=found.token_data,
        token_offsets=found.token_offsets,
        merges=found.merges,
        model="bytes" if cutting.byte_level else "characters",
        whole_first=bool(model.get("ignore_merges", False)),
        normalizer=read_normalizer(content.get("normalizer"), where),
        prepare=cutting.prepare,
        splits=cutting.splits,
        added=tuple(added),
        inert=found.inert,
        characters=rules,
        before=before,
        after=after,
    )

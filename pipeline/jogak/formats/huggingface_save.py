"""Write a spec as tokenizer.json and tokenizer_config.json, as `transformers` loads them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jogak.errors import TokenizerError
from jogak.formats.byte_vocabulary import map_bytes, map_tokens
from jogak.formats.huggingface import library_id
from jogak.formats.settings import SETTINGS, write_settings
from jogak.formats.steps import (
    Pretokenizing,
    byte_level,
    write_decoder,
    write_normalizer,
    write_pretokenizer,
)
from jogak.vocabulary import TokenizerSpec

TOKENIZER = "tokenizer.json"


def save(spec: TokenizerSpec, folder: Path) -> None:
    """Write both files into a folder, which is made where it does not exist.

    Under the rule `ranks` every split of every token is listed, the nearest that the format can
    say; tokenizer_config.json records the rule, so that Jogak reads back what it wrote.
    """
    content = spec.source or json.dumps(describe(spec), ensure_ascii=False)
    settings = json.dumps(write_settings(spec), ensure_ascii=False, indent=2)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in ((TOKENIZER, content), (SETTINGS, settings)):
        temporary = folder / f".{name}.tmp"
        temporary.write_text(text + "\n", encoding="utf-8")
        temporary.replace(folder / name)


def describe(spec: TokenizerSpec) -> dict[str, Any]:
    """Return the content of tokenizer.json."""
    is_bytes = spec.model == "bytes"
    cutting = Pretokenizing(spec.prepare, spec.splits, byte_level=is_bytes)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": token.id,
                "content": token.content,
                "single_word": token.single_word,
                "lstrip": token.lstrip,
                "rstrip": token.rstrip,
                "normalized": token.normalized,
                "special": token.special,
            }
            for token in sorted(spec.added, key=lambda token: token.id)
        ],
        "normalizer": write_normalizer(spec.normalizer),
        "pre_tokenizer": write_pretokenizer(cutting),
        "post_processor": _template(spec),
        "decoder": byte_level() if is_bytes else write_decoder(spec.characters, _unknown(spec)),
        "model": _unigram(spec) if spec.model == "unigram" else _bpe(spec),
    }


def _bpe(spec: TokenizerSpec) -> dict[str, Any]:
    rules = spec.characters
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": _unknown(spec),
        "continuing_subword_prefix": rules.prefix or None,
        "end_of_word_suffix": rules.suffix or None,
        "fuse_unk": rules.fuse_unknown,
        "byte_fallback": rules.byte_fallback,
        "ignore_merges": spec.whole_first,
        **_vocabulary(spec),
    }


def _unigram(spec: TokenizerSpec) -> dict[str, Any]:
    scores = [] if spec.scores is None else spec.scores.tolist()
    texts = [token.decode() for token in spec.tokens()]
    for token in spec.added:
        texts[token.id] = token.content
    return {
        "type": "Unigram",
        "unk_id": spec.characters.unknown_id,
        "vocab": [list(entry) for entry in zip(texts, scores, strict=True)],
        "byte_fallback": spec.characters.byte_fallback,
    }


def _vocabulary(spec: TokenizerSpec) -> dict[str, Any]:
    if spec.model == "bytes":
        texts = map_tokens(spec.token_data, spec.token_offsets)
    else:
        texts = list(map(bytes.decode, spec.tokens()))
    vocab = {text: index for index, text in enumerate(texts) if text}
    vocab |= {text: index for index, text in spec.inert}
    vocab = _with_added(spec, vocab)
    if spec.rule == "ranks" and spec.model == "bytes":
        pairs = [(texts[left], texts[right]) for left, right, _ in listed_splits(spec.tokens())]
    else:
        pairs = [(texts[left], texts[right]) for left, right, _ in spec.merges.tolist()]
    spaced = any(" " in text for text in texts) and any(" " in part for p in pairs for part in p)
    merges = list(map(list, pairs)) if spaced else list(map(" ".join, pairs))
    return {"vocab": dict(sorted(vocab.items(), key=lambda item: item[1])), "merges": merges}


def _with_added(spec: TokenizerSpec, vocab: dict[str, int]) -> dict[str, int]:
    """Put those added tokens into the vocabulary that would not get their id otherwise.

    `tokenizers` numbers the others from the vocabulary's size on (`library_id`). All are put in
    when leaving some out does not work; then a whole pretoken that spells one would be it.
    """
    added = sorted(spec.added, key=lambda token: token.id)
    largest = max(vocab.values(), default=-1)
    partly = vocab | {token.content: token.id for token in added if token.id <= largest}
    for attempt in (partly, vocab | {token.content: token.id for token in added}):
        seen: dict[str, int] = {}
        for token in added:
            seen[token.content] = library_id(token.content, attempt, seen)
        if all(seen[token.content] == token.id for token in added):
            return attempt
    message = "two added tokens or vocabulary entries share a text; tokenizer.json cannot say that"
    raise TokenizerError(message)


def listed_splits(tokens: Sequence[bytes]) -> Iterator[tuple[int, int, int]]:
    """List every pair of tokens that joins to a token: left, right and joined id.

    In the order of the joined token's id; of one token's splits, that with the lower left id comes
    first, as in transformers' own converter.
    """
    ranks = {token: rank for rank, token in enumerate(tokens) if token}
    find = ranks.get
    for rank, token in enumerate(tokens):
        splits = []
        for cut in range(1, len(token)):
            left = find(token[:cut])
            if left is not None:
                right = find(token[cut:])
                if right is not None:
                    splits.append((left, right, rank))
        splits.sort()
        yield from splits


def _template(spec: TokenizerSpec) -> dict[str, Any] | None:
    if not (spec.before or spec.after):
        return byte_level() if spec.model == "bytes" else None
    named = {index: _text(spec, index) for index in (*spec.before, *spec.after)}

    def piece(index: int, kind: int) -> dict[str, Any]:
        return {"SpecialToken": {"id": named[index], "type_id": kind}}

    def single(kind: int, sequence: str) -> list[dict[str, Any]]:
        text = {"Sequence": {"id": sequence, "type_id": kind}}
        before = [piece(index, kind) for index in spec.before]
        return [*before, text, *(piece(index, kind) for index in spec.after)]

    return {
        "type": "TemplateProcessing",
        "single": single(0, "A"),
        "pair": [*single(0, "A"), *single(1, "B")],
        "special_tokens": {
            text: {"id": text, "ids": [index], "tokens": [text]} for index, text in named.items()
        },
    }


def _unknown(spec: TokenizerSpec) -> str | None:
    index = spec.characters.unknown_id
    return None if index is None else _text(spec, index)


def _text(spec: TokenizerSpec, token_id: int) -> str:
    """Return how the vocabulary spells a token."""
    for token in spec.added:
        if token.id == token_id:
            return token.content
    token_bytes = spec.token(token_id)
    return map_bytes(token_bytes) if spec.model == "bytes" else token_bytes.decode()

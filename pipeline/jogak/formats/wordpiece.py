"""WordPiece vocab.txt: one token a line, its id the line's number; cut as BERT cuts.

The file says nothing of a normalizer. A tokenizer_config.json beside it does (`do_lower_case`,
`strip_accents`, `tokenize_chinese_chars`: BERT's normalizer, as in transformers); without one the
text is taken as it is.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from jogak.errors import TokenizerError
from jogak.formats import library
from jogak.formats.settings import SETTINGS, apply_settings, read_json
from jogak.vocabulary import SpecialNames, TokenizerSpec

_PARTS = {"bos": "[CLS]", "eos": "[SEP]", "pad": "[PAD]", "unk": "[UNK]", "mask": "[MASK]"}


def load(path: Path) -> TokenizerSpec:
    """Read a vocab.txt.

    Raises:
        TokenizerError: a token is listed twice, or there is no [UNK].
    """
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    tokens = [line.removesuffix("\r") for line in lines]
    vocab = {token: index for index, token in enumerate(tokens)}
    if len(vocab) != len(tokens):
        message = f"{path}: {len(tokens) - len(vocab)} tokens are listed twice"
        raise TokenizerError(message)
    if _PARTS["unk"] not in vocab:
        message = f"{path}: no token [UNK]; give a WordPiece vocabulary, one token a line"
        raise TokenizerError(message)
    settings = read_json(path.parent / SETTINGS)
    spec = library.read(describe(vocab, settings), str(path))
    if settings:
        return apply_settings(spec, path.parent)
    found = {part: text for part, text in _PARTS.items() if text in vocab and part != "mask"}
    return replace(spec, names=SpecialNames(**found))


def describe(vocab: dict[str, int], settings: dict[str, Any]) -> dict[str, Any]:
    """Return the tokenizer.json of a BERT vocabulary."""
    special = [token for token in _PARTS.values() if token in vocab]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": vocab[token], "content": token, **flags, "special": True}
            for token in sorted(special, key=lambda token: vocab[token])
        ],
        "normalizer": _normalizer(settings) if settings else None,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": _template(vocab),
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
        "model": {
            "type": "WordPiece",
            "unk_token": _PARTS["unk"],
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocab,
        },
    }


def _normalizer(settings: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": bool(settings.get("tokenize_chinese_chars", True)),
        "strip_accents": settings.get("strip_accents"),
        "lowercase": bool(settings.get("do_lower_case", True)),
    }


def _template(vocab: dict[str, int]) -> dict[str, Any] | None:
    first, last = _PARTS["bos"], _PARTS["eos"]
    if first not in vocab or last not in vocab:
        return None
    pair = [[last, vocab[last]], [first, vocab[first]]]
    return {"type": "BertProcessing", "sep": pair[0], "cls": pair[1]}

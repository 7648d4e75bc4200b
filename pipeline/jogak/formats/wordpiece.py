"""WordPiece vocab.txt: one token a line, its id the line's number; cut as BERT cuts.

The file says nothing of its normalizer. Beside it, tokenizer_config.json may (`do_lower_case`,
`strip_accents`, `tokenize_chinese_chars`, as in transformers); without it the text is not
lowercased, since a vocabulary that was would lose every capital letter silently the other way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jogak.errors import TokenizerError
from jogak.formats import library
from jogak.formats.settings import SETTINGS, apply_settings, read_json
from jogak.vocabulary import TokenizerSpec

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
    content = describe(vocab, read_json(path.parent / SETTINGS))
    return apply_settings(library.read(content, str(path)), path.parent)


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
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": bool(settings.get("tokenize_chinese_chars", True)),
            "strip_accents": settings.get("strip_accents"),
            "lowercase": bool(settings.get("do_lower_case", False)),
        },
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


def _template(vocab: dict[str, int]) -> dict[str, Any] | None:
    first, last = _PARTS["bos"], _PARTS["eos"]
    if first not in vocab or last not in vocab:
        return None
    pair = [[last, vocab[last]], [first, vocab[first]]]
    return {"type": "BertProcessing", "sep": pair[0], "cls": pair[1]}

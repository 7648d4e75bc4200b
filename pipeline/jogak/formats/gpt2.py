"""GPT-2's vocab.json and merges.txt: byte-level BPE by listed pairs, cut by the gpt2 pattern."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from jogak.errors import TokenizerError
from jogak.formats import byte_vocabulary
from jogak.formats.settings import SETTINGS, apply_settings, read_json
from jogak.formats.steps import GPT2_PATTERN
from jogak.vocabulary import AddedToken, Split, TokenizerSpec

VOCAB = "vocab.json"
MERGES = "merges.txt"
_SPECIAL_KEYS = ("bos_token", "eos_token", "unk_token", "pad_token")
_DEFAULT_SPECIAL = "<|endoftext|>"


def load(folder: Path) -> TokenizerSpec:
    """Read the two files, with added_tokens.json and tokenizer_config.json where they are there.

    Raises:
        TokenizerError: a file is missing, or the two do not fit each other.
    """
    for name in (VOCAB, MERGES):
        if not (folder / name).is_file():
            message = f"{folder / name}: no such file; vocab.json and merges.txt belong together"
            raise TokenizerError(message)
    where = str(folder / VOCAB)
    vocab: dict[str, int] = read_json(folder / VOCAB)
    added = _added_tokens(folder, vocab)
    model = {"vocab": vocab, "merges": _merge_lines(folder / MERGES)}
    found = byte_vocabulary.read_model(model, added, where)
    spec = TokenizerSpec(
        token_data=found.token_data,
        token_offsets=found.token_offsets,
        merges=found.merges,
        splits=(Split(GPT2_PATTERN),),
        added=tuple(added),
        inert=found.inert,
    )
    spec = apply_settings(spec, folder)
    if (folder / SETTINGS).is_file() or _DEFAULT_SPECIAL not in vocab:
        return spec
    return replace(spec, names=replace(spec.names, eos=_DEFAULT_SPECIAL))


def _merge_lines(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line and not line.startswith("#version")]


def _added_tokens(folder: Path, vocab: dict[str, int]) -> list[AddedToken]:
    """Return the special tokens: those the settings name, and those of added_tokens.json."""
    named: dict[str, Any] = read_json(folder / "special_tokens_map.json")
    named |= read_json(folder / SETTINGS)
    texts = [named.get(key) for key in _SPECIAL_KEYS] or []
    contents = [text["content"] if isinstance(text, dict) else text for text in texts if text]
    if not contents and _DEFAULT_SPECIAL in vocab:
        contents = [_DEFAULT_SPECIAL]
    extra = {content: vocab[content] for content in contents if content in vocab}
    extra |= read_json(folder / "added_tokens.json")
    ordered = sorted(extra.items(), key=lambda item: item[1])
    return [AddedToken(index, content) for content, index in ordered]


def write(spec: TokenizerSpec, folder: Path) -> None:
    """Write the two files; see `convert`, which checks that they can say it all."""
    tokens = byte_vocabulary.map_tokens(spec.token_data, spec.token_offsets)
    vocab = {text: index for index, text in enumerate(tokens) if text}
    vocab |= {text: index for index, text in spec.inert}
    vocab |= {token.content: token.id for token in spec.added}
    ordered = dict(sorted(vocab.items(), key=lambda item: item[1]))
    merges = [f"{tokens[left]} {tokens[right]}" for left, right, _ in spec.merges.tolist()]
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(ordered, ensure_ascii=False)
    (folder / VOCAB).write_text(text + "\n", encoding="utf-8")
    (folder / MERGES).write_text("\n".join(["#version: 0.2", *merges, ""]), encoding="utf-8")

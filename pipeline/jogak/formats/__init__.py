"""Tokenizer files: `load` finds the format of a path and reads it as a TokenizerSpec."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jogak.errors import TokenizerError
from jogak.formats.strangers import judged
from jogak.vocabulary import TokenizerSpec

_IN_FOLDERS = ("tokenizer.json", "tekken.json", "vocab.json", "vocab.txt")
_SUFFIXES_IN_FOLDERS = ("*.model", "*.model.v*", "*.tiktoken")


def load(
    path: Path | str,
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> TokenizerSpec:
    """Read a tokenizer file, or the folder that holds one.

    Args:
        path: tokenizer.json, its folder, .tiktoken ranks, vocab.json or merges.txt, tekken JSON, a
            SentencePiece .model, or a WordPiece vocab.txt.
        pattern: for ranks of an unknown name: the pattern, by name or as a regex.
        special_tokens: the same: from content to id.

    Raises:
        TokenizerError: no such file, a format that is not known, or something in it that cannot
            be honoured exactly.
    """
    path = _file_of(Path(path))
    with judged(path):
        return _load(path, pattern, special_tokens)


def _load(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    from jogak.formats import gpt2, sentencepiece, tiktoken, wordpiece

    given = pattern is not None or special_tokens is not None
    with path.open("rb") as file:
        head = file.read(4096)
    if path.suffix == ".tiktoken" or given or tiktoken.is_ranks(head):
        return tiktoken.load(path, pattern, special_tokens)
    if path.name == gpt2.MERGES:
        return gpt2.load(path.parent)
    if path.suffix == ".json":
        return _load_json(path)
    if ".model" in path.suffixes:  # also tokenizer.model.v3, as Mistral names them
        return sentencepiece.load(path)
    if path.suffix == ".txt":
        return wordpiece.load(path)
    message = (
        f"{path}: not a tokenizer file that is known; give tokenizer.json, .tiktoken ranks, "
        "vocab.json, tekken JSON, a SentencePiece .model or a WordPiece vocab.txt"
    )
    raise TokenizerError(message)


def _file_of(path: Path) -> Path:
    """Return the tokenizer file of a folder, and check that there is one."""
    if path.is_dir():
        found = [path / name for name in _IN_FOLDERS if (path / name).is_file()]
        for suffix in _SUFFIXES_IN_FOLDERS:
            found += sorted(path.glob(suffix)) if not found else []
        if not found:
            message = f"{path}: no tokenizer file in this folder (looked for {_IN_FOLDERS[0]}, ..)"
            raise TokenizerError(message)
        path = found[0]
    if not path.is_file():
        message = f"{path}: no such file; give a tokenizer file or its folder"
        raise TokenizerError(message)
    return path


def _load_json(path: Path) -> TokenizerSpec:
    from jogak.formats import gpt2, huggingface, tekken

    with _without_collection():
        try:
            content: Any = json.loads(path.read_bytes())
        except ValueError as error:  # not JSON, or not UTF-8
            message = f"{path}: not JSON ({error}); give a tokenizer file"
            raise TokenizerError(message) from error
        if not isinstance(content, dict):
            message = f"{path}: expected a JSON object (found {type(content).__name__})"
            raise TokenizerError(message)
        if isinstance(content.get("vocab"), list) and isinstance(content.get("config"), dict):
            return tekken.read(content, str(path))
        if content and all(isinstance(value, int) for value in content.values()):
            return gpt2.load(path.parent)
        return huggingface.read(content, path)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Hold the garbage collector back: it would walk the same 100,000s of objects repeatedly."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

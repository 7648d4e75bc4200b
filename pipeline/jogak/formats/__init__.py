"""Tokenizer files: `load` finds the format of a path and reads it as a TokenizerSpec."""

from __future__ import annotations

from pathlib import Path

from jogak.errors import TokenizerError
from jogak.vocabulary import TokenizerSpec


def load(path: Path | str) -> TokenizerSpec:
    """Read a tokenizer file, or the folder that holds one.

    Raises:
        TokenizerError: no such file, a format that is not known, or something in it that cannot
            be honoured exactly.
    """
    from jogak.formats import huggingface

    path = Path(path)
    if path.is_dir():
        path = path / "tokenizer.json"
    if not path.is_file():
        message = f"{path}: no such file; give a tokenizer file or its folder"
        raise TokenizerError(message)
    return huggingface.load(path)

"""WordPiece vocab.txt."""

from __future__ import annotations

from pathlib import Path

from jogak.errors import TokenizerError
from jogak.vocabulary import TokenizerSpec


def load(path: Path) -> TokenizerSpec:
    raise TokenizerError(str(path))

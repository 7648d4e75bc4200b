"""Where tokenizers cut a text: tokens with their ids and bytes; characters and words as two more.

Merges may be limited, to see what a tokenizer would have done after its first k merges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jogak.errors import ConfigError, TokenizerError
from jogak.tokenizer import Tokenizer

TRIVIAL = ("chars", "words")
"""Names that are no paths: every character a token, and every word (eojeol) one."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Attributes:
        id: its id; None where there is no vocabulary.
        data: its bytes, of a special token its content.
    """

    id: int | None
    data: bytes

    @property
    def text(self) -> str | None:
        """Its text, or None where it is not made of whole characters."""
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None


@dataclass(frozen=True, slots=True)
class Cutting:
    """A text, cut.

    Attributes:
        name: of the tokenizer, with the number of merges where that is limited.
        tokens: in order.
        text: as given, UTF-8.
    """

    name: str
    tokens: tuple[Token, ...]
    text: bytes

    @property
    def is_same_text(self) -> bool:
        """Whether the tokens' bytes are the text's: nothing was added, dropped or changed."""
        return b"".join(token.data for token in self.tokens) == self.text


def cut_text(text: str, tokenizers: Sequence[str]) -> list[Cutting]:
    """Cut a text by each tokenizer; special strings in it are plain text.

    Args:
        text: the text.
        tokenizers: paths, or `chars` and `words`.

    Raises:
        TokenizerError: one cannot be loaded, or cannot encode the text.
    """
    return [_cut(text, name) for name in dict.fromkeys(tokenizers)]


def merge_steps(text: str, tokenizer: str, merges: Sequence[int]) -> list[Cutting]:
    """Cut a text as a tokenizer would have after its first merges.

    Args:
        text: the text.
        tokenizer: its path.
        merges: how many merges, for each cutting.

    Raises:
        TokenizerError: it has no list of merges.
        ConfigError: it has fewer merges than asked for.
    """
    loaded = Tokenizer.load(tokenizer)
    spec = loaded.spec
    if spec.rule != "pairs" or spec.model not in ("bytes", "characters") or not len(spec.merges):
        message = (
            f"{tokenizer}: has no list of merges to cut short; give a BPE tokenizer in Hugging "
            "Face's format (jogak convert --to huggingface)"
        )
        raise TokenizerError(message)
    found = []
    for count in merges:
        if count > len(spec.merges):
            message = f"--merges: {tokenizer} has {len(spec.merges):,} merges (asked for {count:,})"
            raise ConfigError(message)
        # Whole pretokens that are tokens would stay whole without any merge.
        short = replace(spec, merges=spec.merges[:count], whole_first=False)
        found.append(_encoded(text, f"{tokenizer}, {count:,} merges", Tokenizer(short)))
    return found


def _cut(text: str, name: str) -> Cutting:
    if name in TRIVIAL:
        pieces = list(text) if name == "chars" else list(_words(text))
        tokens = tuple(Token(None, piece.encode()) for piece in pieces)
        return Cutting(name, tokens, text.encode())
    return _encoded(text, name, Tokenizer.load(name))


def _words(text: str) -> Iterator[str]:
    """Yield words, each with the white space before it; the last one also with what follows."""
    found = re.findall(r"\s*\S+", text) or [text] * bool(text)
    rest = text[sum(map(len, found)) :]
    yield from (*found[:-1], found[-1] + rest) if found else ()


def _encoded(text: str, name: str, tokenizer: Tokenizer) -> Cutting:
    ids = np.asarray(tokenizer.encode(text)).tolist()
    tokens = tuple(Token(each, tokenizer.token_bytes(each)) for each in ids)
    return Cutting(name, tokens, text.encode())

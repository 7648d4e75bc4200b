"""tiktoken ranks: lines of base64 token and rank; pattern and special tokens come from elsewhere.

They are known for OpenAI's own files by name; for others they stand in a JSON file beside the ranks
(`NAME.json` with `pattern` and `special_tokens`, as `jogak convert` writes it), or are given.
"""

from __future__ import annotations

import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from jogak.errors import TokenizerError
from jogak.formats.byte_vocabulary import missing_bytes
from jogak.formats.strangers import table_size
from jogak.pretokenize import PATTERNS, huggingface_regex
from jogak.vocabulary import AddedToken, SpecialNames, Split, TokenizerSpec, pack_tokens

END_OF_TEXT = "<|endoftext|>"


@dataclass(frozen=True, slots=True)
class Encoding:
    """What a ranks file leaves unsaid."""

    pattern: str
    special_tokens: Mapping[str, int]


_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_HARMONY = {
    "<|startoftext|>": 199998,
    END_OF_TEXT: 199999,
    **{f"<|reserved_{index}|>": index for index in (200000, 200001, 200004)},
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    **{f"<|reserved_{index}|>": index for index in range(200009, 201088) if index != 200018},
    "<|call|>": 200012,
    "<|endofprompt|>": 200018,
}
del _HARMONY["<|reserved_200012|>"]

ENCODINGS: Mapping[str, Encoding] = {
    "r50k_base": Encoding(PATTERNS["gpt2"], {END_OF_TEXT: 50256}),
    "p50k_base": Encoding(PATTERNS["gpt2"], {END_OF_TEXT: 50256}),
    "p50k_edit": Encoding(
        PATTERNS["gpt2"],
        {END_OF_TEXT: 50256} | {name: 50281 + index for index, name in enumerate(_FIM)},
    ),
    "cl100k_base": Encoding(
        PATTERNS["cl100k"],
        {END_OF_TEXT: 100257, "<|endofprompt|>": 100276}
        | {name: 100258 + index for index, name in enumerate(_FIM)},
    ),
    "o200k_base": Encoding(PATTERNS["o200k"], {END_OF_TEXT: 199999, "<|endofprompt|>": 200018}),
    "o200k_harmony": Encoding(PATTERNS["o200k"], _HARMONY),
}
"""OpenAI's encodings by file name. Source: tiktoken 0.14, tiktoken_ext/openai_public.py."""


def is_ranks(head: bytes) -> bool:
    """Tell whether a file that begins so holds tiktoken ranks."""
    token, _, rank = head.partition(b"\n")[0].strip().partition(b" ")
    try:
        return (
            bool(token) and rank.isdigit() and binascii.a2b_base64(token, strict_mode=True) != b""
        )
    except binascii.Error:
        return False


def load(
    path: Path, pattern: str | None = None, special_tokens: Mapping[str, int] | None = None
) -> TokenizerSpec:
    """Read a file of ranks.

    Args:
        path: the file.
        pattern: a name of PATTERNS or a regex; by default that of the file's name, or of the JSON
            file beside it.
        special_tokens: from content to id; the same.

    Raises:
        TokenizerError: not such a file, or its pattern is not known.
    """
    encoding = _encoding(path, pattern, special_tokens)
    ranks = _read_ranks(path)
    return ranks_spec(ranks, encoding, str(path))


def ranks_spec(ranks: Mapping[bytes, int], encoding: Encoding, where: str) -> TokenizerSpec:
    """Build the spec of tokens whose ids are their ranks."""
    tokens = [b""] * table_size(ranks.values(), where)
    for token, rank in ranks.items():
        if tokens[rank]:
            message = f"{where}: two tokens have the rank {rank}"
            raise TokenizerError(message)
        tokens[rank] = token
    data, offsets = pack_tokens(tokens)
    missing = missing_bytes(data, offsets)
    if missing:
        message = f"{where}: {len(missing)} of the 256 bytes have no rank (0x{missing[0]:02x})"
        raise TokenizerError(message)
    special = dict(encoding.special_tokens)
    for content, token_id in special.items():
        if token_id < len(tokens) and tokens[token_id]:
            message = f"{where}: special token {content!r} has the id {token_id} of a token"
            raise TokenizerError(message)
    return TokenizerSpec(
        token_data=data,
        token_offsets=offsets,
        merges=np.zeros((0, 3), dtype=np.uint32),
        rule="ranks",
        whole_first=True,
        splits=(Split(huggingface_regex(encoding.pattern)),),
        added=tuple(AddedToken(token_id, content) for content, token_id in special.items()),
        names=SpecialNames(eos=END_OF_TEXT if END_OF_TEXT in special else None),
    )


def _read_ranks(path: Path) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line:
            continue
        try:
            token, rank = line.split()
            ranks[binascii.a2b_base64(token)] = int(rank)
        except ValueError as error:  # also binascii.Error
            message = f"{path}:{number}: not 'base64 rank' (found {line[:40]!r})"
            raise TokenizerError(message) from error
    return ranks


def _encoding(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> Encoding:
    known = ENCODINGS.get(path.stem)
    beside = path.with_suffix(".json")
    if beside.is_file():
        content = json.loads(beside.read_text(encoding="utf-8"))
        if "pattern" in content:
            known = Encoding(content["pattern"], content.get("special_tokens", {}))
    if pattern is not None:
        known = Encoding(PATTERNS.get(pattern, pattern), known.special_tokens if known else {})
    if known is None:
        message = (
            f"{path}: ranks of an unknown name have no pattern (known: {', '.join(ENCODINGS)}); "
            f"pass pattern=.. and special_tokens=.., or write both into {beside.name}"
        )
        raise TokenizerError(message)
    return known if special_tokens is None else replace(known, special_tokens=special_tokens)

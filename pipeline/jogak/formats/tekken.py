"""Tekken JSON, the format of mistral-common: ranks behind a block of special tokens.

Token ids are what the models expect: a rank plus the number of special tokens, which have the ids
from 0 on. Source: mistral-common, tokens/tokenizers/tekken.py.
"""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jogak.errors import TokenizerError
from jogak.formats.tiktoken import Encoding, ranks_spec
from jogak.vocabulary import AddedToken, SpecialNames, TokenizerSpec

_UNLISTED = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
]
"""The first special tokens of files up to version 7, which do not list them."""


def read(content: Mapping[str, Any], where: str) -> TokenizerSpec:
    """Read a tekken file from its JSON.

    Raises:
        TokenizerError: sizes and lists in it do not fit each other.
    """
    settings = content["config"]
    size = int(settings["default_vocab_size"])
    special_count = int(settings["default_num_special_tokens"])
    special = _special_tokens(content, special_count, where)
    inner = size - special_count
    ranks = {
        binascii.a2b_base64(entry["token_bytes"]): int(entry["rank"]) + special_count
        for entry in content["vocab"]
        if int(entry["rank"]) < inner
    }
    if len(ranks) != inner:
        message = f"{where}: {len(ranks)} distinct tokens below rank {inner}; the file is damaged"
        raise TokenizerError(message)
    spec = ranks_spec(ranks, Encoding(settings["pattern"], {}), where)
    contents = set(special)
    named = {"bos": "<s>", "eos": "</s>", "pad": "<pad>", "unk": "<unk>"}
    names = {part: text if text in contents else None for part, text in named.items()}
    return replace(
        spec,
        added=tuple(AddedToken(index, text) for index, text in enumerate(special)),
        names=SpecialNames(**names),
    )


def _special_tokens(content: Mapping[str, Any], count: int, where: str) -> list[str]:
    listed = content.get("special_tokens")
    if listed is None:
        known = dict(enumerate(_UNLISTED))
    else:
        known = {int(entry["rank"]): str(entry["token_str"]) for entry in listed}
    if len(known) > count or max(known, default=-1) >= count:
        message = f"{where}: {len(known)} special tokens, but room for {count}"
        raise TokenizerError(message)
    texts = [known.get(index, f"<SPECIAL_{index}>") for index in range(count)]
    if len(set(texts)) != count:
        message = f"{where}: a special token is listed twice"
        raise TokenizerError(message)
    return texts

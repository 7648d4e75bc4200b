"""Write a tokenizer in another format, where that format can say all of it; else refuse.

Ranks (tiktoken) and listed pairs agree exactly when the list is in the order of the ids, and each
token's last merge, found by merging its bytes alone by rank, is a listed one: until that merge
nothing crosses the token's ends, so it happens in every text as it does alone.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from jogak.errors import TokenizerError
from jogak.formats import gpt2, huggingface_save
from jogak.formats.steps import GPT2_PATTERN
from jogak.pretokenize import PATTERNS, from_huggingface_regex, huggingface_regex
from jogak.vocabulary import TokenizerSpec

Format = Literal["huggingface", "tiktoken", "gpt2"]

_NAMES = {huggingface_regex(source): name for name, source in PATTERNS.items()}
Pair = tuple[bytes, bytes]
_TIKTOKEN, _GPT2 = "tiktoken", "gpt2"


def convert(spec: TokenizerSpec, to: Format, target: Path | str) -> list[Path]:
    """Write a spec in a format.

    Args:
        spec: the tokenizer.
        to: `huggingface` (tokenizer.json and tokenizer_config.json), `tiktoken` (ranks, and a JSON
            file of pattern and special tokens), `gpt2` (vocab.json and merges.txt).
        target: a folder; for tiktoken also the name of the ranks file.

    Returns:
        The files that were written.

    Raises:
        TokenizerError: the format cannot say what the tokenizer does, with the reason.
    """
    target = Path(target)
    if to == "huggingface":
        huggingface_save.save(spec, target)
        return [target / huggingface_save.TOKENIZER, target / "tokenizer_config.json"]
    if to == "tiktoken":
        return _to_tiktoken(spec, target)
    if to == "gpt2":
        return _to_gpt2(spec, target)
    message = f"convert: unknown format {to!r} (known: {', '.join(get_args(Format))})"
    raise TokenizerError(message)


def _to_tiktoken(spec: TokenizerSpec, target: Path) -> list[Path]:
    ranks = target if target.suffix == ".tiktoken" else target / "tokenizer.tiktoken"
    _check_byte_level(spec, "tiktoken")
    pattern = _only_pattern(spec, "tiktoken")
    plain = [token.content for token in spec.added if not token.special]
    if plain:
        raise _refuse(_TIKTOKEN, f"{plain[0]!r} is matched in plain text, though not special")
    if spec.rule == "pairs":
        reason = why_ranks_differ(spec)
        if reason:
            raise _refuse(_TIKTOKEN, reason)
    lines = [
        f"{base64.b64encode(token).decode()} {rank}\n"
        for rank, token in enumerate(spec.tokens())
        if token
    ]
    beside = ranks.with_suffix(".json")
    name = _NAMES.get(pattern)
    content = {
        "pattern": from_huggingface_regex(pattern) if name is None else PATTERNS[name],
        "special_tokens": {token.content: token.id for token in spec.added},
    }
    ranks.parent.mkdir(parents=True, exist_ok=True)
    ranks.write_text("".join(lines), encoding="ascii")
    beside.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return [ranks, beside]


def _to_gpt2(spec: TokenizerSpec, target: Path) -> list[Path]:
    _check_byte_level(spec, "gpt2")
    if _only_pattern(spec, "gpt2") != GPT2_PATTERN:
        raise _refuse(_GPT2, "the format means the gpt2 pattern, and this one's is another")
    if spec.rule == "ranks" or spec.whole_first:
        spec = _as_pairs(spec)
    gpt2.write(spec, target)
    return [target / gpt2.VOCAB, target / gpt2.MERGES]


def _as_pairs(spec: TokenizerSpec) -> TokenizerSpec:
    """Return a spec of pairs without `whole_first` that does the same, or refuse."""
    tokens = spec.tokens()
    ids = {token: index for index, token in enumerate(tokens) if token}
    last = LastMerges(ids)
    rows: list[tuple[int, int, int]] = []
    for index, token in enumerate(tokens):
        if len(token) < 2:
            continue
        pair = last.of(token)
        if pair is None:
            raise _refuse(_GPT2, f"the token {token!r} cannot be reached by merging")
        rows.append((ids[pair[0]], ids[pair[1]], index))
    if spec.rule == "pairs":
        if why_ranks_differ(spec):
            raise _refuse(_GPT2, "its merges need a flag (ignore_merges) that cannot be said")
        return replace(spec, whole_first=False)
    return replace(spec, rule="pairs", whole_first=False, merges=np.array(rows, dtype=np.uint32))


@dataclass(frozen=True, slots=True)
class LastMerges:
    """The last merge of a token, by rank, its bytes taken alone."""

    ids: dict[bytes, int]

    def of(self, token: bytes) -> Pair | None:
        """Return the two parts that make a token, or None where merging stops before."""
        own = self.ids[token]
        parts = [token[place : place + 1] for place in range(len(token))]
        while len(parts) > 2:
            best, place = own, -1
            for index, (left, right) in enumerate(pairwise(parts)):
                rank = self.ids.get(left + right, own)
                if rank < best:
                    best, place = rank, index
            if place < 0:
                return None
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        return parts[0], parts[1]


def why_ranks_differ(spec: TokenizerSpec) -> str:
    """Say why merging by rank would give other ids than a spec's listed pairs, or nothing."""
    results = spec.merges[:, 2].astype(np.int64)
    if (np.diff(results) < 0).any():
        return "its merges are not in the order of the ids they make"
    tokens = spec.tokens()
    listed: dict[int, set[Pair]] = {}
    for left, right, result in spec.merges.tolist():
        listed.setdefault(result, set()).add((tokens[left], tokens[right]))
    last = LastMerges({token: index for index, token in enumerate(tokens) if token})
    for index, token in enumerate(tokens):
        if len(token) < 2:
            continue
        pair = last.of(token)
        if pair is None and not spec.whole_first:
            return f"by rank, {token!r} would be found whole, which its merges do not make"
        if pair is not None and pair not in listed.get(index, ()):
            return f"by rank, {token!r} is made of {pair[0]!r} and {pair[1]!r}, a pair not listed"
    return ""


def _check_byte_level(spec: TokenizerSpec, to: str) -> None:
    if spec.model != "bytes":
        raise _refuse(to, f"a {spec.model} model is no byte-level BPE")
    if spec.normalizer or spec.prepare:
        kinds = ", ".join(step.kind for step in (*spec.normalizer, *spec.prepare))
        raise _refuse(to, f"the format has no place for its normalizer ({kinds})")


def _only_pattern(spec: TokenizerSpec, to: str) -> str:
    if len(spec.splits) != 1 or spec.splits[0].literal:
        raise _refuse(to, f"its text is cut by {len(spec.splits)} splits, not by one pattern")
    split = spec.splits[0]
    if split.behavior != "isolated" and not (split.behavior == "removed" and split.invert):
        raise _refuse(to, f"its split is {split.behavior!r}, not 'isolated'")
    return split.pattern


def _refuse(to: str, reason: str) -> TokenizerError:
    return TokenizerError(f"convert to {to}: {reason}; use 'huggingface'")

"""TokenizerSpec: everything a tokenizer file says, as data; the formats make it, Tokenizer runs it.

A spec is independent of the format it was read from. Token bytes are what the token stands for in
text: the raw bytes of a byte-level token, the UTF-8 of a character-level piece (still with its word
marker). Ids without text (special tokens, holes in the numbering) have no bytes.
"""

from __future__ import annotations

from jogak.vocabulary.spec import (
    BYTE_CHARACTERS,
    BYTE_ORDER,
    AddedToken,
    Behavior,
    CharacterRules,
    Model,
    NormalizeStep,
    Rule,
    SpecialNames,
    Split,
    StepKind,
    TokenizerSpec,
    pack_tokens,
)
from jogak.vocabulary.trained import (
    normal_form_steps,
    normalize_steps,
    spec_from_merges,
    with_names,
)

__all__ = [
    "BYTE_CHARACTERS",
    "BYTE_ORDER",
    "AddedToken",
    "Behavior",
    "CharacterRules",
    "Model",
    "NormalizeStep",
    "Rule",
    "SpecialNames",
    "Split",
    "StepKind",
    "TokenizerSpec",
    "normal_form_steps",
    "normalize_steps",
    "pack_tokens",
    "spec_from_merges",
    "with_names",
]

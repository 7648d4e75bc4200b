"""tokenizer_config.json: what stands beside tokenizer.json (names of tokens, chat template)."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from jogak.errors import TokenizerError
from jogak.vocabulary import SpecialNames, TokenizerSpec

logger = logging.getLogger(__name__)

SETTINGS = "tokenizer_config.json"
_NO_LIMIT = 10**15
"""Lengths above this mean "no limit": transformers writes int(1e30)."""
OWN_KEY = "jogak"
"""What tokenizer.json cannot say and Jogak must know to read back what it wrote."""


def apply_settings(spec: TokenizerSpec, folder: Path) -> TokenizerSpec:
    """Add what the folder's tokenizer_config.json says, if there is one, to a spec."""
    settings = read_json(folder / SETTINGS)
    names = read_json(folder / "special_tokens_map.json") | settings
    template = settings.get("chat_template")
    separate = folder / "chat_template.jinja"
    if separate.is_file():
        template = separate.read_text(encoding="utf-8")
    length = settings.get("model_max_length")
    if not isinstance(length, int | float) or length > _NO_LIMIT:
        length = None
    known = {token.content for token in spec.added}
    found = SpecialNames(
        bos=_content(names.get("bos_token"), known, spec),
        eos=_content(names.get("eos_token"), known, spec),
        pad=_content(names.get("pad_token"), known, spec),
        unk=_content(names.get("unk_token"), known, spec),
    )
    spec = _apply_own(spec, settings.get(OWN_KEY) or {})
    return replace(
        spec,
        names=found,
        model_max_length=None if length is None else int(length),
        chat_template=_default_template(template),
    )


def write_settings(spec: TokenizerSpec) -> dict[str, Any]:
    """Return the content of tokenizer_config.json for a spec."""
    names = spec.names
    content: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": names.bos,
        "eos_token": names.eos,
        "pad_token": names.pad,
        "unk_token": names.unk,
        "model_max_length": spec.model_max_length or int(1e30),
        "clean_up_tokenization_spaces": False,
    }
    if spec.chat_template is not None:
        content["chat_template"] = spec.chat_template
    own = _describe_own(spec)
    return content | {OWN_KEY: own} if own else content


def _describe_own(spec: TokenizerSpec) -> dict[str, Any]:
    own: dict[str, Any] = {}
    if spec.rule == "ranks":
        own["merge_rule"] = "ranks"
    if any(step.kind == "charsmap" for step in spec.normalizer):
        own["charsmap"] = "sentencepiece"
        own["kept"] = [text for step in spec.normalizer for text in step.kept]
    if spec.tied:
        own["tied"] = [list(group) for group in spec.tied]
    if spec.scores is not None:
        own["unigram"] = "sentencepiece"
        own["user_defined"] = list(spec.user_defined)
    return own


def _apply_own(spec: TokenizerSpec, own: Mapping[str, Any]) -> TokenizerSpec:
    if own.get("merge_rule") == "ranks":
        # The merges of a byte-level file list every split for other readers; the rule needs none.
        none = np.zeros((0, 3), dtype=np.uint32)
        spec = replace(spec, rule="ranks", merges=none if spec.model == "bytes" else spec.merges)
    if own.get("charsmap") == "sentencepiece":
        steps = (
            replace(step, kind="charsmap", kept=tuple(own.get("kept", ())))
            if step.kind == "precompiled"
            else step
            for step in spec.normalizer
        )
        spec = replace(spec, normalizer=tuple(steps))
    if own.get("tied"):
        spec = replace(spec, tied=tuple(tuple(group) for group in own["tied"]))
    if own.get("user_defined"):
        spec = replace(spec, user_defined=tuple(own["user_defined"]))
    return spec


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; an empty one where there is no file."""
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        message = f"{path}: not JSON ({error}); mend or remove the file"
        raise TokenizerError(message) from error
    if not isinstance(content, dict):
        message = f"{path}: expected a JSON object (found {type(content).__name__})"
        raise TokenizerError(message)
    return content


def _content(entry: object, known: set[str], spec: TokenizerSpec) -> str | None:
    """Return the content of a token that is written as a string or as an object."""
    if isinstance(entry, Mapping):
        entry = entry.get("content")
    if not isinstance(entry, str) or not entry:
        return None
    if entry in known or spec.find(entry) is not None:
        return entry
    logger.warning("token %r is named in %s but not in the vocabulary: left out", entry, SETTINGS)
    return None


def _default_template(template: object) -> str | None:
    """Return the template; of a list of named templates, the one called `default`."""
    if isinstance(template, list):
        named = {entry["name"]: entry["template"] for entry in template}
        template = named.get("default")
    return template if isinstance(template, str) else None

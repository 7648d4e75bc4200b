"""The parts of tokenizer.json around the model, to steps of a TokenizerSpec and back.

A part that Jogak does not apply exactly is refused by name; there is no approximation. Source of
each part's meaning: Hugging Face `tokenizers`, measured against 0.23.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jogak.errors import TokenizerError
from jogak.pretokenize import PATTERNS, huggingface_regex
from jogak.vocabulary import Behavior, CharacterRules, NormalizeStep, Split

Part = Mapping[str, Any]

GPT2_PATTERN = huggingface_regex(PATTERNS["gpt2"])
"""What ByteLevel with use_regex cuts by. Source: openai/gpt-2 encoder.py, tokenizers."""

_SPACE_EDITS: Sequence[tuple[NormalizeStep, dict[str, Any]]] = [
    (step, {"type": "Replace", "pattern": {"Regex": pattern}, "content": content})
    for step, pattern, content in (
        (NormalizeStep("strip_start"), r"\A +", ""),
        (NormalizeStep("squeeze_spaces"), " {2,}", " "),
        (NormalizeStep("collapse_spaces"), r"[\t\p{Zs}]+", " "),
        (NormalizeStep("strip_end", "▁"), r"▁+\z", ""),
    )
]
"""SentencePiece's care for spaces, as a tokenizer.json can say it."""

MOST_GROWTH = 256
"""Times that a file's normalizer may make text as long; those in use make spaces 3 bytes."""

_FORMS = ("nfc", "nfd", "nfkc", "nfkd")
_BEHAVIORS: dict[str, Behavior] = {
    "Isolated": "isolated",
    "Removed": "removed",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
    "Contiguous": "contiguous",
}
_BEHAVIOR_NAMES = {behavior: name for name, behavior in _BEHAVIORS.items()}
_PUNCTUATION = r"[!-/:-@\[-`{-~\p{P}]"


def flatten(part: Part | None, key: str) -> list[Part]:
    """Return the parts of a Sequence, in order; `key` is what its list is called."""
    if part is None:
        return []
    if part.get("type") != "Sequence":
        return [part]
    return [inner for element in part.get(key, ()) for inner in flatten(element, key)]


def refuse(where: str, role: str, part: Part) -> TokenizerError:
    """Return the error that names a part which cannot be applied exactly."""
    message = f"{where}: {role} {part.get('type')!r} cannot be applied exactly (found: {part})"
    return TokenizerError(message[:400])


def read_normalizer(part: Part | None, where: str) -> tuple[NormalizeStep, ...]:
    """Read the key `normalizer`."""
    steps: list[NormalizeStep] = []
    for element in flatten(part, "normalizers"):
        kind = str(element.get("type"))
        pattern = element.get("pattern")
        if kind.lower() in _FORMS:
            steps.append(NormalizeStep(kind.lower()))  # type: ignore[arg-type]  # checked above
        elif kind == "Prepend":
            steps.append(NormalizeStep("prepend", new=element["prepend"]))
        elif kind == "Precompiled":
            steps.append(NormalizeStep("precompiled", element["precompiled_charsmap"]))
        elif kind == "Replace" and isinstance(pattern, dict) and pattern.get("String"):
            steps.append(NormalizeStep("replace", pattern["String"], element["content"]))
        elif edits := [step for step, part in _SPACE_EDITS if part == element]:
            steps += edits
        else:
            raise refuse(where, "normalizer", element)
    _check_growth(steps, where)
    return tuple(steps)


def _check_growth(steps: Sequence[NormalizeStep], where: str) -> None:
    """Refuse replacements that would blow text up, one upon another."""
    growth = 1.0
    for step in steps:
        if step.kind == "replace":
            growth *= max(len(step.new.encode()) / len(step.old.encode()), 1.0)
        elif step.kind == "prepend":
            growth += len(step.new.encode()) / 16
    if growth > MOST_GROWTH:
        message = (
            f"{where}: normalizer makes text up to {growth:,.0f} times as long (at most "
            f"{MOST_GROWTH} is taken); the file is damaged or means harm"
        )
        raise TokenizerError(message)


def write_normalizer(steps: Sequence[NormalizeStep]) -> dict[str, Any] | None:
    """Write the key `normalizer`."""
    parts: list[dict[str, Any]] = []
    for step in steps:
        if step.kind in _FORMS:
            parts.append({"type": step.kind.upper()})
        elif step.kind in ("charsmap", "precompiled"):
            parts.append({"type": "Precompiled", "precompiled_charsmap": step.old})
        elif edits := [part for known, part in _SPACE_EDITS if known == step]:
            parts += edits
        elif step.kind == "prepend":
            parts.append({"type": "Prepend", "prepend": step.new})
        else:
            pattern = {"String": step.old}
            parts.append({"type": "Replace", "pattern": pattern, "content": step.new})
    return _sequence(parts, "normalizers")


@dataclass(frozen=True, slots=True)
class Pretokenizing:
    """What the key `pre_tokenizer` says; `byte_level` where tokens are made of bytes."""

    prepare: tuple[NormalizeStep, ...] = ()
    splits: tuple[Split, ...] = ()
    byte_level: bool = False


def read_pretokenizer(part: Part | None, where: str) -> Pretokenizing:
    """Read the key `pre_tokenizer`."""
    found = Pretokenizing()
    for element in flatten(part, "pretokenizers"):
        if found.byte_level:
            # Behind ByteLevel the text is mapped characters, which no pattern here sees.
            raise refuse(where, "pre_tokenizer behind ByteLevel", element)
        kind = element.get("type")
        if kind == "ByteLevel":
            found = _read_byte_level(element, found, where)
        elif kind == "Metaspace":
            found = _read_metaspace(element, found, where)
        else:
            split = _read_split(element, where)
            found = replace(found, splits=(*found.splits, split))
    return found


def _read_byte_level(element: Part, before: Pretokenizing, where: str) -> Pretokenizing:
    prepare, splits = before.prepare, before.splits
    if element.get("add_prefix_space", True):
        if splits:
            raise refuse(where, "pre_tokenizer behind another", element)
        prepare = (*prepare, NormalizeStep("prefix", new=" "))
    if element.get("use_regex", True):
        splits = (*splits, Split(GPT2_PATTERN))
    return Pretokenizing(prepare, splits, byte_level=True)


def _read_metaspace(element: Part, before: Pretokenizing, where: str) -> Pretokenizing:
    if before.splits:
        raise refuse(where, "pre_tokenizer behind another", element)
    marker = element.get("replacement", "▁")
    scheme = element.get("prepend_scheme", "always")
    if "prepend_scheme" not in element and element.get("add_prefix_space") is False:
        scheme = "never"
    steps = [NormalizeStep("replace", " ", marker)]
    if scheme != "never":
        kind = "prefix_first" if scheme == "first" else "prefix"
        steps.append(NormalizeStep(kind, new=marker))  # type: ignore[arg-type]  # one of the two
    cut = Split(marker, literal=True, behavior="merged_with_next")
    splits = (cut,) if element.get("split", True) else ()
    return Pretokenizing((*before.prepare, *steps), splits)


def _read_split(element: Part, where: str) -> Split:
    kind = element.get("type")
    if kind == "Split":
        return _read_general_split(element, where)
    if kind == "Digits":
        return Split(r"\p{N}" if element.get("individual_digits") else r"\p{N}+")
    if kind == "Punctuation":
        return Split(_PUNCTUATION, behavior=_BEHAVIORS[element.get("behavior", "Isolated")])
    if kind == "WhitespaceSplit":
        return Split(r"\s+", behavior="removed")
    raise refuse(where, "pre_tokenizer", element)


def _read_general_split(element: Part, where: str) -> Split:
    behavior = _BEHAVIORS.get(str(element.get("behavior")))
    pattern = element.get("pattern")
    invert = bool(element.get("invert", False))
    if behavior is None or not isinstance(pattern, dict) or len(pattern) != 1:
        raise refuse(where, "pre_tokenizer", element)
    if pattern.get("String"):
        return Split(pattern["String"], True, behavior, invert)
    if pattern.get("Regex"):
        return Split(pattern["Regex"], False, behavior, invert)
    raise refuse(where, "pre_tokenizer", element)


def write_pretokenizer(what: Pretokenizing) -> dict[str, Any] | None:
    """Write the key `pre_tokenizer`."""
    parts: list[dict[str, Any]] = []
    prefixes = [step for step in what.prepare if step.kind.startswith("prefix")]
    if any(step.kind == "replace" for step in what.prepare):
        parts.append(_metaspace(what))
    else:
        parts += [_split(split) for split in what.splits]
    if what.byte_level:
        gpt2 = bool(prefixes) and what.splits == (Split(GPT2_PATTERN),)
        if gpt2:
            parts.clear()
        parts.append(byte_level(add_prefix_space=bool(prefixes), use_regex=gpt2))
    return _sequence(parts, "pretokenizers")


def byte_level(*, add_prefix_space: bool = False, use_regex: bool = False) -> dict[str, Any]:
    """Write a ByteLevel pre-tokenizer, decoder or post-processor."""
    flags = {"add_prefix_space": add_prefix_space, "trim_offsets": True, "use_regex": use_regex}
    return {"type": "ByteLevel", **flags}


def _metaspace(what: Pretokenizing) -> dict[str, Any]:
    schemes = {"prefix": "always", "prefix_first": "first"}
    found = [schemes[step.kind] for step in what.prepare if step.kind in schemes]
    marker = next(step.new for step in what.prepare if step.kind == "replace")
    scheme = found[0] if found else "never"
    return {
        "type": "Metaspace",
        "replacement": marker,
        "prepend_scheme": scheme,
        "split": bool(what.splits),
    }


def _split(split: Split) -> dict[str, Any]:
    pattern = {"String": split.pattern} if split.literal else {"Regex": split.pattern}
    behavior = _BEHAVIOR_NAMES[split.behavior]
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": split.invert}


def _sequence(parts: list[dict[str, Any]], key: str) -> dict[str, Any] | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return {"type": "Sequence", key: parts}


def read_decoder(
    part: Part | None, rules: CharacterRules, unknown: str | None, where: str
) -> CharacterRules:
    """Read the key `decoder` of a character-level model; `unknown` is its unknown token."""
    for element in flatten(part, "decoders"):
        kind = element.get("type")
        pattern = element.get("pattern")
        if kind == "Replace" and isinstance(pattern, dict) and element.get("content") == " ":
            rules = replace(rules, marker=pattern.get("String", ""))
        elif kind == "Replace" and unknown and pattern == {"String": unknown}:
            rules = replace(rules, unknown_text=element["content"])
        elif kind == "Metaspace":
            strip = int(element.get("prepend_scheme", "always") != "never")
            rules = replace(rules, marker=element.get("replacement", "▁"), strip_start=strip)
        elif kind == "Strip" and element.get("content") == " " and not element.get("stop"):
            rules = replace(rules, strip_start=int(element.get("start", 0)))
        elif kind == "BPEDecoder" and element.get("suffix", "</w>") == rules.suffix:
            continue
        elif kind not in ("ByteFallback", "Fuse"):
            raise refuse(where, "decoder", element)
    return rules


def write_decoder(rules: CharacterRules, unknown: str | None) -> dict[str, Any] | None:
    """Write the key `decoder` of a character-level model."""
    parts: list[dict[str, Any]] = []
    if rules.suffix:
        return {"type": "BPEDecoder", "suffix": rules.suffix}
    if unknown and rules.unknown_text is not None:
        pattern = {"String": unknown}
        parts.append({"type": "Replace", "pattern": pattern, "content": rules.unknown_text})
    if rules.marker:
        pattern = {"String": rules.marker}
        parts.append({"type": "Replace", "pattern": pattern, "content": " "})
    if rules.byte_fallback:
        parts.append({"type": "ByteFallback"})
    parts.append({"type": "Fuse"})
    if rules.strip_start:
        strip = {"content": " ", "start": rules.strip_start, "stop": 0}
        parts.append({"type": "Strip", **strip})
    return _sequence(parts, "decoders")

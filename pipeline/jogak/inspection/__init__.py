"""inspection: what a tokenizer is and what its vocabulary holds, as facts by name.

In: a Tokenizer. Out: a mapping for JSON, and lines for a terminal. Everything is found from the
vocabulary alone, a few passes over all tokens at once.
"""

from __future__ import annotations

from typing import Any

from jogak.inspection.content import content_facts
from jogak.inspection.reach import reach_facts
from jogak.tokenizer import Tokenizer

__all__ = ["DEFINITIONS", "SHOWN", "facts_text", "inspect_tokenizer"]

SHOWN = ("vocab_size", "bos_id", "eos_id", "fingerprint", "losses")
EXAMPLES = 8

DEFINITIONS = {
    "syllables": "of the 11,172 modern Hangul syllables, those that are one token by themselves; "
    "ksx1001: of the 2,350 that KS X 1001 has",
    "scripts": "tokens that hold a letter of the script",
    "broken": "tokens whose bytes are not whole UTF-8 characters",
    "unreachable": "tokens whose bytes, encoded by themselves, give other tokens; of models of "
    "characters, the piece given to the model; pieces that only stand inside a word are not judged",
    "duplicates": "groups of tokens whose text is the same in the normal form",
    "longest": "tokens with most characters, by the script of most of their letters",
}
"""What is counted."""


def inspect_tokenizer(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the facts about a tokenizer, as JSON holds them."""
    facts: dict[str, Any] = {name: getattr(tokenizer, name) for name in SHOWN}
    facts["losses"] = list(tokenizer.losses)
    return {**facts, **_kind(tokenizer), **content_facts(tokenizer), **reach_facts(tokenizer)}


def _kind(tokenizer: Tokenizer) -> dict[str, Any]:
    spec = tokenizer.spec
    return {
        "model": spec.model,
        "rule": spec.rule,
        "merges": len(spec.merges),
        "whole_first": spec.whole_first,
        "byte_fallback": spec.characters.byte_fallback,
        "normalizer": [_step(step.kind, step.old, step.new) for step in spec.normalizer],
        "prepare": [_step(step.kind, step.old, step.new) for step in spec.prepare],
        "pattern": [
            {"pattern": split.pattern, "behavior": split.behavior, "invert": split.invert}
            for split in spec.splits
        ],
        "special_tokens": tokenizer.special_tokens,
        "added_tokens": sum(not token.special for token in spec.added),
        "chat_template": spec.chat_template is not None,
    }


def _step(kind: str, old: str, new: str) -> str:
    """Say a step in a word or two; the maps of SentencePiece are long and say nothing to people."""
    if kind in ("charsmap", "precompiled"):
        return kind
    return " ".join([kind, *(repr(each) for each in (old, new) if each)])


def facts_text(facts: dict[str, Any]) -> str:
    """Return the facts as lines, a name and what is known in each."""
    lines = [f"{name:12} {facts[name]}" for name in SHOWN[:-1]]
    lines.append(f"{'losses':12} {'; '.join(facts['losses']) or 'none'}")
    special = list(facts["special_tokens"])
    more = f" and {len(special) - EXAMPLES} more" if len(special) > EXAMPLES else ""
    syllables, broken, unreachable = facts["syllables"], facts["broken"], facts["unreachable"]
    rows = [
        ("model", f"{facts['model']}, rule {facts['rule']}, {facts['merges']:,} merges"),
        ("normalizer", "; ".join(facts["normalizer"] + facts["prepare"]) or "none"),
        ("pattern", "  then  ".join(each["pattern"] for each in facts["pattern"]) or "none"),
        ("special", f"{len(special):,}: {', '.join(special[:EXAMPLES])}{more}"),
        ("scripts", ", ".join(f"{name} {count:,}" for name, count in facts["scripts"].items())),
        (
            "syllables",
            f"{syllables['tokens']:,} of {syllables['of']:,} are a token; "
            f"{syllables['ksx1001_tokens']:,} of KS X 1001's {syllables['ksx1001_of']:,}",
        ),
        ("broken", f"{broken['tokens']:,} tokens are not whole characters"),
        ("unreachable", _with_examples(unreachable["tokens"], unreachable["examples"])),
    ]
    if unreachable["not_judged"]:
        rows.append(("not judged", f"{unreachable['not_judged']:,} tokens"))
    rows += [
        (f"same in {form}", _with_examples(found["groups"], found["examples"]))
        for form, found in facts["duplicates"].items()
    ]
    rows += [
        ("longest", f"{script}: " + ", ".join(map(repr, tokens)))
        for script, tokens in facts["longest"].items()
    ]
    return "\n".join([*lines, *(f"{name:12} {text}" for name, text in rows)])


def _with_examples(count: int, examples: list[Any]) -> str:
    shown = ", ".join(repr(each) for each in examples[:EXAMPLES])
    return f"{count:,}: {shown}" if examples else f"{count:,}"

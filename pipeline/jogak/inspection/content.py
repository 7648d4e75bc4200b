"""What the tokens of a vocabulary hold: scripts, syllables, broken characters, twins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import unicodedata2

from jogak.characters import KSX1001_SYLLABLES
from jogak.detect.scripts import SCRIPTS, count_scripts
from jogak.tokenizer import Tokenizer
from jogak.vocabulary import pack_tokens

SYLLABLES = range(0xAC00, 0xD7A4)
FORMS = ("NFC", "NFKC")
LONGEST = 3
TWINS_SHOWN = 8


def token_texts(tokenizer: Tokenizer) -> Iterator[tuple[int, bytes]]:
    """Yield id and bytes of the tokens of text: special tokens and ids without a token are none."""
    special = set(tokenizer.special_tokens.values())
    special.update(index for index, _ in tokenizer.spec.inert)
    known = tokenizer.spec.tokens()
    added = {token.id for token in tokenizer.spec.added}
    prefix = tokenizer.spec.characters.prefix.encode()
    for index in range(tokenizer.vocab_size):
        has_token = index in added or (index < len(known) and known[index])
        if index in special or not has_token:
            continue
        # What only stands inside a word keeps its mark: it is another token than the word.
        marked = bool(prefix) and index < len(known) and known[index].startswith(prefix)
        yield index, known[index] if marked else tokenizer.token_bytes(index)


def content_facts(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return what the tokens hold."""
    whole: list[str] = []
    broken = 0
    for _, data in token_texts(tokenizer):
        try:
            whole.append(data.decode())
        except UnicodeDecodeError:
            broken += 1
    counts = count_scripts(*pack_tokens([text.encode() for text in whole]))
    present = (counts > 0).sum(axis=0).tolist()
    scripts = {name: count for name, count in zip(SCRIPTS, present, strict=True) if count}
    texts = set(whole)
    syllables = {chr(code) for code in SYLLABLES} & texts
    return {
        "scripts": dict(sorted(scripts.items(), key=lambda item: -item[1])),
        "syllables": {
            "tokens": len(syllables),
            "of": len(SYLLABLES),
            "ksx1001_tokens": len(syllables.intersection(KSX1001_SYLLABLES)),
            "ksx1001_of": len(KSX1001_SYLLABLES),
        },
        "broken": {"tokens": broken},
        "longest": _longest(whole, counts),
        "duplicates": {form: _twins(whole, form) for form in FORMS},
    }


def _longest(texts: list[str], counts: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, list[str]]:
    """Return the longest tokens of each script that has some, and of none."""
    main = np.where(counts.any(axis=1), counts.argmax(axis=1), len(SCRIPTS))
    lengths = np.array([len(text) for text in texts])
    found = {}
    for script in np.unique(main).tolist():
        own = np.flatnonzero(main == script)
        best = own[np.argsort(-lengths[own], kind="stable")[:LONGEST]]
        name = SCRIPTS[script] if script < len(SCRIPTS) else "no letters"
        found[name] = [texts[at] for at in best.tolist()]
    return found


def _twins(texts: list[str], form: str) -> dict[str, Any]:
    """Return how many groups of tokens are the same text in a normal form, and some of them."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        if not text.isascii():
            groups.setdefault(unicodedata2.normalize(form, text), []).append(text)
    for text in texts:
        if text.isascii() and text in groups:
            groups[text].append(text)
    twins = [group for group in groups.values() if len(group) > 1]
    return {"groups": len(twins), "examples": twins[:TWINS_SHOWN]}

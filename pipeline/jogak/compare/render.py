"""Cuttings in a terminal, in colours or with separators, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from jogak.compare.cutting import Cutting, Token

COLOURS = (153, 223, 157, 225, 187)
"""Backgrounds of neighbouring tokens, of the 256 of terminals: light, so black text shows."""
RESET = "\x1b[0m"
SEPARATOR = "|"
VISIBLE = {"\n": "↵", "\r": "␍", "\t": "⇥", "\u00a0": "⍽", "\u200b": "<U+200B>", "\ufeff": "<BOM>"}
"""What stands for characters that would not show, or would break the line."""


def comparison_text(cuttings: Sequence[Cutting], *, colour: bool, with_ids: bool = True) -> str:
    """Return cuttings one below the other.

    Args:
        cuttings: of the same text.
        colour: colours between tokens; else `|` stands between them.
        with_ids: also list the ids, and the bytes of tokens that are not whole characters.
    """
    return "\n\n".join("\n".join(_lines(each, colour, with_ids)) for each in cuttings)


def _lines(cutting: Cutting, colour: bool, with_ids: bool) -> Iterator[str]:
    tokens = cutting.tokens
    ratio = f", {len(cutting.text) / len(tokens):.2f} bytes each" if tokens else ""
    yield f"{cutting.name}: {len(tokens):,} token{'s' * (len(tokens) != 1)}{ratio}"
    shown = [shown_token(token) for token in tokens]
    if colour:
        yield "".join(
            f"\x1b[30;48;5;{COLOURS[at % len(COLOURS)]}m{each}{RESET}"
            for at, each in enumerate(shown)
        )
    else:
        yield SEPARATOR.join(shown)
    if with_ids and any(token.id is not None for token in tokens):
        yield "ids: " + " ".join(str(token.id) for token in tokens)
        broken = [
            f"{token.id} = {token.data.hex(' ').upper()}" for token in tokens if token.text is None
        ]
        if broken:
            yield "not whole characters: " + "; ".join(dict.fromkeys(broken))
    if not cutting.is_same_text:
        yield "(the tokenizer changes the text before it cuts it)"


def shown_token(token: Token) -> str:
    """Return a token as it shows: its text, or its bytes in angle brackets."""
    text = token.text
    if text is None:
        return f"<{token.data.hex(' ').upper()}>"
    return "".join(_shown_character(each) for each in text)


def _shown_character(character: str) -> str:
    if character in VISIBLE:
        return VISIBLE[character]
    # Control and direction characters could change what the terminal shows of the rest.
    hidden = not character.isprintable() and character != " "
    return f"<U+{ord(character):04X}>" if hidden else character


def comparison_json(cuttings: Sequence[Cutting]) -> list[dict[str, Any]]:
    """Return cuttings as JSON holds them; `bytes` in hexadecimal, `text` null for broken tokens."""
    return [
        {
            "tokenizer": each.name,
            "count": len(each.tokens),
            "same_text": each.is_same_text,
            "tokens": [
                {"id": token.id, "text": token.text, "bytes": token.data.hex()}
                for token in each.tokens
            ],
        }
        for each in cuttings
    ]

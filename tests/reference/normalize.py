"""Slow and obvious: UTF-8 validity, measures and normal forms, by Python and unicodedata2."""

from __future__ import annotations

import re

import unicodedata2

PRIVATE = 0xF0000
"""Private-use starters that compose with nothing stand in for the jamo that are to stay."""
KEPT = {code: PRIVATE + code for code in range(0x3131, 0x318F)}
STAND_INS = KEPT | {
    code: KEPT[int(unicodedata2.decomposition(chr(code)).split()[1], 16)]
    for code in range(0xFFA0, 0xFFDD)
    if unicodedata2.decomposition(chr(code))
}
RESTORED = {private: code for code, private in KEPT.items()}
SPACES = "".join(c for c in map(chr, range(0x110000)) if unicodedata2.category(c) == "Zs")


def first_invalid_byte(document: bytes) -> int:
    """Return what `_core.validate_utf8` must: -1, or the start of the first invalid sequence."""
    try:
        document.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return -1


def measure(document: bytes) -> tuple[int, int]:
    """Return characters and eojeol."""
    text = document.decode("utf-8")
    return len(text), len(text.split())


def form(text: str, name: str) -> str:
    """Return a normal form of a text without private-use characters of plane 15."""
    if name == "none":
        return text
    if name == "nfkc_keep_jamo":
        return unicodedata2.normalize("NFKC", text.translate(STAND_INS)).translate(RESTORED)
    return unicodedata2.normalize(name.upper(), text)


def normalize(
    text: str,
    form_name: str,
    *,
    newlines: str = "keep",
    whitespace: str = "keep",
    control: str = "keep",
) -> str:
    """Return what `normalize_batch` must."""
    if control == "remove":
        kept = [c for c in text if unicodedata2.category(c) != "Cc" or c in "\t\n\v\f\r\x85"]
        text = "".join(kept)
    if newlines == "lf":
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = form(text, form_name)
    if whitespace == "collapse":
        text = re.sub(f"[\t{SPACES}]+", " ", text)
    return text

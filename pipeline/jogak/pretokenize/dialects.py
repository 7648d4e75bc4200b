r"""One regex, three engines: ours (as tiktoken's), Oniguruma (Hugging Face), the `regex` package.

They read the same text differently: `{1,3}+` is possessive for us and a repeated repeat for
Oniguruma; `$` is the end of the text, of a line, or of the text but for a newline; `\w` has other
members; and the `regex` package holds a newer Unicode. Each function here rewrites what differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from jogak import _core
from jogak.errors import TokenizerError

_TOKEN = re.compile(
    r"""(?P<property>\\[pP](?:\{[^}]*\}|.))
      | (?P<code>\\x(?:\{[0-9A-Fa-f]+\}|[0-9A-Fa-f]{2})|\\u(?:\{[0-9A-Fa-f]+\}|[0-9A-Fa-f]{4})
                |\\U[0-9A-Fa-f]{8})
      | (?P<escape>\\.)
      | (?P<open>\((?:\?(?:<?[=!]|>|P?<\w+>|[a-z]*(?:-[a-z]+)?[:)]?))?)
      | (?P<close>\))
      | (?P<count>\{\d+(?:,\d*)?\})
      | (?P<repeat>[*+?])
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
# Oniguruma's word characters: without ZWNJ and ZWJ, with the superscripts and fractions of Latin-1.
_ONIGURUMA_WORD = r"[\w&&[^\u200C\u200D]]\u00B2\u00B3\u00B9\u00BC-\u00BE"
_OURS_WORD = r"[\w&&[^\u00B2\u00B3\u00B9\u00BC-\u00BE]]\u200C\u200D"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # a group of _TOKEN, or `class` for a whole bracketed class
    text: str


def _class_end(pattern: str, start: int) -> int:
    """Return where the bracketed class that begins at `start` ends."""
    depth, at = 0, start
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        elif pattern[at] == "[":
            depth += 1
            at += pattern.startswith("^", at + 1)
            at += pattern.startswith("]", at + 1)  # a bracket that comes first is a member
        elif pattern[at] == "]":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    message = f"pattern {pattern!r}: the '[' at character {start} is never closed; add a ']'"
    raise TokenizerError(message)


def _tokens(pattern: str) -> Iterator[_Token]:
    at = 0
    while at < len(pattern):
        if pattern[at] == "[":
            end = _class_end(pattern, at)
            yield _Token("class", pattern[at:end])
            at = end
            continue
        match = _TOKEN.match(pattern, at)
        if match is None:  # only a lone backslash at the end
            message = f"pattern {pattern!r}: ends in a backslash; write two for a literal one"
            raise TokenizerError(message)
        yield _Token(match.lastgroup or "other", match.group())
        at = match.end()


def _ranges(expression: str) -> list[tuple[int, int]]:
    try:
        flat = _core.character_class(expression).tolist()
    except ValueError as error:
        message = f"pattern: cannot read the class {expression!r}: {error}; write it as ranges"
        raise TokenizerError(message) from error
    return list(zip(flat[::2], flat[1::2], strict=True))


def _code(token: str) -> int:
    return int(token[2:].strip("{}"), 16)


def _refuse(pattern: str, what: str) -> TokenizerError:
    return TokenizerError(
        f"pattern {pattern!r}: {what} means something else in each regex engine; "
        "rewrite the pattern without it"
    )


def python_regex(pattern: str) -> str:
    r"""Write a pattern for the `regex` package: every class as ranges of Unicode 16.

    Raises:
        TokenizerError: a construct means something else there and cannot be rewritten.
    """
    parts = []
    for token in _tokens(pattern):
        text = token.text
        if token.kind in ("class", "property") or text in _CLASS_ESCAPES:
            if text == "[^]":
                raise _refuse(pattern, text)
            text = _explicit(_ranges(text))
        elif token.kind == "code":
            text = rf"\U{_code(text):08x}"
        elif text in ("$", r"\z"):
            text = r"\Z"
        elif token.kind == "escape" and text[1].isalnum() and text[1] not in "nrtfvbBA123456789":
            raise _refuse(pattern, text)
        elif token.kind == "open" and not re.fullmatch(_PLAIN_GROUPS, text):
            raise _refuse(pattern, f"the group {text}")
        elif text == ".":
            text = r"[^\n]"
        parts.append(text)
    return "".join(parts)


_CLASS_ESCAPES = (r"\s", r"\S", r"\d", r"\D", r"\w", r"\W")
_PLAIN_GROUPS = r"\((\?(:|=|!|<=|<!|>|P?<\w+>|i?(-i)?:|i\)))?"


def _explicit(ranges: list[tuple[int, int]]) -> str:
    members = "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in ranges)
    return f"[{members}]" if members else r"(?!)"


def huggingface_regex(pattern: str) -> str:
    r"""Write one of our patterns for Oniguruma, as a Split of a tokenizer.json must hold it.

    Raises:
        TokenizerError: `{m,n}+` in a pattern where giving back characters could matter.
    """
    parts: list[str] = []
    tokens = list(_tokens(pattern))
    for index, token in enumerate(tokens):
        text = token.text
        before = tokens[index - 1].kind if index else ""
        if text == "+" and before == "count":
            _require_plain_counts(pattern)
            continue
        if text == "$":
            text = r"\z"
        elif token.kind == "code":
            text = rf"\x{{{_code(text):X}}}"
        elif token.kind in ("escape", "class", "property"):
            text = _class_text(text, _OURS_WORD)
            text = re.sub(r"(\\[pP]\{\^?)[^=}]*=", r"\1", text)
            text = re.sub(r"\\(?:u\{?|U)([0-9A-Fa-f]+)\}?", _braced_code, text)
        parts.append(text)
    return "".join(parts)


def _braced_code(match: re.Match[str]) -> str:
    return rf"\x{{{int(match[1], 16):X}}}"


def _require_plain_counts(pattern: str) -> None:
    """The native parser has proved possessive quantifiers equal to greedy ones, or refuses."""
    try:
        _core.Scanner(pattern)
    except ValueError as error:
        message = (
            f"pattern {pattern!r}: Oniguruma has no possessive {{m,n}}+, and the native scanner "
            f"cannot show that the + is idle ({error}); write (?>..) instead"
        )
        raise TokenizerError(message) from error


def _class_text(text: str, word: str) -> str:
    r"""Put another engine's word characters in place of `\w` and `\W`."""
    if text == r"\w":
        return f"[{word}]"
    if text == r"\W":
        return f"[^{word}]"
    if text.startswith("["):
        text = re.sub(r"(?<!\\)((?:\\\\)*)\\w", lambda m: m[1] + f"[{word}]", text)
        text = re.sub(r"(?<!\\)((?:\\\\)*)\\W", lambda m: m[1] + f"[^{word}]", text)
    return text


def from_huggingface_regex(pattern: str) -> str:
    r"""Read a regex of a tokenizer.json (Oniguruma) as one of our patterns.

    Raises:
        TokenizerError: a construct whose meaning for Oniguruma has no counterpart here.
    """
    parts: list[str] = []
    opened: list[int] = []
    operand = 0  # the part at which what a quantifier would repeat begins
    previous = ""
    for token in _tokens(pattern):
        text = token.text
        if text == "+" and previous == "count":
            parts[operand:] = [f"(?:{''.join(parts[operand:])})"]
        elif token.kind == "open":
            if re.match(r"\(\?[a-z-]*[mx]", text):
                raise _refuse(pattern, f"the group {text}")
            opened.append(len(parts))
        elif token.kind == "close" and opened:
            operand = opened.pop()
        elif token.kind not in ("repeat", "count"):
            operand = len(parts)
            text = _from_oniguruma(pattern, token)
        parts.append(text)
        previous = token.kind
    return "".join(parts)


def _from_oniguruma(pattern: str, token: _Token) -> str:
    if token.text == "$":
        return r"(?![^\n])"  # the end of a line or of the text
    if token.text == "^" or token.text in (r"\Z", r"\h", r"\H", r"\b", r"\B", r"\A", r"\G"):
        raise _refuse(pattern, token.text)
    return _class_text(token.text, _ONIGURUMA_WORD)

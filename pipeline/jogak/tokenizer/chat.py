"""Chats: messages through a template to ids, in which content can never become a special token.

Special strings inside the messages are broken up by a character of the private-use area before the
template sees them, and mended when the ids of the plain text around are made. So whatever the
template does to content (trim, split, join), only its own special strings are tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jogak.errors import TokenizerError
from jogak.tokenizer.templates import BUILT_IN, NEEDED, Spans, render
from jogak.vocabulary import AddedToken, TokenizerSpec

Message = Mapping[str, Any]

ROLES = frozenset(
    ("system", "developer", "user", "assistant", "tool", "function", "ipython", "observation")
)
_PRIVATE = range(0xE000, 0xF900)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A rendered chat.

    Attributes:
        text: with `guard` inside every special string that comes from a message.
        guard: a character that is nowhere else in the text.
        assistant: code-point spans in `text` of the assistant's turns, where asked for.
    """

    text: str
    guard: str
    assistant: Spans


def render_chat(
    spec: TokenizerSpec,
    messages: Sequence[Message],
    template: str | None,
    variables: Mapping[str, Any],
    *,
    with_assistant: bool,
) -> Rendered:
    """Render messages.

    Args:
        spec: the tokenizer, for its template and the names of its tokens.
        messages: role and content each.
        template: a name of BUILT_IN, a Jinja source, or None for the tokenizer's own.
        variables: what else the template may read (tools, add_generation_prompt, ..).
        with_assistant: find the assistant's turns.

    Raises:
        TokenizerError: a message without role or content, an unknown role, no template, or one
            that refuses the messages.
    """
    source = _source(spec, template)
    _check(messages)
    names = spec.names
    known = {"bos_token": names.bos, "eos_token": names.eos, "pad_token": names.pad}
    known["unk_token"] = names.unk
    fixed = {name: text for name, text in known.items() if text is not None}
    guard, start, end = _unused([messages, variables, source], 3)
    special = [token.content for token in spec.added if token.special]
    # What the template writes itself is a control token too, whatever its flag says: in
    # DeepSeek-V3's file the tokens that open a turn are not special. The assistant's own content
    # keeps those, since templates look for them in it (Qwen3's for its thoughts).
    control = special + [token.content for token in spec.added if _is_control(token, source)]
    strict, mild = _Guard(control, guard), _Guard(special, guard)
    all_variables = {"tools": None, "documents": None, **fixed, **strict.value(variables)}
    safe = [
        (mild if message["role"] == "assistant" else strict).value(message) for message in messages
    ]
    text, spans = render(source, safe, all_variables)
    if with_assistant and not spans:
        spans = _Turns(source, safe, all_variables, text, (start, end)).find()
        spans = [(first, _with_end_token(text, last, special)) for first, last in spans]
    return Rendered(text, guard, spans)


def _is_control(token: AddedToken, source: str) -> bool:
    """Tell whether a template writes an added token that is no word and no white space."""
    content = token.content
    return content in source and not content.isspace() and not content.isalnum()


def _source(spec: TokenizerSpec, template: str | None) -> str:
    if template is None:
        if spec.chat_template is None:
            message = "chat template: the tokenizer has none; pass template='chatml' or 'llama3'"
            raise TokenizerError(message)
        return spec.chat_template
    if template not in BUILT_IN:
        return template
    contents = {token.content for token in spec.added}
    missing = [text for text in NEEDED[template] if text not in contents]
    if template == "llama3" and spec.names.bos is None:
        missing.append("a bos token")
    if missing:
        message = f"chat template {template!r} needs {', '.join(missing)}, not in the vocabulary"
        raise TokenizerError(message)
    return BUILT_IN[template]


def _check(messages: Sequence[Message]) -> None:
    if isinstance(messages, str | bytes | Mapping) or not messages:
        problem = "messages: expected a list of {'role': .., 'content': ..}, at least one"
        raise TokenizerError(problem)
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if not isinstance(message, Mapping):
            problem = f"{where}: expected role and content (found {message!r:.40})"
            raise TokenizerError(problem)
        role = message.get("role")
        if role not in ROLES:
            known = ", ".join(sorted(ROLES))
            problem = f"{where}: unknown role {role!r} (known: {known})"
            raise TokenizerError(problem)
        if message.get("content") is None and not message.get("tool_calls"):
            found = ", ".join(map(str, message))
            problem = f"{where}: no 'content' (found: {found})"
            raise TokenizerError(problem)


class _Guard:
    """Breaks special strings up in everything that is not the template."""

    def __init__(self, special: Iterable[str], guard: str) -> None:
        longest_first = sorted(special, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        self._guard = guard

    def value(self, value: Any) -> Any:  # noqa: ANN401  # whatever a message may hold
        """Return a copy of a value, its strings guarded (the keys of mappings are not)."""
        if isinstance(value, str):
            return self._pattern.sub(lambda found: self._break_up(found[0]), value)
        if isinstance(value, Mapping):
            return {key: self.value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in value]
        return value

    def _break_up(self, text: str) -> str:
        # In front too: what stands before could form a longer special string with its first part.
        return self._guard + text[:1] + self._guard + text[1:]


def _unused(values: list[Any], count: int) -> list[str]:
    """Return characters of the private-use area that are in none of the values' strings."""
    used = set(repr(values)) | set("".join(_strings(values)))
    free = [chr(code) for code in _PRIVATE if chr(code) not in used]
    if len(free) < count:
        message = "messages: no private-use character is free to guard them with"
        raise TokenizerError(message)
    return free[:count]


def _strings(value: Any) -> Iterable[str]:  # noqa: ANN401  # whatever a message may hold
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


@dataclass(frozen=True, slots=True)
class _Turns:
    """Finds the assistant's turns in the output of a template that does not mark them."""

    source: str
    messages: Sequence[Message]
    variables: Mapping[str, Any]
    text: str
    marks: tuple[str, str]

    def find(self) -> Spans:
        """Return the span of each turn.

        By marks around its content, if they change nothing else. A template that takes the content
        apart (as Qwen3's does with thoughts) loses the first mark: then as what the chat up to the
        turn has more than the chat before it, or by marks around the end of the content.
        """
        spans: Spans = []
        for index, message in enumerate(self.messages):
            if message["role"] != "assistant":
                continue
            span = self._by_marks(index, 0) or self._by_prefix(index) or self._by_end(index)
            if span is None:
                problem = (
                    f"messages[{index}]: the assistant's turn cannot be found in what the chat "
                    "template makes of it; use a template with {% generation %}"
                )
                raise TokenizerError(problem)
            spans.append(span)
        return spans

    def _by_marks(self, index: int, skipped: int) -> tuple[int, int] | None:
        """Mark the content but for its first characters."""
        content = self.messages[index].get("content")
        if not isinstance(content, str) or not content[skipped:].strip():
            return None
        start, end = self.marks
        core = content[skipped:].strip()
        first = content.index(core, skipped)
        last = first + len(core)
        marked = list(self.messages)
        text = content[:first] + start + core + end + content[last:]
        marked[index] = {**self.messages[index], "content": text}
        found, _ = render(self.source, marked, self.variables)
        if found.count(start) != 1 or found.count(end) != 1:
            return None
        if found.replace(start, "").replace(end, "") != self.text:
            return None
        return found.index(start), found.index(end) - 1

    def _by_prefix(self, index: int) -> tuple[int, int] | None:
        opened = {**self.variables, "add_generation_prompt": True}
        closed = {**self.variables, "add_generation_prompt": False}
        before, _ = render(self.source, self.messages[:index], opened)
        whole, _ = render(self.source, self.messages[: index + 1], closed)
        if not (self.text.startswith(whole) and whole.startswith(before)):
            return None
        return len(before), len(whole.rstrip())

    def _by_end(self, index: int) -> tuple[int, int] | None:
        content = self.messages[index].get("content")
        lines = re.finditer(r"\n(?=\S)", content) if isinstance(content, str) else ()
        found = (self._by_marks(index, line.end()) for line in lines)
        return next((span for span in found if span is not None), None)


def _with_end_token(text: str, end: int, special: Iterable[str]) -> int:
    """Take the special token that closes a turn into it."""
    sizes = [len(token) for token in special if text.startswith(token, end)]
    return end + max(sizes, default=0)

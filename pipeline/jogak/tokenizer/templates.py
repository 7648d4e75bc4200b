"""Chat templates: Jinja in a sandbox, as `transformers` runs them, and two that are built in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import lru_cache
from typing import Any

import jinja2
import jinja2.ext

from jogak.errors import TokenizerError
from jogak.formats.strangers import MALFORMED
from jogak.tokenizer.template_limits import BoundedEnvironment, budget, limited

BUILT_IN: Mapping[str, str] = {
    "llama3": """{{- bos_token }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' }}
    {%- if message['role'] == 'assistant' %}
        {%- generation %}{{- message['content'] | trim + '<|eot_id|>' }}{%- endgeneration %}
    {%- else %}
        {{- message['content'] | trim + '<|eot_id|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}""",
    "chatml": """{%- for message in messages %}
    {{- '<|im_start|>' + message['role'] + '\\n' }}
    {%- if message['role'] == 'assistant' %}
        {%- generation %}{{- message['content'] + '<|im_end|>' }}{%- endgeneration %}
    {%- else %}
        {{- message['content'] + '<|im_end|>' }}
    {%- endif %}
    {{- '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}""",
}
"""Llama 3's and ChatML's; both mark the assistant's turns with `generation`."""

NEEDED: Mapping[str, tuple[str, ...]] = {
    "llama3": ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
    "chatml": ("<|im_start|>", "<|im_end|>"),
}
"""The special tokens that a built-in template writes."""

Spans = list[tuple[int, int]]
_tracked: ContextVar[tuple[list[str], Spans] | None] = ContextVar("tracked", default=None)


class _Generation(jinja2.ext.Extension):
    """`{% generation %}`: what the assistant says. Source: transformers, AssistantTracker."""

    tags = {"generation"}  # noqa: RUF012  # as the base class has it

    def parse(self, parser: Any) -> jinja2.nodes.Node:  # noqa: ANN401  # jinja2.parser.Parser
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        call = self.call_method("_support")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _support(self, caller: Any) -> str:  # noqa: ANN401  # jinja2.runtime.Macro
        text = str(caller())
        tracked = _tracked.get()
        if tracked is not None:
            blocks, spans = tracked
            start = sum(map(len, blocks))
            spans.append((start, start + len(text)))
        return text


@contextmanager
def _tracking(blocks: list[str], spans: Spans) -> Iterator[None]:
    token = _tracked.set((blocks, spans))
    try:
        yield
    finally:
        _tracked.reset(token)


def _to_json(value: object, ensure_ascii: bool = False, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)


def _raise_exception(message: str) -> None:
    raise jinja2.exceptions.TemplateError(message)


def _strftime_now(form: str) -> str:
    return datetime.now().astimezone().strftime(form)


@lru_cache(maxsize=32)
def _compile(source: str) -> jinja2.Template:
    environment = BoundedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = limited("tojson", _to_json)
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    return environment.from_string(source)


def render(
    source: str, messages: Sequence[Mapping[str, Any]], variables: Mapping[str, Any]
) -> tuple[str, Spans]:
    """Render a template.

    Returns:
        The text, and the spans that the template marked as generated.

    Raises:
        TokenizerError: the template is wrong, or refuses the messages.
    """
    blocks: list[str] = []
    spans: Spans = []
    try:
        template = _compile(source)
        with budget(), _tracking(blocks, spans):
            for block in template.generate(messages=list(messages), **variables):
                blocks.append(block)  # noqa: PERF402  # `_support` reads what is there so far
        text = "".join(blocks)
        text.encode()
    except (jinja2.exceptions.TemplateError, *MALFORMED) as error:
        said = str(error) or type(error).__name__
        message = f"chat template: {said[:500]}; correct the messages or the template"
        raise TokenizerError(message) from error
    return text, spans

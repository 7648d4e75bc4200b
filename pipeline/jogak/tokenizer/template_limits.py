"""Bounds for chat templates of strangers: what one rendering may work through, and how large.

Jinja's sandbox keeps a template from Python's objects, but not from looping for ever or making
strings of any length. Here every loop step, call, filter and output is charged to a budget.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

BUDGET = 2**27
"""What a rendering may cost: a character each, and more for a turn of a loop or a call."""
STEP = 64
LARGEST_NUMBER = 2**20
"""Most that a template may ask a string to be repeated or filled up to."""
FILLED = re.compile(r"\d{6,}|\*")

_left: ContextVar[list[int] | None] = ContextVar("left", default=None)


@contextmanager
def budget() -> Iterator[None]:
    """Give what is rendered within a budget of its own."""
    token = _left.set([BUDGET])
    try:
        yield
    finally:
        _left.reset(token)


def charge(cost: int) -> None:
    """Take from the budget of the rendering.

    Raises:
        SecurityError: it is used up.
    """
    if cost > BUDGET:
        _refuse("makes a text of more than 128 million characters")
    left = _left.get()
    if left is not None:
        left[0] -= cost
        if left[0] < 0:
            _refuse("goes on without end")


def _refuse(what: str) -> None:
    message = f"the template {what}"
    raise jinja2.exceptions.SecurityError(message)


def _size(value: object) -> int:
    return len(value) if isinstance(value, str | list | tuple | dict) else 1


def _check_arguments(name: str, values: tuple[Any, ...], named: MutableMapping[str, Any]) -> None:
    for value in (*values, *named.values()):
        if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
            _refuse(f"asks {name} for {value:.3g}")
    text = values[0] if values and isinstance(values[0], str) else ""
    if name in ("format", "format_map") and FILLED.search(text):
        _refuse("fills up a string without end")
    if name == "replace" and len(values) > 2 and text:
        charge(text.count(str(values[1])) * len(str(values[2])))
    if name == "join" and len(values) > 1 and isinstance(values[0], str):
        charge(len(values[0]) * _size(values[1]) + _total(values[1]))


def _total(value: object) -> int:
    if isinstance(value, list | tuple):
        return sum(_size(each) for each in value)
    return _size(value)


def limited(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a filter: its numbers are bounded, and what it returns is charged."""

    @functools.wraps(function)
    def wrapper(*values: Any, **named: Any) -> Any:  # noqa: ANN401 - a filter's
        plain = [each for each in values if not _is_jinja(each)]
        if name == "join" and plain:
            glue = plain[1] if len(plain) > 1 else named.get("d", "")
            charge(_total(plain[0]) + len(str(glue)) * _size(plain[0]))
        else:
            _check_arguments(name, tuple(plain), named)
        result = function(*values, **named)
        charge(STEP + _size(result))
        return result

    return wrapper


def _is_jinja(value: object) -> bool:
    return isinstance(value, jinja2.Environment | jinja2.nodes.EvalContext | jinja2.runtime.Context)


def _counted(values: Iterable[Any], cost: int) -> Iterator[Any]:
    for value in values:
        charge(cost)
        yield value


def _concatenated(values: list[Any]) -> str:
    texts = [str(value) for value in values]
    charge(sum(map(len, texts)))
    return "".join(texts)


class _Charged(NodeTransformer):
    """Puts the turns of loops, and concatenations, through filters that charge for them."""

    def __init__(self, source: str) -> None:
        self._cost = nodes.Const(STEP + len(source) // 16)

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        node.iter = nodes.Filter(node.iter, "_counted", [self._cost], [], None, None)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return nodes.Filter(nodes.List(node.nodes), "_concatenated", [], [], None, None)


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's immutable sandbox, with a budget."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - Jinja's
        """Make an environment as Jinja does."""
        super().__init__(**options, finalize=_output)
        self.filters = {name: limited(name, each) for name, each in self.filters.items()}
        self.filters.update(_counted=_counted, _concatenated=_concatenated)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        template: nodes.Template = _Charged(source).visit(super()._parse(source, name, filename))
        return template.set_environment(self)  # type: ignore[return-value]  # it returns itself

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401
        """Compute `*`, `**`, `%` and `+` within the budget."""
        if operator in ("*", "**"):
            _check_arguments(operator, (left, right), {})
            sizes = [each for each in (left, right) if not isinstance(each, int | float)]
            if operator == "**" and isinstance(right, int) and abs(right) > STEP:
                _refuse(f"raises a number to the power of {right}")
            for each in sizes:
                other = right if each is left else left
                charge(_size(each) * max(other, 0) if isinstance(other, int) else 0)
        elif operator == "%" and isinstance(left, str) and FILLED.search(left):
            _refuse("fills up a string without end")
        elif operator == "+":
            charge(_size(left) + _size(right))
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Any, __obj: Any, *values: Any, **named: Any) -> Any:  # noqa: ANN401 - Jinja's names
        """Call what a template calls, within the budget."""
        charge(8 * STEP)
        name = getattr(__obj, "__name__", "")
        # Jinja wraps the method `format`.
        owner = getattr(getattr(__obj, "__wrapped__", __obj), "__self__", None)
        if isinstance(owner, str):
            _check_arguments(name, (owner, *values), named)
        elif name in ("generate_lorem_ipsum", "range"):
            _check_arguments(name, values, named)
        result = super().call(__context, __obj, *values, **named)
        charge(_size(result))
        return result


def _output(value: Any) -> Any:  # noqa: ANN401 - any value of a template
    charge(len(value) if isinstance(value, str) else STEP)
    return value

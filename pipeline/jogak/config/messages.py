"""How errors of a job are worded: *what is wrong (what was found); what to do*."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic.fields import FieldInfo

WHOLE_NUMBER = "a whole number"

EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "keys with values",
    "float_type": "a number",
    "int_from_float": WHOLE_NUMBER,
    "int_parsing_size": WHOLE_NUMBER,
    "int_type": WHOLE_NUMBER,
    "model_attributes_type": "keys with values",
    "model_type": "keys with values",
    "string_type": "text",
    "tuple_type": "a list",
}
"""Pydantic's names of errors, and what such a value should have been."""

EMPTY = {"string_too_short": "give a text, or leave the key out", "too_short": "give an entry"}
OUT_OF_RANGE = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")


def field_name(location: Iterable[str | int]) -> str:
    """Write a location as people do.

    >>> field_name(("read", "sources", 0, "text"))
    'read.sources[0].text'
    """
    name = ""
    for part in location:
        name += f"[{part}]" if isinstance(part, int) else f".{part}"
    return name.removeprefix(".")


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that resembles this one, if any does."""
    close = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)
    return close[0] if close else None


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean ...?` when something known resembles the word, else nothing."""
    close = closest(word, known)
    return f"; did you mean '{close}'?" if close is not None else ""


def describe(value: object) -> str:
    """Say what was found, shortly."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:57] + "...")
    if isinstance(value, Mapping):
        return f"the keys {', '.join(map(str, value))}" if value else "no keys"
    if isinstance(value, Sequence):
        return f"a list of {len(value)}" if value else "an empty list"
    return str(value)


def reword(errors: Sequence[Mapping[str, Any]], field: FieldInfo | None = None) -> str:
    """Say in our words what pydantic found wrong with one value.

    Args:
        errors: pydantic's errors for one location; several when each of several kinds of value
            was allowed there (`auto` or a number).
        field: the definition of the field, for the whole range where one end was passed.
    """
    kind, found = errors[0]["type"], errors[0]["input"]
    if kind == "missing":
        return "missing; it has no default"
    if kind in EMPTY:
        return f"empty (found {describe(found)}); {EMPTY[kind]}"
    if kind == "value_error":
        return f"{errors[0]['ctx']['error']}, found {describe(found)}"
    wanted = " or ".join(_wanted(error, field) for error in errors)
    return f"expected {wanted}, found {describe(found)}{_hint(errors, found)}"


def _wanted(error: Mapping[str, Any], field: FieldInfo | None) -> str:
    kind = error["type"]
    if kind == "literal_error":
        choices = _choices(error)
        return f"one of {', '.join(choices)}" if len(choices) > 1 else choices[0]
    if kind in OUT_OF_RANGE:
        return WHOLE_NUMBER + _range(error["ctx"], field)
    return EXPECTED.get(kind, str(error["msg"]))


def _choices(error: Mapping[str, Any]) -> list[str]:
    return re.findall(r"'([^']*)'", error["ctx"]["expected"])


def _range(passed: Mapping[str, int], field: FieldInfo | None) -> str:
    """Write the range of whole numbers, from the end that was passed and the field's own ends."""
    ends = dict(passed)
    for bound in field.metadata if field is not None else ():
        for name in ("gt", "ge", "le", "lt"):
            if hasattr(bound, name):
                ends[name] = getattr(bound, name)
    low = ends.get("ge", ends["gt"] + 1 if "gt" in ends else None)
    high = ends.get("le", ends["lt"] - 1 if "lt" in ends else None)
    if low is None:
        return f" up to {high}"
    return f" of {low} or more" if high is None else f" from {low} to {high}"


def _hint(errors: Sequence[Mapping[str, Any]], found: object) -> str:
    """Return what to do, where that is plain from what was found."""
    for error in errors:
        kind = error["type"]
        if kind == "literal_error" and isinstance(found, str):
            return suggestion(found, _choices(error))
        if kind == "string_type" and isinstance(found, int | float):
            return "; put it in quotes"
        if kind == "model_type" and found is None:
            return "; leave the key out to have its defaults"
    return ""

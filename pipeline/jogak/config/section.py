"""What the sections of a job are made of: sizes in bytes, rules between fields, strictness."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NamedTuple, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from jogak.config.messages import field_name

SIZE_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def parse_size(value: object) -> object:
    """Turn `"512 MiB"` into bytes; anything else is left for the validator to judge."""
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"(\d+) ?([KMGT]iB|B)", value, re.ASCII)
    if match is None:
        message = "expected bytes as a whole number or with a unit, such as '512 MiB'"
        raise ValueError(message)
    return int(match[1]) * SIZE_UNITS[match[2]]


def format_size(size: int) -> str:
    """Write bytes with the largest unit that divides them: 67108864 is `64 MiB`."""
    unit = next(name for name in reversed(SIZE_UNITS) if size % SIZE_UNITS[name] == 0)
    return f"{size // SIZE_UNITS[unit]} {unit}"


Size = Annotated[
    int,
    BeforeValidator(parse_size),
    Field(gt=0),
    PlainSerializer(format_size, when_used="json"),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "exclusiveMinimum": 0},
                {"type": "string", "pattern": "^[0-9]+ ?([KMGT]iB|B)$"},
            ]
        }
    ),
]
"""Bytes: a whole number, or a number and a binary unit (`B KiB MiB GiB TiB`)."""


class Problem(NamedTuple):
    """Something wrong between fields: where, below the section that says so, and what."""

    location: tuple[str | int, ...]
    message: str


class Section(BaseModel):
    """What every section of a job is: strict, frozen, and closed to unknown keys."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    @classmethod
    def problems(cls, valid: Mapping[str, Any]) -> Iterator[Problem]:  # noqa: ARG003 - the rule of a section without rules
        """Yield what is wrong between fields.

        Args:
            valid: the values of the fields, sections as mappings; a field that is wrong by itself
                is absent, so that its error does not hide the others.
        """
        return iter(())

    @model_validator(mode="after")
    def _obey_rules(self) -> Self:
        found = [f"{field_name(at)}: {text}" for at, text in self.problems(self.model_dump())]
        if found:
            kind, template = "rule", "{problems}"
            raise PydanticCustomError(kind, template, {"problems": "; ".join(found)})
        return self

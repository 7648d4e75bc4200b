"""YAML text to a tree that knows where each key and value stands.

Differences from PyYAML's own loading, all on purpose: a duplicate key is an error; only `true` and
`false` are booleans, so that `language: no` is Norwegian; dates and `12:30` stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel

from jogak.config.messages import field_name

Location = tuple[str | int, ...]
Scalar = str | int | float | bool | None


class Place(NamedTuple):
    """Where something stands, as messages name it; `order` sorts messages as one reads."""

    order: tuple[int, int, int]
    label: str


class Complaint(NamedTuple):
    """One error of a job file."""

    place: Place
    text: str


@dataclass(slots=True)
class Tree:
    """A value of the file: keys with subtrees, a list of them, or a scalar."""

    value: dict[str, Tree] | list[Tree] | Scalar
    place: Place
    key: Place

    @classmethod
    def of(cls, value: object, place: Place) -> Tree:
        """Return the tree of a Python value, all of it at one place."""
        if isinstance(value, BaseModel):
            value = value.model_dump()
        if isinstance(value, Mapping):
            return cls({key: cls.of(child, place) for key, child in value.items()}, place, place)
        if isinstance(value, list | tuple):
            return cls([cls.of(child, place) for child in value], place, place)
        scalar: Any = value  # or anything else, which is for the validator to judge
        return cls(scalar, place, place)

    def plain(self) -> object:
        """Return the value without places."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value

    def deepest(self, location: Location) -> tuple[Tree, Location]:
        """Follow a location as far as it exists; return what is there and the way to it."""
        tree: Tree = self
        for depth, part in enumerate(location):
            children = tree.value
            if isinstance(part, int):
                child = children[part] if isinstance(children, list) else None
            else:
                child = children.get(part) if isinstance(children, dict) else None
            if child is None:
                return tree, location[:depth]
            tree = child
        return tree, location


class _Loader(yaml.SafeLoader):
    """YAML 1.2's scalars; numbers only where PyYAML sees them too, so that its dumps read back."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's hook


for _tag, _regex, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9_]{0,99})", list("-+0123456789")),
    ("float", r"[-+]?[0-9][0-9_]*\.[0-9]*(?:[eE][-+][0-9]+)?", list("-+0123456789")),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_regex})$"), _first)


class Reader:
    """Reads one YAML text, collecting complaints instead of stopping at the first."""

    def __init__(self, label: str, order: int = 0, *, exact: bool = True) -> None:
        """Name the text in messages; `exact` adds line and column."""
        self.complaints: list[Complaint] = []
        self._label = label
        self._order = order
        self._exact = exact
        self._open: set[int] = set()

    def place(self, line: int = 0, column: int = 0) -> Place:
        """Return a place in the text, from line and column counted from 0."""
        label = f"{self._label}:{line + 1}:{column + 1}" if self._exact else self._label
        return Place((self._order, line, column), label)

    def complain(self, place: Place, location: Location, text: str) -> None:
        """Record an error of the value at a location."""
        name = field_name(location)
        self.complaints.append(Complaint(place, f"{name}: {text}" if name else text))

    def read(self, text: str, location: Location = ()) -> Tree | None:
        """Return the tree of a text; None when it is empty or not YAML (then with a complaint)."""
        try:
            node = yaml.compose(text, _Loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = self.place(mark.line, mark.column) if mark else self.place()
            self.complain(place, (), f"not YAML: {_syntax_problem(error)}")
            return None
        except yaml.reader.ReaderError as error:
            before = text[: error.position]
            place = self.place(before.count("\n"), len(before) - before.rfind("\n") - 1)
            self.complain(place, (), f"not YAML: character U+{error.character:04X} is not allowed")
            return None
        except RecursionError:
            self.complain(self.place(), location, "nested too deeply to be a job")
            return None
        return None if node is None else self._tree(node, location)

    def _tree(self, node: yaml.Node, location: Location, key: Place | None = None) -> Tree:
        place = self.place(node.start_mark.line, node.start_mark.column)
        tree = Tree(None, place, key or place)
        if id(node) in self._open:
            self.complain(place, location, "an alias stands inside what it names")
            return tree
        self._open.add(id(node))
        if isinstance(node, yaml.MappingNode):
            tree.value = self._mapping(node, location)
        elif isinstance(node, yaml.SequenceNode):
            children = enumerate(node.value)
            tree.value = [self._tree(child, (*location, index)) for index, child in children]
        else:
            tree.value = self._scalar(node, location, place)
        self._open.discard(id(node))
        return tree

    def _mapping(self, node: yaml.MappingNode, location: Location) -> dict[str, Tree]:
        own: dict[str, Tree] = {}
        merged: dict[str, Tree] = {}
        for key_node, value_node in node.value:
            place = self.place(key_node.start_mark.line, key_node.start_mark.column)
            if not isinstance(key_node, yaml.ScalarNode):
                self.complain(place, location, "a key must be a single word")
                continue
            name = key_node.value
            if key_node.tag.endswith(":merge"):
                for source in self._merged(value_node, location, place):
                    merged = {**source, **merged}
            elif name in own:
                line = own[name].key.order[1] + 1
                self.complain(place, (*location, name), f"given twice (first on line {line})")
            else:
                own[name] = self._tree(value_node, (*location, name), place)
        return {**merged, **own}

    def _merged(
        self, node: yaml.Node, location: Location, place: Place
    ) -> Iterator[dict[str, Tree]]:
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for each in nodes:
            tree = self._tree(each, location)
            if isinstance(tree.value, dict):
                yield tree.value
            else:
                self.complain(place, location, "'<<' must name keys with values")

    def _scalar(self, node: yaml.Node, location: Location, place: Place) -> Scalar:
        text: str = node.value
        match node.tag.rpartition(":")[2]:
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int":
                return int(text.replace("_", ""))
            case "float":
                return float(text.replace("_", ""))
            case "str":
                return text
        self.complain(place, location, f"the tag '{node.tag}' has no meaning in a job")
        return None


def _syntax_problem(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or error.context or "cannot be read"
    if "'\\t'" in problem:
        return "a tab where only spaces may stand; indent with spaces"
    if problem == "mapping values are not allowed here":
        return "a second ': ' in one line, or a wrong indent; quote the value or align the key"
    return problem

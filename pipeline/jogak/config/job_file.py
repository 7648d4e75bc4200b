"""A job file in, one frozen Job out, or every error at once with file:line:column.

The file is read as a tree with places. Unknown keys are reported and, where it is plain what was
meant, judged under the right name; pydantic judges each value; the sections' own rules judge what
is valid so far. So no error hides another.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from jogak.config.job import Job
from jogak.config.messages import closest, describe, field_name, reword, suggestion
from jogak.config.options import TRIVIAL_TOKENIZERS
from jogak.config.resolved import with_folders
from jogak.config.section import Problem, Section
from jogak.config.yaml_tree import Complaint, Location, Place, Reader, Tree
from jogak.errors import ConfigError

AnySection = TypeVar("AnySection", bound=Section)

NEEDED = "a job needs 'read', 'output', and 'train' or 'tokenizer'"


def load_job(path: Path | str, overrides: Sequence[str] = ()) -> Job:
    """Read a job file; paths in it are relative to the file itself.

    Args:
        path: the YAML file.
        overrides: values that replace the file's, each as `section.key=value` with a YAML value;
            `read.sources[0].text=body` reaches into lists.

    Raises:
        ConfigError: with every error of the file and the overrides, one a line.
    """
    reader = Reader(os.fspath(path))
    tree = reader.read(_read_text(Path(path)))
    complaints = reader.complaints
    if tree is None and not complaints:
        complaints.append(Complaint(reader.place(), f"empty; {NEEDED}"))
    elif tree is not None and not isinstance(tree.value, dict):
        text = f"expected keys with values, found {describe(tree.plain())}; {NEEDED}"
        complaints.append(Complaint(tree.place, text))
    elif tree is not None:
        _settle_keys(Job, tree, (), complaints)
        for order, override in enumerate(overrides, start=1):
            complaints += _override(tree, override, order)
        _settle_keys(Job, tree, (), complaints)
        raw: Any = tree.plain()
        _resolve_paths(raw, Path(path).absolute().parent)
        job = _judge(Job, tree, raw, complaints)
        if job is not None:
            return with_folders(job)
    raise _error(complaints)


def options_from(section: type[AnySection], values: Mapping[str, Any], where: str) -> AnySection:
    """Return the options that Python code states, judged as a job file is.

    Args:
        section: a section, or `Job`.
        values: its keys and values.
        where: what messages call the place.

    Raises:
        ConfigError: with every error, one a line.
    """
    tree = Tree.of(values, Place((0, 0, 0), where))
    complaints: list[Complaint] = []
    _settle_keys(section, tree, (), complaints)
    raw: Any = tree.plain()
    options = _judge(section, tree, raw, complaints)
    if options is None:
        raise _error(complaints)
    return options


def _error(complaints: Sequence[Complaint]) -> ConfigError:
    ordered = sorted(complaints, key=lambda complaint: complaint.place.order)
    return ConfigError("\n".join(f"{place.label}: {text}" for place, text in ordered))


def _read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        siblings = [file.name for file in path.parent.glob("*.y*ml")]
        message = f"{path}: no such file{suggestion(path.name, siblings)}"
        raise ConfigError(message) from error
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        found = f"0x{error.object[error.start]:02x}"
        message = f"{path}:{line}:{column}: not UTF-8 (found byte {found}); save it as UTF-8"
        raise ConfigError(message) from error
    except OSError as error:
        message = f"{path}: cannot be read ({error.strerror})"
        raise ConfigError(message) from error


def _override(tree: Tree, override: str, order: int) -> list[Complaint]:
    """Put the value of `section.key=value` into the tree; return what is wrong with it."""
    reader = Reader(f"--set {override}", order, exact=False)
    place = reader.place()
    name, equals, text = override.partition("=")
    if not equals or not re.fullmatch(r"\w+(\.\w+|\[\d+\])*", name, re.ASCII):
        reader.complain(place, (), "expected section.key=value, such as train.vocab_size=64000")
        return reader.complaints
    parts = re.findall(r"\w+", name)
    location: Location = tuple(int(part) if part.isdigit() else part for part in parts)
    value = reader.read(text, location) or Tree(None, place, place)
    if reader.complaints:
        return reader.complaints
    for depth, part in enumerate(location):
        last = depth == len(location) - 1
        if isinstance(part, str) and (isinstance(tree.value, dict) or tree.value is None):
            children = tree.value = tree.value or {}
            children[part] = value if last else children.get(part, Tree(None, place, place))
            tree = children[part]
        elif isinstance(part, int) and isinstance(tree.value, list) and part < len(tree.value):
            tree.value[part] = value if last else tree.value[part]
            tree = tree.value[part]
        else:
            what = f"key '{part}'" if isinstance(part, str) else f"entry {part}"
            text = f"no {what} in it (found {describe(tree.plain())})"
            reader.complain(place, location[:depth], text)
            break
    return reader.complaints


def _judge(
    section: type[AnySection], tree: Tree, raw: dict[str, Any], complaints: list[Complaint]
) -> AnySection | None:
    """Return the options, or None when there is any complaint; adds to the complaints."""
    try:
        options = section.model_validate(raw)
    except ValidationError as error:
        wrong = _judge_values(section, error, tree, complaints)
        for location, text in _broken_rules(section, raw, wrong, ())[1]:
            place = _place(tree, location)
            complaints.append(Complaint(place, f"{field_name(location)}: {text}".lstrip(": ")))
        return None
    return None if complaints else options


def _section_of(field: FieldInfo) -> type[Section] | None:
    """Return the section that a field holds, alone or in a list."""
    for kind in (field.annotation, *get_args(field.annotation)):
        if isinstance(kind, type) and issubclass(kind, Section):
            return kind
    return None


def _settle_keys(
    section: type[Section], tree: Tree, location: Location, complaints: list[Complaint]
) -> None:
    """Complain of unknown keys; rename them to what was meant, or take them out."""
    if isinstance(tree.value, list):
        for index, child in enumerate(tree.value):
            _settle_keys(section, child, (*location, index), complaints)
    if not isinstance(tree.value, dict):
        return
    for key in [key for key in tree.value if key not in section.model_fields]:
        child = tree.value.pop(key)
        meant = closest(key, section.model_fields)
        text = f"{field_name((*location, key))}: unknown key{_advice(section, key, meant)}"
        complaints.append(Complaint(child.key, text))
        if meant is not None and meant not in tree.value:
            tree.value[meant] = child
    for key, child in tree.value.items():
        inner = _section_of(section.model_fields[key])
        if inner is not None:
            _settle_keys(inner, child, (*location, key), complaints)


def _advice(section: type[Section], key: str, meant: str | None) -> str:
    if meant is not None:
        return f"; did you mean '{meant}'?"
    for name, field in Job.model_fields.items():
        home = _section_of(field)
        if home is not None and key in home.model_fields:
            return f"; did you mean '{name}.{key}'?"
    return f"; known here: {', '.join(section.model_fields)}"


def _resolve_paths(raw: dict[str, Any], folder: Path) -> None:
    """Make the paths of a job absolute, taking them as relative to the folder of its file."""

    def resolve(holder: object, key: str, *, only_folder: bool = False) -> None:
        value = holder.get(key) if isinstance(holder, dict) else None
        if not isinstance(value, str) or not value or "://" in value:
            return
        # A file name may hold glob characters; those of the folder are never meant as such.
        base = glob.escape(str(folder)) if key == "path" and glob.has_magic(value) else str(folder)
        path = os.path.normpath(Path(base) / Path(value).expanduser())
        if isinstance(holder, dict) and (not only_folder or Path(path).is_dir()):
            holder[key] = path

    resolve(raw, "output")
    resolve(raw, "work")
    resolve(raw.get("read"), "spool")
    resolve(raw.get("tokenizer"), "load")
    report = raw.get("report")
    compared = report.get("compare") if isinstance(report, dict) else None
    if isinstance(report, dict) and isinstance(compared, list):
        named = [{"load": path} for path in compared]
        for each in named:
            if each["load"] not in TRIVIAL_TOKENIZERS:
                resolve(each, "load")
        report["compare"] = [each["load"] for each in named]
    resolve(raw.get("train"), "continue_from")
    sources = raw["read"].get("sources") if isinstance(raw.get("read"), dict) else None
    for source in sources if isinstance(sources, list) else ():
        resolve(source, "path")
        resolve(source, "hf", only_folder=True)


def _judge_values(
    section: type[Section], error: ValidationError, tree: Tree, complaints: list[Complaint]
) -> set[Location]:
    """Complain of each value that is wrong by itself; return where those are."""

    def location(detail: Mapping[str, Any]) -> Location:
        # Below a value that may be of several kinds, pydantic adds the kind to the location.
        missing = detail["type"] == "missing"
        return tuple(detail["loc"]) if missing else tree.deepest(tuple(detail["loc"]))[1]

    wrong: set[Location] = set()
    details = [detail for detail in error.errors() if not _follows_from_others(detail)]
    for where, group in groupby(details, key=location):
        text = reword(list(group), _field(section, where))
        complaints.append(Complaint(_place(tree, where), f"{field_name(where)}: {text}"))
        wrong.add(where)
    return wrong


def _follows_from_others(detail: Mapping[str, Any]) -> bool:
    """Tell errors that only say that there were errors, and rules, which are judged later."""
    short = detail["type"] == "too_short"
    return detail["type"] == "rule" or (short and len(detail["input"]) > 0)


def _field(section: type[Section], location: Location) -> FieldInfo | None:
    """Return the definition of the field at a location."""
    inner: type[Section] | None = section
    field: FieldInfo | None = None
    for part in location:
        if isinstance(part, str) and inner is not None:
            field = inner.model_fields.get(part)
            inner = _section_of(field) if field is not None else None
    return field


def _place(tree: Tree, location: Location) -> Place:
    """Return where to point: at a plain value itself, else at the key of its section."""
    found, way = tree.deepest(location)
    plain = way == location and not isinstance(found.value, dict | list)
    return found.place if plain else found.key


def _broken_rules(
    section: type[Section], raw: Mapping[str, Any], wrong: set[Location], location: Location
) -> tuple[dict[str, Any], list[Problem]]:
    """Judge the rules between fields; return the section's valid values and the problems."""
    valid: dict[str, Any] = {}
    found: list[Problem] = []
    for name, field in section.model_fields.items():
        here = (*location, name)
        inner = _section_of(field)
        value = raw.get(name, field.get_default())
        if here in wrong or (name not in raw and field.is_required()):
            continue
        if isinstance(value, BaseModel):
            valid[name] = value.model_dump()
        elif inner is not None and isinstance(value, dict):
            valid[name], problems = _broken_rules(inner, value, wrong, here)
            found += problems
        elif inner is not None and isinstance(value, list):
            valid[name] = [{}] * len(value)
            for index, each in enumerate(value):
                if (*here, index) not in wrong:
                    each_at = (*here, index)
                    valid[name][index], problems = _broken_rules(inner, each, wrong, each_at)
                    found += problems
        elif not any(place[: len(here)] == here for place in wrong):
            valid[name] = value
    found += [Problem((*location, *at), text) for at, text in section.problems(valid)]
    return valid, found

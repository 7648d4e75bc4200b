"""Settings of one section, given on the command line as `key=value`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jogak.config.yaml_tree import Reader
from jogak.errors import ConfigError


def read_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Return the keys and YAML values of `key=value` strings; a section in front is left out.

    Raises:
        ConfigError: one of them is not of this form, or its value is not YAML.
    """
    values: dict[str, Any] = {}
    for order, setting in enumerate(settings, start=1):
        name, equals, text = setting.partition("=")
        key = name.removeprefix("train.")
        if not equals or not key.isidentifier():
            message = f"--set {setting}: expected key=value, such as ties=first_seen"
            raise ConfigError(message)
        reader = Reader(f"--set {setting}", order, exact=False)
        value = reader.read(text)
        if reader.complaints:
            lines = (f"{place.label}: {text}" for place, text in reader.complaints)
            raise ConfigError("\n".join(lines))
        values[key] = None if value is None else value.plain()
    return values

"""Jogak: the tokenization stage of a pretraining data pipeline, Korean first."""

from __future__ import annotations

from importlib import metadata


def _installed_version() -> str:
    """Return the version of the installed package; a source tree alone does not state one."""
    try:
        return metadata.version("jogak")
    except metadata.PackageNotFoundError:
        return "0+source"


__version__ = _installed_version()

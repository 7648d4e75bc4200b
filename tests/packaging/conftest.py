"""Fixtures about the repository itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return Path(__file__).parents[2]


@pytest.fixture(scope="module")
def project(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what jobs need, so that they write nothing into the repository."""
    copy = tmp_path_factory.mktemp("project")
    for folder in ("configs", "data"):
        shutil.copytree(root / folder, copy / folder)
    return copy

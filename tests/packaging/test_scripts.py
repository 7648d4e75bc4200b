"""Scripts can be run, and say how."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = [*sorted((ROOT / "scripts").iterdir()), ROOT / ".ci" / "run"]
SCRIPTS = [path for path in SCRIPTS if path.is_file()]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_executable_and_has_a_usage_line(path: Path) -> None:
    start = path.read_text(encoding="utf-8").splitlines()[:12]
    name = path.relative_to(ROOT)
    assert any("Usage: " in line and str(name) in line for line in start)
    if path.suffix != ".py":
        assert start[0].startswith("#!/usr/bin/env ")
        assert os.access(path, os.X_OK)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_shell_script_has_no_syntax_error(path: Path) -> None:
    if path.read_text(encoding="utf-8").splitlines()[0].endswith("bash"):
        subprocess.run(["bash", "-n", str(path)], check=True)

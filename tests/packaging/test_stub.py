"""The stub that type checkers read says what the native module offers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_stub_is_what_stubgen_writes(root: Path, tmp_path: Path) -> None:
    fresh = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-m", "jogak._core", "-o", str(fresh)]
    subprocess.run(command, check=True, capture_output=True)
    kept = root / "pipeline" / "jogak" / "_core.pyi"
    assert kept.read_text(encoding="utf-8") == fresh.read_text(encoding="utf-8"), (
        "run: python -m nanobind.stubgen -m jogak._core -o pipeline/jogak/_core.pyi"
    )

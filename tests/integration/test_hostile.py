"""Documents without a place to cut: time n log n, memory a small multiple of the document."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from fakes.hostile import CASES

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench-hostile"
SIZE = 1_000_000
MOST_EXPONENT = 1.6
"""Of growth between SIZE and 4 * SIZE: 1 is linear, 2 quadratic; a busy machine adds noise."""
MOST_MEMORY = 60
"""Bytes above the empty process for each byte of a document of 4 * SIZE bytes."""


def run_once(case: str, size: int) -> dict[str, float]:
    command = [sys.executable, str(SCRIPT), "--once", str(size), "--case", case]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.rpartition("@@")[2]))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_time_grows_about_as_the_document_and_memory_too(case: str) -> None:
    small, large = run_once(case, SIZE), run_once(case, 4 * SIZE)
    for stage in ("count", "train", "encode"):
        allowed = 4**MOST_EXPONENT * max(small[stage], 0.1)
        assert large[stage] < allowed, (stage, small, large)
    assert large["memory"] < MOST_MEMORY, large


def load_script() -> ModuleType:
    loader = SourceFileLoader("bench_hostile", str(SCRIPT))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("case", CASES)
def test_hostile_documents_are_encoded_and_decoded(
    case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Small ones, in this process: the text comes back."""
    load_script().run_once(case, 20_000, "")
    assert "encode" in capsys.readouterr().out

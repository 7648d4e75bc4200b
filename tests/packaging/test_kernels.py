"""Code for one processor cannot be linked for another."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NATIVE = Path(__file__).resolve().parents[2] / "pipeline" / "native"
KERNELS = sorted((NATIVE / "src" / "simd").glob("avx*.cpp"))
FLAGS = ["-mavx2", "-mbmi", "-mbmi2", "-mpopcnt"]
FLAGS_512 = [f"-mavx512{name}" for name in ("f", "bw", "dq", "vl", "vbmi", "vbmi2")]
WEAK = "Ww"
"""The letters by which nm names functions that the linker may take from any one object file."""


@pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("c++") or not shutil.which("nm"),
    reason="needs c++ and nm",
)
@pytest.mark.parametrize("source", KERNELS, ids=lambda path: path.stem)
def test_kernels_leave_no_weak_functions(source: Path, tmp_path: Path) -> None:
    flags = FLAGS + (FLAGS_512 if source.stem.startswith("avx512") else [])
    target = tmp_path / "kernel.o"
    include = f"-I{NATIVE / 'include'}"
    command = ["c++", "-std=c++20", "-O0", *flags, include, "-c", str(source), "-o", str(target)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unrecognized" in built.stderr:
        pytest.skip("the compiler is not for x86-64")
    assert built.returncode == 0, built.stderr
    symbols = subprocess.run(
        ["nm", "--demangle", str(target)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert any(" T " in line or " D " in line or " R " in line for line in symbols)
    assert [line for line in symbols if line[17:18] in WEAK] == []

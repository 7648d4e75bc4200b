"""Usage: from bench_report import write_section (of scripts/bench_report.py, for scripts/bench-*).

What the benchmark scripts share: where the measuring texts are, the machine's name, and
docs/benchmarks.md, in which each script owns the section between its own two markers.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
CACHE = ROOT / "build" / "bench"
HEAD = """# Benchmarks

Each section is written by the script that it names; edit the script, not the section.
"""


def find_shared() -> Path:
    """Return the folder of measuring texts beside the checkout."""
    for parent in ROOT.parents:
        if (parent / "shared" / "data").is_dir():
            return parent / "shared"
    sys.exit("scripts/bench: no folder shared/data beside this checkout")


def machine() -> str:
    """Return the processor's name and how many of them there are."""
    import os

    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    found = re.search(r"^model name\s*: (.+)$", text, re.MULTILINE)
    name = found[1] if found else "unknown processor"
    return f"{name}, {os.cpu_count()} processors"


def write_section(title: str, body: str, page: Path = PAGE) -> None:
    """Put a section into the page, in place of the one of the same title, or at its end."""
    begin, end = f"<!-- {title}: begin -->", f"<!-- {title}: end -->"
    section = f"{begin}\n## {title}\n\n{body.strip()}\n{end}"
    text = page.read_text(encoding="utf-8") if page.exists() else HEAD
    if begin in text:
        before, _, rest = text.partition(begin)
        text = before + section + rest.partition(end)[2]
    else:
        text = text.rstrip("\n") + f"\n\n{section}\n"
    page.write_text(text, encoding="utf-8")

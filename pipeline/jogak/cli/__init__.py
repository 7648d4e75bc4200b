"""The command line: parses, calls, prints; what is computed is computed elsewhere.

Exit codes: 0, 1 (the work failed), 2 (the job file or the command is wrong), 130 (Ctrl-C).
A module of this package adds its commands to `app` when it is imported,, which orders `--help`.
"""

from __future__ import annotations

from jogak.cli import budget, compare, counts, export, stages, tokenizers, verify
from jogak.cli.app import app

__all__ = [
    "app",
    "budget",
    "compare",
    "counts",
    "export",
    "main",
    "stages",
    "tokenizers",
    "verify",
]


def main() -> None:
    """Run the command line."""
    app()

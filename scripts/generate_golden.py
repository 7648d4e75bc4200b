"""Usage: python scripts/generate_golden.py: write tests/golden/ with the reference programs.

Needs megatron-core (`pip install --no-deps megatron-core==0.16.1`; torch is not needed).
"""

from __future__ import annotations

import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from reference import megatron  # noqa: E402  (the path is set just above)

CASES = [
    ("uint16", []),
    ("uint16", [[]]),
    ("uint16", [[1, 2, 3], [], [65535]]),
    ("int32", [[1, 2, 3], [], [65536, 2147483647], [0]]),
]


def main() -> None:
    """Write tests/golden/megatron_index.json."""
    core = megatron.find()
    if core is None:
        sys.exit("megatron-core is not installed: pip install --no-deps megatron-core==0.16.1")
    built = []
    for dtype, documents in CASES:
        with tempfile.TemporaryDirectory() as folder:
            prefix = Path(folder) / "shard"
            megatron.build(core, prefix, np.dtype(dtype).type, documents)
            files = {
                end: prefix.with_suffix(f".{end}").read_bytes().hex() for end in ("bin", "idx")
            }
        built.append({"dtype": dtype, "documents": documents, **files})
    header = {"script": "scripts/generate_golden.py", "megatron-core": version("megatron-core")}
    text = json.dumps({"header": header, "cases": built}, indent=1)
    (ROOT / "tests/golden/megatron_index.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

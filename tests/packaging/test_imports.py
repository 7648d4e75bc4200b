"""What importing Jogak costs, what it offers, and which module may import which."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import jogak

PACKAGE = Path(jogak.__file__).parent

ORDER = [
    "errors",
    "arrow",
    "threads",
    "config",
    "documents",
    "detect",
    "progress",
    "output",
    "plan",
    "store",
    "read",
    "normalize",
    "pretokenize",
    "count",
    "vocabulary",
    "formats",
    "tokenizer",
    "measures",
    "characters",
    "train",
    "compare",
    "inspection",
    "manifest",
    "shards",
    "encode",
    "report",
    "export",
    "verify",
    "engine",
    "run",
    "budget",
    "cli",
    "__main__",
]
"""The flow: a module imports only from modules before it."""

HEAVY = [
    "datasets",
    "multiprocess",
    "numpy",
    "pyarrow",
    "pydantic",
    "torch",
    "transformers",
    "yaml",
]


def modules_loaded_by(code: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has loaded after running code."""
    program = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


def test_import_loads_nothing_heavy() -> None:
    assert not modules_loaded_by("import jogak") & set(HEAVY)


def test_the_command_line_starts_without_the_stages() -> None:
    loaded = modules_loaded_by(
        "from typer.testing import CliRunner\nfrom jogak.cli import app\n"
        "assert CliRunner().invoke(app, ['--version']).exit_code == 0"
    )
    assert not loaded & {"datasets", "numpy", "pyarrow", "torch", "transformers"}


def test_public_names_are_these() -> None:
    assert jogak.__all__ == [
        "Budget",
        "ConfigError",
        "Job",
        "JogakError",
        "Manifest",
        "PretokenCounts",
        "ShardError",
        "SourceError",
        "TokenBatch",
        "Tokenizer",
        "TokenizerError",
        "WorkerError",
        "__version__",
        "budget",
        "count_pretokens",
        "load_job",
        "open_tokens",
        "run",
        "tokenize",
        "train",
    ]


@pytest.mark.parametrize("name", jogak.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(jogak, name) is not None


@pytest.mark.parametrize("name", ["budget", "run", "train"])
def test_a_stage_module_does_not_hide_the_function_of_its_name(name: str) -> None:
    module = importlib.import_module(f"jogak.{name}")
    assert isinstance(module, ModuleType)
    assert callable(getattr(jogak, name))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tokenise'"):
        _ = jogak.tokenise


def imports_of(path: Path) -> Iterator[str]:
    """Yield the modules of Jogak that a file imports, by their first name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "jogak":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jogak."):
            yield str(node.module).split(".")[1]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from (name.split(".")[1] for name in names if name.startswith("jogak."))


def test_a_stage_imports_only_earlier_stages() -> None:
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        stage = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if stage == "__init__":
            continue
        assert stage in ORDER, f"{path.name}: give '{stage}' its place in ORDER"
        earlier = {*ORDER[: ORDER.index(stage) + 1], "_core", "__version__"}
        wrong += [f"{stage} imports {name}" for name in imports_of(path) if name not in earlier]
    assert not wrong

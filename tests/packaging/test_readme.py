"""What the README says can be done, is done here; what it says is there, is there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import jogak
from jogak.config import load_job

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


COMMANDS = [line for block in blocks("sh") for line in block.splitlines()]


def run(project: Path, arguments: list[str]) -> str:
    """Run a command in the copy of the project; return what it prints."""
    package = str(Path(jogak.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": package, "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(
        arguments, cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{shlex.join(arguments)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_commands_and_python_of_the_readme_work(project: Path) -> None:
    for line in COMMANDS:
        words = shlex.split(line, comments=True)
        if words[0] == "jogak":
            assert run(project, [sys.executable, "-m", *words])
    (program,) = blocks("python")
    assert run(project, [sys.executable, "-c", program])


def test_other_commands_of_the_readme_are_scripts_or_pip() -> None:
    known = {"jogak", "python3", ".venv/bin/pip", ".venv/bin/jogak"}
    for line in COMMANDS:
        first = shlex.split(line, comments=True)[0]
        assert first in known or os.access(ROOT / first, os.X_OK), line


def test_the_job_of_the_readme_is_valid(tmp_path: Path) -> None:
    (text,) = blocks("yaml")
    path = tmp_path / "job.yaml"
    path.write_text(text, encoding="utf-8")
    assert load_job(path).name == "ko-32k"


def test_the_smallest_job_of_the_page_of_options_is_valid(root: Path, tmp_path: Path) -> None:
    page = (root / "docs" / "configuration.md").read_text(encoding="utf-8")
    path = tmp_path / "job.yaml"
    path.write_text(page.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
    assert load_job(path).train is not None


def package_tree() -> list[str]:
    """Return what the README's tree lists below pipeline/jogak."""
    return re.findall(r"^    +│   [├└]── (\S+)", README, re.MULTILINE)


def test_the_tree_of_the_package_is_complete(root: Path) -> None:
    package = root / "pipeline" / "jogak"
    there = {
        entry.name + "/" * entry.is_dir()
        for entry in package.iterdir()
        if entry.name != "__pycache__" and (entry.is_dir() or entry.suffix == ".py")
    }
    assert set(package_tree()) == there - {"__init__.py", "__main__.py"}


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#:]+)\)", README))
def test_links_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()


def test_the_changelog_says_whether_token_ids_change(root: Path) -> None:
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    for version in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        assert "\nToken ids change: " in version

"""Every job in configs/ is valid, and what is generated from the options is up to date."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from jogak.config import PATTERN_NAMES, Job, dump_job, load_job

CONFIGS = Path(__file__).parents[2] / "configs"
JOBS = sorted(CONFIGS.glob("*.yaml"))
SCHEMA_LINE = "# yaml-language-server: $schema=schema.json"


@pytest.fixture(scope="module")
def generator(root: Path) -> ModuleType:
    """The script that writes the schema and the page of options."""
    loader = importlib.machinery.SourceFileLoader("generate", str(root / "scripts/generate_schema"))
    spec = importlib.util.spec_from_loader("generate", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        # The script puts the source first on the path; workers of later tests would inherit that.
        patch.setattr(sys, "path", [*sys.path])
        loader.exec_module(module)
    return module


def test_configs_holds_jobs_and_their_schema_only() -> None:
    names = {path.name for path in CONFIGS.iterdir()}
    assert names == {*(path.name for path in JOBS), "schema.json"}
    assert "quickstart.yaml" in names


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.name)
def test_every_job_is_valid(path: Path, tmp_path: Path) -> None:
    assert path.read_text(encoding="utf-8").splitlines()[0] == SCHEMA_LINE
    job = load_job(path)
    dumped = tmp_path / "job.yaml"
    dumped.write_text(dump_job(job), encoding="utf-8")
    assert load_job(dumped) == job


def test_the_schema_is_generated_from_the_options(generator: ModuleType) -> None:
    kept = json.loads((CONFIGS / "schema.json").read_text(encoding="utf-8"))
    assert kept == json.loads(generator.render_schema()), "run scripts/generate_schema"


def test_the_page_of_options_is_generated(generator: ModuleType, root: Path) -> None:
    kept = (root / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert kept == generator.render_page(), "run scripts/generate_schema"


def test_every_option_is_documented() -> None:
    def undocumented(schema: dict[str, object]) -> list[str]:
        properties = schema.get("properties", {})
        assert isinstance(properties, dict)
        return [name for name, option in properties.items() if not option.get("description")]

    schema = Job.model_json_schema()
    for section in (schema, *schema["$defs"].values()):
        assert undocumented(section) == []


def test_the_names_of_patterns_are_those_that_pretokenize_knows() -> None:
    from jogak.pretokenize import PATTERNS

    assert tuple(PATTERNS) == PATTERN_NAMES

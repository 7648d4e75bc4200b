"""Whatever a job file holds, it gives a Job or a ConfigError that says something."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from jogak.config import Job, Section, dump_job, load_job
from jogak.errors import ConfigError

SECTIONS = [Job, *Section.__subclasses__()]
KEYS = [key for section in SECTIONS for key in section.model_fields] + ["trian", "sorces", "", "1"]
LEAVES: list[Any] = [None, True, 0, -1, 300, 10**30, 1.5, "", "ko", "nfc", "eos", "4 GiB", "auto"]
LEAVES += ["skip", "<|endoftext|>", "a.parquet", "a\x85b", "😀", "no", "2020-01-01"]
DAMAGE = [":", "\t", "[", "]", "{", "&a", "*a", "!!x ", "'", '"', "\n", "<<: ", "? ", "- ", "#"]
DAMAGE += ["|\n", ">", "%", "@", "\ufeff", "\u2028", "\x00"]


def tree(choose: random.Random, depth: int) -> object:
    kind = choose.random()
    if depth == 0 or kind < 0.45:
        return choose.choice(LEAVES)
    if kind < 0.6:
        return [tree(choose, depth - 1) for _ in range(choose.randrange(4))]
    return {choose.choice(KEYS): tree(choose, depth - 1) for _ in range(choose.randrange(6))}


def wild_job(choose: random.Random) -> str:
    job: dict[str, object] = {"read": {"sources": [{"path": "a"}]}, "train": {"vocab_size": 300}}
    job["output"] = "out"
    for _ in range(choose.randrange(5)):
        job[choose.choice(KEYS)] = tree(choose, 3)
    text: str = yaml.safe_dump(job, allow_unicode=True)
    if choose.random() < 0.3:
        at = choose.randrange(len(text))
        text = text[:at] + choose.choice(DAMAGE) + text[at:]
    return text


def judge(path: Path, overrides: list[str]) -> Job | str:
    try:
        return load_job(path, overrides)
    except ConfigError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(5))
def test_any_file_gives_a_job_or_errors(seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)
    path = tmp_path / "job.yaml"
    for _ in range(100):
        text = wild_job(choose)
        path.write_text(text, encoding="utf-8")
        overrides = [f"{choose.choice(KEYS)}{choose.choice(['', '.a', '[0]', '[0].path'])}=1"]
        outcome = judge(path, overrides[: choose.randrange(2)])
        assert outcome, text
        if isinstance(outcome, Job):
            path.write_text(dump_job(outcome), encoding="utf-8")
            assert load_job(path) == outcome, text


def test_a_file_nested_beyond_reason_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text("name: " + "[" * 3000 + "]" * 3000, encoding="utf-8")
    with pytest.raises(ConfigError, match="nested too deeply"):
        load_job(path)


def test_a_number_of_any_length_is_an_error_not_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text("output: " + "9" * 5000, encoding="utf-8")
    with pytest.raises(ConfigError, match="read: missing"):
        load_job(path)

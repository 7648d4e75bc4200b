"""The command line parses, calls and prints: results on stdout, one message on stderr."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import jogak
from jogak import plan, progress
from jogak.cli import app
from jogak.config import Job, load_job
from jogak.errors import ShardError, SourceError, WorkerError

JOB = """\
read: {sources: [{path: a.parquet, name: films}]}
train: {vocab_size: 300}
output: out
"""


@dataclass(frozen=True)
class Part:
    path: str


@dataclass(frozen=True)
class Unit:
    source: int
    parts: tuple[Part, ...]
    text_bytes: int


class Calls(list[tuple[str, Job, dict[str, Any]]]):
    """What the command line called, and what that raises."""

    raises: BaseException | None = None

    def __call__(
        self,
        name: str,
        job: Job,
        on_report: Callable[[str], None],
        **options: Any,  # noqa: ANN401 - any option
    ) -> str:
        self.append((name, job, options))
        if self.raises is not None:
            raise self.raises
        if options.get("stop_after", name) == "report":
            on_report(f"report of {name}")
        return f"manifest of {name}"


@pytest.fixture(autouse=True)
def _no_handlers_left() -> Iterator[None]:
    yield
    logging.getLogger("jogak").handlers.clear()


@pytest.fixture
def job_file(tmp_path: Path) -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(JOB, encoding="utf-8")
    return path


def replace(monkeypatch: pytest.MonkeyPatch, name: str, **members: object) -> None:
    """Put a module of these members in the place of one of Jogak's."""
    module = ModuleType(f"jogak.{name}")
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, f"jogak.{name}", module)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Stand-ins for the stages, which record how they are called."""
    recorded = Calls()

    replace(
        monkeypatch,
        "run",
        run=lambda job, **options: recorded("run", job, **options),
        run_stage=lambda job, stage, **options: recorded(stage, job, **options),
    )
    replace(
        monkeypatch,
        "report",
        gather=lambda _, manifest: manifest,
        report_text=lambda manifest: f"table: {manifest}",
        report_json=lambda manifest: {"report": manifest},
    )
    units = (Unit(0, (Part("a"), Part("b")), 1000), Unit(0, (Part("b"),), 234))
    replace(monkeypatch, "plan", plan_units=lambda _: units, describe_plan=plan.describe_plan)
    return recorded


def invoke(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.usefixtures("calls")
def test_check_prints_the_resolved_job_and_the_plan(job_file: Path) -> None:
    code, out, _ = invoke("check", job_file, "--set", "name=x")
    assert code == 0
    assert yaml.safe_load(out) == load_job(job_file, ["name=x"]).model_dump(mode="json")
    assert "#   films  2  2  1,234" in out
    assert "#   total  2 units  1,234 bytes" in out


@pytest.mark.usefixtures("calls")
def test_what_check_prints_is_a_job_file(job_file: Path) -> None:
    printed = job_file.with_name("printed.yaml")
    printed.write_text(invoke("check", job_file)[1], encoding="utf-8")
    assert load_job(printed) == load_job(job_file)


@pytest.mark.usefixtures("calls")
def test_check_prints_json(job_file: Path) -> None:
    shown = json.loads(invoke("check", job_file, "--json")[1])
    assert shown["job"]["train"]["vocab_size"] == 300
    assert shown["plan"][1] == {"source": 0, "parts": [{"path": "b"}], "text_bytes": 234}


def test_run_hands_over_its_options_and_prints_the_report(job_file: Path, calls: Calls) -> None:
    code, out, _ = invoke("run", job_file, "--workers", "3", "--set", "train.vocab_size=400")
    assert (code, out) == (0, "table: report of run\n")
    ((name, job, options),) = calls
    assert name == "run"
    assert job == load_job(job_file, ["train.vocab_size=400"])
    assert options == {"stop_after": "report", "workers": 3, "restart": False}


def test_run_stops_after_a_stage(job_file: Path, calls: Calls) -> None:
    code, out, _ = invoke("run", job_file, "--stop-after", "count")
    assert (code, out) == (0, f"{job_file.parent / 'out' / 'counts'}\n")
    assert calls[0][2] == {"stop_after": "count", "workers": None, "restart": False}


@pytest.mark.parametrize("stage", ["count", "train", "encode", "report"])
def test_a_stage_is_a_command(job_file: Path, calls: Calls, stage: str) -> None:
    code, out, _ = invoke(stage, job_file)
    assert code == 0
    assert calls[0][0] == stage
    results = {"count": "counts\n", "train": "tokenizer\n", "report": "table: report of report\n"}
    assert out.endswith(results.get(stage, "table: manifest of encode\n"))


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize("command", ["run", "count", "train", "encode", "report"])
def test_json_is_all_that_stdout_carries(job_file: Path, command: str) -> None:
    json.loads(invoke(command, job_file, "--json")[1])


def test_config_errors_are_listed_with_exit_code_2(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(JOB + "nam: x\ncout: {}\n", encoding="utf-8")
    code, out, err = invoke("check", path)
    assert (code, out) == (2, "")
    assert err == (
        f"{path}:4:1: nam: unknown key; did you mean 'name'?\n"
        f"{path}:5:1: cout: unknown key; did you mean 'count'?\n"
    )


@pytest.mark.parametrize(
    "error",
    [SourceError("a.parquet: no column"), ShardError("x"), WorkerError("y"), OSError(28, "full")],
)
def test_other_errors_exit_with_1_and_show_no_trace(
    job_file: Path, calls: Calls, error: Exception
) -> None:
    calls.raises = error
    assert invoke("run", job_file) == (1, "", f"{error}\n")


def test_verbose_shows_where_an_error_arose(job_file: Path, calls: Calls) -> None:
    calls.raises = SourceError("a.parquet: no column")
    code, _, err = invoke("run", job_file, "-v")
    assert code == 1
    assert "Traceback" in err
    assert err.endswith("a.parquet: no column\n")


def test_a_bug_is_not_dressed_up_as_a_user_error(job_file: Path, calls: Calls) -> None:
    calls.raises = KeyError("bug")
    result = CliRunner().invoke(app, ["run", str(job_file)])
    assert isinstance(result.exception, KeyError)


def test_ctrl_c_exits_with_130(job_file: Path, calls: Calls) -> None:
    calls.raises = KeyboardInterrupt()
    code, out, err = invoke("run", job_file)
    assert (code, out) == (130, "")
    assert err.startswith("interrupted")


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["runn", "job.yaml"], ["run", "job.yaml", "--workers", "0"], ["check", "--wokers"]],
)
def test_a_wrong_command_exits_with_2(arguments: list[str]) -> None:
    code, out, err = invoke(*arguments)
    assert (code, out) == (2, "")
    assert err


def test_version_is_printed() -> None:
    code, out, _ = invoke("--version")
    assert code == 0
    assert out.startswith("jogak ")


@dataclass(frozen=True)
class VerifyReport:
    path: str
    shards: int
    documents: int
    tokens: int
    decoded: int
    faults: tuple[str, ...]


def test_verify_prints_faults_and_exits_with_1_where_there_are_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def verify(path: str, *, decode: object) -> VerifyReport:
        asked.append((path, decode))
        return VerifyReport(str(path), 2, 30, 400, 0, ("x.bin: wrong",) * (str(path) == "bad"))

    replace(monkeypatch, "verify", verify=verify)
    code, out, _ = invoke("verify", "good", "--decode", "7")
    assert (code, out.splitlines()) == (
        0,
        ["good: 2 shards, 30 documents, 400 tokens, 0 decoded: 0 faults"],
    )
    code, out, _ = invoke("verify", "bad", "--decode", "all")
    assert (code, out.splitlines()[0]) == (1, "x.bin: wrong")
    assert invoke("verify", "bad", "--json")[0] == 1
    assert asked == [("good", 7), ("bad", "all"), ("bad", None)]
    assert invoke("verify", "good", "--decode", "some")[0] == 2


class FakeTokenizer:
    vocab_size, bos_id, eos_id, fingerprint, losses = 300, None, 0, "f00", ()

    @classmethod
    def load(cls, path: str) -> FakeTokenizer:
        assert path == "tok"
        return cls()

    def encode(self, text: str) -> np.ndarray[Any, Any]:
        return np.frombuffer(text.encode(), np.uint8).astype(np.uint32)

    def token_bytes(self, token: int) -> bytes:
        return bytes([token])


def test_inspect_shows_a_tokenizer_and_its_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    replace(monkeypatch, "tokenizer", Tokenizer=FakeTokenizer)
    replace(
        monkeypatch,
        "inspection",
        SHOWN=("vocab_size", "fingerprint"),
        DEFINITIONS={"vocab_size": "ids"},
        inspect_tokenizer=lambda tokenizer: {"vocab_size": tokenizer.vocab_size},
        facts_text=lambda facts: f"vocab_size {facts['vocab_size']}",
    )
    assert invoke("inspect", "tok")[1] == "vocab_size 300\n"
    assert json.loads(invoke("inspect", "tok", "--json")[1])["definitions"] == {"vocab_size": "ids"}
    assert invoke("inspect", "tok", "a ")[1] == "      97  'a'\n      32  ' '\n"
    assert invoke("inspect", "tok", "é")[1] == "     195  b'\\xc3'\n     169  b'\\xa9'\n"
    shown = json.loads(invoke("inspect", "tok", "é", "--json")[1])
    assert shown["ids"] == [0xC3, 0xA9]
    assert shown["tokens"] == [r"\xc3", r"\xa9"]


def test_convert_writes_another_format_or_says_why_not(tmp_path: Path) -> None:
    counts = jogak.count_pretokens(["나는 나를 나는"], normalize="none")
    jogak.train(counts, vocab_size=260, special_tokens=["<end>"]).save(tmp_path / "tokenizer")
    source, target = str(tmp_path / "tokenizer"), tmp_path / "gpt2"
    code, out, _ = invoke("convert", source, str(target), "--to", "gpt2")
    assert (code, out.split()) == (0, [str(target / "vocab.json"), str(target / "merges.txt")])
    assert (target / "merges.txt").read_text(encoding="utf-8").startswith("#version")
    code, _, err = invoke("convert", str(tmp_path / "none"), str(target), "--to", "gpt2")
    assert (code, "none" in err) == (1, True)


def test_a_stage_logs_a_line_at_each_end(capsys: pytest.CaptureFixture[str]) -> None:
    progress.configure()
    with progress.stage("count", "3 units", total=2_000_000) as stage:
        stage.advance(2_000_000)
        stage.outputs = "9 pretokens"
    first, last = capsys.readouterr().err.splitlines()
    assert first.endswith(" count: starts with 3 units")
    assert " count: 9 pretokens, " in last
    assert last.endswith(" MB/s")


def test_levels_show_only_where_they_say_something(capsys: pytest.CaptureFixture[str]) -> None:
    progress.configure()
    log = logging.getLogger("jogak.pretokenize")
    log.debug("unseen")
    log.info("plain")
    log.warning("slow")
    assert [line[9:] for line in capsys.readouterr().err.splitlines()] == ["plain", "warning: slow"]
    progress.configure(verbose=True)
    log.debug("seen")
    assert capsys.readouterr().err.endswith("debug: seen\n")

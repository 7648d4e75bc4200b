"""Jobs that sample, weigh languages and go on from the tokenizer of another job."""

from __future__ import annotations

import importlib
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from jogak.cli import app
from jogak.config import load_job
from jogak.count import count_pretokens
from jogak.errors import ShardError
from jogak.manifest import Manifest
from jogak.plan import plan_units
from jogak.run import run
from jogak.tokenizer import Tokenizer
from jogak.train import TrainProgress

LINES = [
    {"text": text, "lang": language}
    for number in range(60)
    for text, language in (
        (f"나는 학교에 간다. 우리는 집에서 {number}번 공부한다.", "ko"),
        (f"the newest words are lower and wider {number} times", "en"),
    )
]
JOB = """\
read: {{sources: [{{path: texts.jsonl, language_column: lang}}]}}
count: {{sample: 0.5, seed: 3}}
train: {{{train}}}
output: {output}
"""


def write_job(folder: Path, output: str, train: str) -> Path:
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in LINES)
    if not (folder / "texts.jsonl").exists():  # its time of change is part of what a job reads
        (folder / "texts.jsonl").write_text(lines, encoding="utf-8")
    path = folder / f"{output}.yaml"
    path.write_text(JOB.format(output=output, train=train), encoding="utf-8")
    return path


def run_job(folder: Path, output: str, train: str) -> Manifest:
    return run(write_job(folder, output, train), workers=1, progress=False)


def test_a_job_goes_on_from_the_tokenizer_of_another(tmp_path: Path) -> None:
    first = run_job(tmp_path, "first", "vocab_size: 290")
    assert first.count_sample == "0.5 of the documents, seed 3"
    counted = json.loads((tmp_path / "first" / "counts" / "pretokens.json").read_text())
    assert counted["sample"] == first.count_sample
    assert sum(each["documents"] for each in counted["languages"].values()) < len(LINES)
    settings = "vocab_size: 305, continue_from: first/tokenizer, weights: {ko: 1, en: 0}"
    second = run_job(tmp_path, "second", settings)
    assert second.total.documents == len(LINES)  # encoding takes all
    assert second.vocab_size == 305
    assert second.boundary == first.boundary
    assert second.total.tokens < first.total.tokens
    old = Tokenizer.load(tmp_path / "first" / "tokenizer")
    new = Tokenizer.load(tmp_path / "second" / "tokenizer")
    added = [new.token_bytes(token) for token in range(290, 305)]
    assert [new.token_bytes(token) for token in range(290)] == [
        old.token_bytes(token) for token in range(290)
    ]
    assert not any(token.isascii() and token.strip().isalpha() for token in added)
    run_job(tmp_path, "second", settings)
    run_job(tmp_path, "third", "vocab_size: 280")
    (tmp_path / "third" / "tokenizer" / "tokenizer.json").replace(
        tmp_path / "first" / "tokenizer" / "tokenizer.json"
    )
    with pytest.raises(ShardError, match=r"continue_from, which has changed since"):
        run_job(tmp_path, "second", settings)


def test_bytes_to_sample_are_a_share_of_the_planned_text(tmp_path: Path) -> None:
    path = write_job(tmp_path, "out", "vocab_size: 280")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("sample: 0.5", "sample_bytes: 2 KiB"), encoding="utf-8")
    made = run(path, workers=1, progress=False)
    planned = sum(unit.text_bytes for unit in plan_units(load_job(path)))
    assert made.count_sample == f"{2**11 / planned} of the documents, seed 3"


def test_what_went_to_disk_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write_job(tmp_path, "out", "vocab_size: 280")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("sample: 0.5", "memory: 1 KiB"), encoding="utf-8")
    with caplog.at_level("INFO"):
        run(path, workers=1, stop_after="count", progress=False)
    assert re.search(r"distinct, \d+\.\d MiB spilled to disk", caplog.text)


def test_ctrl_c_ends_a_training_process_within_seconds(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    text = draw.integers(97, 123, size=12_000_000, dtype=np.uint8)
    text[::9] = 32
    counts = count_pretokens([text.tobytes()], pattern="whitespace", normalize="none")
    counts.save(tmp_path / "pretokens.parquet")
    arguments = ["train", "--from", str(tmp_path), "--vocab-size", "2000000"]
    arguments += ["--output", str(tmp_path / "new"), "--set", "min_count=1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "jogak", *arguments, "--set", "allow_smaller=true"],
        stderr=subprocess.PIPE,
        # A shell that runs the tests in the background has them ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    assert process.stderr.readline()  # that training starts
    time.sleep(0.5)
    pressed = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - pressed < 5
    assert not (tmp_path / "new").exists()


def test_ctrl_c_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(write_job(tmp_path, "out", "vocab_size: 290"), stop_after="count", progress=False)

    def press(_: TrainProgress) -> None:
        signal.raise_signal(signal.SIGINT)

    # `jogak.run` is also the function that the package offers.
    retraining = importlib.import_module("jogak.run.retraining")
    monkeypatch.setattr(retraining, "progress_to", lambda _: press)
    arguments = ["train", "--from", "out", "--vocab-size", "300", "--output", "new"]
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 130
    assert {path.name for path in tmp_path.iterdir()} == {"out", "out.yaml", "texts.jsonl"}

"""Jobs that sample, weigh languages and go on from the tokenizer of another job."""

from __future__ import annotations

import importlib
import json
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jogak.cli import app
from jogak.errors import ShardError
from jogak.manifest import Manifest
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

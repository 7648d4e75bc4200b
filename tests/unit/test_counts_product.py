"""Counts as a product: sampled, inspected, added up and trained from, without their corpus."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from jogak.cli import app
from jogak.config import NormalizeOptions
from jogak.count import PretokenCounts, Sample, count_pretokens, merge_counts
from jogak.documents import TextBatch
from jogak.errors import ConfigError
from jogak.tokenizer import Tokenizer
from jogak.train import train

TEXTS = [f"문서 {number}의 글이다. 나는 학교에 간다 {number % 7}" for number in range(400)]


@pytest.fixture(autouse=True)
def _no_handlers_left() -> Iterator[None]:
    yield
    logging.getLogger("jogak").handlers.clear()


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def batch_of(texts: list[str]) -> TextBatch:
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    rows = np.arange(len(texts), dtype=np.int64)
    data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    return TextBatch(data, offsets, np.zeros(len(texts), np.int32), ("ko",), rows, "memory", 0)


def taken(sample: Sample, texts: list[str]) -> list[str]:
    chosen = sample.take(batch_of(texts))
    assert len(chosen.languages) == len(chosen.rows) == len(chosen)
    found = [chosen.document(index).decode() for index in range(len(chosen))]
    assert found == [texts[row] for row in chosen.rows.tolist()]
    return found


def test_a_sample_depends_on_documents_and_seed_alone() -> None:
    sample = Sample(0.3, 7)
    whole = taken(sample, TEXTS)
    assert 80 < len(whole) < 160
    by_parts = [text for at in range(0, 400, 13) for text in taken(sample, TEXTS[at : at + 13])]
    assert by_parts == whole
    assert sorted(taken(sample, TEXTS[::-1])) == sorted(whole)
    assert taken(Sample(0.3, 8), TEXTS) != whole
    assert set(whole) < set(taken(Sample(0.5, 7), TEXTS))
    assert taken(Sample(1.0, 7), TEXTS) == TEXTS
    assert taken(Sample(1e-9, 7), TEXTS) == []
    assert taken(sample, []) == []


def test_sampled_counts_are_those_of_the_sample_and_say_so(tmp_path: Path) -> None:
    counts = count_pretokens([batch_of(TEXTS[:150]), batch_of(TEXTS[150:])], sample=0.3, seed=7)
    plain = count_pretokens([batch_of(taken(Sample(0.3, 7), TEXTS))])
    assert counts.documents == plain.documents
    assert counts.data.tobytes() == plain.data.tobytes()
    assert counts.counts.tolist() == plain.counts.tolist()
    assert counts.sample == "0.3 of the documents, seed 7"
    counts.save(tmp_path / "counts.parquet")
    assert PretokenCounts.load(tmp_path / "counts.parquet").sample == counts.sample
    assert merge_counts([counts, counts]).sample == counts.sample
    assert merge_counts([counts, plain]).sample == "all; 0.3 of the documents, seed 7"
    for wrong in ({"sample": 0.0}, {"sample": 1.5}, {"seed": -1}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            count_pretokens(TEXTS, **wrong)


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """A counts file of two languages in a run's output, and one of another corpus."""
    korean = PretokenCounts.from_mapping({"학교": 5, "집": 7, "a": 1}, language="ko")
    english = PretokenCounts.from_mapping({"school": 6, "a": 9}, language="en")
    (tmp_path / "out" / "counts").mkdir(parents=True)
    both = merge_counts([korean, english])
    both.save(tmp_path / "out" / "counts" / "pretokens.parquet")
    other = PretokenCounts.from_mapping({"학교": 10, "길": 1}, language="ko")
    other.save(tmp_path / "other.parquet")
    return tmp_path / "out", tmp_path / "other.parquet"


def test_inspect_lists_the_most_frequent_pretokens_of_all_or_one_language(
    two: tuple[Path, Path],
) -> None:
    out, _ = two
    for arguments in (("inspect", out / "counts"), ("inspect", "counts", out), ("inspect", out)):
        found = json.loads(invoke(*arguments, "--json", "--top", 2).stdout)
        assert [(row["pretoken"], row["count"]) for row in found["top"]] == [("a", 10), ("집", 7)]
        assert found["distinct"] == 4
        assert set(found["languages"]) == {"en", "ko"}
    found = json.loads(invoke("counts", "inspect", out, "--language", "ko", "--json").stdout)
    assert [row["pretoken"] for row in found["top"]] == ["집", "학교", "a"]
    assert (found["distinct"], found["once"], list(found["languages"])) == (3, 1, ["ko"])
    assert "'집'" in invoke("counts", "inspect", out).stdout
    wrong = invoke("counts", "inspect", out, "--language", "kr")
    assert (wrong.exit_code, "no language 'kr'" in wrong.stderr) == (1, True)
    missing = invoke("counts", "inspect", out.parent)
    assert (missing.exit_code, "no counts here" in missing.stderr) == (1, True)


def test_merged_files_hold_the_sums_and_differing_ones_are_refused(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    target = tmp_path / "sum.parquet"
    done = invoke("counts", "merge", *two, "--to", target)
    assert (done.exit_code, done.stdout.strip()) == (0, str(target))
    total = PretokenCounts.load(target)
    found = {total.pretoken(row).decode(): int(n) for row, n in enumerate(total.counts)}
    assert found == {"학교": 15, "집": 7, "a": 10, "school": 6, "길": 1}
    assert total.totals["ko"].pretokens == 24
    again = invoke("counts", "merge", *two, "--to", target)
    assert (again.exit_code, "exists already" in again.stderr) == (1, True)
    nfkc = NormalizeOptions(form="nfkc")
    PretokenCounts.from_mapping({"a": 1}, normalize=nfkc).save(tmp_path / "nfkc.parquet")
    wrong = invoke("counts", "merge", two[1], tmp_path / "nfkc.parquet", "--to", tmp_path / "x")
    assert "ends in .parquet" in wrong.stderr
    wrong = invoke(
        "counts", "merge", two[1], tmp_path / "nfkc.parquet", "--to", tmp_path / "x.parquet"
    )
    assert (wrong.exit_code, "differ in normalize" in wrong.stderr) == (1, True)
    assert not (tmp_path / "x.parquet").exists()


def test_training_from_counts_needs_no_corpus(two: tuple[Path, Path], tmp_path: Path) -> None:
    out, _ = two
    target = tmp_path / "tokenizers" / "small"
    common = ("train", "--from", out, "--output", target, "--vocab-size", 262)
    done = invoke(*common, "--set", "ties=first_seen", "--set", "train.weights={ko: 0}")
    assert (done.exit_code, done.stdout.strip()) == (0, str(target))
    made = Tokenizer.load(target)
    counts = PretokenCounts.load(out / "counts" / "pretokens.parquet")
    expected = train(counts, vocab_size=262, ties="first_seen", weights={"ko": 0})
    assert made.fingerprint == expected.fingerprint
    record = json.loads((target / "training.json").read_text())
    assert (record["train"]["ties"], record["sample"]) == ("first_seen", "all")
    again = invoke(*common)
    assert (again.exit_code, "exists already" in again.stderr) == (1, True)
    too_many = invoke("train", "--from", out, "--output", tmp_path / "y", "--vocab-size", 9999)
    assert (too_many.exit_code, "only " in too_many.stderr) == (1, True)
    assert {path.name for path in tmp_path.iterdir()} == {"out", "other.parquet", "tokenizers"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "either a job file, or counts"),
        (("job.yaml", "--from", "x"), "either a job file, or counts"),
        (("job.yaml", "--vocab-size", "9"), "go with --from"),
        (("--from", "x"), "give --output"),
        (("--from", "x", "--output", "y", "--set", "ties"), "expected key=value"),
        (
            ("--from", "x", "--output", "y", "--set", "ties=[", "--vocab-size", "300"),
            "--set ties=[",
        ),
        (("--from", "x", "--output", "y", "--set", "tiess=largest"), "did you mean 'ties'"),
    ],
)
def test_wrong_arguments_of_train_are_usage_errors(
    arguments: tuple[str, ...], message: str
) -> None:
    done = invoke("train", *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())

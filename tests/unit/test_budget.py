"""budget: counts equal a plain sum; samples are of units, seeded, and say what they are worth."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import jogak
from fakes.corpus import write_corpus
from jogak.budget import budget_text, uses
from jogak.budget.counting import slot_rows
from jogak.budget.estimate import Drawn, estimate_group, half_widths
from jogak.budget.sample import draw
from jogak.budget.units import Piece
from jogak.cli import app
from jogak.errors import ConfigError, SourceError
from jogak.plan import Part


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    texts = ["나라는 바다에서 사람을 봤습니다", "the river ran under old bridges"] * 3
    made = jogak.train(
        jogak.count_pretokens(texts, pattern="gpt2"),
        vocab_size=300,
        min_count=1,
        allow_smaller=True,
        special_tokens=("<|endoftext|>",),
    )
    folder = tmp_path_factory.mktemp("tokenizer")
    made.save(folder)
    return str(folder)


def write_lines(path: Path, texts: list[str], language: str = "ko") -> Path:
    lines = [json.dumps({"text": text, "lang": language}, ensure_ascii=False) for text in texts]
    data = ("\n".join(lines) + "\n" * bool(lines)).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def corpus(folder: Path) -> dict[str, Any]:
    """Return a job on the made-up corpus, its tokenizer left out."""
    job = write_corpus(folder)
    del job["train"]
    return job


def test_a_full_count_is_what_a_run_would_write(tmp_path: Path, tokenizer: str) -> None:
    job = {**corpus(tmp_path), "tokenizer": {"load": tokenizer}}
    manifest = jogak.run(job, progress=False)
    found = jogak.budget(job, show_progress=False)
    assert found.exact
    for name, sums in manifest.by_language().items():
        row = found.languages[name]
        assert (row.documents.value, row.bytes.value) == (sums.documents, sums.bytes)
        assert row.tokens[0].value == sums.tokens
        assert row.totals[0].value == sums.tokens + sums.boundary_tokens
    for name, sums in manifest.by_source().items():
        assert found.sources[name].tokens[0].value == sums.tokens
    assert found.total.totals[0].half_width == 0
    assert found.tokenizers[0].dtype == manifest.dtype


def test_workers_and_batches_do_not_change_a_budget(tmp_path: Path, tokenizer: str) -> None:
    job = {**corpus(tmp_path), "tokenizer": {"load": tokenizer}}
    small = {**job, "read": {**job["read"], "batch_bytes": 500}}
    for sample in (None, 0.2):
        found = [
            jogak.budget(each, sample=sample, seed=3, workers=workers, show_progress=False)
            for each, workers in ((job, 1), (small, 1), (job, 2))
        ]
        first = found[0].to_json()
        for other in found[1:]:
            assert other.to_json() == first


def test_several_tokenizers_are_counted_in_one_pass(tmp_path: Path, tokenizer: str) -> None:
    paths = [write_lines(tmp_path / f"{n}.jsonl", ["나라 바다"] * 5) for n in range(2)]
    other = tmp_path / "other"
    jogak.train(jogak.count_pretokens(["가"]), vocab_size=257).save(other)
    found = jogak.budget(paths, [tokenizer, str(other), tokenizer], show_progress=False)
    assert len(found.tokenizers) == 2
    loaded = [jogak.Tokenizer.load(str(each)) for each in (tokenizer, other)]
    expected = [10 * len(each.encode("나라 바다")) for each in loaded]
    assert [figure.value for figure in found.total.tokens] == expected
    assert found.total.totals[0].value == expected[0] + 10


@pytest.mark.parametrize(("boundary", "each"), [("none", 0), ("eos", 1), ("bos", 1), ("both", 2)])
def test_boundary_tokens_are_counted_as_the_policy_says(
    tmp_path: Path,
    tokenizer: str,
    boundary: Literal["none", "eos", "bos", "both"],
    each: int,
) -> None:
    path = write_lines(tmp_path / "a.jsonl", ["나라", "", "바다"])
    found = jogak.budget(path, tokenizer, boundary=boundary, show_progress=False)
    assert found.total.totals[0].value - found.total.tokens[0].value == 3 * each
    assert f"{each} boundary" in budget_text(found) or not each


def test_folders_and_globs_are_read_and_nothing_is_an_error(tmp_path: Path, tokenizer: str) -> None:
    (tmp_path / "deep/er").mkdir(parents=True)
    write_lines(tmp_path / "deep/er/a.jsonl", ["나라"])
    write_lines(tmp_path / "deep/b.jsonl.gz", ["바다"])
    (tmp_path / "deep/README.md").write_text("not a document")
    found = jogak.budget(tmp_path, tokenizer, language_column="lang", show_progress=False)
    assert (found.total.documents.value, list(found.languages)) == (2, ["ko"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="no documents in this folder"):
        jogak.budget(tmp_path / "empty", tokenizer, show_progress=False)
    with pytest.raises(ConfigError, match="none named"):
        jogak.budget(tmp_path / "deep", show_progress=False)
    with pytest.raises(ConfigError, match="above 0 and below 1"):
        jogak.budget(tmp_path / "deep", tokenizer, sample=1.5)


def test_one_unit_is_read_whole_and_exact(tmp_path: Path, tokenizer: str) -> None:
    path = write_lines(tmp_path / "a.jsonl", ["나라"] * 10)
    found = jogak.budget(path, tokenizer, sample=0.01, show_progress=False)
    assert found.exact
    assert found.total.documents.value == 10
    assert "the figures are counts" in budget_text(found)


def test_a_source_without_documents_adds_nothing(tmp_path: Path, tokenizer: str) -> None:
    write_lines(tmp_path / "a.jsonl", ["나라"] * 10)
    write_lines(tmp_path / "b.jsonl", [])
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    found = jogak.budget(paths, tokenizer, sample=0.5, show_progress=False)
    assert [row.documents.value for row in found.sources.values()] == [10, 0]
    with pytest.raises(SourceError, match="no documents"):
        jogak.budget(paths[1:], tokenizer, sample=0.5, show_progress=False)


def test_a_sample_estimates_mixed_languages_as_domains(tmp_path: Path, tokenizer: str) -> None:
    rng = np.random.default_rng(4)
    texts = [f"{at} " + "나라 바다 " * int(n) for at, n in enumerate(rng.integers(1, 60, 30_000))]
    languages = rng.choice(["ko", "xx"], len(texts), p=[0.8, 0.2]).tolist()
    pq.write_table(pa.table({"text": texts, "lang": languages}), tmp_path / "a.parquet",
                   row_group_size=10_000)  # fmt: skip
    arguments = {"language_column": "lang", "show_progress": False}
    whole = jogak.budget(tmp_path / "a.parquet", tokenizer, **arguments)
    part = jogak.budget(tmp_path / "a.parquet", tokenizer, sample=0.1, seed=1, **arguments)
    assert not part.exact
    for name, row in whole.languages.items():
        estimate = part.languages[name].tokens[0]
        assert 0 < estimate.half_width < 0.2 * row.tokens[0].value
        # Twice the interval: this is one seed; how often the interval holds is tested elsewhere.
        assert abs(estimate.value - row.tokens[0].value) <= 2 * estimate.half_width
    shown = budget_text(part)
    assert "± 95 %" in shown
    assert "Stratified cluster sample (seed 1)" in shown
    assert part.to_json()["sample"]["sources"][0]["drawn"] < 200


def test_compressed_files_say_that_their_bytes_are_estimated(
    tmp_path: Path, tokenizer: str
) -> None:
    for number in range(9):
        write_lines(tmp_path / f"{number}.jsonl.gz", [f"나라 {n}" for n in range(50 + number)])
    found = jogak.budget(str(tmp_path / "*.gz"), tokenizer, sample=0.3, show_progress=False)
    assert (found.design[0].units, found.design[0].drawn) == (1, 1)  # small files share a unit
    for number in range(9):
        texts = [str(hash((number, n))) * 400 for n in range(60)]
        write_lines(tmp_path / f"{number}.jsonl.gz", texts)
    found = jogak.budget(str(tmp_path / "*.gz"), tokenizer, sample=0.3, show_progress=False)
    assert "compressed bytes of .gz files, whose text bytes are estimated" in budget_text(found)


def test_strata_are_drawn_from_as_stated() -> None:
    assert draw([], 0.5, "a") == ()
    assert [len(each.drawn) for each in draw([5.0], 0.01, "a")] == [1]
    for units in (2, 3, 7, 50, 1000):
        for fraction in (0.001, 0.1, 0.5, 0.99):
            strata = draw([1.0] * units, fraction, "seed")
            drawn = [index for each in strata for index in each.drawn]
            assert sum(each.units for each in strata) == units
            assert len(set(drawn)) == len(drawn) >= min(2, units)
            assert all(len(each.drawn) >= min(2, each.units) for each in strata)
            assert strata == draw([1.0] * units, fraction, "seed")
    large = draw([1.0] * 99 + [1000.0], 0.1, "a")
    assert large[0].drawn == (99,)


def test_slots_share_out_every_document_once() -> None:
    rng = np.random.default_rng(8)
    for _ in range(60):
        lengths = rng.choice([0, 1, 5, 40, 3000], rng.integers(1, 30)).astype(np.int64)
        slots = int(rng.integers(2, 40))
        part = Part("a.parquet", 100, 100 + len(lengths), int(lengths.sum()))
        shares = np.zeros(len(lengths))
        for slot in range(slots):
            rows, weights = slot_rows(Piece(part, slot, slots), lengths)
            assert (weights > 0).all()
            shares[rows.start - 100 : rows.stop - 100] += weights
        assert shares == pytest.approx(np.ones(len(lengths)))


def test_a_ratio_that_is_constant_is_estimated_without_error() -> None:
    sizes = np.array([3.0, 8.0, 1.0])
    found = estimate_group([Drawn(30, sizes, 2.5 * sizes[:, None])], 1000)
    assert found.totals[0] == pytest.approx(2500)
    assert half_widths([found])[0] == pytest.approx(0, abs=1e-6)


def test_the_variance_is_that_of_the_textbook() -> None:
    sizes, counts = np.array([10.0, 12.0, 9.0, 11.0]), np.array([21.0, 25.0, 17.0, 20.0])
    units, total = 50, 520.0
    (variance,) = estimate_group([Drawn(units, sizes, counts[:, None])], total).variances
    errors = counts - counts.sum() / sizes.sum() * sizes
    spread = (errors**2).sum() / 3
    scale = (total / units / sizes.mean()) ** 2
    assert variance.value[0] == pytest.approx(units**2 * (1 - 4 / units) / 4 * spread * scale)
    assert variance.freedom == 3


def test_a_mixture_says_what_is_repeated_and_cut() -> None:
    found = uses.mix({"ko": 100, "en": 600, "fr": 5}, {"ko": 0.5, "en": 0.5}, 400)
    assert [(part.language, part.wanted, part.epochs) for part in found.parts] == [
        ("ko", 200, 2),
        ("en", 200, pytest.approx(1 / 3)),
    ]
    assert (found.unrepeated, found.left_out) == (200, ("fr",))
    with pytest.raises(ConfigError, match="no tokens of language 'english'"):
        uses.mix({"ko": 100}, {"english": 1}, 1)


@pytest.mark.parametrize(
    ("text", "tokens"), [("20B", 20 * 10**9), ("1.5t", 15 * 10**11), ("300_000", 300_000)]
)
def test_targets_are_numbers_with_a_unit(text: str, tokens: int) -> None:
    assert uses.parse_tokens(text) == tokens


@pytest.mark.parametrize("text", ["", "B", "-3B", "20 GB", "1e9", "0"])
def test_other_targets_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--target: expected a number of tokens"):
        uses.parse_tokens(text)


@pytest.mark.parametrize(
    "text", ["", "ko", "ko=0.5", "ko=0.5,ko=0.5", "ko=1.5,en=-0.5", "ko=0,en=1"]
)
def test_shares_that_are_no_mixture_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--mix"):
        uses.parse_mix(text)


def test_the_command_line_prints_budget_epochs_and_mixture(tmp_path: Path, tokenizer: str) -> None:
    paths = [
        str(write_lines(tmp_path / f"{name}.jsonl", ["나라 바다"] * 20, name))
        for name in ("ko", "en")
    ]
    arguments = ["budget", *paths, "--tokenizer", tokenizer, "--language-column", "lang"]
    arguments += ["--target", "1M", "--mix", "ko=0.75,en=0.25"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    for text in ("epochs", "repeated", "uint16", "1 boundary token for each document"):
        assert text in done.stdout
    found = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    total = found["tokenizers"][0]["total"]
    assert found["epochs"] == [round(10**6 / (total["tokens"] + 40), 4)]
    assert total["disk_bytes"] == 2 * (total["tokens"] + 40)
    assert found["mixtures"][0]["parts"][0]["language"] == "ko"
    assert CliRunner().invoke(app, [*arguments, "--mix", "ko=2"]).exit_code == 2


def test_damaged_files_are_left_out_of_samples_too(tmp_path: Path, tokenizer: str) -> None:
    texts = [f"{number} " + "나라 바다 " * 30 for number in range(4000)]
    for name in ("a", "b", "c"):
        pq.write_table(pa.table({"text": texts}), tmp_path / f"{name}.parquet")
    damaged = bytearray((tmp_path / "b.parquet").read_bytes())
    damaged[1000:3000] = bytes(2000)
    (tmp_path / "b.parquet").write_bytes(damaged)
    (tmp_path / "c.parquet").write_bytes(b"PAR1 no footer")
    source = {"path": str(tmp_path / "*.parquet")}
    job = {
        "read": {"sources": [source], "on_bad_file": "skip"},
        "tokenizer": {"load": tokenizer},
        "output": str(tmp_path / "out"),
    }
    found = jogak.budget(job, sample=0.5, show_progress=False)
    assert {Path(each.path).name for each in found.skipped_files} <= {"b.parquet", "c.parquet"}
    assert found.skipped_files
    assert "left out as damaged" in budget_text(found)


def test_saved_datasets_are_sampled(tmp_path: Path, tokenizer: str) -> None:
    import datasets

    texts = [f"{number} " + "나라 바다 " * (number % 50) for number in range(8000)]
    datasets.Dataset.from_dict({"text": texts}).save_to_disk(str(tmp_path / "saved"))
    job = {
        "read": {"sources": [{"hf": str(tmp_path / "saved"), "language": "ko"}]},
        "tokenizer": {"load": tokenizer},
        "output": str(tmp_path / "out"),
    }
    whole = jogak.budget(job, show_progress=False)
    part = jogak.budget(job, sample=0.3, show_progress=False)
    assert whole.total.documents.value == 8000
    estimate = part.total.tokens[0]
    assert 0 < part.design[0].drawn < part.design[0].units
    assert estimate.value == pytest.approx(whole.total.tokens[0].value, rel=0.1)

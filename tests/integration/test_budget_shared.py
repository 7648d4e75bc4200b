"""A sample's interval holds the truth about as often as it says, on real text cut into units."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from jogak.budget import sample
from jogak.budget.counting import slot_rows
from jogak.budget.estimate import Drawn, estimate_group, half_widths, t_quantile
from jogak.budget.units import LEAST_BYTES, UNITS_DRAWN, cut
from jogak.config import Job, options_from
from jogak.tokenizer import Tokenizer

pytestmark = [pytest.mark.shared, pytest.mark.slow]

SOURCES = [
    ("ko/ko-1.parquet", "text"),
    ("en/en.parquet", "content"),
    ("code/code.parquet", "text"),
    ("multi/multi.parquet", "text"),
]
SEEDS = 800
SEVEN = [
    "KLUE-benchmark/KLUE",
    "e9t/nsmc",
    "UniversalDependencies/UD_Korean-Kaist",
    "UniversalDependencies/UD_Korean-GSD",
    "kakaobrain/kor-nlu-datasets",
    "songys/Chatbot_data",
    "warnikchow/3i4k",
]
"""Seven sources of single sentences, as in the published simulation."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Documents:
    """Bytes and tokens of each document of a file, int64 (documents,), and its column `source`."""

    lengths: NDArray[np.int64]
    tokens: NDArray[np.int64]
    sources: list[str]


@pytest.fixture(scope="module")
def documents(shared: Path) -> list[Documents]:
    """Every document of the sources, counted once with o200k."""
    tokenizer = Tokenizer.load(shared / "tokenizers/openai-tiktoken/o200k_base.tiktoken")
    found = []
    for name, column in SOURCES:
        table = pq.read_table(shared / "data" / name, columns=[column, "source"])
        ends = tokenizer.encode_batch(table[column]).ends
        lengths = np.array([len(each.encode()) for each in table[column].to_pylist()])
        found.append(Documents(lengths, np.diff(ends, prepend=0), table["source"].to_pylist()))
    return found


def job_for(shared: Path) -> Job:
    sources = [{"path": str(shared / "data" / name), "text": column} for name, column in SOURCES]
    values = {"read": {"sources": sources}, "tokenizer": {"load": "."}, "output": "."}
    return options_from(Job, values, "test")


def counted_units(
    job: Job, number: int, found: Documents, fraction: float
) -> tuple[Floats, Floats]:
    """Return sizes and tokens of all the units that a sample of this size would draw from."""
    unit_bytes = max(int(found.lengths.sum() * fraction / UNITS_DRAWN), LEAST_BYTES)
    sizes, tokens = [], []
    for unit in cut(job, number, unit_bytes, 0):
        total = 0.0
        for piece in unit.pieces:
            part, weights = piece.part, 1.0
            if piece.slots > 1:
                lengths = found.lengths[part.start : part.stop]
                part, weights = slot_rows(piece, lengths)
            total += float((found.tokens[part.start : part.stop] * weights).sum())
        sizes.append(unit.size)
        tokens.append(total)
    return np.array(sizes), np.array(tokens)


def simulate(
    groups: list[tuple[Floats, Floats]], fraction: float, seeds: int = SEEDS
) -> tuple[float, float]:
    """Return how often the interval held the truth, and its mean half-width as a share of it."""
    truth = sum(float(tokens.sum()) for _, tokens in groups)
    held, widths = 0, []
    for seed in range(seeds):
        estimated = []
        for number, (sizes, tokens) in enumerate(groups):
            strata = [
                Drawn(each.units, sizes[list(each.drawn)], tokens[list(each.drawn), None])
                for each in sample.draw(sizes.tolist(), fraction, f"{seed} {number}")
            ]
            estimated.append(estimate_group(strata, float(sizes.sum())))
        total = sum(float(each.totals[0]) for each in estimated)
        width = float(half_widths(estimated)[0])
        held += abs(total - truth) <= width
        widths.append(width / truth)
    return held / seeds, float(np.mean(widths))


@pytest.mark.parametrize("fraction", [0.01, 0.1])
def test_intervals_hold_the_truth_in_nine_of_ten_samples(
    shared: Path, documents: list[Documents], fraction: float
) -> None:
    job = job_for(shared)
    groups = [counted_units(job, number, found, fraction) for number, found in enumerate(documents)]
    coverage, width = simulate(groups, fraction)
    print(f"sample {fraction}: {coverage:.3f} of intervals hold the truth, mean ± {width:.4f}")
    assert coverage >= 0.90
    for (name, _), group in zip(SOURCES, groups, strict=True):
        alone, width = simulate([group], fraction, SEEDS // 2)
        print(f"  {name} alone: {alone:.3f}, ± {width:.4f}")
        assert alone >= 0.70  # one rare document can make a source's sample blind


def test_slots_add_up_to_every_document(shared: Path, documents: list[Documents]) -> None:
    job = job_for(shared)
    for number, found in enumerate(documents):
        _, tokens = counted_units(job, number, found, 0.02)
        assert tokens.sum() == pytest.approx(found.tokens.sum(), rel=1e-9)


def sentence_shards(found: Documents) -> list[tuple[Floats, Floats]]:
    """Return bytes and tokens of 166 shards of 20 documents from seven sources."""
    groups = []
    for name, count in zip(SEVEN, (24, 24, 24, 24, 24, 24, 22), strict=True):
        own = [at for at, source in enumerate(found.sources) if source == name][: 20 * count]
        shape = (count, 20)
        lengths = found.lengths[own].reshape(shape).sum(axis=1).astype(np.float64)
        groups.append((lengths, found.tokens[own].reshape(shape).sum(axis=1).astype(np.float64)))
    return groups


def separate_ratio(groups: list[tuple[Floats, Floats]], drawn: int, seeds: int) -> float:
    """Return the mean half-width (2 s.e.) of the stratified separate ratio estimate, as a share."""
    rng = np.random.default_rng(3)
    truth = sum(float(tokens.sum()) for _, tokens in groups)
    widths = []
    for _ in range(seeds):
        variance = 0.0
        for lengths, tokens in groups:
            units = len(lengths)
            chosen = rng.choice(units, drawn, replace=False)
            ratio = tokens[chosen].sum() / lengths[chosen].sum()
            spread = (tokens[chosen] - ratio * lengths[chosen]).var(ddof=1)
            scale = (lengths.mean() / lengths[chosen].mean()) ** 2
            variance += units**2 * (1 - drawn / units) / drawn * spread * scale
        widths.append(2 * variance**0.5 / truth)
    return float(np.mean(widths))


@pytest.mark.parametrize("drawn", [3, 4, 5])
def test_intervals_are_about_as_narrow_as_the_separate_ratio_estimate(
    documents: list[Documents], drawn: int
) -> None:
    groups = sentence_shards(documents[0])
    coverage, width = simulate(groups, drawn / 24)
    reference = separate_ratio(groups, drawn, 2 * SEEDS)
    print(f"{7 * drawn} of 166 shards: {coverage:.3f}, ± {width:.4f}; separate ± {reference:.4f}")
    assert coverage >= 0.90
    assert width <= 1.2 * reference


def test_the_quantile_is_that_of_the_tables() -> None:
    table = {1: 12.706, 2: 4.303, 3: 3.182, 5: 2.571, 10: 2.228, 29: 2.045, 120: 1.980}
    for freedom, expected in table.items():
        assert t_quantile(0.95, freedom) == pytest.approx(expected, abs=6e-4)
    assert t_quantile(0.95, 10**6) == pytest.approx(1.960, abs=6e-4)

"""Weighing languages: the counts as if the text of each language stood there that many times.

A pretoken then counts sum(weight of language x its count in it) times. Weights are fractions, so
all counts are multiplied by their common denominator: the arithmetic is exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from jogak.config import TrainOptions
from jogak.count import PretokenCounts
from jogak.errors import TokenizerError
from jogak.vocabulary import pack_tokens

TEMPERATURE_STEPS = 1000
"""Weights that follow from a temperature are rounded to 1 / TEMPERATURE_STEPS."""

MOST = 2**63
"""Weighted occurrences of all pretokens together, times the scale, stay below this."""


@dataclass(frozen=True, slots=True)
class WeightedCounts:
    """Counts to train on.

    Attributes:
        counts: the counts, each `scale` times its weighted value; none is 0.
        scale: the common denominator of the weights.
    """

    counts: PretokenCounts
    scale: int = 1


def language_weights(counts: PretokenCounts, options: TrainOptions) -> dict[str, Fraction]:
    """Return the weight of every language of the counts.

    Stated weights are taken as the decimal numbers they are written as; a language without one has
    weight 1. Of a temperature t, a language of b bytes has (b / largest b) ** (t - 1), rounded to
    1 / TEMPERATURE_STEPS: its share of the weighted text is as b ** t, and the largest language
    keeps its counts.

    Raises:
        TokenizerError: a weight for a language that does not occur, or no weight above 0.
    """
    if options.weights is None and options.temperature is None:
        return dict.fromkeys(counts.totals, Fraction(1))
    if options.temperature is not None:
        return _tempered(
            {name: totals.text_bytes for name, totals in counts.totals.items()},
            options.temperature,
        )
    stated = options.weights or {}
    known = ", ".join(counts.totals)
    for language in stated:
        if language not in counts.totals:
            message = f"train.weights: no language '{language}' (found: {known}); name one of these"
            raise TokenizerError(message)
    weights = {name: Fraction(str(stated.get(name, 1))) for name in counts.totals}
    if not any(weights.values()):
        message = f"train.weights: every language has weight 0 (found: {known}); raise one"
        raise TokenizerError(message)
    return weights


def _tempered(text_bytes: Mapping[str, int], temperature: float) -> dict[str, Fraction]:
    largest = max(text_bytes.values(), default=0)
    return {
        name: Fraction(round((size / largest) ** (temperature - 1) * TEMPERATURE_STEPS))
        / TEMPERATURE_STEPS
        if size
        else Fraction(1)
        for name, size in text_bytes.items()
    }


def weigh(counts: PretokenCounts, options: TrainOptions) -> WeightedCounts:
    """Return the counts to train on; first positions stay those of the whole text.

    Raises:
        TokenizerError: see `language_weights`, or the weighted counts pass 2^63.
    """
    weights = language_weights(counts, options)
    if all(weight == 1 for weight in weights.values()):
        return WeightedCounts(counts)
    scale = math.lcm(*(weight.denominator for weight in weights.values()))
    factors = {name: int(weight * scale) for name, weight in weights.items()}
    total = sum(factors[name] * counts.totals[name].pretokens for name in factors)
    if total >= MOST:
        message = (
            f"train.weights: {total:,} weighted pretokens (scale {scale:,}) are too many to count; "
            "use smaller weights, or ones with fewer decimals"
        )
        raise TokenizerError(message)
    weighted = np.zeros(len(counts), dtype=np.uint64)
    for name, factor in factors.items():
        if not counts.rows:
            weighted += counts.counts * np.uint64(factor)
        else:
            weighted[counts.rows[name]] += counts.row_counts[name] * np.uint64(factor)
    kept = np.flatnonzero(weighted)
    return WeightedCounts(_chosen(counts, kept, weighted[kept]), scale)


def _chosen(
    counts: PretokenCounts, rows: NDArray[np.int64], values: NDArray[np.uint64]
) -> PretokenCounts:
    """Return these rows with other counts, and without counts by language."""
    data, offsets = counts.data, counts.offsets
    if len(rows) < len(counts):
        data, offsets = pack_tokens([counts.pretoken(row) for row in rows.tolist()])
    return replace(
        counts,
        data=data,
        offsets=offsets,
        counts=values,
        first=counts.first[rows],
        rows={},
        row_counts={},
    )

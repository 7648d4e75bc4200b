"""From a sample of units to totals with intervals: a ratio to known sizes, units as clusters.

A stratum's units are drawn without replacement. Strata of one group (a source) share one ratio
R = sum of y / sum of x, each unit weighted by the inverse of its chance, and the total is R times
the group's size X, which is known. The variance is that of the residuals between units: documents
inside a unit resemble each other, so they are never treated as independent.
Source: Cochran, Sampling Techniques (1977), chapters 5 and 6 (combined ratio estimate).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Columns = NDArray[np.float64]

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Drawn:
    """The sampled units of one stratum.

    Attributes:
        units: units that the stratum has.
        sizes: float64 (sampled,); x, of each sampled unit.
        counts: float64 (sampled, variables); y, what was counted in each.
    """

    units: int
    sizes: Columns
    counts: Columns


@dataclass(frozen=True, slots=True)
class Variance:
    """One stratum's share of a variance, and the degrees of freedom behind it."""

    value: Columns
    freedom: int


@dataclass(frozen=True, slots=True)
class Group:
    """Estimated totals of one group of strata.

    Attributes:
        totals: float64 (variables,).
        variances: of each stratum that was not read whole.
    """

    totals: Columns
    variances: tuple[Variance, ...]


def estimate_group(strata: Sequence[Drawn], size: float) -> Group:
    """Estimate the totals of a group from its strata.

    Args:
        strata: none empty; of each at least two units are drawn, or all.
        size: X, the sum of x over all the units of the group.
    """
    weights = [len(stratum.sizes) and stratum.units / len(stratum.sizes) for stratum in strata]
    expanded = sum(w * float(s.sizes.sum()) for w, s in zip(weights, strata, strict=True))
    counts = sum(
        (w * s.counts.sum(axis=0) for w, s in zip(weights, strata, strict=True)),
        np.zeros(strata[0].counts.shape[1]),
    )
    if all(stratum.units == len(stratum.sizes) for stratum in strata) or expanded <= 0:
        return Group(counts, ())
    ratio = counts / expanded
    scale = (size / expanded) ** 2
    return Group(
        ratio * size,
        tuple(
            _variance(stratum, ratio, scale)
            for stratum in strata
            if len(stratum.sizes) < stratum.units
        ),
    )


def _variance(stratum: Drawn, ratio: Columns, scale: float) -> Variance:
    drawn, units = len(stratum.sizes), stratum.units
    residuals = stratum.counts - stratum.sizes[:, None] * ratio
    spread = residuals.var(axis=0, ddof=1)
    return Variance(scale * units**2 * (1 - drawn / units) / drawn * spread, drawn - 1)


def half_widths(groups: Sequence[Group], confidence: float = CONFIDENCE) -> Columns:
    """Return the half-widths of the intervals around the sum of groups, float64 (variables,).

    0 where everything was read. The quantile is Student's t; its degrees of freedom are the units
    drawn less the strata they come from.
    """
    parts = [part for group in groups for part in group.variances]
    if not parts:
        return np.zeros(len(groups[0].totals) if groups else 0)
    total: Columns = np.sum([part.value for part in parts], axis=0)
    return t_quantile(confidence, sum(part.freedom for part in parts)) * np.sqrt(total)


def t_quantile(confidence: float, freedom: int) -> float:
    """Return t with P(|T| <= t) = confidence for Student's distribution.

    >>> round(t_quantile(0.95, 10), 3)
    2.228
    """
    low, high = 0.0, 1.0
    while _t_within(high, freedom) < confidence:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if _t_within(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return high


def _t_within(t: float, freedom: int) -> float:
    """Return P(|T| <= t). Source: Abramowitz and Stegun (1964), 26.7.3 and 26.7.4."""
    if freedom > MOST_TERMS:
        return math.erf(t / math.sqrt(2))
    angle = math.atan(t / math.sqrt(freedom))
    cosine = math.cos(angle)
    odd = freedom % 2
    term = total = cosine if odd else 1.0
    if freedom == 1:
        total = 0.0
    for step in range(3 if odd else 2, freedom - 1, 2):
        term *= cosine * cosine * (step - 1) / step
        total += term
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total


MOST_TERMS = 2000
"""Degrees of freedom above which the normal distribution is the same to three places."""

"""Who stands out from a panel, and what the marking rests on.

A figure stands out when it lies farther from the panel's median than `threshold` times the square root of (the
assessor's standard error)^2 + (the panel's spread)^2, the spread being 1.4826 times the median distance from the
median: more than chance with few judgments and ordinary differences between people explain. Only assessors with at
least `least` judgments behind the figure are marked or make the median. Two reasons need no panel: a drift whose
t-test, corrected for the number of assessors, has p < .05; one grade throughout, where giving grades as often as the
others did on the same documents would lead to it with probability < .001.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Estimate = tuple[Floats, Floats]  # (assessors,) value, standard error

SPREAD = 1.4826  # makes the median distance from the median a standard deviation, for normal numbers


@dataclass(frozen=True)
class Outlying:
    """reasons : for every assessor, in words; none where nothing stands out. threshold, least : the rule's numbers."""

    reasons: tuple[tuple[str, ...], ...]
    threshold: float
    least: int


def outlying(
    *,
    n_assessors: int,
    threshold: float,
    least: int,
    n_shared: Ints,
    severity: Estimate,
    logs: bool,
    agreement: Estimate,
    n_gold: Ints,
    gold_agreement: Estimate,
    gold_severity: Estimate,
    n_repeated: Ints,
    consistency: Floats,
    drift: Estimate,
    seconds: Estimate,
    grades: tuple[str, ...],
    share: Floats,
    share_of_others: Floats,
) -> Outlying:
    """Reasons from the figures of `AssessorProfiles`; drift is (slope, p), seconds (median, error of its logarithm)."""
    if threshold <= 0 or least < 2:
        raise ArgumentError(f"threshold={threshold}, least={least}: above 0, and at least 2 judgments, were expected")
    reasons: list[list[str]] = [[] for _ in range(n_assessors)]

    def mark(n: Ints, figure: Estimate, sides: tuple[int, ...], text: Callable[[float, float, int], str]) -> None:
        value, error = figure
        known = (n >= least) & ~np.isnan(value)
        if known.sum() < 3:  # of two, neither is the odd one
            return
        median = float(np.median(value[known]))
        spread = SPREAD * float(np.median(np.abs(value[known] - median)))
        apart = value - median
        limit = threshold * np.sqrt(np.nan_to_num(error) ** 2 + spread**2)
        for a in np.flatnonzero(known & (np.abs(apart) > limit + 1e-9) & np.isin(np.sign(apart), sides)):
            reasons[a].append(text(float(value[a]), median, int(n[a])))

    unit = "in logarithms" if logs else "of the scale"

    def judged(than: str) -> Callable[[float, float, int], str]:
        def text(value: float, median: float, n: int) -> str:
            word = "severe" if value > median else "lenient"
            return f"{word}: {-value:+.2f} {unit} from {than} (panel {0.0 - median:+.2f}, {n} documents)"

        return text

    mark(n_shared, severity, (-1, 1), judged("the others"))
    mark(
        *(n_shared, agreement, (-1,)),
        lambda value, median, n: f"agrees little with the others: {value:.2f} (panel {median:.2f}, {n} documents)",
    )
    mark(
        *(n_gold, gold_agreement, (-1,)),
        lambda value, median, n: f"agrees little with gold: {value:.2f} (panel {median:.2f}, {n} documents)",
    )
    mark(n_gold, gold_severity, (-1, 1), judged("gold"))
    typical = np.nanmedian(consistency[n_repeated >= least]) if (n_repeated >= least).any() else np.nan
    chance = np.sqrt(typical * (1 - typical) / np.maximum(n_repeated, 1))
    mark(
        *(n_repeated, (consistency, chance), (-1,)),
        lambda value, median, n: (
            f"contradicts themselves: same answer for {value:.0%} of {n} documents judged again (panel {median:.0%})"
        ),
    )
    mark(
        *(n_shared, (np.log(seconds[0]), seconds[1]), (-1,)),
        lambda value, median, n: f"fast: {np.exp(value):.1f} s a judgment (panel {np.exp(median):.1f} s)",
    )
    slope, p = drift
    for a in np.flatnonzero((n_shared >= least) & (p * n_assessors < 0.05)):
        way = "lenient" if slope[a] > 0 else "severe"
        reasons[a].append(f"drifts: grows {abs(slope[a]):.2f} more {way} from first to last (p = {p[a]:.1g})")
    for a, g in np.argwhere(share == 1):
        if n_shared[a] >= least and share_of_others[a, g] ** int(n_shared[a]) < 0.001:
            reasons[a].append(
                f"always says {grades[g]}: others said it in {share_of_others[a, g]:.0%} of the same documents"
            )
    return Outlying(tuple(map(tuple, reasons)), threshold, least)

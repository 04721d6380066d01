"""Does the document that is shown first win too often?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.clustered import clustered_mean
from qrowd.kernels.log_worths import outcomes
from qrowd.model.preferences import Preferences
from qrowd.model.result import Result
from qrowd.preferences.bradley_terry import BradleyTerry, bradley_terry


@dataclass(frozen=True, eq=False)
class PositionBias(Result):
    """What being shown first does, one value per assessor.

    n : preferences that say which document was shown first. share : of those in which it was preferred; low, high : of
        its interval, with topics as clusters (`qrowd.kernels.clustered`), nan with fewer than two topics; p : of a
        share as far from 1/2 or farther, if sides were dealt by chance (exact binomial).
    intercept : log-odds that being shown first adds, log-worths being accounted for; standard_error, p_intercept :
        of the intercept (Wald). This one does not need sides dealt by chance.
    n_both, same : pairs the assessor saw both ways round, and the share of them answered with the same document; in the
        other pairs the orders contradict each other.

    nan where an assessor has nothing to tell it from.
    """

    assessors: tuple[str, ...]
    n: Ints
    share: Floats
    low: Floats
    high: Floats
    p: Floats
    intercept: Floats
    standard_error: Floats
    p_intercept: Floats
    n_both: Ints
    same: Floats

    _COLUMNS = (
        *("assessors", "n", "share", "low", "high", "p"),
        *("intercept", "standard_error", "p_intercept", "n_both", "same"),
    )

    @property
    def favours(self) -> tuple[str, ...]:
        """The document that each assessor prefers too often: "first", "second", or "" where 1/2 is in the interval."""
        ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return tuple("first" if low > 0.5 else "second" if high < 0.5 else "" for low, high in ends)


def position_bias(preferences: Preferences, *, ridge: float = 0.1, confidence: float = 0.95) -> PositionBias:
    """How far each assessor favours the document that is shown first.

    ridge : of the log-worths and intercepts, as of `bradley_terry` with position=True. confidence : of each interval.

    For p and the standard error judgments are taken for independent, so they are too small where the same pair was
    asked again and again; the interval is not. For all assessors as one, give `preferences.pooled()`.

    Raises
    ------
    ArgumentError
        Nobody recorded what was shown first.
    """
    from scipy.special import bdtr, erfc

    if preferences.first is None or np.isnan(preferences.first).all():
        raise ArgumentError("the preferences do not say which document was shown first")
    n_assessors = len(preferences.assessors)
    with_side = ~np.isnan(preferences.first)
    if preferences.weight is not None:
        with_side &= preferences.weight != 0.5  # ties
    who = preferences.assessor[with_side]
    n = np.bincount(who, minlength=n_assessors)
    won = np.bincount(who, preferences.first[with_side], minlength=n_assessors)
    fewer = np.minimum(won, n - won)
    fit = bradley_terry(preferences, ridge=ridge, position=True)
    error = intercept_error(fit)
    with np.errstate(invalid="ignore"):
        share = np.where(n > 0, won / n, np.nan)
        p = np.where(n > 0, np.minimum(2 * bdtr(fewer, n, 0.5), 1.0), np.nan)
        intercept = np.where(n > 0, fit.intercept, np.nan)
        p_intercept = erfc(np.abs(intercept / error) / np.sqrt(2))
    n_both, same = _both_ways(preferences, with_side)
    lean, topic = preferences.first[with_side] - 0.5, preferences.topic[with_side]
    ends = np.array(
        [
            clustered_mean(lean[who == a], topic[who == a].astype(np.int64), bound=0.5, confidence=confidence)[1:]
            for a in range(n_assessors)
        ]
    ).reshape(-1, 2)
    low, high = ends.T + 0.5
    return PositionBias(preferences.assessors, n, share, low, high, p, intercept, error, p_intercept, n_both, same)


def intercept_error(fit: BradleyTerry) -> Floats:
    """(assessors,) standard errors of the intercepts, that of log-worths included; nan where nobody knows any side."""
    data, n_assessors = fit.counted, len(fit.assessors)
    information = np.diag(np.full(n_assessors, 2 * fit.ridge))
    for number, topic in enumerate(fit.pool.topics):
        here = data.of_topic(number)
        side, who = data.rows.side[here], data.rows.assessor[here]
        if not side.any():
            continue
        now = fit.topic(topic)
        first, second = now.rows.first, now.rows.second
        eta = now.scale * (now.log_worth[first] - now.log_worth[second]) + now.shift
        p, q = outcomes(eta, fit.nu)
        bend = data.total[here] * (p + q - (p - q) ** 2) / 4
        information[np.diag_indices(n_assessors)] += np.bincount(who, bend * side**2, minlength=n_assessors)
        cross = np.zeros((now.log_worth.size, n_assessors))
        np.add.at(cross, (first, who), now.scale * bend * side)
        np.add.at(cross, (second, who), -now.scale * bend * side)
        information -= cross.T @ now.covariance @ cross
    with_sides = np.bincount(data.rows.assessor, data.rows.side**2, minlength=n_assessors) > 0
    return np.where(with_sides, np.sqrt(np.diag(np.linalg.inv(information))), np.nan)


def _both_ways(preferences: Preferences, with_side: NDArray[np.bool_]) -> tuple[Ints, Floats]:
    """(assessors,) pairs seen both ways round, and the share of them with the same document preferred throughout."""
    rows, n_assessors = np.flatnonzero(with_side), len(preferences.assessors)
    preferred, other = preferences.preferred[rows].astype(np.int64), preferences.other[rows].astype(np.int64)
    low, high = np.minimum(preferred, other), np.maximum(preferred, other)
    width = max(len(preferences.documents), 1)
    cell = preferences.topic[rows].astype(np.int64) * n_assessors + preferences.assessor[rows]
    _, first = np.unique(cell * width + low, return_inverse=True)
    keys, at, pair = np.unique(first * width + high, return_index=True, return_inverse=True)
    up = preferred == low
    shown_first = up == (preferences.first[rows] == 1)  # type: ignore[index]  # the lower of the two
    n = np.bincount(pair, minlength=keys.size)
    ways, wins = (np.bincount(pair, one, minlength=keys.size) for one in (shown_first, up))
    both = (ways > 0) & (ways < n)
    who = preferences.assessor[rows][at]
    n_both = np.bincount(who[both], minlength=n_assessors)
    with np.errstate(invalid="ignore"):
        same = np.bincount(who[both], ((wins == 0) | (wins == n))[both], minlength=n_assessors) / n_both
    return n_both, same

"""The probability that another panel sees the same system ahead, with the difference shrunk by empirical Bayes.

The two systems of a comparison are seldom a random pair: a leader and a runner-up were selected by the same scores, and
selection makes their difference larger. Systems are therefore treated as a sample from a normal distribution (empirical
Bayes). If the variance of the systems' means is U, of which E is error, the share k = max(0, 1 - E / U) of an observed
difference d is expected to remain. This expectation does not depend on how the pair was selected (Efron 2011, Tweedie's
Formula and Selection Bias. JASA 106(496)). The next difference is normal around k d with the variance k V + W, V and W
being the error variances of this difference and of the next one, so that

    P(the same sign) = P(t < k |d| / sqrt(k V + W))

with the degrees of freedom of V. With k = 1 the difference is not shrunk.

A tail of bad systems should not make the systems at the top look far apart. U is therefore the smaller of the variance
of all means and of twice the mean squared distance from the median, over the means on the pair's side of it.

Efron, Morris (1973), Stein's Estimation Rule and its Competitors: an Empirical Bayes Approach. JASA 68(341).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from qrowd.comparison.resampling import Panel, panel_of
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.two_way import TwoWay
from qrowd.model.labels import number_of
from qrowd.model.scores import one_measure

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


def shrinkage_factor(means: Floats, error: float, centre: Floats) -> Floats:
    """(pairs,) share k of an observed difference that is expected to remain, 0 to 1.

    means : (systems,), two or more. error : error variance of a system's mean relative to the mean of the systems.
    centre : (pairs,) mean of the two systems' means.

    >>> shrinkage_factor(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), 0.005, np.array([0.45])).round(3).tolist()
    [0.8]
    """
    median, freedom = np.median(means), means.size - 1
    squares = (means - median) ** 2
    sides = [2 * float(squares[side].sum()) / freedom for side in (means > median, means < median)]
    spread = np.minimum(means.var(ddof=1), np.where(centre > median, *sides))
    share = 1 - np.divide(error, spread, out=np.full(centre.shape, 1.0 if error > 0 else 0.0), where=spread > 0)
    return np.asarray(np.maximum(share, 0.0))


def p_same_sign(difference: Floats, variance: Floats, next_variance: Floats, df: Floats, factor: Floats) -> Floats:
    """(pairs,) probability that the next difference has the same sign; .5 for a difference of 0.

    variance, df : error variance of `difference` and its degrees of freedom; nan stands for very many.
    next_variance : error variance of the next difference. factor : the `shrinkage_factor`. A difference without error
        has the probability 1.
    """
    from scipy.special import ndtr, stdtr

    size, error = factor * np.abs(difference), np.sqrt(factor * variance + next_variance)
    t = np.divide(size, error, out=np.zeros(size.shape), where=error > 0)
    p = np.where(np.isnan(df), ndtr(t), stdtr(np.where(np.isnan(df), 1.0, df), t))
    exact = (variance + next_variance <= 0) & (difference != 0)
    return np.asarray(np.where(exact, 1.0, p))


@dataclass(frozen=True, eq=False)
class Spread:
    """The variance between systems and its error part, from which the shrinkage of a difference follows.

    means : (systems,). both, assessors : error variance of a system's mean relative to the mean of the systems: from
    all that the method resamples, and from assessors alone (nan without components).
    """

    means: Floats
    both: float
    assessors: float

    @classmethod
    def of(cls, panel: Panel, *, topics: bool) -> Spread:
        n_systems = len(panel.systems)
        squares = panel.centred_squares(topics=topics)
        ms = squares.ms.sum(axis=1, keepdims=True) / (n_systems - 1)
        both, _ = TwoWay(squares.mean[:1], ms, squares.df, squares.weights, squares.per).variance()
        assessors = nan
        if panel.components_known:
            of_both = panel.centred_squares(topics=False) if topics else squares
            assessors = float(of_both.ms[1].sum() / (n_systems - 1) / panel.n_cells)
        return cls(panel.mean, float(both[0]), assessors)

    def factor(self, error: float, panel: Panel, first: Ints, second: Ints) -> Floats:
        """(pairs,) of the panel's systems: the share of their difference that is expected to remain."""
        return shrinkage_factor(self.means, error, (panel.mean[first] + panel.mean[second]) / 2)


class Spreads:
    """The spread of the systems that a pair is compared among: computed once for all pairs with the same ones."""

    def __init__(self, scores: AnyScores) -> None:
        self._scores = scores
        values, (_, _, self._names) = one_measure(scores)
        self._known = ~np.isnan(values)
        self._spreads: dict[tuple[tuple[str, ...], bool], Spread] = {}

    def of(self, first: str, second: str, *, topics: bool) -> Spread:
        """Of the two systems and all others that have a score wherever both of them have one."""
        pair = [number_of(name, self._names, "system") for name in (first, second)]
        complete = self._known[self._known[:, :, pair].all(axis=2)].all(axis=0)
        key = tuple(self._names[s] for s in np.flatnonzero(complete)), topics
        if key not in self._spreads:
            self._spreads[key] = Spread.of(panel_of(self._scores, key[0]), topics=topics)
        return self._spreads[key]

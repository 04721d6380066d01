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

import numpy as np

from qrowd.kernels.arrays import Floats


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

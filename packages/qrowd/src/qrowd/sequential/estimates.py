"""Sums over all documents, estimated from those drawn without replacement, whatever is expected of the others.

A contrast is a sum of weight x gain over documents, such as the difference of two systems. Each draw gives an unbiased
estimate of it: what is judged, what is expected of the rest, and the error of the expectation at the drawn document
over its probability,

    Z_i = sum_d w_d f_d + sum_{k < i} w_k (y_k - f_k) + w_i (y_i - f_i) / pi_i,

f being what is expected and y what was judged. They are averaged with weights of one over their variances; the
information of the mean is the sum of these weights.

Their intervals are confidence sequences: bounds that hold at all times at once, so one may look after every answer.
The error of an estimate with information V (one over its variance) behaves as a Brownian motion S at time V, divided by
V. For each d, exp(d S - d^2 V / 2) is a martingale with mean 1, so a mixture over d exceeds 1 / alpha at some time with
probability alpha at most (Ville). Robbins (1970, Ann. Math. Stat. 41, 1397-1409) mixes over a normal distribution of d;
here 90 % of the mixture are differences d from .01 to .12, equal on the scale of logarithms, of both signs, so that the
bound is nearly as narrow as it can be at every difference between them; the rest reaches from .0005 to 2.

A variance that no draw of documents reduces is that of topics that are a sample. The people who judge are no sample: of
two or three, nobody knows how much more people's taste for a system varies.

Waudby-Smith & Ramdas (2020), Confidence sequences for sampling without replacement, NeurIPS; Zrnic & Candès (2024),
Active statistical inference, ICML. For estimates of unknown variance the bound holds asymptotically: Waudby-Smith,
Arbour, Sinha, Kennedy & Ramdas (2024), Time-uniform central limit theory and asymptotic confidence sequences, Ann.
Stat. 52(6).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qrowd.kernels.arrays import Floats
from qrowd.sequential.design import Draws

DIFFERENCES = np.concatenate([np.geomspace(0.0005, 0.0075, 8), np.geomspace(0.01, 0.12, 10), np.geomspace(0.16, 2, 8)])
SHARES = np.repeat([0.05, 0.9, 0.05], [8, 10, 8]) / np.repeat([8, 10, 8], [8, 10, 8])
MIN_DRAWS = 15  # before which the approximation is not trusted
SHARE = 1 / 6  # of the error rate, for errors that no draw reduces; by simulation, see the tests


def mixture_bound(information: ArrayLike, *, confidence: float = 0.95) -> Floats:
    """Half of the width of the confidence sequence where the estimate has this information; inf where it has none.

    The S at which the weighted mean of cosh(d S) exp(-d^2 V / 2) is 1 / alpha, over V.

    >>> mixture_bound([0.0, 2500.0, 40000.0]).round(4)
    array([   inf, 0.0626, 0.016 ])
    """
    v = np.asarray(information, np.float64)
    time = np.where((v > 0) & np.isfinite(v), v, 1.0)
    d = DIFFERENCES.reshape(-1, *[1] * v.ndim)
    goal = -np.log(1 - confidence)
    shares = np.log(SHARES / 2).reshape(d.shape)
    s = np.min((goal - shares + d * d * time / 2) / d, axis=0)  # where one term alone suffices
    for _ in range(60):  # Newton's steps of a convex function, from above
        terms = shares + d * s - d * d * time / 2
        largest = terms.max(axis=0)
        plus, minus = np.exp(terms - largest), np.exp(terms - 2 * d * s - largest)
        total = (plus + minus).sum(axis=0)
        step = (np.log(total) + largest - goal) / ((d * (plus - minus)).sum(axis=0) / total)
        s = s - step
        if np.all(np.abs(step) <= 1e-12 * s):
            break
    return np.where(v > 0, np.where(np.isfinite(v), s / time, 0.0), np.inf)


def interval_half(
    information: ArrayLike, n_draws: int, *, confidence: float = 0.95, variance: ArrayLike = 0.0
) -> Floats:
    """Half of the width of the interval after this many judged draws: inf before `MIN_DRAWS`, 0 where all is judged.

    variance : of an error that no draw reduces, such as that of a sample of topics. Its normal quantile, at `SHARE` of
    the error rate, is added in squares: with less, a path would leave the interval too often on its way from one error
    to the other.
    """
    from scipy.special import ndtri

    v = np.asarray(information, np.float64)
    half = mixture_bound(v, confidence=confidence)
    half = half if n_draws >= MIN_DRAWS else np.where(np.isinf(v), 0.0, np.inf)
    return np.asarray(np.hypot(half, -ndtri(SHARE * (1 - confidence) / 2) * np.sqrt(variance)))


SMALLEST = 1e-12  # a variance below this share of the first one is rounding


@dataclass(frozen=True, eq=False)
class ContrastEstimates:
    """Estimates of contrasts; each array is (contrasts,).

    information : one over the variance; inf where every document with a weight is judged.
    n_judged : documents with a weight that are judged. n_documents : documents with a weight.
    """

    estimate: Floats
    information: Floats
    n_judged: NDArray[np.int64]
    n_documents: NDArray[np.int64]


def contrast_estimates(
    weights: Floats,
    draws: Draws,
    gains: Floats,
    expected: Floats,
    spread: Floats,
    *,
    matter: NDArray[np.bool_] | None = None,
) -> ContrastEstimates:
    """Estimates of contrasts from the draws that are judged.

    weights : (contrasts, documents). gains : (documents,) nan where not judged. Only the draws before the first that is
    not judged make the estimate: who answers late is not random. expected, spread : (documents,) expected gain, of a
    judged document without its own judgment, and standard deviation of its error. matter : (contrasts, documents)
    whether a document can change a contrast; default: those with a weight.
    """
    judged = ~np.isnan(gains)
    matter = weights != 0 if matter is None else matter
    sums = weights @ np.where(judged, gains, 0.0)
    estimate, information = _from_draws(weights, draws.answered(judged), gains, expected, spread)
    whole = ~(matter & ~judged).any(axis=1)
    return ContrastEstimates(
        np.where(whole, sums, estimate),
        np.where(whole, np.inf, information),
        (matter & judged).sum(axis=1),
        matter.sum(axis=1),
    )


def _from_draws(
    weights: Floats, draws: Draws, gains: Floats, expected: Floats, spread: Floats
) -> tuple[Floats, Floats]:
    """(contrasts,) weighted means of the draws' estimates, and their information; without draws what is expected."""
    total = weights @ expected
    if not len(draws):
        return total, np.zeros(len(weights))
    documents = draws.document
    errors = weights[:, documents] * (gains[documents] - expected[documents])
    earlier = np.cumsum(errors, axis=1) - errors
    estimates = total[:, None] + earlier + errors / draws.probabilities()
    variances = _variances(weights, draws, spread)
    useful = variances > SMALLEST * variances[:, :1]
    inverse = np.where(useful, 1 / np.where(useful, variances, 1.0), 0.0)
    information = inverse.sum(axis=1)
    means = (inverse * estimates).sum(axis=1) / np.where(information > 0, information, 1.0)
    return np.where(information > 0, means, total), information


def _variances(weights: Floats, draws: Draws, spread: Floats) -> Floats:
    """(contrasts, draws) expected variance of the estimate of each draw.

    sum over the documents left of (w s)^2 / pi, less that of (w s)^2.
    """
    squares = (weights * spread) ** 2
    left = draws.left_at_batches()
    with np.errstate(divide="ignore"):
        inverse = np.where(left & (draws.sizes > 0), 1 / draws.sizes, 0.0)
    sizes = draws.before(draws.sizes)
    begin = np.searchsorted(draws.batch, draws.batch)
    own = squares[:, draws.document]

    def rest(of_batches: Floats, of_draws: Floats) -> Floats:
        before = np.cumsum(of_draws, axis=1) - of_draws
        return np.asarray(np.maximum(of_batches[:, draws.batch] - (before - before[:, begin]), of_draws))

    over_sizes = rest(squares @ inverse.T, own / draws.sizes[draws.batch, draws.document])
    plain = rest(squares @ (left & (draws.sizes > 0)).T, own)
    return np.asarray(np.maximum(sizes * over_sizes - plain, 0.0))


Target = Literal["these topics", "new topics"]


def topic_variance(
    weights: Floats,
    topic: NDArray[np.integer],
    expected: Floats,
    variance: Floats,
    *,
    n_topics: int,
    constants: Floats | None = None,
) -> Floats:
    """(contrasts,) variance of a mean difference, over samples of topics like these.

    The sample variance of the differences of topics over their number. What is expected of open documents makes topics
    more alike than they are, so that the variance of these documents is added.

    weights : (contrasts, documents) of a gain in the mean difference. topic : (documents,). expected : (documents,)
    gains, judged or expected. variance : (documents,) of the error; 0 where judged. constants : (contrasts, topics) to
    be added; default: 0.
    """
    result = np.full(len(weights), np.inf)
    if n_topics < 2:
        return result
    for i, of_one in enumerate(weights):
        parts = np.bincount(topic, of_one * expected, n_topics) + (0.0 if constants is None else constants[i])
        result[i] = n_topics / (n_topics - 1) * (((parts - parts.mean()) ** 2).sum() + of_one**2 @ variance)
    return result

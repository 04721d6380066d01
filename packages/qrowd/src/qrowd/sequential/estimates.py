"""Sums over all documents, estimated from those drawn without replacement, whatever is expected of the others.

A contrast is a sum of weight x gain over documents, such as the difference of two systems. Each draw gives an unbiased
estimate of it: what is judged, what is expected of the rest, and the error of the expectation at the drawn document
over its probability,

    Z_i = sum_d w_d f_d + sum_{k < i} w_k (y_k - f_k) + w_i (y_i - f_i) / pi_i,

f being what is expected and y what was judged. They are averaged with weights of one over their variances; the
information of the mean is the sum of these weights.

Waudby-Smith & Ramdas (2020), Confidence sequences for sampling without replacement, NeurIPS; Zrnic & Candès (2024),
Active statistical inference, ICML.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.sequential.draws import Draws

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

"""A one-sided t-test of a mean over documents, whether those of one topic are alike or not.

Arrays end in an axis of topics; what stands before it (people, simulations) is tested line by line. Where topics are
clusters, the standard error is that of leaving out one topic at a time, a transformation takes out the skewness that
few topics leave, and the degrees of freedom are those of as many topics of equal size.

Hall (1992), On the Removal of Skewness by Transformation. J. R. Statist. Soc. B 54(1). Carter, Schnepel & Steigerwald
(2017), Asymptotic Behavior of a t-Test Robust to Cluster Heterogeneity. Rev. Econ. Stat. 99(4).
"""

from __future__ import annotations

import numpy as np

from qrowd.kernels.arrays import Floats

ROUNDING = 1e-12  # of a variance: what counts as none


def documents_t(n: Floats, total: Floats, squares: Floats, limit: float) -> tuple[Floats, Floats]:
    """t and p of "the mean is `limit` or more", documents independent of each other.

    n, total, squares : (..., topics) documents, sum of their values, sum of the values' squares.

    Where the values do not vary there is no t; p is its limit, 0 where the mean is below `limit`.
    """
    from scipy.special import stdtr

    n, total, squares = (x.sum(axis=-1) for x in (n, total, squares))
    mean = total / n
    spread = squares - n * mean**2
    variance = np.where(np.abs(spread) < ROUNDING * n, 0.0, np.maximum(spread, 0.0) / np.maximum(n - 1, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == limit, 0.0, (mean - limit) / np.sqrt(variance / n))
    return t, np.where(variance > 0, stdtr(np.maximum(n - 1, 1), t), np.where(mean < limit, 0.0, 1.0))


def topics_t(n: Floats, total: Floats, squares: Floats, limit: float) -> tuple[Floats, Floats]:
    """t and p of "the mean over documents is `limit` or more", topics drawn at random and their documents alike.

    Arguments as of `documents_t`; a topic without documents is none. Needs two topics.

    Leaving out each of G topics in turn gives pseudo-values G mean - (G - 1) mean without the topic, of standard
    deviation s and skewness g (population moments). With t = (mean - limit) / s, Hall's transformation is
    t + g t^2 / 3 + g^2 t^3 / 27 + g / (6 G); sqrt(G - 1) times it is held against Student's t with
    (sum n)^2 / sum n^2 - 1 degrees of freedom: G - 1 where all topics have as many documents. Where topics do not vary,
    documents are taken to be independent.
    """
    from scipy.special import stdtr

    there = n > 0
    n_topics = there.sum(axis=-1)
    documents, mean = n.sum(axis=-1), total.sum(axis=-1) / n.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        without = (total.sum(axis=-1, keepdims=True) - total) / (documents[..., None] - n)
        pseudo = n_topics[..., None] * mean[..., None] - (n_topics[..., None] - 1) * without
        centre = np.where(there, pseudo, 0.0).sum(axis=-1) / n_topics
        apart = np.where(there, pseudo - centre[..., None], 0.0)
        variance = (apart**2).sum(axis=-1) / n_topics
        skewness = (apart**3).sum(axis=-1) / n_topics / variance**1.5
        t = (mean - limit) / np.sqrt(variance)
        t = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / (6 * n_topics)
        t = np.sqrt(n_topics - 1) * t
        freedom = documents**2 / (n**2).sum(axis=-1) - 1
        p = stdtr(freedom, t)
    alike = variance < ROUNDING
    by_document = documents_t(n, total, squares, limit)
    return np.where(alike, by_document[0], t), np.where(alike, by_document[1], p)

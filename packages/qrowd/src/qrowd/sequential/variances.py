"""Variances that no draw of documents reduces: topics that are a sample, and people who disagree."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats

Target = Literal["these topics", "new topics"]
PRIOR_N = 5.0  # degrees of freedom that the declared variance of a judgment counts for


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


def judgment_variance(gains: Floats, *, lowest: float, highest: float) -> tuple[float, Floats]:
    """Variance of a person's gain of a document, and (documents,) that of the mean of those who judged it.

    gains : (documents, people), nan where not judged. The variance is pooled over the documents that two or more people
    judged, and shrunk towards half of the variance that is declared before the first answer. A document that nobody
    judged counts as judged by the usual number of people.
    """
    present = ~np.isnan(gains)
    counts = present.sum(axis=1)
    values = np.where(present, gains, 0.0)
    means = values.sum(axis=1) / np.maximum(counts, 1)
    squares = np.where(present, (values - means[:, None]) ** 2, 0.0).sum()
    df = np.maximum(counts - 1, 0).sum()
    declared = ((highest - lowest) / 3.6) ** 2 / 2
    variance = float((squares + PRIOR_N * declared) / (df + PRIOR_N))
    usual = counts[counts > 0].mean() if (counts > 0).any() else 1.0
    return variance, np.asarray(variance / np.where(counts > 0, counts, usual))

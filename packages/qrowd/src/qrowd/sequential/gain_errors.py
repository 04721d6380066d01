"""What people may say of the documents that nobody judged: a distribution to simulate from.

The gain of a document is what is expected of it and an error. Errors of different documents are independent, but for
the directions that change the scores of the systems of a question: there they are larger, because models err for the
same systems again and again, and differences are larger than expected, because the systems know more of a document
than the models say. With P the projection on these directions, in standard deviations,

    error / spread = e + P a,    a ~ N((EXPANSION - 1) t, SHARED I + EXPANSION_SD^2 t t'),    e ~ N(0, I),

t being the expected scores. Answers so far update a. The three constants are those of eight simulated panels and of
TREC 2019 and 2021 Deep Learning, see the page on next judgments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qrowd.kernels.arrays import Floats

EXPANSION = 1.3  # of expected differences, the mean and standard deviation
EXPANSION_SD = 0.5
SHARED = 2.0  # variance of the error of a difference that systems share, over that of independent documents
ROUNDING = 1e-8  # a direction below this share of the first one


@dataclass(frozen=True, eq=False)
class GainErrors:
    """A distribution of the errors of expected gains.

    spread : (documents,) standard deviation of the independent part; 0 where judged. basis : (directions, documents)
    orthonormal rows. mean, covariance : (directions,) and (directions, directions) of what is shared.
    """

    spread: Floats
    basis: Floats
    mean: Floats
    covariance: Floats

    @classmethod
    def of(cls, weights: Floats, expected: Floats, spread: Floats, gains: Floats) -> GainErrors:
        """The distribution after some answers.

        weights : (contrasts, documents) whose rows span the differences of the systems. expected : (documents,) without
        a document's own judgment. spread : (documents,). gains : (documents,) nan where not judged.
        """
        judged = ~np.isnan(gains)
        left, sizes, right = np.linalg.svd(weights * spread, full_matrices=False)
        keep = sizes > ROUNDING * sizes.max(initial=0.0)
        basis = right[keep]
        scores = (left[:, keep] / sizes[keep]).T @ (weights @ expected)
        prior = np.linalg.inv(SHARED * np.eye(scores.size) + EXPANSION_SD**2 * np.outer(scores, scores))
        known = basis[:, judged]
        errors = (gains - expected)[judged] / np.where(spread[judged] > 0, spread[judged], np.inf)
        covariance = np.linalg.inv(prior + known @ known.T)
        mean = covariance @ (prior @ ((EXPANSION - 1) * scores) + known @ errors)
        return cls(np.where(judged, 0.0, spread), basis, mean, covariance)

    def draw(self, rng: np.random.Generator) -> Floats:
        """(documents,) errors."""
        shared = self.mean + np.linalg.cholesky(self.covariance) @ rng.normal(size=self.mean.size)
        return np.asarray(self.spread * (shared @ self.basis + rng.normal(size=self.spread.size)))

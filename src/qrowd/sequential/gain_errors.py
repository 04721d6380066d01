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

    def moved(self, errors: Floats, weights: Floats, change: float) -> Floats:
        """The errors that change a difference by this much, as the distribution makes it most likely.

        weights : (documents,) of the difference. A difference that no open document changes stays as it is.
        """
        own = self.spread * weights
        in_basis = self.covariance @ (self.basis @ own)
        direction = self.spread * (own + in_basis @ self.basis)
        variance = float(weights @ direction)
        return errors if variance <= 0 else np.asarray(errors + direction * (change / variance))

    def sd(self, weights: Floats) -> Floats:
        """(contrasts,) standard deviation of differences."""
        own = weights * self.spread
        in_basis = own @ self.basis.T
        return np.asarray(np.sqrt((own**2).sum(axis=1) + ((in_basis @ self.covariance) * in_basis).sum(axis=1)))


def decisive_gap(kind: str, scores: Floats, n_best: int) -> tuple[int, int]:
    """Numbers of the two systems whose difference decides a question, the better one first.

    The two best; of `among`, the first system and the one next to it on the other side of the border. scores :
    (systems,).
    """
    order = np.argsort(-scores, kind="stable")
    if kind == "among":
        others = order[order != 0]
        rank = int(np.flatnonzero(order == 0)[0])
        return (0, int(others[n_best - 1])) if rank < n_best else (int(others[n_best - 1]), 0)
    return int(order[0]), int(order[1])

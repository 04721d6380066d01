"""The log-worths of one topic's documents, and how one more preference changes them without a new fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels import bradley_terry as kernels
from qrowd.kernels import log_worths
from qrowd.kernels.arrays import Floats
from qrowd.model.result import Result

STEPS, FLAT = 5, 1e-3  # of an update: the largest number of steps, and of derivatives at its end


@dataclass(frozen=True, eq=False)
class TopicWorths(Result):
    """Log-worths of a topic's documents, numbered from 0 to n - 1, and their covariance.

    log_worth : (n,), 0 for documents that nobody compared. covariance : (n, n), the inverse of the second derivatives
        of the penalised likelihood by log-worths, everything else fixed.
    rows : the comparisons. scale, shift : (comparisons,) eta = scale (s_first - s_second) + shift, whoever the assessor
        is (see `qrowd.kernels.bradley_terry`).
    ridge, nu : as of the fit.
    """

    log_worth: Floats
    covariance: Floats
    rows: kernels.Rows
    scale: Floats
    shift: Floats
    ridge: float
    nu: float = 0.0

    def _columns(self) -> dict[str, Any]:
        """One row per document, by number."""
        error = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return {"document": np.arange(self.log_worth.size), "log_worth": self.log_worth, "standard_error": error}

    @classmethod
    def unknown(cls, n_documents: int, *, ridge: float = 0.1) -> TopicWorths:
        """Documents without comparisons: every preference has probability 1/2."""
        n = n_documents
        if n < 0 or not ridge > 0:
            raise ArgumentError(f"n_documents={n}, ridge={ridge}: a number from 0, and a ridge above 0, were expected")
        none, codes = np.empty(0), np.empty(0, np.int32)
        rows = kernels.Rows(codes, codes, codes, none, none, none, none)
        return cls(np.zeros(n), np.eye(n) / (2 * ridge), rows, none, none, ridge)

    def probability(self, *, averaged: bool = False) -> Floats:
        """(n, n) probability that an assessor of weight 1, ties aside, prefers the row's document.

        averaged : over the uncertainty of the log-worths, rather than at the most probable ones; nearer to 1/2.
            sigmoid(d / sqrt(1 + pi v / 8)) for a difference d of variance v (MacKay 1992, equation 4.9).
        """
        gap = self.log_worth[:, None] - self.log_worth[None, :]
        if averaged:
            own = np.diag(self.covariance)
            variance = own[:, None] + own[None, :] - 2 * self.covariance
            gap = gap / np.sqrt(1 + np.pi * np.maximum(variance, 0.0) / 8)
        return np.asarray(0.5 * (1 + np.tanh(gap / 2)))

    def updated(
        self, preferred: int, other: int, *, assessor_weight: float = 1.0, shift: float = 0.0, weight: float = 1.0
    ) -> TopicWorths:
        """The log-worths after one more preference, nearly always in O(n^2 + comparisons).

        assessor_weight : of the assessor. shift : what being shown first adds for the preferred document (the
        assessor's intercept). weight : of the preference.

        The Gaussian update for one more preference (Spiegelhalter & Lauritzen 1990) is followed by a few steps along
        the exact derivatives with its covariance, until no derivative exceeds `FLAT`; if that fails, the topic is
        fitted again, with its covariance. So log-worths are those of a fit up to FLAT / (2 ridge), while the covariance
        may lag behind. Assessor weights, intercepts and ties stay fixed.
        """
        n = self.log_worth.size
        if not (0 <= preferred < n and 0 <= other < n and preferred != other and weight > 0):
            raise ArgumentError(
                f"updated({preferred}, {other}, weight={weight}): two different documents from 0 to {n - 1} and a "
                "weight above 0 were expected"
            )
        log_worth, covariance = log_worths.one_more(
            self.covariance, self.log_worth, preferred, other, assessor_weight, shift, weight, self.nu
        )
        row = (preferred, other, 0, 0.0, weight, 0.0, 0.0)
        columns: zip[tuple[Any, Any]] = zip(self.rows, row, strict=True)
        more = replace(
            self,
            rows=kernels.Rows._make(np.append(column, column.dtype.type(value)) for column, value in columns),
            scale=np.append(self.scale, assessor_weight),
            shift=np.append(self.shift, shift),
        )
        for _ in range(STEPS):
            slopes = log_worths.slopes(more.rows, more.scale, more.shift, self.nu, self.ridge, log_worth)
            if np.abs(slopes).max() <= FLAT:
                return replace(more, log_worth=log_worth, covariance=covariance)
            log_worth = log_worth - covariance @ slopes
        return replace(more, log_worth=log_worth).refitted()

    def refitted(self, *, tol: float = 1e-8) -> TopicWorths:
        """The same comparisons, fitted from the present log-worths until convergence."""
        log_worth, n = self.log_worth.copy(), self.scale.size
        theta = np.array([np.log(self.nu) if self.nu > 0 else -np.inf])
        # Every comparison is an assessor of its own, with its scale and shift: only log-worths move.
        rows = self.rows._replace(assessor=np.arange(n, dtype=np.int32), side=np.ones(n))
        parameters = kernels.Parameters(log_worth, self.scale.copy(), self.shift.copy(), theta)
        moving = np.array([True, False, False, False])
        kernels.fit(rows, parameters, self.ridge, 0.0, np.zeros(n), moving, tol, 1000)
        curvature = log_worths.curvature(self.rows, self.scale, self.shift, self.nu, self.ridge, log_worth)
        return replace(self, log_worth=log_worth, covariance=inverse(curvature, self.ridge))


def inverse(curvature: Floats, ridge: float) -> Floats:
    """The covariance of log-worths; without a ridge, of log-worths that add up to 0."""
    return np.asarray(np.linalg.inv(curvature) if ridge else np.linalg.pinv(curvature, hermitian=True), np.float64)

"""One comparison of assessors' scores with others', by every gap, as similarities from 0 to 1.

Ferrante, Ferro, Maistro (2017), ACM TOIS 36(2), equations 5-24. Gaps stand in the order fro, rmse, kld, tau, apc.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, MeasureError
from qrowd.kernels.correlation import ap_correlation
from qrowd.kernels.gaps import (
    add_densities,
    divergences,
    rank_correlations,
    squared_distances,
)
from qrowd.model.scores import Scores, rankable

Floats = NDArray[np.float64]
Reference = Literal["assessor", "other"]


@dataclass(frozen=True, eq=False)
class Parts:
    """What topics add up to: squared distances (assessors, others) and densities (others, points)."""

    squares: Floats
    density: Floats

    def __add__(self, other: Parts) -> Parts:
        return Parts(self.squares + other.squares, self.density + other.density)


@dataclass(frozen=True)
class Comparison:
    """The options of gaps.

    bandwidth, points : of kernel densities. beta : of exp(-beta KLD).
    reference : who is the reference of AP correlation; the other's list is walked.
    signed : rank correlations below 0 are no similarity at all, instead of being as similar as those above.
    """

    bandwidth: float
    points: int
    beta: float
    reference: Reference
    signed: bool = False

    @classmethod
    def of(
        cls, scores: Scores, bandwidth: float, points: int, beta: float, reference: Reference, signed: bool = False
    ) -> Comparison:
        """Options that suit the scores."""
        if reference not in get_args(Reference):
            raise ArgumentError(f"reference={reference!r}: choose one of {', '.join(get_args(Reference))}")
        if not (0 < bandwidth < inf and 0 < beta < inf and points >= 2):
            raise ArgumentError(f"bandwidth={bandwidth}, beta={beta}, points={points}: above 0, above 0 and 2 or more")
        if bandwidth * (points - 1) < 0.5:
            raise ArgumentError(
                f"bandwidth={bandwidth}: too narrow for {points} points, {1 / (points - 1):.3g} apart; a score between "
                "two of them would not be seen. Take more points"
            )
        refuse_high(scores)
        return cls(bandwidth, points, beta, reference, signed)

    def on_topic(self, crowd: Floats, others: Floats) -> tuple[Floats, Parts]:
        """(gaps, assessors, others) similarities on one topic, and what it adds to those over all topics.

        crowd : (assessors, systems), others : (systems, others); no nan.
        """
        crowd = np.ascontiguousarray(crowd)
        squares = squared_distances(crowd, others)
        density = np.zeros((others.shape[1], self.points))
        add_densities(others, self.bandwidth, density)
        return (
            self._similar(
                squares / crowd.shape[1], squares / crowd.shape[1], self._density(crowd), density, crowd, others
            ),
            Parts(squares, density),
        )

    def overall(self, crowd: Floats, others: Floats, parts: Parts) -> Floats:
        """(gaps, assessors, others) similarities over all topics.

        crowd : (assessors, topics, systems); others : (systems, others) means over the topics; parts : their sums.
        """
        n_assessors, n_topics, n_systems = crowd.shape
        mean = np.ascontiguousarray(crowd.mean(axis=1))
        distance = squared_distances(mean, others) / n_systems
        density = self._density(crowd.reshape(n_assessors, -1))
        return self._similar(parts.squares / (n_topics * n_systems), distance, density, parts.density, mean, others)

    def _density(self, crowd: Floats) -> Floats:
        """(assessors, points) of (assessors, scores)."""
        density = np.zeros((crowd.shape[0], self.points))
        add_densities(np.ascontiguousarray(crowd.T), self.bandwidth, density)
        return density

    def _similar(
        self, frobenius: Floats, square: Floats, mine: Floats, theirs: Floats, crowd: Floats, others: Floats
    ) -> Floats:
        """Equations 20-24; a rank gap of an assessor without a ranking is that of a random one."""
        crowd, others = rankable(crowd), rankable(others)
        tau, apc = rank_correlations(crowd, others)
        if self.reference == "other":
            apc = walking_the_assessors(crowd, others)
        ranks = np.array([tau, apc])
        ranks = np.maximum(ranks, 0) if self.signed else np.abs(ranks)
        constant = crowd.min(axis=1) == crowd.max(axis=1)
        ranks[:, constant] = 0.0 if self.signed else 1.0
        values = 1 - np.sqrt(np.array([frobenius, square]))
        divergence = np.exp(-self.beta * divergences(mine, theirs))
        return np.concatenate([values, divergence[None], ranks])


def refuse_high(scores: Scores) -> None:
    """Scores above 1, whose gaps have no largest one to divide by."""
    for m, measure in enumerate(scores.measures):
        highest = np.nanmax(scores.values[m], initial=0.0)
        if highest > 1 + 1e-9:
            raise MeasureError(
                f"{measure} reaches {highest:.3g}: AWARE compares scores from 0 to 1; take a normalised measure, "
                "such as nDCG for DCG"
            )


def walking_the_assessors(crowd: Floats, others: Floats) -> Floats:
    """(assessors, others) AP correlation where the assessor's list is walked and the other is the reference."""
    references = np.ascontiguousarray(others.T)
    walked = (np.ascontiguousarray(np.broadcast_to(row, references.shape)) for row in crowd)
    return np.array([ap_correlation(rows, references) for rows in walked])

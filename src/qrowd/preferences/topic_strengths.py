"""The strengths of one topic's documents as they stand, and after one more preference, without fitting anew."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels import strength as kernels

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
STEPS, SETTLED = 5, 1e-3  # of an update: how many steps it may take, and how flat it has to be in the end


@dataclass(frozen=True, eq=False)
class TopicStrengths:
    """Strengths of a topic's documents, which are places from 0 to n - 1, and how sure they are.

    strength : (n,), 0 for documents that nobody compared. covariance : (n, n), the inverse of the second derivatives of
        the penalised likelihood there, all but strengths being given.
    first, second, scale, shift, won, lost, tied : (comparisons,) what the strengths rest on; eta = scale
        (s_first - s_second) + shift (see `qrowd.kernels.strength`).
    ridge, nu : as of the fit.
    """

    strength: Floats
    covariance: Floats
    first: Codes
    second: Codes
    scale: Floats
    shift: Floats
    won: Floats
    lost: Floats
    tied: Floats
    ridge: float
    nu: float = 0.0

    @classmethod
    def unknown(cls, n: int, *, ridge: float = 0.1) -> TopicStrengths:
        """n documents of which nothing is known: every preference has probability 1/2."""
        if n < 0 or not ridge > 0:
            raise ArgumentError(f"n={n}, ridge={ridge}: no negative number, and a ridge above 0, were expected")
        none, codes = np.empty(0), np.empty(0, np.int32)
        return cls(np.zeros(n), np.eye(n) / (2 * ridge), codes, codes, none, none, none, none, none, ridge)

    def probability(self, *, averaged: bool = False) -> Floats:
        """(n, n) probability that an assessor of reliability 1, who decides, prefers the row's document.

        averaged : over what is not known of the strengths, rather than at the most probable ones; nearer to 1/2.
            sigmoid(d / sqrt(1 + pi v / 8)) for a difference d of variance v (MacKay 1992, equation 4.9).
        """
        gap = self.strength[:, None] - self.strength[None, :]
        if averaged:
            own = np.diag(self.covariance)
            spread = own[:, None] + own[None, :] - 2 * self.covariance
            gap = gap / np.sqrt(1 + np.pi * np.maximum(spread, 0.0) / 8)
        return np.asarray(0.5 * (1 + np.tanh(gap / 2)))

    def updated(
        self, preferred: int, other: int, *, reliability: float = 1.0, shift: float = 0.0, weight: float = 1.0
    ) -> TopicStrengths:
        """After one more preference, nearly always in O(n^2 + comparisons).

        reliability : of who said it. shift : what being shown first adds for the preferred document, as of the
        assessor's intercept. weight : how much it counts.

        First the exact answer for one more preference if all that was known were Gaussian (Spiegelhalter & Lauritzen
        1990), then a few steps down the true slope with the covariance so found, until no derivative exceeds `SETTLED`.
        Where that does not come about, the topic is fitted anew, and the covariance with it. So strengths are those of
        a fit up to SETTLED / (2 ridge), while the covariance may lag. Reliabilities, intercepts and ties stay.
        """
        n = self.strength.size
        if not (0 <= preferred < n and 0 <= other < n and preferred != other and weight > 0):
            raise ArgumentError(
                f"updated({preferred}, {other}, weight={weight}): two different documents from 0 to {n - 1} and a "
                "weight above 0 were expected"
            )
        strength, covariance = kernels.one_more(
            self.covariance, self.strength, preferred, other, reliability, shift, weight, self.nu
        )
        more = replace(
            self,
            first=np.append(self.first, np.int32(preferred)),
            second=np.append(self.second, np.int32(other)),
            scale=np.append(self.scale, reliability),
            shift=np.append(self.shift, shift),
            won=np.append(self.won, weight),
            lost=np.append(self.lost, 0.0),
            tied=np.append(self.tied, 0.0),
        )
        for _ in range(STEPS):
            slopes = more._slopes(strength)
            if np.abs(slopes).max() <= SETTLED:
                return replace(more, strength=strength, covariance=covariance)
            strength = strength - covariance @ slopes
        return replace(more, strength=strength).refitted()

    def refitted(self, *, tol: float = 1e-8) -> TopicStrengths:
        """The same comparisons, fitted to the end from where the strengths are."""
        strength = self.strength.copy()
        n, theta = self.first.size, np.array([np.log(self.nu) if self.nu > 0 else -np.inf])
        # Every comparison is an assessor of its own, with its scale and shift: only strengths move.
        kernels.fit(
            self.first,
            self.second,
            np.arange(n, dtype=np.int32),
            np.ones(n),
            self.won,
            self.lost,
            self.tied,
            self.ridge,
            0.0,
            np.zeros(n),
            np.array([True, False, False, False]),
            tol,
            1000,
            strength,
            self.scale.copy(),
            self.shift.copy(),
            theta,
        )
        return replace(self, strength=strength, covariance=inverse(self._curvature(strength), self.ridge))

    def _slopes(self, strength: Floats) -> Floats:
        return kernels.slopes(
            self.first,
            self.second,
            self.scale,
            self.shift,
            self.won,
            self.lost,
            self.tied,
            self.nu,
            self.ridge,
            strength,
        )

    def _curvature(self, strength: Floats) -> Floats:
        total = self.won + self.lost + self.tied
        return kernels.curvature(self.first, self.second, self.scale, self.shift, total, self.nu, self.ridge, strength)


def inverse(curvature: Floats, ridge: float) -> Floats:
    """The covariance of strengths; without a ridge that of strengths which add up to 0."""
    found = np.linalg.inv(curvature) if ridge else np.linalg.pinv(curvature, hermitian=True)
    return np.asarray(found, np.float64)

"""Every system against one baseline, topic by topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.corrections import holm
from qrowd.model.scores import Floats, known_error, known_mean

Correction = Literal["holm", "none"]


@dataclass(frozen=True, eq=False)
class AgainstBaseline:
    """Differences from the baseline; every array is (systems,).

    difference : mean over topics, system minus baseline.
    wins, ties, losses : topics where the panel's mean score is higher, equal, lower than the baseline's.
    p : two-sided paired t-test over topics, corrected for the number of systems; nan for the baseline itself, and where
        all differences are equal (nothing varies, so nothing can be tested).
    """

    difference: Floats
    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    losses: NDArray[np.int64]
    p: Floats
    correction: Correction


def against_baseline(scores: Floats, baseline: int, correction: Correction = "holm") -> AgainstBaseline:
    """Compare all systems with system number `baseline`, from the (assessor, topic, system) scores of one measure.

    The test treats topics as the sample and the panel as fixed: it says nothing about other assessors.

    t = mean(d) / (s(d) / sqrt(n)) over the panel's mean differences d of n topics, n - 1 degrees of freedom;
    Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure. Scand. J. Statist. 6(2).
    """
    from scipy.special import stdtr

    by_topic = known_mean(scores, axis=0)
    differences = by_topic - by_topic[:, [baseline]]
    known = ~np.isnan(differences)
    n = known.sum(axis=0)
    mean = known_mean(differences, axis=0)
    error = known_error(differences, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Differences that are equal but for rounding vary by nothing: no test.
        testable = (n > 1) & (error > 1e-12 * np.abs(mean)) & (error > 0)
        p = np.where(testable, 2 * stdtr(n - 1, -np.abs(mean / error)), np.nan)
    p[baseline] = np.nan
    wins, losses = (np.where(known, sign * differences > 0, False).sum(axis=0) for sign in (1, -1))
    corrected = holm(p) if correction == "holm" else p
    return AgainstBaseline(mean, wins, n - wins - losses, losses, corrected, correction)

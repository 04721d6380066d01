"""Participation: how many units assessors judge, by a power law, and how long a judgment takes.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 4.1 and 9.2.
Clauset, Shalizi, Newman (2009), Power-Law Distributions in Empirical Data. SIAM Review 51(4), section 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result

STEEP = 50.0  # where the search for the exponent begins, on both sides of 0


@dataclass(frozen=True)
class PowerLaw(Result):
    """A discrete power law of the number of units per assessor: p(k) proportional to k^-exponent, k = 1 ... highest.

    exponent : of greatest likelihood; nan if all assessors judged one unit, or all judged the highest number.
    standard_error : of the exponent.
    """

    exponent: float
    standard_error: float


def fit_power_law(n_units: Sequence[int] | NDArray[np.integer[Any]], *, highest: int) -> PowerLaw:
    """The power law that fits the numbers of units of assessors best, by maximum likelihood.

        sum_k p(k) ln k = mean of ln k over assessors,   standard error = 1 / sqrt(n Var_p(ln k))

    Parameters
    ----------
    n_units : (assessors,) number of units of each, 1 or more.
    highest : the largest number that is possible: the number of topics if no assessor gets a topic twice.

    >>> law = fit_power_law([1, 1, 1, 1, 2, 2, 3, 8], highest=18)
    >>> round(law.exponent, 2), round(law.standard_error, 2)
    (1.79, 0.46)
    """
    numbers = np.asarray(n_units, np.int64)
    if numbers.max() == 1 or numbers.min() == highest:
        return PowerLaw(np.nan, np.nan)
    from scipy.optimize import brentq

    logs = np.log(np.arange(1, highest + 1))
    mean = float(np.log(numbers).mean())

    def law(exponent: float) -> Floats:
        weights = np.exp(-exponent * (logs - (logs[-1] if exponent < 0 else 0.0)))
        return np.asarray(weights / weights.sum())

    def excess(exponent: float) -> float:
        return float(law(exponent) @ logs) - mean

    low, high = -STEEP, STEEP
    while excess(low) < 0:  # nearly all have the highest number
        low *= 2
    while excess(high) > 0:  # nearly all have 1
        high *= 2
    exponent = float(brentq(excess, low, high))
    fitted = law(exponent)
    variance = float(fitted @ logs**2) - float(fitted @ logs) ** 2
    return PowerLaw(exponent, float(1 / np.sqrt(numbers.size * variance)))


@dataclass(frozen=True)
class AnswerTimes(Result):
    """Seconds per judgment. n : judgments with a recorded time; mean, sd, median : of their seconds."""

    n: int
    mean: float
    sd: float
    median: float


def answer_times(judgments: Judgments) -> AnswerTimes:
    """Mean, standard deviation and median of the seconds per judgment (section 9.2).

    Raises
    ------
    ArgumentError
        The judgments have no seconds.
    """
    seconds = np.empty(0) if judgments.seconds is None else judgments.seconds[~np.isnan(judgments.seconds)]
    if seconds.size < 2:
        raise ArgumentError("judgments: there are no seconds; read them from a table with a column of that name")
    return AnswerTimes(seconds.size, float(seconds.mean()), float(seconds.std(ddof=1)), float(np.median(seconds)))

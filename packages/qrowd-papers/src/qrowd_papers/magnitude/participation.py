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
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result

STEEP = 50.0  # where the search for the exponent begins, on both sides of 0


@dataclass(frozen=True, eq=False)
class PowerLaw(Result):
    """A discrete power law of the number of units per assessor: p(k) proportional to k^-exponent, k = 1 ... highest.

    exponent : of greatest likelihood; nan if all assessors judged one unit, or all judged the highest number.
    standard_error : of the exponent. n : assessors. highest : the largest number of units that is possible.
    n_units, n_assessors : (highest,) 1 ... highest, and how many assessors judged that many.
    fitted : (highest,) p(k).
    """

    exponent: float
    standard_error: float
    n: int
    highest: int
    n_units: Ints
    n_assessors: Ints
    fitted: Floats

    def _columns(self) -> dict[str, Any]:
        share = self.n_assessors / self.n
        return {"n_units": self.n_units, "n_assessors": self.n_assessors, "share": share, "fitted": self.fitted}


def fit_power_law(n_units: Sequence[int] | NDArray[np.integer[Any]], *, highest: int) -> PowerLaw:
    """The power law that fits the numbers of units of assessors best, by maximum likelihood.

        sum_k p(k) ln k = mean of ln k over assessors,   standard error = 1 / sqrt(n Var_p(ln k))

    Parameters
    ----------
    n_units : (assessors,) number of units of each, 1 or more.
    highest : the largest number that is possible: the number of topics if no assessor gets a topic twice.

    Raises
    ------
    ArgumentError
        No assessors; a number below 1 or above `highest`.

    >>> law = fit_power_law([1, 1, 1, 1, 2, 2, 3, 8], highest=18)
    >>> round(law.exponent, 2), round(law.standard_error, 2)
    (1.79, 0.46)
    """
    numbers = np.asarray(n_units, np.int64)
    if not numbers.size:
        raise ArgumentError("n_units: there are no assessors")
    if numbers.min() < 1 or numbers.max() > highest:
        outside = int(numbers.min() if numbers.min() < 1 else numbers.max())
        raise ArgumentError(f"n_units: an assessor with {outside} units; expected 1 to {highest}, the highest number")
    possible = np.arange(1, highest + 1)
    logs = np.log(possible)
    mean = float(np.log(numbers).mean())

    def law(exponent: float) -> Floats:
        weights = np.exp(-exponent * (logs - (logs[-1] if exponent < 0 else 0.0)))
        return np.asarray(weights / weights.sum())

    exponent = standard_error = np.nan
    fitted = np.bincount(numbers, minlength=highest + 1)[1:] / numbers.size
    if numbers.max() > 1 and numbers.min() < highest:
        from scipy.optimize import brentq

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
        standard_error = 1 / np.sqrt(numbers.size * variance)
    counts = np.bincount(numbers, minlength=highest + 1)[1:]
    return PowerLaw(exponent, float(standard_error), numbers.size, highest, possible, counts, fitted)


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

"""How many judgments a question will still need: simulated from what is expected of the documents.

Each simulation gives each open document the gain that is expected of it and an error (`gain_errors`), draws documents
and looks at the bounds as `qrowd next` does, with sizes that follow what is open (`simulated_paths`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.measures.gain import NDCG
from qrowd.sequential.bounds import MIN_DRAWS, interval_half, mixture_bound
from qrowd.sequential.candidates import expected_normalisers
from qrowd.sequential.gain_errors import GainErrors
from qrowd.sequential.looks import Look, Problem
from qrowd.sequential.predictions import Predictions
from qrowd.sequential.simulated_paths import Start, path

N_PATHS = 50
MOST_CELLS = 2_200_000  # of (contrasts + 10) x documents over all simulations
FEWEST_PATHS = 10
LEARNED = 1.0  # mean spread that is expected while people judge, over the noise that no further answer reduces


@dataclass(frozen=True, eq=False)
class Expectation:
    """Simulated judgments until a question is decided.

    n_judgments : (simulations,); one more than there are documents left where all do not decide it. n_left : documents
    that are not judged and can change the answer.
    """

    n_judgments: NDArray[np.int64]
    n_left: int

    @property
    def judgments_range(self) -> tuple[float, float, float]:
        """The low end of an 80 % interval of the judgments, their median, and the high end."""
        low, median, high = np.quantile(self.n_judgments, (0.1, 0.5, 0.9), method="closest_observation").tolist()
        return float(low), float(median), float(high)


def expectation(
    problem: Problem,
    look: Look,
    gains: Floats,
    *,
    waiting: NDArray[np.int64],
    n_counting: int,
    confidence: float,
    tolerance: float,
    rng: np.random.Generator,
) -> Expectation:
    """The judgments until the question is decided, of 50 simulations, or fewer of many systems.

    gains : (candidates,) of people, nan where nobody judged. waiting : documents that were drawn and are not judged, in
    order. n_counting : judged draws that make the estimates.
    """
    start, errors = starting_point(
        problem,
        look,
        gains,
        waiting=waiting,
        n_counting=n_counting,
        confidence=confidence,
        tolerance=tolerance,
    )
    n = int(np.clip(MOST_CELLS // max((look.weights.shape[0] + 10) * start.open.size, 1), FEWEST_PATHS, N_PATHS))
    if not start.open.size:
        return Expectation(np.zeros(1, np.int64), 0)
    n_judgments = [path(start, errors.draw(rng), rng) for _ in range(n)]
    return Expectation(np.array(n_judgments, np.int64), int(start.open.size))


def starting_point(
    problem: Problem,
    look: Look,
    gains: Floats,
    *,
    waiting: NDArray[np.int64],
    n_counting: int,
    confidence: float,
    tolerance: float,
) -> tuple[Start, GainErrors]:
    """Where simulations begin, and the errors of what is expected; arguments as of `expectation`."""
    matters, contrasts = problem.matters, problem.contrasts
    judged, expected = ~np.isnan(gains[matters]), look.predictions.expected[matters]
    learned = learned_spread(look.predictions, matters[~judged])
    spread = learned[matters]
    has_draws = bool((look.estimates.information > 0).any())
    scale = np.ones(matters.size) if has_draws else _later_normalisers(problem, look, gains, learned)
    weights = look.weights * scale
    errors = GainErrors.of(weights[contrasts[:, 0] == 0], expected, spread, gains[matters])
    left = np.flatnonzero(~judged & (weights != 0).any(axis=0))
    each = problem.question.confidence_of_each(confidence)
    at_end = look.variance - _reduced_variance(problem, look, gains, learned)
    at_end = np.clip(at_end, 0, look.variance)
    extra = np.array([interval_half(np.inf, MIN_DRAWS, confidence=each, variance=v) for v in (look.variance, at_end)])
    start = Start(
        problem.question,
        contrasts,
        weights,
        spread,
        weights @ np.where(judged, np.nan_to_num(gains[matters]), expected) + look.constants,
        left,
        waiting[np.isin(waiting, left)],
        np.where(np.isfinite(look.estimates.information), look.estimates.information, 0.0),
        look.estimates.estimate,
        look.low,
        look.high,
        look.remaining,
        extra * (scale.mean() if scale.size else 1.0),
        n_counting,
        tolerance,
        InterpolatedBound.of(each),
    )
    return start, errors


def _reduced_variance(problem: Problem, look: Look, gains: Floats, learned: Floats) -> Floats:
    """(contrasts,) what the variance of estimated normalisers, or of what is not linear, loses until all is judged."""
    matters, predictions = problem.matters, look.predictions
    is_open = np.isnan(gains[matters])
    filled = gains.copy()
    filled[matters] = np.where(is_open, predictions.expected[matters], gains[matters])
    expected, spread = filled[matters], np.where(is_open, predictions.spread[matters], 0.0)
    now, later = (
        problem.form(one, values, expected=expected, spread=spread).variance
        for one, values in ((predictions, gains), (replace(predictions, spread=learned), filled))
    )
    return np.asarray(now - later)


def _later_normalisers(problem: Problem, look: Look, gains: Floats, learned: Floats) -> Floats:
    """(documents,) the normaliser of each topic over the one that is expected once the spread is the learned one.

    A larger spread means more documents with a high gain, and so a larger normaliser and smaller differences, than
    there will be after the first answers.
    """
    topic, ones = problem.candidates.topic[problem.matters], np.ones(problem.matters.size)
    if not isinstance(problem.measure.definition, NDCG):
        return ones
    now, later = (
        expected_normalisers(
            problem.measure,
            problem.candidates,
            look.predictions.expected,
            spread,
            gains=gains,
            levels=problem.levels,
        )[topic]
        for spread in (look.predictions.spread, learned)
    )
    return np.divide(now, later, where=np.isfinite(now) & np.isfinite(later), out=ones)


def learned_spread(predictions: Predictions, documents: NDArray[np.int64]) -> Floats:
    """(candidates,) standard deviation of the errors of what is expected, as it will be while people judge.

    The answers reduce what is not known of the coefficients, and leave the noise. documents : those not judged yet.
    """
    if not documents.size:
        return predictions.spread
    now = np.sqrt(np.mean(predictions.spread[documents] ** 2))
    later = LEARNED * np.sqrt(predictions.variances["noise"])
    return np.asarray(predictions.spread * min(1.0, later / now) if now > 0 else predictions.spread)


@dataclass(frozen=True, eq=False)
class InterpolatedBound:
    """The bound as a function of the information, from a table; its relative error is below 0.001.

    logs, table : logarithms of the information and of the bound.
    """

    logs: Floats
    table: Floats

    @classmethod
    def of(cls, confidence: float) -> InterpolatedBound:
        logs = np.linspace(-10, 40, 401)
        return cls(logs, np.log(mixture_bound(np.exp(logs), confidence=confidence)))

    def __call__(self, information: Floats) -> Floats:
        return np.asarray(np.exp(np.interp(np.log(np.maximum(information, 1e-300)), self.logs, self.table)))

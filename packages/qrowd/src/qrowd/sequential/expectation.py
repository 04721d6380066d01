"""How many documents a question will still need: simulated from what is expected of the documents.

Each simulation gives each open document the gain that is expected of it and an error (`GainErrors`), draws documents
and looks at the bounds as `qrowd next` does (`path`). The sizes are computed again after every `FIRST` draws, or 30 %
more of the answers, for the differences that are open then. Within such a batch the bounds are looked at a few times.

Errors of different documents are independent, but for the directions that change the scores of the systems of a
question: there they are larger, because models err for the same systems again and again, and differences are larger
than expected, because the systems know more of a document than the models say. With P the projection on these
directions, in standard deviations,

    error / spread = e + P a,    a ~ N((EXPANSION - 1) t, SHARED I + EXPANSION_SD^2 t t'),    e ~ N(0, I),

t being the expected scores. Answers so far update a. The three constants are those of eight simulated panels and of
TREC 2019 and 2021 Deep Learning, see the page on next judgments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.measures.gain import NDCG
from qrowd.sequential.candidates import expected_normalisers
from qrowd.sequential.design import mixed_sizes
from qrowd.sequential.estimates import MIN_DRAWS, interval_half, mixture_bound
from qrowd.sequential.looks import Look, Problem
from qrowd.sequential.predictions import Predictions
from qrowd.sequential.question import answer_of, open_contrasts

FIRST, SHARE = 10, 0.3  # draws between two computations of sizes: at least, and of the answers so far
N_LOOKS = 4  # within a batch
SMALLEST = 1e-9  # a variance below this share of the first one is rounding


@dataclass(frozen=True, eq=False)
class Start:
    """A question as it stands, from which paths begin.

    weights : (contrasts, documents). spread : (documents,). total : (contrasts,) differences by what is judged and
    expected. open : numbers of the documents that are not judged and have a weight. waiting : those of them that were
    drawn, in order. extra : (2, contrasts) half of the width of the interval that draws do not reduce, now and once all
    is judged. n_answers : that count. bound : half of the width where an estimate has this information.
    """

    problem: Problem
    look: Look
    weights: Floats
    spread: Floats
    total: Floats
    open: NDArray[np.int64]
    waiting: NDArray[np.int64]
    extra: Floats
    n_answers: int
    bound: Callable[[Floats], Floats]


def path(start: Start, errors: Floats, rng: np.random.Generator) -> int:
    """Judgments until the question is decided; one more than there are where all do not decide it.

    errors : (documents,) of the expected gains.
    """
    problem, look = start.problem, start.look
    question, contrasts, tolerance = problem.question, problem.contrasts, problem.tolerance
    low, high = look.low.copy(), look.high.copy()
    information = np.where(np.isfinite(look.estimates.information), look.estimates.information, 0.0)
    sums = information * look.estimates.estimate
    so_far, first = start.total.copy(), np.zeros(len(start.weights))
    final = start.total + start.weights[:, start.open] @ errors[start.open]
    documents, remaining, drawn = start.open, look.remaining, 0
    while documents.size:
        is_open = open_contrasts(question, contrasts, low, high, remaining, tolerance=tolerance)
        rows = np.flatnonzero(is_open)
        if not rows.size:
            break
        documents, weights, sizes = _batch_sizes(start, rows, documents)
        if not documents.size:
            break
        n = min(max(FIRST, int(SHARE * (start.n_answers + drawn))), documents.size)
        order = _first_drawn(n, sizes, documents, start.waiting if not drawn else start.waiting[:0], rng)
        taken = documents[order]
        estimates, variances = batch_estimates(
            weights, start.spread[documents], sizes, order, errors[documents], so_far[rows]
        )
        first[rows] = np.where(first[rows] > 0, first[rows], variances[:, 0])
        useful = variances > SMALLEST * first[rows, None]
        inverse = np.where(useful, 1 / np.where(useful, variances, 1.0), 0.0)
        v = information[rows, None] + np.cumsum(inverse, axis=1)
        s = sums[rows, None] + np.cumsum(inverse * estimates, axis=1)
        is_left = np.ones(documents.size, bool)
        is_left[order] = False
        exhausted = ~(weights[:, is_left] != 0).any(axis=1)
        for place in np.unique(np.linspace(0, n - 1, N_LOOKS + 1).astype(np.int64)[1:]).tolist():
            now = drawn + place + 1
            share = now / start.open.size
            extra = np.sqrt(np.maximum(start.extra[0] ** 2 * (1 - share) + start.extra[1] ** 2 * share, 0))
            half = np.hypot(start.bound(v[:, place]), extra[rows])
            half = half if start.n_answers + now >= MIN_DRAWS else np.full(rows.size, np.inf)
            mean = np.where(v[:, place] > 0, s[:, place] / np.where(v[:, place] > 0, v[:, place], 1), so_far[rows])
            if place == n - 1:
                mean, half = np.where(exhausted, final[rows], mean), np.where(exhausted, extra[rows], half)
            low[rows], high[rows] = mean - half, mean + half
            answer, remaining = answer_of(question, contrasts, low, high, tolerance=tolerance)
            if answer:
                return int(now)
        information[rows], sums[rows] = v[:, -1], s[:, -1]
        so_far += start.weights[:, taken] @ errors[taken]
        drawn += n
        documents = documents[is_left]
    return int(start.open.size) + 1


def _batch_sizes(
    start: Start, rows: NDArray[np.int64], documents: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """The documents that can be drawn for these contrasts, their weights, and their sizes."""
    weights = start.weights[np.ix_(rows, documents)]
    weight = np.sqrt((weights**2).mean(axis=0))
    sizes = mixed_sizes(weight * start.spread[documents], weight)
    possible = sizes > 0
    return documents[possible], weights[:, possible], sizes[possible]


def _first_drawn(
    n: int, sizes: Floats, documents: NDArray[np.int64], waiting: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """(n,) places of the documents that are drawn first, in order; those that wait come before others."""
    times = rng.exponential(size=sizes.size) / sizes
    place = np.searchsorted(documents, waiting)
    here = (place < documents.size) & (documents[np.minimum(place, documents.size - 1)] == waiting)
    times[place[here]] = np.arange(int(here.sum())) - waiting.size
    first = np.argpartition(times, n - 1)[:n]
    return np.asarray(first[np.argsort(times[first], kind="stable")])


def batch_estimates(
    weights: Floats, spread: Floats, sizes: Floats, order: NDArray[np.int64], errors: Floats, total: Floats
) -> tuple[Floats, Floats]:
    """(contrasts, draws) estimate of each draw of a batch, and its variance, as `contrast_estimates` has them.

    weights : (contrasts, documents) left. spread, sizes, errors : (documents,). order : (draws,) places of the drawn
    documents. total : (contrasts,) by what was judged before and what is expected.
    """
    drawn = sizes[order]
    squares = (weights * spread) ** 2

    def rest(whole: Floats, parts: Floats) -> Floats:
        return np.asarray(whole - np.cumsum(parts, axis=-1) + parts)

    of_sizes = rest(sizes.sum(), drawn)
    own = squares[:, order]
    over_sizes = rest((squares / sizes).sum(axis=1, keepdims=True), own / drawn)
    plain = rest(squares.sum(axis=1, keepdims=True), own)
    of_draws = weights[:, order] * errors[order]
    earlier = np.cumsum(of_draws, axis=1) - of_draws
    estimates = total[:, None] + earlier + of_draws * of_sizes / drawn
    return estimates, np.maximum(of_sizes * over_sizes - plain, 0.0)


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


N_PATHS = 50
MOST_CELLS = 2_200_000  # of (contrasts + 10) x documents over all simulations
FEWEST_PATHS = 10


def expectation(
    problem: Problem,
    look: Look,
    gains: Floats,
    *,
    waiting: NDArray[np.int64],
    n_counting: int,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """The judgments until the question is decided: the low end of an 80 % interval, the median, and the high end.

    Of 50 simulations, or fewer of many systems; one judgment more than there are documents left where all do not decide
    it. gains : (candidates,) of people, nan where nobody judged. waiting : documents that were drawn and are not
    judged, in order. n_counting : judged draws that make the estimates.
    """
    matters, contrasts = problem.matters, problem.contrasts
    judged, expected = ~np.isnan(gains[matters]), look.predictions.expected[matters]
    learned = learned_spread(look.predictions, matters[~judged])
    spread = learned[matters]
    has_draws = bool((look.estimates.information > 0).any())
    scale = np.ones(matters.size) if has_draws else _later_normalisers(problem, look, gains, learned)
    weights = look.weights * scale
    errors = GainErrors.of(weights[contrasts[:, 0] == 0], expected, spread, gains[matters])
    left = np.flatnonzero(~judged & (weights != 0).any(axis=0))
    if not left.size:
        return 0.0, 0.0, 0.0
    each = problem.question.confidence_of_each(problem.confidence)
    at_end = look.variance - _reduced_variance(problem, look, gains, learned)
    at_end = np.clip(at_end, 0, look.variance)
    extra = np.array([interval_half(np.inf, MIN_DRAWS, confidence=each, variance=v) for v in (look.variance, at_end)])
    start = Start(
        problem,
        look,
        weights,
        spread,
        weights @ np.where(judged, np.nan_to_num(gains[matters]), expected) + look.constants,
        left,
        waiting[np.isin(waiting, left)],
        extra * (scale.mean() if scale.size else 1.0),
        n_counting,
        _interpolated_bound(each),
    )
    n = int(np.clip(MOST_CELLS // ((look.weights.shape[0] + 10) * left.size), FEWEST_PATHS, N_PATHS))
    counts = [path(start, errors.draw(rng), rng) for _ in range(n)]
    low, median, high = np.quantile(counts, (0.1, 0.5, 0.9), method="closest_observation").tolist()
    return float(low), float(median), float(high)


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
    later = np.sqrt(predictions.noise)
    return np.asarray(predictions.spread * min(1.0, later / now) if now > 0 else predictions.spread)


def _interpolated_bound(confidence: float) -> Callable[[Floats], Floats]:
    """The bound as a function of the information, from a table; its relative error is below 0.001."""
    logs = np.linspace(-10, 40, 401)
    table = np.log(mixture_bound(np.exp(logs), confidence=confidence))
    return lambda information: np.asarray(np.exp(np.interp(np.log(np.maximum(information, 1e-300)), logs, table)))

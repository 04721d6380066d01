"""The Bradley-Terry model: worths of documents from preferences, with weights of assessors and intervals.

Bradley & Terry (1952), Rank Analysis of Incomplete Block Designs. Biometrika 39(3/4), 324-345.
Davidson (1970), On Extending the Bradley-Terry Model to Accommodate Ties. JASA 65(329), 317-328.
Chen, Bennett, Collins-Thompson & Horvitz (2013), Pairwise Ranking Aggregation in a Crowdsourced Setting. WSDM, 193-202.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.kernels import worths as kernels
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.kernels.worths import Rows
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.panel import Pool
from qrowd.model.preferences import Preferences
from qrowd.model.result import Result, Tables
from qrowd.model.signature import with_signature
from qrowd.preferences.decided import halves_of_ties
from qrowd.threads import in_threads

Ties = Literal["half", "davidson"]


@dataclass(frozen=True, eq=False)
class Comparisons:
    """One row per topic, two documents, assessor and side on which the first of them was shown; sorted by topic.

    pool : the documents compared or marked; first and second are rows of it.
    rows : won, lost and tied are the weights of the judgments that prefer `first`, that prefer `second`, that prefer
        neither.
    starts : (topics + 1,). pair : (rows,) number of the two documents, whoever compared them.
    """

    pool: Pool
    rows: Rows
    starts: Ints
    pair: Ints

    @property
    def total(self) -> Floats:
        """(rows,) weight of all judgments."""
        return np.asarray(self.rows.won + self.rows.lost + self.rows.tied)

    def of_topic(self, topic: int) -> slice:
        """The rows of a topic."""
        return slice(int(self.starts[topic]), int(self.starts[topic + 1]))

    def times(self, often: Floats) -> Comparisons:
        """Every row counted `often` times, (rows,); those counted never are left out."""
        numbers = np.flatnonzero(often)
        n = often[numbers]
        rows = self.rows.at(numbers)
        rows = rows._replace(won=rows.won * n, lost=rows.lost * n, tied=rows.tied * n)
        starts = np.searchsorted(numbers, self.starts).astype(np.int64)
        return Comparisons(self.pool, rows, starts, self.pair[numbers])


def comparisons(preferences: Preferences, *, ties: Ties, strong: float, sides: bool) -> Comparisons:
    """Count the preferences of every topic.

    ties : half a preference each way is a tie ("davidson"), or just that ("half").
    strong : weight of a strong preference, if an ordinary one weighs 1. sides : whether to tell what was shown first.
    """
    pool = preferences.pool
    width = max(len(preferences.documents), 1)
    pooled = pool.topic * width + pool.document
    begin = preferences.topic.astype(np.int64) * width
    preferred = np.searchsorted(pooled, begin + preferences.preferred)
    other = np.searchsorted(pooled, begin + preferences.other)
    up = preferred < other
    low = np.minimum(preferred, other)
    high = np.maximum(preferred, other)
    side = np.zeros(len(preferences))
    if sides and preferences.first is not None:
        order = np.nan_to_num(2 * preferences.first - 1)  # 1: the preferred document was shown first
        side = np.where(up, order, -order)
    weight = np.ones(len(preferences)) if preferences.weight is None else preferences.weight
    weight = weight * np.where(preferences.strength == 2, strong, 1.0)
    size = max(pool.document.size, 1)
    n_assessors = max(len(preferences.assessors), 1)
    pair, whose = np.unique(low * size + high, return_inverse=True)
    key = (whose * n_assessors + preferences.assessor) * 3 + side.astype(np.int64) + 1
    keys, row = np.unique(key, return_inverse=True)
    tied = np.zeros(len(preferences), bool)
    if ties == "davidson" and preferences.weight is not None:
        tied = halves_of_ties(row, up, preferences.weight)

    def counted(which: Bools) -> Floats:
        return np.asarray(np.bincount(row, np.where(which, weight, 0.0), minlength=keys.size), np.float64)

    n_pair = keys // 3 // n_assessors
    first = pair[n_pair] // size
    second = pair[n_pair] % size
    rows = Rows(
        first.astype(np.int32),
        second.astype(np.int32),
        (keys // 3 % n_assessors).astype(np.int32),
        (keys % 3 - 1).astype(np.float64),
        *(counted(which) for which in (up & ~tied, ~up & ~tied, tied)),
    )
    return Comparisons(pool, rows, np.searchsorted(first, pool.starts).astype(np.int64), n_pair)


def components(data: Comparisons) -> tuple[Ints, Bools]:
    """Which documents are linked, numbered from 0 within a topic, -1 if never compared; and whether they were.

    Both are (documents,).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = data.pool.document.size
    ends = (data.rows.first, data.rows.second)
    graph = csr_array((np.ones(data.pair.size), ends), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    compared = np.isin(np.arange(n), ends)
    component = np.full(n, -1, np.int64)
    for topic in range(len(data.pool.topics)):
        rows = np.arange(n)[data.pool.rows(topic)]
        rows = rows[compared[rows]]
        _, begin, which = np.unique(label[rows], return_index=True, return_inverse=True)
        component[rows] = np.argsort(np.argsort(begin))[which]
    return component, compared


def chains(rows: Rows, n: int) -> Ints:
    """(documents,) numbers of the groups in which each document beats each other one over some chain.

    A tie is a chain both ways.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    won, lost = rows.won + rows.tied > 0, rows.lost + rows.tied > 0
    tail = np.concatenate([rows.first[won], rows.second[lost]])
    head = np.concatenate([rows.second[won], rows.first[lost]])
    graph = csr_array((np.ones(tail.size), (tail, head)), shape=(n, n))
    return np.asarray(connected_components(graph, connection="strong")[1])


def need_chains(data: Comparisons) -> None:
    """An error unless every document of a topic beats every other one over some chain, as is needed without a ridge."""
    label = chains(data.rows, data.pool.document.size)
    _, compared = components(data)
    for number, topic in enumerate(data.pool.topics):
        documents = data.pool.rows(number)
        parts = np.unique(label[documents][compared[documents]])
        if parts.size > 1:
            raise ArgumentError(
                f"ridge=0: topic {topic} falls into {parts.size} parts that did not win against one another both ways, "
                "so log-worths have no bounds; take a ridge above 0"
            )


Resample = Literal["pairs", "assessors", "both"]
SHRINKAGE = 1.0  # of assessor weights towards 1
TOL, MOST_STEPS = 1e-8, 1000  # a fit ends when no derivative exceeds TOL, or after this number of steps
RESAMPLE_TOL = 1e-4  # of the fit of a resample; resamples differ far more


@dataclass(frozen=True, eq=False)
class BradleyTerry(Result):
    """Log-worths of the documents of every topic; those of a topic add up to 0.

    `to_frame` has one row per topic and document, best first; what="assessors" has one per assessor.

    method : the call with every option.
    pool : the documents of every topic; log-worths are in its order.
    log_worth : (documents,) in log-odds: an assessor of weight 1 prefers i to j with probability sigmoid(s_i - s_j).
        nan for documents that were marked but never compared.
    low, high : (documents,) ends of the interval; nan without resamples.
    component : (documents,) connected component of the comparisons within the topic, from 0; -1 where never compared.
        Across components only the ridge makes log-worths comparable.
    assessor_weight, assessor_weight_low, assessor_weight_high : (assessors,) below 0 for an adversary; all 1 where they
        were not estimated.
    intercept : (assessors,) log-odds in favour of the document shown first; 0 where not estimated.
    nu : parameter of ties; 0 where ties are not modelled.
    log_likelihood, objective : of the preferences; and with the penalties, negated, as minimised.
    iterations, converged, steepest : number of steps, whether no derivative exceeds 1e-8, and the largest derivative.
    n_comparisons : weight of all preferences. n_resamples, resample, confidence, seed : of the bootstrap; `seed` given
        as `rng` draws the same resamples again.
    """

    method: str
    pool: Pool
    log_worth: Floats
    low: Floats
    high: Floats
    component: Ints
    assessors: tuple[str, ...]
    assessor_weight: Floats
    assessor_weight_low: Floats
    assessor_weight_high: Floats
    intercept: Floats
    nu: float
    ridge: float
    log_likelihood: float
    objective: float
    iterations: int
    converged: bool
    steepest: float
    n_comparisons: float
    counted: Comparisons = field(repr=False)
    n_resamples: int = 0
    resample: Resample | None = None
    confidence: float = 0.95
    seed: Seed | None = None

    def probability(self, topic: str, preferred: str, other: str) -> float:
        """Probability that an assessor of weight 1, ties aside, prefers the one document to the other."""
        labels = self.documents_of(topic)
        log_worth = self.log_worth[self.pool.rows(self._number(topic))]
        for document in (preferred, other):
            if document not in labels:
                raise ArgumentError(f"document {document!r} was not compared on topic {topic}")
        difference = log_worth[labels.index(preferred)] - log_worth[labels.index(other)]
        return float(0.5 * (1 + np.tanh(difference / 2)))

    def documents_of(self, topic: str) -> list[str]:
        """The labels of a topic's documents, in the order of the pool."""
        rows = self.pool.rows(self._number(topic))
        return [self.pool.documents[d] for d in self.pool.document[rows].tolist()]

    def _number(self, topic: str) -> int:
        if topic not in self.pool.topics:
            raise ArgumentError(f"no topic is called {topic!r}; there are {len(self.pool.topics)}")
        return self.pool.topics.index(topic)

    @cached_property
    def standard_error(self) -> Floats:
        """(documents,) of each log-worth, from the second derivatives of the objective, given the assessor weights.

        Log-worths add up to 0, so the variance that the ridge leaves to their common level is not counted.
        """
        rows = self.counted.rows
        log_worth = np.nan_to_num(self.log_worth)
        weight = self.assessor_weight[rows.assessor]
        eta = weight * (log_worth[rows.first] - log_worth[rows.second]) + self.intercept[rows.assessor] * rows.side
        p, q, _ = kernels.outcomes(eta, self.nu)
        bend = 0.25 * weight**2 * self.counted.total * (p + q - (p - q) ** 2)
        errors = np.full(log_worth.size, np.nan)
        for number in range(len(self.pool.topics)):
            documents = self.pool.rows(number)
            part = self.counted.of_topic(number)
            n = documents.stop - documents.start
            i = rows.first[part] - documents.start
            j = rows.second[part] - documents.start
            curvature = np.diag(np.full(n, 2.0 * self.ridge))
            for one, two, sign in ((i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)):
                np.add.at(curvature, (one, two), sign * bend[part])
            covariance = np.linalg.inv(curvature) if self.ridge else np.linalg.pinv(curvature, hermitian=True)
            n_compared = max(int((self.component[documents] >= 0).sum()), 1)
            together = 1 / (2 * self.ridge * n_compared) if self.ridge else 0.0
            errors[documents] = np.sqrt(np.maximum(np.diag(covariance) - together, 0.0))
        return np.where(np.isnan(self.log_worth), np.nan, errors)

    def _tables(self) -> Tables:
        return {"documents": self._of_documents, "assessors": self._of_assessors}

    def _of_documents(self) -> dict[str, Any]:
        """One row per topic and document, best first within a topic."""
        rows = np.lexsort((-self.log_worth, self.pool.topic))
        labels = self.pool.labels()
        columns = {
            "topic": labels["topic"][rows],
            "document": labels["document"][rows],
            "log_worth": self.log_worth[rows],
            "standard_error": self.standard_error[rows],
            "component": self.component[rows],
        }
        interval = {"low": self.low[rows], "high": self.high[rows]} if self.n_resamples else {}
        return {**columns, **interval}

    def _of_assessors(self) -> dict[str, Any]:
        """One row per assessor, with the weight of his or her preferences."""
        return {
            "assessor": self.assessors,
            "weight": self.assessor_weight,
            "low": self.assessor_weight_low,
            "high": self.assessor_weight_high,
            "intercept": self.intercept,
            "n_comparisons": np.bincount(self.counted.rows.assessor, self.counted.total, minlength=len(self.assessors)),
        }


@with_signature("bradley-terry")
def bradley_terry(
    preferences: Preferences,
    *,
    ridge: float = 0.1,
    assessor_weights: bool = False,
    ties: Ties = "half",
    strong: float = 1.0,
    position: bool = False,
    n_resamples: int = 0,
    resample: Resample = "pairs",
    confidence: float = 0.95,
    rng: Rng = 1,
) -> BradleyTerry:
    """The most probable log-worths of every topic's documents, fitted to all assessors together.

    P(assessor a prefers i to j) = sigmoid(r_a (s_i - s_j) + c_a x),   x = 1 if i was shown first, -1 if j was

    Every row of the preferences counts: repeats, contradictions and cycles are what the model is for.

    Parameters
    ----------
    ridge : ridge * sum s^2 is subtracted from the log-likelihood, as if s were Gaussian with variance 1 / (2 ridge)
        (choix calls it alpha). 0: maximum likelihood, which exists only where every document of a topic beats, over
        some chain, every other one.
    assessor_weights : estimate r_a, one for every assessor over all topics: below 1 for an assessor who is less
        consistent than most, about 0 for one who answers at random, below 0 for one who prefers the worse document.
        Their mean square is fixed at 1, since (s, r) and (c s, r / c) predict the same; sum (r_a - 1)^2 is subtracted,
        which presumes most assessors honest and so decides between (s, r) and (-s, -r). The objective may have several
        minima; the fit starts with all weights at 1, then fits log-worths and weights in turn, then all together.
        Default: all r_a are 1.
    ties : half a preference each way counts as such ("half"), or as one tie, with P(i) : P(j) : P(tie) =
        exp(eta / 2) : exp(-eta / 2) : nu ("davidson"); ridge * log(nu)^2 is subtracted.
    strong : weight of a strong preference (strength 2), if an ordinary one weighs 1.
    position : estimate c_a, the assessor's bias towards the document shown first; ridge * sum c_a^2 is subtracted.
    n_resamples : number of bootstrap resamples for percentile intervals; 0: no interval.
    resample : what is drawn with replacement: "pairs" of documents within each topic, with all their judgments;
        "assessors", with all their judgments; or "both", independently, weights multiplied. An assessor drawn twice
        counts as two. Each resample is fitted from the estimate on all data, so that a resample with many adversaries
        does not reverse the order.
    confidence : of the intervals. rng : for the resamples.

    Raises
    ------
    NoOverlapError
        Not a single preference; `resample="assessors"` with a single assessor.
    ArgumentError
        An option outside its range; ridge=0 where log-worths are not determined.
    """
    check_choice("ties", ties, Ties)
    check_choice("resample", resample, Resample)
    if not (0 <= ridge < np.inf and 0 < strong < np.inf):
        raise ArgumentError(f"ridge={ridge}, strong={strong}: the first must be 0 or more, the second above 0")
    if not (n_resamples >= 0 and 0 < confidence < 1):
        raise ArgumentError(
            f"n_resamples={n_resamples}, confidence={confidence}: numbers from 0, and between 0 and 1, were expected"
        )
    if not len(preferences):
        raise NoOverlapError("there is no preference, so log-worths cannot be estimated")
    if position and (preferences.first is None or np.isnan(preferences.first).all()):
        raise ArgumentError("the preferences do not say which document was shown first", "position", True)
    if n_resamples and resample != "pairs" and len(preferences.assessors) < 2:
        raise NoOverlapError(f"resample={resample!r} draws assessors, and there is only one; choose resample='pairs'")
    data = comparisons(preferences, ties=ties, strong=strong, sides=position)
    if ridge == 0:
        if assessor_weights or position or ties == "davidson":
            raise ArgumentError("ridge=0 gives log-worths alone; take a ridge above 0 for anything else")
        need_chains(data)
    davidson = ties == "davidson" and bool((data.rows.tied > 0).any())
    seed = seed_of(rng) if n_resamples else None
    model = _Model(ridge, assessor_weights, position, davidson)
    fit = model.fit(data, np.ones(len(preferences.assessors)), TOL)
    converged = fit.steepest <= TOL
    if not converged:
        warnings.warn(
            f"bradley_terry did not converge: after {fit.iterations} steps a derivative is {fit.steepest:.2g}; "
            "raise ridge",
            stacklevel=2,
        )
    component, compared = components(data)
    log_worth, assessor_weight, intercept, theta = fit.parameters
    log_worth = centred(log_worth, data, compared)
    low, high = np.full((2, log_worth.size), np.nan)
    weight_low, weight_high = np.full((2, assessor_weight.size), np.nan)
    if seed is not None:
        log_worths, weights = _resampled(model, data, fit, n_resamples, resample, seed, compared)
        ends = [(1 - confidence) / 2, (1 + confidence) / 2]
        low, high = np.quantile(log_worths, ends, axis=0)
        if assessor_weights:
            weight_low, weight_high = _quantiles(weights, ends)
    options = (
        f"ridge={ridge:g}, assessor_weights={assessor_weights}, ties={ties!r}, strong={strong:g}, position={position}"
    )
    return BradleyTerry(
        f"bradley_terry({options})",
        data.pool,
        np.where(compared, log_worth, np.nan),
        np.where(compared, low, np.nan),
        np.where(compared, high, np.nan),
        component,
        preferences.assessors,
        assessor_weight,
        weight_low,
        weight_high,
        intercept,
        float(np.exp(theta[0])),
        ridge,
        kernels.log_likelihood(data.rows, fit.parameters),
        fit.objective,
        fit.iterations,
        converged,
        fit.steepest,
        float(data.total.sum()),
        data,
        n_resamples,
        resample if n_resamples else None,
        confidence,
        seed,
    )


def centred(log_worth: Floats, data: Comparisons, compared: Bools) -> Floats:
    """The log-worths with a sum of 0 in each topic, which the ridge gives them up to rounding."""
    topic = data.pool.topic
    n = np.maximum(np.bincount(topic, compared, minlength=len(data.pool.topics)), 1)
    mean = np.bincount(topic, np.where(compared, log_worth, 0.0), minlength=n.size) / n
    return log_worth - np.where(compared, mean[topic], log_worth)


@dataclass(frozen=True)
class _Model:
    """The parameters to fit beside log-worths, and the penalty."""

    ridge: float
    assessor_weights: bool
    position: bool
    davidson: bool

    def fit(self, data: Comparisons, times: Floats, tol: float, start: kernels.Parameters | None = None) -> kernels.Fit:
        """The minimum that is reached from `start`, or from log-worths of 0.

        times : (assessors,) how many assessors each stands for.
        """

        def go_on(fit: kernels.Fit, tol: float, *moving: bool) -> kernels.Fit:
            further = kernels.fit(
                data.rows, fit.parameters, self.ridge, SHRINKAGE, times, np.array(moving), tol, MOST_STEPS
            )
            return further._replace(iterations=fit.iterations + further.iterations)

        others = (self.assessor_weights, self.position, self.davidson)
        if start is not None:
            return go_on(kernels.Fit(start, 0, np.nan, np.inf), tol, True, *others)
        theta = np.array([0.0 if self.davidson else -np.inf])
        zero = kernels.Parameters(np.zeros(data.pool.document.size), np.ones(times.size), np.zeros(times.size), theta)
        fit = go_on(kernels.Fit(zero, 0, np.nan, np.inf), tol, True, False, False, False)
        if not any(others):
            return fit
        for _ in range(5):
            fit = go_on(fit, 1e-3, False, *others)
            fit = go_on(fit, 1e-3, True, False, False, False)
        fit = go_on(fit, tol, True, *others)
        if self.assessor_weights and float(times @ fit.parameters.assessor_weight) < 0:
            # The reverse fits as well, with a smaller penalty.
            s, r, c, theta = fit.parameters
            fit = go_on(fit._replace(parameters=kernels.Parameters(-s, -r, c, theta)), tol, True, *others)
        return fit


def _resampled(
    model: _Model,
    data: Comparisons,
    fitted: kernels.Fit,
    n: int,
    resample: Resample,
    seed: Seed,
    compared: Bools,
) -> tuple[Floats, Floats]:
    """(n, documents) log-worths and (n, assessors) weights fitted to n samples drawn with replacement.

    A document without a comparison in a sample has log-worth 0 there, by the ridge; an assessor without one has no
    weight.
    """
    rows, start = data.rows, fitted.parameters
    chance = Chance.of(seed)
    n_assessors = start.assessor_weight.size
    log_worth = np.empty((n, start.log_worth.size))
    assessor_weight = np.full((n, n_assessors), np.nan)
    converged = np.zeros(n, bool)
    by_topic = np.searchsorted(data.pool.starts, rows.first[np.unique(data.pair, return_index=True)[1]], side="right")
    _, begin, size = np.unique(by_topic, return_index=True, return_counts=True)

    def draw(random: np.random.Generator) -> tuple[Floats, Floats]:
        often = np.ones(data.pair.size)
        times = np.ones(n_assessors)
        if resample != "pairs":
            times = np.bincount(random.integers(n_assessors, size=n_assessors), minlength=n_assessors).astype(float)
            often = times[rows.assessor]
        if resample != "assessors":
            pairs = np.repeat(begin, size) + (random.random(by_topic.size) * np.repeat(size, size)).astype(np.int64)
            often = often * np.bincount(pairs, minlength=by_topic.size)[data.pair]
        return often, times

    def one_sample(number: int) -> None:
        often, times = draw(chance.stream("strength", number))
        fit = model.fit(data.times(often), times, RESAMPLE_TOL, start)
        log_worth[number] = centred(fit.parameters.log_worth, data, compared)
        assessor_weight[number] = np.where(times > 0, fit.parameters.assessor_weight, np.nan)
        converged[number] = fit.steepest <= RESAMPLE_TOL

    for _ in in_threads(one_sample, range(n), None):
        pass
    if not converged.all():
        warnings.warn(f"{int((~converged).sum())} of {n} resamples did not converge; raise ridge", stacklevel=3)
    return log_worth, assessor_weight


def _quantiles(values: Floats, ends: list[float]) -> Floats:
    """(ends, columns) quantiles of the values of each column that are not nan."""
    columns = [column[~np.isnan(column)] for column in values.T]
    return np.array([np.quantile(column, ends) if column.size else [np.nan] * 2 for column in columns]).T

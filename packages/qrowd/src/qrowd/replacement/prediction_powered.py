"""Prediction-powered means: few topics judged by assessors, many more by a model, and a valid interval.

The model's mean over many topics is precise but may be biased; the assessors' scores on a few topics correct it. The
weight of the model is lam, from 0 (assessors alone, the classical estimate) to 1.

Angelopoulos, Bates, Fannjiang, Jordan & Zrnic (2023), Prediction-Powered Inference. Science 382, 669-674 (lam = 1);
Angelopoulos, Duchi & Zrnic (2023), PPI++: Efficient Prediction-Powered Inference. arXiv:2311.01453 (lam tuned).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qrowd.comparison.interval_widths import check_confidence
from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.model.labels import number_of, plural
from qrowd.model.result import Result
from qrowd.model.scores import one_table, scores_of

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


Method = Literal["classical", "ppi", "ppi++"]
Target = Literal["new topics", "these topics"]


class Options(TypedDict, total=False):
    """The options of `prediction_powered`, which documents them."""

    method: Method
    target: Target
    cross_fit: bool
    published: bool
    confidence: float


@dataclass(frozen=True)
class PredictionPowered(Result):
    """A mean over topics with its interval.

    lam : weight of the model; the mean over topics where it was cross-fitted.
    df : degrees of freedom of the t quantile; inf for the normal one.
    n_assessor_topics, n_model_topics : topics with the assessors' scores; topics with the model's alone.
    classical_standard_error : of the assessors alone, from the same topics.
    """

    summary = "A mean over topics with its interval"

    estimate: float
    standard_error: float
    low: float
    high: float
    lam: float
    df: float
    n_assessor_topics: int
    n_model_topics: int
    classical_standard_error: float
    method: Method
    target: Target
    confidence: float

    @property
    def effective_topics(self) -> float:
        """Number of topics that assessors alone would need for this standard error; inf where it is 0."""
        errors = np.array([self.classical_standard_error]), np.array([self.standard_error])
        return float(effective_topics(self.n_assessor_topics, *errors)[0])

    @property
    def topics_gained(self) -> float:
        """Effective number of judged topics gained through the model; negative where the model increases the error."""
        return self.effective_topics - self.n_assessor_topics


@dataclass(frozen=True, eq=False)
class PredictionPoweredMeans(Result):
    """The mean of each system over topics with its interval; each array is (systems,).

    assessor_topics : with scores of both, for every system. model_topics : with the model's scores alone.
    left_out : topics of the assessors that the model lacks, or where some system has no score.
    effective_topics, topics_gained, lam, df, classical_standard_error : as in `PredictionPowered`.
    """

    summary = "The mean of each system over topics with its interval"

    systems: tuple[str, ...]
    assessor_topics: tuple[str, ...]
    model_topics: tuple[str, ...]
    left_out: tuple[str, ...]
    estimate: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    lam: Floats
    df: Floats
    classical_standard_error: Floats
    method: Method
    target: Target
    confidence: float

    _COLUMNS = (
        "systems",
        "estimate",
        "standard_error",
        "low",
        "high",
        "lam",
        "df",
        "classical_standard_error",
        "topics_gained",
    )

    @property
    def effective_topics(self) -> Floats:
        """(systems,) number of topics that assessors alone would need for this standard error."""
        return effective_topics(len(self.assessor_topics), self.classical_standard_error, self.standard_error)

    @property
    def topics_gained(self) -> Floats:
        """(systems,) effective number of judged topics gained through the model; negative where it adds error."""
        return self.effective_topics - len(self.assessor_topics)


def prediction_powered(
    assessor: ArrayLike,
    model: ArrayLike,
    model_only: ArrayLike,
    *,
    method: Method = "ppi++",
    target: Target = "new topics",
    cross_fit: bool = True,
    published: bool = False,
    confidence: float = 0.95,
) -> PredictionPowered:
    """The mean of the assessors' scores y, estimated from few of them and many of a model's scores.

        theta = lam mean(g) + mean(y - lam f),  se^2 = lam^2 var(g) / N + var(y - lam f) / n

    Parameters
    ----------
    assessor, model : (n,) scores y and f of the same topics. model_only : (N,) the model's scores g of further topics.
    method : "classical" (lam 0), "ppi" (lam 1), or "ppi++": lam = cov(y, f) / ((1 + n / N) var), clipped to [0, 1],
        where var is that of f and g together. A topic never tunes the lam that is applied to it (cross-fitting).
    target : the mean of all possible topics, of which these are a sample ("new topics"), or of these n + N alone
        ("these topics"): theta = lam mean(f and g) + mean(y - lam f), lam = cov(y, f) / var, and
        se^2 = N / (n + N) var(y - lam f) / n.
    cross_fit : whether lam is tuned without the topic; False tunes it on all topics, as published.
    published : the papers' interval, with the quantile of the normal distribution and variances that divide by the
        number of topics, as in ppi-python; by default Student's t with Satterthwaite's degrees of freedom, and the
        number of topics less one.

    Raises
    ------
    ArgumentError
        Fewer than two topics, arrays of different length, nan, an unknown option.

    >>> result = prediction_powered([0.5, 0.7, 0.2, 0.4], [0.6, 0.8, 0.2, 0.4], [0.5, 0.3, 0.6, 0.7, 0.4], method="ppi")
    >>> print(f"{result.estimate:.3f} +- {result.standard_error:.3f}, classical {result.classical_standard_error:.3f}")
    0.450 +- 0.076, classical 0.104
    """
    arrays = []
    for name, values in (("assessor", assessor), ("model", model), ("model_only", model_only)):
        array = np.asarray(values, np.float64)
        if array.ndim != 1:
            raise ArgumentError(f"{name}: one score per topic was expected, not an array of shape {array.shape}")
        if not np.isfinite(array).all():
            raise ArgumentError(f"{name}: a score is not a finite number; leave topics without a score out")
        arrays.append(array[:, None])
    y, f, g = arrays
    if y.size != f.size:
        raise ArgumentError(f"model: {f.size} scores for the {y.size} topics of assessor; one for each was expected")
    fit = Rule(method, target, cross_fit, published, confidence).fit(y, f, g)
    names = ("estimate", "standard_error", "low", "high", "lam", "df", "classical_standard_error")
    numbers = {name: float(getattr(fit, name)[0]) for name in names}
    return PredictionPowered(
        **numbers,
        n_assessor_topics=y.size,
        n_model_topics=g.size,
        method=method,
        target=target,
        confidence=confidence,
    )


def prediction_powered_means(
    assessor: AnyScores, model: AnyScores, **options: Unpack[Options]
) -> PredictionPoweredMeans:
    """The mean of the assessors' scores for each system, from assessors on some topics and a model on many.

    assessor, model : scores of one measure by one assessor each, such as `scores.panel_mean()`. Topics and systems are
        matched by name; nan is no score.
    options : as in `prediction_powered`. Each system has its own lam.

    Raises
    ------
    NoOverlapError
        No topic with scores of both.
    ArgumentError
        Fewer than two such topics; other systems; another measure; an unknown option.
    """
    both = matched(assessor, model)
    rule = Rule(**options)
    fit = rule.fit(*both.scores)
    return PredictionPoweredMeans(
        both.systems,
        both.assessor_topics,
        both.model_topics,
        both.left_out,
        **vars(fit),
        method=rule.method,
        target=rule.target,
        confidence=rule.confidence,
    )


def prediction_powered_difference(
    assessor: AnyScores, model: AnyScores, first: str, second: str, **options: Unpack[Options]
) -> PredictionPowered:
    """The difference of two systems, first minus second, by the assessors' scores.

    Other arguments as in `prediction_powered_means`.
    """
    both = matched(assessor, model)
    i, j = (number_of(name, both.systems, "system") for name in (first, second))
    if i == j:
        raise ArgumentError(f"systems {first!r} and {second!r} are the same; name two")
    return prediction_powered(*(scores[:, i] - scores[:, j] for scores in both.scores), **options)


# ---------------------------------------------------------------------- matching by name


@dataclass(frozen=True, eq=False)
class Matched:
    """Scores of the same systems: (assessor topics, systems) of both, and (model topics, systems) of the model alone.

    scores : y, f and g.
    """

    systems: tuple[str, ...]
    assessor_topics: tuple[str, ...]
    model_topics: tuple[str, ...]
    left_out: tuple[str, ...]
    scores: tuple[Floats, Floats, Floats]


def matched(assessor: AnyScores, model: AnyScores) -> Matched:
    """Match topics and systems by name."""
    (y, (topics, systems)), (f, (model_topics, model_systems)) = one_table(assessor), one_table(model)
    measure, other = scores_of(assessor).measures[0], scores_of(model).measures[0]
    if measure != other:
        raise ArgumentError(f"model: scores of {other}, while assessor has {measure}; take the same measure of both")
    if set(systems) != set(model_systems):
        odd = sorted(set(systems) ^ set(model_systems))[0]
        has, lacks = ("assessor", "model") if odd in systems else ("model", "assessor")
        raise ArgumentError(f"{lacks}: no scores of system {odd!r}, which {has} has; select the same systems of both")
    f = f[:, [model_systems.index(name) for name in systems]]
    row = {name: i for i, name in enumerate(model_topics) if not np.isnan(f[i]).any()}
    judged = [i for i in range(len(topics)) if not np.isnan(y[i]).all()]
    used = [i for i in judged if not np.isnan(y[i]).any() and topics[i] in row]
    if not used:
        raise NoOverlapError("assessor and model score no topic in common; check that both are of the same collection")
    judged_topics = {topics[i] for i in judged}
    only = tuple(name for name in model_topics if name in row and name not in judged_topics)
    assessor_topics = tuple(topics[i] for i in used)
    left_out = tuple(topics[i] for i in judged if i not in set(used))
    shared: NDArray[np.int64] = np.array([row[name] for name in assessor_topics], np.int64)
    rest: NDArray[np.int64] = np.array([row[name] for name in only], np.int64)
    return Matched(systems, assessor_topics, only, left_out, (y[used], f[shared], f[rest]))


# ---------------------------------------------------------------------- the sums, for many systems at once


@dataclass(frozen=True)
class Fit:
    """The result of `Rule.fit`; each array is (systems,)."""

    estimate: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    lam: Floats
    df: Floats
    classical_standard_error: Floats


@dataclass(frozen=True)
class Rule:
    """The options of `prediction_powered`, checked, and the computation on arrays."""

    method: Method = "ppi++"
    target: Target = "new topics"
    cross_fit: bool = True
    published: bool = False
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_choice("method", self.method, Method)
        check_choice("target", self.target, Target)
        check_confidence(self.confidence)

    @property
    def ddof(self) -> int:
        """The number subtracted from the number of topics in a variance."""
        return 0 if self.published else 1

    def fit(self, y: Floats, f: Floats, g: Floats) -> Fit:
        """Estimates of every column of y and f (n, systems) and g (N, systems)."""
        n, n_only = y.shape[0], g.shape[0]
        if n < 2:
            raise ArgumentError(f"assessor: {plural(n, 'topic')} judged by assessors; 2 or more are needed")
        if n_only < 2 and self.method != "classical":
            raise ArgumentError(
                f"model: {plural(n_only, 'topic')} scored by the model alone; 2 or more are needed, "
                'or method="classical"'
            )
        lam = self.lam(y, f, g)
        mean_lam = lam.mean(axis=0)
        left, share = np.zeros(y.shape[1]), 1.0
        if self.target == "these topics":
            middle = np.concatenate([f, g]).mean(axis=0)  # known: the model scored every topic
            share = n_only / (n + n_only)
        else:
            middle = g.mean(axis=0) if n_only else f.mean(axis=0)
            if n_only > 1:
                left = mean_lam**2 * g.var(axis=0, ddof=self.ddof) / n_only
        # Around the model's mean, so that topics with another lam remain comparable.
        corrected = y - lam * (f - middle)
        right = share * corrected.var(axis=0, ddof=self.ddof) / n
        standard_error = np.sqrt(left + right)
        df = self.degrees(left, right, n, n_only)
        half = self.quantiles(df) * standard_error
        estimate = corrected.mean(axis=0)
        classical = np.sqrt(share * y.var(axis=0, ddof=self.ddof) / n)
        return Fit(estimate, standard_error, estimate - half, estimate + half, mean_lam, df, classical)

    def lam(self, y: Floats, f: Floats, g: Floats) -> Floats:
        """(n, systems) weight of the model on each topic."""
        n = y.shape[0]
        if self.method != "ppi++":
            return np.full(y.shape, 0.0 if self.method == "classical" else 1.0)
        weight = self.weight(n, g.shape[0])
        if not self.cross_fit:
            return np.broadcast_to(self.tuned(y, f, g, weight), y.shape)
        lam = np.zeros(y.shape)
        for topic in range(n if n > 2 else 0):  # one remaining topic has no covariance: lam stays 0
            rest = np.arange(n) != topic
            lam[topic] = self.tuned(y[rest], f[rest], g, weight)
        return lam

    def weight(self, n: int, n_only: int) -> float:
        """The divisor of lam for the variance of the mean of g; 1 where the mean of all topics is known."""
        return 1.0 if self.target == "these topics" else 1 + n / n_only

    def tuned(self, y: Floats, f: Floats, g: Floats, weight: float) -> Floats:
        """(systems,) cov(y, f) / (weight var), clipped to [0, 1]; 0 where the model gives all topics one score."""
        together = np.concatenate([f, g])
        covariance = ((y - y.mean(axis=0)) * (f - f.mean(axis=0))).sum(axis=0) / (y.shape[0] - self.ddof)
        spread = together.var(axis=0, ddof=1)
        constant = spread <= 1e-24 * np.square(together).max(axis=0)
        return np.where(constant, 0.0, np.clip(covariance / np.where(constant, 1.0, weight * spread), 0.0, 1.0))

    def degrees(self, left: Floats, right: Floats, n: int, n_only: int) -> Floats:
        """(systems,) Satterthwaite's degrees of freedom of a sum of two variances of means."""
        if self.published:
            return np.full(left.shape, np.inf)
        down = left**2 / max(n_only - 1, 1) + right**2 / (n - 1)
        # 0 / 0 where nothing varies; squares that vanish beside others that do are harmless
        return np.where(down > 0, (left + right) ** 2 / np.where(down > 0, down, 1.0), float(n - 1))

    def quantiles(self, df: Floats) -> Floats:
        """Half the interval's width in standard errors."""
        from scipy.special import ndtri, stdtrit

        upper = 0.5 + self.confidence / 2
        return np.asarray(np.where(np.isinf(df), ndtri(upper), stdtrit(np.where(np.isinf(df), 1.0, df), upper)))


def effective_topics(n: int, classical: Floats, standard_error: Floats) -> Floats:
    """(systems,) number of topics that assessors alone would need for this standard error; inf where it is 0."""
    with np.errstate(divide="ignore"):
        unlimited = np.full(standard_error.shape, np.inf)
        ratio = np.divide(classical, standard_error, out=unlimited, where=standard_error > 0)
    return np.asarray(np.where(classical == standard_error, float(n), n * np.square(ratio)))

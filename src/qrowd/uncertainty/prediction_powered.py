"""Prediction-powered means: few topics judged by assessors, many more by a model, and a valid interval.

The model's mean over many topics is precise but may be biased; the assessors' scores on a few topics correct it. The
weight of the model is lam, from 0 (assessors alone, the classical estimate) to 1.

Angelopoulos, Bates, Fannjiang, Jordan & Zrnic (2023), Prediction-Powered Inference. Science 382, 669-674 (lam = 1);
Angelopoulos, Duchi & Zrnic (2023), PPI++: Efficient Prediction-Powered Inference. arXiv:2311.01453 (lam tuned).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng, Seed
from qrowd.model.labels import number_of
from qrowd.model.result import Result
from qrowd.model.scores import one_table, scores_of
from qrowd.uncertainty.prediction_powered_sums import Method, Quantile, Rule, Target, Variance, effective_topics

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


class Options(TypedDict, total=False):
    """The options of `prediction_powered`, which documents them."""

    method: Method
    target: Target
    folds: int | None
    quantile: Quantile
    variance: Variance
    confidence: float


@dataclass(frozen=True)
class PredictionPowered(Result):
    """A mean over topics with its interval.

    lam : weight of the model; the mean over folds where it was cross-fitted.
    df : degrees of freedom of the t quantile; inf for the normal one.
    n_assessor_topics, n_model_topics : topics with the assessors' scores; topics with the model's alone.
    classical_standard_error : of the assessors alone, from the same topics.
    seed : of the folds; None where nothing was drawn.
    """

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
    seed: Seed | None

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
    effective_topics, topics_gained, lam, df, classical_standard_error, seed : as in `PredictionPowered`.
    """

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
    seed: Seed | None

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
    folds: int | None = None,
    quantile: Quantile = "t",
    variance: Variance = "sample",
    confidence: float = 0.95,
    rng: Rng = None,
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
    folds : number of folds of the cross-fitting, drawn with `rng`; None leaves out one topic at a time, 1 does not
        cross-fit.
    quantile : "t", with Satterthwaite degrees of freedom, or "normal", as in the papers.
    variance : "sample" divides by the number of topics less one, "population" (ppi-python) by the number.

    Raises
    ------
    ArgumentError
        Fewer than two topics, arrays of different length, nan, an unknown option.

    >>> found = prediction_powered([0.5, 0.7, 0.2, 0.4], [0.6, 0.8, 0.2, 0.4], [0.5, 0.3, 0.6, 0.7, 0.4], method="ppi")
    >>> print(f"{found.estimate:.3f} +- {found.standard_error:.3f}, classical {found.classical_standard_error:.3f}")
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
    rule = Rule(method, target, folds, quantile, variance, confidence)
    fit = rule.fit(y, f, g, seed := rule.seed(rng))
    names = ("estimate", "standard_error", "low", "high", "lam", "df", "classical_standard_error")
    numbers = {name: float(getattr(fit, name)[0]) for name in names}
    return PredictionPowered(
        **numbers,
        n_assessor_topics=y.size,
        n_model_topics=g.size,
        method=method,
        target=target,
        confidence=confidence,
        seed=seed,
    )


def prediction_powered_means(
    assessor: AnyScores, model: AnyScores, *, rng: Rng = None, **options: Unpack[Options]
) -> PredictionPoweredMeans:
    """The mean of the assessors' scores for each system, from assessors on some topics and a model on many.

    assessor, model : scores of one measure by one assessor each, such as `scores.panel_mean()`. Topics and systems are
        matched by name; nan is no score.
    options : as in `prediction_powered`. Each system has its own lam; folds are the same for all.

    Raises
    ------
    NoOverlapError
        No topic with scores of both.
    ArgumentError
        Fewer than two such topics; other systems; another measure; an unknown option.
    """
    both = matched(assessor, model)
    rule = Rule(**options)
    fit = rule.fit(*both.scores, seed := rule.seed(rng))
    return PredictionPoweredMeans(
        both.systems,
        both.assessor_topics,
        both.model_topics,
        both.left_out,
        **vars(fit),
        method=rule.method,
        target=rule.target,
        confidence=rule.confidence,
        seed=seed,
    )


def prediction_powered_difference(
    assessor: AnyScores, model: AnyScores, first: str, second: str, *, rng: Rng = None, **options: Unpack[Options]
) -> PredictionPowered:
    """The difference of two systems, first minus second, by the assessors' scores.

    Other arguments as in `prediction_powered_means`.
    """
    both = matched(assessor, model)
    i, j = (number_of(name, both.systems, "system") for name in (first, second))
    if i == j:
        raise ArgumentError(f"systems {first!r} and {second!r} are the same; name two")
    return prediction_powered(*(scores[:, i] - scores[:, j] for scores in both.scores), rng=rng, **options)


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

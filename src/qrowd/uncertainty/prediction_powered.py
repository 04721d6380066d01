"""Prediction-powered means: few topics judged by people, many more by a model, and one honest interval.

The model's mean over many topics is precise but may be wrong; what people say of a few topics corrects it. How far the
model is trusted is lam, from 0 (people alone) to 1.

Angelopoulos, Bates, Fannjiang, Jordan & Zrnic (2023), Prediction-Powered Inference. Science 382, 669-674 (lam = 1);
Angelopoulos, Duchi & Zrnic (2023), PPI++: Efficient Prediction-Powered Inference. arXiv:2311.01453 (lam tuned).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.chance import Rng, Seed
from qrowd.model.frames import make_frame
from qrowd.model.labels import number_of
from qrowd.model.scores import Floats, Scores, one_table
from qrowd.uncertainty.prediction_powered_sums import Method, Quantile, Rule, Target, Variance, effective_topics

if TYPE_CHECKING:
    import xarray

    SomeScores: TypeAlias = "xarray.DataArray | Scores"


@dataclass(frozen=True)
class PredictionPowered:
    """A mean over topics with its interval.

    lam : how far the model is trusted; the folds' mean where it was cross-fitted.
    df : degrees of freedom of the t quantile; inf for the normal one.
    n_human, n_model : topics with people's scores; topics with the model's alone.
    humans_se : the standard error of people alone, from the same topics.
    seed : of the folds; None where nothing was drawn.
    """

    estimate: float
    se: float
    low: float
    high: float
    lam: float
    df: float
    n_human: int
    n_model: int
    humans_se: float
    method: Method
    target: Target
    confidence: float
    seed: Seed | None

    @property
    def effective_topics(self) -> float:
        """As many topics judged by people alone would have this standard error; inf where it is 0."""
        return float(effective_topics(self.n_human, np.array([self.humans_se]), np.array([self.se]))[0])

    @property
    def gained(self) -> float:
        """Effective number of human topics gained through the model; negative where it does harm."""
        return self.effective_topics - self.n_human


@dataclass(frozen=True, eq=False)
class PredictionPoweredMeans:
    """The mean of every system over topics with its interval; every array is (systems,).

    human_topics : with scores of both, for every system. model_topics : with the model's alone.
    left_out : topics of the people that the model lacks, or where some system has no score.
    effective_topics, gained, lam, df, humans_se, seed : as in `PredictionPowered`.
    """

    systems: tuple[str, ...]
    human_topics: tuple[str, ...]
    model_topics: tuple[str, ...]
    left_out: tuple[str, ...]
    estimate: Floats
    se: Floats
    low: Floats
    high: Floats
    lam: Floats
    df: Floats
    humans_se: Floats
    method: Method
    target: Target
    confidence: float
    seed: Seed | None

    @property
    def effective_topics(self) -> Floats:
        """(systems,) as many topics judged by people alone would have this standard error."""
        return effective_topics(len(self.human_topics), self.humans_se, self.se)

    @property
    def gained(self) -> Floats:
        """(systems,) effective number of human topics gained through the model; negative where it does harm."""
        return self.effective_topics - len(self.human_topics)

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per system."""
        return make_frame(
            {
                "system": np.array(self.systems, object),
                "estimate": self.estimate,
                "se": self.se,
                "low": self.low,
                "high": self.high,
                "lam": self.lam,
                "df": self.df,
                "humans_se": self.humans_se,
                "gained": self.gained,
            },
            backend,
        )


def prediction_powered(
    human: ArrayLike,
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
    """The mean that people would find, from few of their scores y and many of a model's.

        theta = lam mean(g) + mean(y - lam f),  se^2 = lam^2 var(g) / N + var(y - lam f) / n

    human, model : (n,) scores y and f of the same topics. model_only : (N,) the model's scores g of further topics.
    method : "humans" (lam 0), "ppi" (lam 1), or "ppi++": lam = cov(y, f) / ((1 + n / N) var), clipped to [0, 1], var
        being that of f and g together. A topic never tunes the lam it is used with (cross-fitting).
    target : the mean of all topics there might be, of which these are a sample ("new topics"), or of these n + N alone
        ("these topics"): theta = lam mean(f and g) + mean(y - lam f), lam = cov(y, f) / var, and
        se^2 = N / (n + N) var(y - lam f) / n.
    folds : of the cross-fitting, drawn with `rng`; None leaves out one topic at a time, 1 does not cross-fit.
    quantile : "t", with Satterthwaite degrees of freedom, or "normal", as in the papers.
    variance : "sample" divides by one less than the number of topics, "population" (ppi-python) by the number.

    Raises
    ------
    ArgumentError
        Fewer than two topics, arrays that do not fit each other, nan, an option nobody knows.

    >>> found = prediction_powered([0.5, 0.7, 0.2, 0.4], [0.6, 0.8, 0.2, 0.4], [0.5, 0.3, 0.6, 0.7, 0.4], method="ppi")
    >>> print(f"{found.estimate:.3f} +- {found.se:.3f}, humans alone {found.humans_se:.3f}")
    0.450 +- 0.076, humans alone 0.104
    """
    arrays = []
    for name, given in (("human", human), ("model", model), ("model_only", model_only)):
        array = np.asarray(given, np.float64)
        if array.ndim != 1:
            raise ArgumentError(f"{name}: one score per topic was expected, not an array of shape {array.shape}")
        if not np.isfinite(array).all():
            raise ArgumentError(f"{name}: a score is not a finite number; leave topics without a score out")
        arrays.append(array[:, None])
    y, f, g = arrays
    if y.size != f.size:
        raise ArgumentError(f"model: {f.size} scores for the {y.size} topics of human; one for each was expected")
    rule = Rule(method, target, folds, quantile, variance, confidence)
    fit = rule.fit(y, f, g, seed := rule.seed(rng))
    values = {name: float(getattr(fit, name)[0]) for name in ("estimate", "se", "low", "high", "lam", "df")}
    return PredictionPowered(
        **values,
        n_human=y.size,
        n_model=g.size,
        humans_se=float(fit.humans_se[0]),
        method=method,
        target=target,
        confidence=confidence,
        seed=seed,
    )


def prediction_powered_means(
    human: SomeScores,
    model: SomeScores,
    *,
    method: Method = "ppi++",
    target: Target = "new topics",
    folds: int | None = None,
    quantile: Quantile = "t",
    variance: Variance = "sample",
    confidence: float = 0.95,
    rng: Rng = None,
) -> PredictionPoweredMeans:
    """The mean score of every system as people would find it, from people on some topics and a model on many.

    human, model : scores of one measure (topic, system): Scores of one assessor, or a DataArray such as
        `qrowd.panel_mean(scores).sel(measure="AP")`. Topics and systems are matched by name; nan is no score.
    Other options as in `prediction_powered`. Every system has its own lam; folds are the same for all.

    Raises
    ------
    NoOverlapError
        No topic with scores of both.
    ArgumentError
        Fewer than two such topics; other systems; another measure.
    """
    both = matched(human, model)
    rule = Rule(method, target, folds, quantile, variance, confidence)
    fit = rule.fit(both.human, both.model, both.model_only, seed := rule.seed(rng))
    return PredictionPoweredMeans(
        both.systems, both.human_topics, both.model_topics, both.left_out, fit.estimate, fit.se, fit.low, fit.high,
        fit.lam, fit.df, fit.humans_se, method, target, confidence, seed,
    )  # fmt: skip


def prediction_powered_difference(
    human: SomeScores, model: SomeScores, first: str, second: str, **options: Any
) -> PredictionPowered:
    """First system minus second as people would find it: the same for the topics' differences.

    first, second : names of systems. Other arguments as in `prediction_powered_means`.
    """
    both = matched(human, model)
    i, j = (number_of(name, both.systems, "system") for name in (first, second))
    if i == j:
        raise ArgumentError(f"systems {first!r} and {second!r} are the same; name two")
    return prediction_powered(*(scores[:, i] - scores[:, j] for scores in both.scores), **options)


# ---- labels at the door


@dataclass(frozen=True, eq=False)
class Matched:
    """Scores of the same systems: (human topics, systems) of both, and (model topics, systems) of the model alone."""

    systems: tuple[str, ...]
    human_topics: tuple[str, ...]
    model_topics: tuple[str, ...]
    left_out: tuple[str, ...]
    human: Floats
    model: Floats
    model_only: Floats

    @property
    def scores(self) -> tuple[Floats, Floats, Floats]:
        """y, f and g."""
        return self.human, self.model, self.model_only


def matched(human: SomeScores, model: SomeScores) -> Matched:
    """Topics and systems of both, by name."""
    (y, measure, topics, systems), (f, other, model_topics, model_systems) = _opened(human), _opened(model)
    if None not in (measure, other) and measure != other:
        raise ArgumentError(f"model: scores of {other}, while human has {measure}; take the same measure of both")
    if set(systems) != set(model_systems):
        odd = sorted(set(systems) ^ set(model_systems))[0]
        has, lacks = ("human", "model") if odd in systems else ("model", "human")
        raise ArgumentError(f"{lacks}: no scores of system {odd!r}, which {has} has; select the same systems of both")
    f = f[:, [model_systems.index(name) for name in systems]]
    row = {name: i for i, name in enumerate(model_topics) if not np.isnan(f[i]).any()}
    judged = [i for i in range(len(topics)) if not np.isnan(y[i]).all()]
    used = [i for i in judged if not np.isnan(y[i]).any() and topics[i] in row]
    if not used:
        raise NoOverlapError("human and model score no topic in common; check that both are of the same collection")
    human_topics = tuple(topics[i] for i in used)
    people = {topics[i] for i in judged}
    only = tuple(name for name in model_topics if name in row and name not in people)
    left_out = tuple(topics[i] for i in judged if i not in set(used))
    pick: NDArray[np.int64] = np.array([row[name] for name in human_topics], np.int64)
    rest: NDArray[np.int64] = np.array([row[name] for name in only], np.int64)
    return Matched(systems, human_topics, only, left_out, y[used], f[pick], f[rest])


def _opened(scores: SomeScores) -> tuple[Floats, str | None, tuple[str, ...], tuple[str, ...]]:
    """(topics, systems) scores, the measure where it is known, topics, systems."""
    if isinstance(scores, Scores):
        if scores.values.shape[:2] != (1, 1):
            raise ArgumentError(
                f"scores of {len(scores.measures)} measures and {len(scores.assessors)} assessors; one of each was "
                "expected: take scores.sel(measure=..., assessor=...) or scores.panel_mean()"
            )
        return scores.values[0, 0], scores.measures[0], scores.topics, scores.systems
    values, (topics, systems) = one_table(scores)
    measure = None
    if "measure" in getattr(scores, "coords", {}) and scores.coords["measure"].size == 1:
        measure = str(scores.coords["measure"].values.ravel()[0])
    return values, measure, topics, systems

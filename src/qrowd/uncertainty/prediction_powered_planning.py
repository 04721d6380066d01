"""What a model is worth: how many topics assessors have to judge beside it, and how many it saves them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.labels import plural
from qrowd.model.result import Result
from qrowd.uncertainty.prediction_powered import matched, prediction_powered
from qrowd.uncertainty.prediction_powered_sums import Method, Quantile, Rule, Target, effective_topics

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

METHODS: tuple[Method, Method] = ("ppi++", "classical")


@dataclass(frozen=True, eq=False)
class AssessorTopicsNeeded(Result):
    """Judged topics for an interval of a given width, predicted from a pilot.

    n_assessor_topics : the fewest that suffice beside the model; None where not even all of them do.
    n_without_model : the fewest without a model, beyond the topics there are if necessary.
    n, widths : (choices,) each number of judged topics, and the width predicted for it.
    """

    n_assessor_topics: int | None
    n_without_model: int | None
    width: float
    n_topics: int
    n: Floats
    widths: Floats
    confidence: float

    _COLUMNS = ("n", "widths")


def assessor_topics_needed(
    assessor: ArrayLike,
    model: ArrayLike,
    model_only: ArrayLike,
    width: float,
    *,
    n_topics: int | None = None,
    method: Method = "ppi++",
    target: Target = "new topics",
    quantile: Quantile = "t",
    confidence: float = 0.95,
) -> AssessorTopicsNeeded:
    """The fewest judged topics that give an interval of this width (high - low), from a pilot's variances.

        se^2 = lam^2 var(g) / (T - n) + (var(y) - 2 lam cov(y, f) + lam^2 var(f)) / n

    assessor, model, model_only : the pilot, as in `prediction_powered`. n_topics : T, the number of topics; default:
        that of the pilot.

    Of T topics, n are judged by assessors and by the model, T - n by the model alone; the t quantile has n - 1 degrees
    of freedom, which is conservative. Few pilot topics predict badly: repeat the computation as judging goes on.

    Raises
    ------
    ArgumentError
        A width that is not above 0; fewer than two topics; as in `prediction_powered`.
    """
    if not width > 0:
        raise ArgumentError(f"width={width!r}: a number above 0 was expected")
    prediction_powered(assessor, model, model_only, method=method)  # for its checks
    rule = Rule(method, target, 1, quantile, "sample", confidence)
    y, f, g = (np.asarray(scores, np.float64)[:, None] for scores in (assessor, model, model_only))
    total = y.size + g.size if n_topics is None else n_topics
    if total < 2:
        raise ArgumentError(f"n_topics={n_topics!r}: 2 or more were expected")
    n = np.arange(2, total + 1)
    widths = np.array([_width(rule, y, f, g, int(k), total - int(k)) for k in n])
    enough = np.flatnonzero(widths <= width)
    alone = Rule("classical", target, 1, quantile, "sample", confidence)
    return AssessorTopicsNeeded(
        int(n[enough[0]]) if enough.size else None,
        _alone(alone, y, width, total),
        width,
        total,
        n.astype(np.float64),
        widths,
        confidence,
    )


def _width(rule: Rule, y: Floats, f: Floats, g: Floats, n: int, n_only: int) -> float:
    """The width predicted for n judged topics and n_only of the model alone."""
    lam = 0.0
    if n_only > 1 and rule.method == "ppi":
        lam = 1.0
    elif n_only > 1 and rule.method == "ppi++":
        lam = float(rule.tuned(y, f, g, rule.weight(n, n_only))[0])
    left, right = 0.0, float((y - lam * f).var(ddof=1)) / n
    if rule.target == "these topics":
        right *= n_only / (n + n_only)
    elif lam:
        left = lam**2 * float(g.var(ddof=1)) / n_only
    df = np.array([np.inf if rule.quantile == "normal" else n - 1.0])
    return float(2 * rule.quantiles(df)[0] * np.sqrt(left + right))


def _alone(rule: Rule, y: Floats, width: float, total: int) -> int | None:
    """The fewest topics without a model, by doubling, then bisection, since the width falls with each topic."""
    nothing = np.zeros((2, 1))

    def enough(n: int) -> bool:
        return _width(rule, y, y, nothing, n, max(total - n, 0) if rule.target == "these topics" else 0) <= width

    high = 2
    while not enough(high):
        high *= 2
        if high > 2**40:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return max(high, 2)


@dataclass(frozen=True, eq=False)
class TopicsGained(Result):
    """What a model would be worth beside an assessor who judges some of the topics; arrays are (choices,).

    n : topics that the assessor judges, drawn at random. width, classical_width : width of the interval of a system's
        mean with and without the model. topics_gained : further topics that the assessor alone would have to judge for
        the same standard error; negative where the model adds error. All are medians over systems.
    n_topics : scored by both. n_resamples : random draws of topics for each choice.
    """

    n: Ints
    width: Floats
    classical_width: Floats
    topics_gained: Floats
    n_topics: int
    n_resamples: int
    confidence: float
    seed: Seed

    _COLUMNS = ("n", "width", "classical_width", "topics_gained")


def topics_gained(
    assessor: AnyScores,
    model: AnyScores,
    *,
    choices: Sequence[int] = (10, 25),
    target: Target = "new topics",
    confidence: float = 0.95,
    n_resamples: int = 20,
    rng: Rng = None,
) -> TopicsGained:
    """What a model is worth in topics of an assessor: on random topics the assessor's scores are left out.

    For each number of topics, `prediction_powered_means` estimates the mean of each system from so many random topics
    of the assessor and the model's scores of the others; variances are averaged over the draws.

    assessor, model : scores of one measure by one assessor each. choices : numbers of topics; those that do not leave
        two topics to the model are left out.

    Raises
    ------
    ArgumentError
        A number below 2; fewer than four topics scored by both; no resamples.
    """
    y, f, _ = matched(assessor, model).scores
    total = y.shape[0]
    if min(choices, default=0) < 2:
        raise ArgumentError(f"choices={list(choices)}: numbers of topics from 2 on were expected")
    if total < 4:
        raise ArgumentError(f"assessor: {plural(total, 'topic')} scored by both; 4 or more are needed")
    if n_resamples < 1:
        raise ArgumentError(f"n_resamples={n_resamples}: 1 or more were expected")
    rule, alone = (Rule(method, target=target, confidence=confidence) for method in METHODS)
    seed = seed_of(rng)
    rows = []
    for n in sorted(n for n in set(choices) if n <= total - 2):
        errors, widths = np.zeros((2, y.shape[1])), np.zeros((2, y.shape[1]))
        random = Chance.of(seed).stream("topics gained", n)
        for _ in range(n_resamples):
            order = random.permutation(total)
            judged, rest = order[:n], order[n:]
            for i, one in enumerate((rule, alone)):
                fit = one.fit(y[judged], f[judged], f[rest])
                errors[i] += fit.standard_error**2 / n_resamples
                widths[i] += (fit.high - fit.low) / n_resamples
        gained = effective_topics(n, np.sqrt(errors[1]), np.sqrt(errors[0])) - n
        rows.append((n, *np.median(widths, axis=1), float(np.median(gained))))
    n_judged, width, classical, gain = np.array(rows, np.float64).reshape(-1, 4).T
    return TopicsGained(n_judged.astype(np.int64), width, classical, gain, total, n_resamples, confidence, seed)

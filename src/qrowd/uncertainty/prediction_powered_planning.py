"""The number of topics that assessors have to judge, beside a model that judges all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.result import Result
from qrowd.uncertainty.prediction_powered import prediction_powered
from qrowd.uncertainty.prediction_powered_sums import Method, Quantile, Rule, Target


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

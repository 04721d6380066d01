"""D studies: the precision of other numbers of topics and assessors, and the best design for a budget.

The D studies of Brennan (2001), Generalizability Theory. Springer: chapters 1, 3 and 4. For unequal costs: Marcoulides,
Goldstein (1990), The Optimization of Generalizability Studies with Resource Constraints. Educ. Psychol. Meas. 50(4).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.generalizability import Design, VarianceComponents, coefficient, error_parts, error_variances
from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.model.result import Result

Target = Literal["generalizability", "dependability"]

DESIGNS = 1_000_000  # most designs that best_design evaluates


@dataclass(frozen=True)
class MarginalGain(Result):
    """The gain from more topics or more assessors; errors are standard errors of a difference of two systems.

    n_topics, n_assessors : the present design. topics, assessors : the numbers added.
    now, with_topics, with_assessors : the standard error now, and after adding either.
    same_as_assessors : the fewest additional topics with the effect of the additional assessors; None where no number
        of topics has it, because system*assessor does not decrease with topics.
    """

    summary = "The gain from more topics or more assessors"

    n_topics: int
    n_assessors: int
    topics: int
    assessors: int
    now: float
    with_topics: float
    with_assessors: float
    same_as_assessors: int | None

    @property
    def better(self) -> Literal["topics", "assessors", "same"]:
        """The addition with the smaller standard error."""
        if np.isclose(self.with_topics, self.with_assessors, rtol=1e-9, atol=0):
            return "same"
        return "topics" if self.with_topics < self.with_assessors else "assessors"


@dataclass(frozen=True, eq=False)
class DesignStudy(Result):
    """The precision of designs; each array is (designs,), ordered by topics, then assessors.

    generalizability, dependability : E rho squared and Phi. standard_error : of a system's mean.
    standard_error_of_difference : of the difference of two systems' means. cost : nan where no costs were given.
    design : "crossed" or "nested", for all of them.
    """

    summary = "The precision of designs"

    design: Design
    n_topics: NDArray[np.int64]
    n_assessors: NDArray[np.int64]
    generalizability: Floats
    dependability: Floats
    standard_error: Floats
    standard_error_of_difference: Floats
    cost: Floats

    _COLUMNS = (
        "n_topics",
        "n_assessors",
        "generalizability",
        "dependability",
        "standard_error",
        "standard_error_of_difference",
        "cost",
    )

    def rows(self, numbers: NDArray[np.int64]) -> DesignStudy:
        """Some of the designs, by their positions."""
        return DesignStudy(self.design, *(getattr(self, name)[numbers] for name in DesignStudy._COLUMNS))


@dataclass(frozen=True, eq=False)
class BestDesign(Result):
    """The best design within a budget.

    n_topics, n_assessors : assessors counted per topic. cost : of the design.
    frontier : the designs that no other of the same cost or less exceeds, cheapest first; the last one is the best.
    by_assessors : for each affordable number of assessors, the most topics.
    target : the coefficient that was maximised. n_designs : number of designs within the budget.
    at_limit : the limits ("max_topics", "max_assessors") that the best design reaches; more might be better.
    """

    summary = "The best design within a budget"

    n_topics: int
    n_assessors: int
    generalizability: float
    dependability: float
    standard_error: float
    standard_error_of_difference: float
    cost: float
    budget: float
    target: Target
    design: Design
    frontier: DesignStudy
    by_assessors: DesignStudy
    n_designs: int
    at_limit: tuple[str, ...]


def marginal_gain(
    components: VarianceComponents,
    n_topics: int | None = None,
    n_assessors: int | None = None,
    *,
    topics: int = 20,
    assessors: int = 1,
    design: Design | None = None,
) -> MarginalGain:
    """The gain from so many more topics, and from so many more assessors for all topics.

    n_topics, n_assessors : the present design; default: that of the data, with assessors rounded.
    topics, assessors : the numbers added, each by itself.
    design : as in `VarianceComponents.generalizability`.
    """
    if topics < 1 or assessors < 1:
        raise ArgumentError(f"topics={topics!r}, assessors={assessors!r}: at least one more was expected")
    t = components.n_topics if n_topics is None else n_topics
    a = max(1, round(components.n_assessors)) if n_assessors is None else n_assessors
    at = {
        "now": (t, a),
        "topics": (t + topics, a),
        "assessors": (t, a + assessors),
    }
    error = {name: components.standard_error_of_difference(*place, design=design) for name, place in at.items()}
    same = _same_as(components, t, a, a + assessors, design)
    return MarginalGain(t, a, topics, assessors, error["now"], error["topics"], error["assessors"], same)


def d_study(
    components: VarianceComponents,
    topics: Iterable[int] = (25, 50, 100, 200),
    assessors: Iterable[int] = (1, 2, 3, 5, 8),
    *,
    design: Design | None = None,
) -> DesignStudy:
    """The precision of each number of topics combined with each number of assessors per topic.

    design : as in `VarianceComponents.generalizability`.

    >>> from qrowd.comparison import variance_components
    >>> from qrowd import Scores
    >>> components = variance_components(Scores.from_array([[[1.0, 2], [2, 5]], [[1, 4], [3, 6]]]))
    >>> d_study(components, [2], [2, 4]).generalizability.round(3).tolist()
    [0.96, 0.98]
    """
    t, a = _counts("topics", topics), _counts("assessors", assessors)
    return _study(components, np.repeat(t, a.size), np.tile(a, t.size), design)


def best_design(
    components: VarianceComponents,
    budget: float,
    *,
    topic_cost: float = 0.0,
    judgment_cost: float = 0.0,
    documents_per_topic: float,
    target: Target = "generalizability",
    design: Design | None = None,
    max_topics: int = 1000,
    max_assessors: int = 20,
) -> BestDesign:
    """The number of topics, and of assessors per topic, that are best for a budget.

        cost = n_t * topic_cost + n_t * n_a * documents_per_topic * judgment_cost

    Parameters
    ----------
    budget : total budget. topic_cost : fixed cost of a topic before judging (writing it, pooling). judgment_cost : cost
        of one judgment of one document by one assessor. All in one currency.
    documents_per_topic : number of documents that an assessor judges per topic.
    target : "generalizability" (E rho squared; the same design has the smallest standard error of a difference) or
        "dependability" (Phi). Of equally good designs the cheapest, then the one with the fewest assessors.
    design : as in `VarianceComponents.generalizability`.
    max_topics, max_assessors : limits of the search.

    All whole numbers within the budget and the limits are evaluated.

    Raises
    ------
    ArgumentError
        A cost below 0, all costs 0, a budget below the cost of one topic with one assessor.
    """
    check_choice("target", target, Target)
    for name, value in (("topic_cost", topic_cost), ("judgment_cost", judgment_cost)):
        if not 0 <= value < np.inf:
            raise ArgumentError("0 or more was expected", name, value)
    for name, value in (("budget", budget), ("documents_per_topic", documents_per_topic)):
        if not 0 < value < np.inf:
            raise ArgumentError("a number above 0 was expected", name, value)
    limits = {"max_topics": max_topics, "max_assessors": max_assessors}
    for name, limit in limits.items():
        if limit < 1:
            raise ArgumentError("1 or more was expected", name, limit)
    if topic_cost == judgment_cost == 0:
        raise ArgumentError("topic_cost=0, judgment_cost=0: without costs no design is best")
    if max_topics * max_assessors > DESIGNS:
        raise ArgumentError(f"max_topics={max_topics}, max_assessors={max_assessors}: at most {DESIGNS:,} designs")
    t = np.repeat(np.arange(1, max_topics + 1), max_assessors)
    a = np.tile(np.arange(1, max_assessors + 1), max_topics)
    cost = t * topic_cost + t * a * documents_per_topic * judgment_cost
    paid = cost <= budget * (1 + 1e-12)
    if not paid.any():
        raise ArgumentError(f"one topic with one assessor costs {cost[0]:g}", "budget", budget)
    study = _study(components, t[paid], a[paid], design, cost[paid])
    value = getattr(study, target)
    if np.isnan(value).all():
        raise ArgumentError("components: nothing varies, so no design is better than another")
    order = np.lexsort((study.n_assessors, -value, study.cost))
    best_so_far = np.maximum.accumulate(np.concatenate(([-np.inf], value[order][:-1])))
    # Differences below 1e-12 are rounding.
    frontier = order[value[order] > best_so_far + 1e-12]
    most = np.array([np.flatnonzero(study.n_assessors == n)[-1] for n in np.unique(study.n_assessors)])
    best = study.rows(frontier[-1:])
    reached = {"max_topics": best.n_topics[0], "max_assessors": best.n_assessors[0]}
    numbers: dict[str, Any] = {name: getattr(best, name)[0].item() for name in DesignStudy._COLUMNS}
    return BestDesign(
        **numbers,
        budget=float(budget),
        target=target,
        design=study.design,
        frontier=study.rows(frontier),
        by_assessors=study.rows(most),
        n_designs=int(paid.sum()),
        at_limit=tuple(name for name, limit in limits.items() if reached[name] == limit),
    )


def _study(
    components: VarianceComponents,
    n_t: NDArray[np.int64],
    n_a: NDArray[np.int64],
    design: Design | None,
    cost: Floats | None = None,
) -> DesignStudy:
    relative, absolute = error_variances(components, n_t, n_a, design)
    return DesignStudy(
        error_parts(components, design)[0],
        n_t,
        n_a,
        coefficient(components, relative),
        coefficient(components, absolute),
        np.sqrt(absolute),
        np.sqrt(2 * relative),
        np.full(n_t.size, np.nan) if cost is None else cost,
    )


def _same_as(components: VarianceComponents, n_t: int, n_a: int, more: int, design: Design | None) -> int | None:
    """The fewest further topics whose relative error with n_a assessors is at most that of n_t topics with `more`."""
    _, (v_st, v_sa, v_e, *_) = error_parts(components, design)
    target = v_st / n_t + v_sa / more + v_e / (n_t * more) - v_sa / n_a  # error variance that topics have to reach
    of_topics = v_st + v_e / n_a
    if of_topics == 0:
        return 0 if target >= 0 else None
    if target <= 0:
        return None
    return max(0, int(np.ceil(of_topics / target * (1 - 1e-12))) - n_t)


def _counts(name: str, numbers: Iterable[int]) -> NDArray[np.int64]:
    counts = list(numbers)
    if not counts:
        raise ArgumentError(f"{name}: at least one number was expected")
    for n in counts:
        if n != int(n) or n < 1:
            raise ArgumentError(f"{name}: {n!r} is no whole number above 0")
    return np.array(counts, np.int64)

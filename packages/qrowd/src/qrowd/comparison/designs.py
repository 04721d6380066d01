"""D studies: the precision of other numbers of topics and assessors, and the best design for a budget.

The D studies of Brennan (2001), Generalizability Theory. Springer: chapters 1, 3 and 4. For unequal costs: Marcoulides,
Goldstein (1990), The Optimization of Generalizability Studies with Resource Constraints. Educ. Psychol. Meas. 50(4).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.generalizability import Design, VarianceComponents, coefficient, error_parts, error_variances
from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.result import Result

MAX_TOPICS, MAX_ASSESSORS = 1000, 20  # that best_design considers


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
    by_assessors : for each affordable number of assessors, the most topics. n_designs : number of designs within the
    budget, of at most 1,000 topics and 20 assessors.
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
    design: Design
    by_assessors: DesignStudy
    n_designs: int


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
) -> BestDesign:
    """The number of topics, and of assessors per topic, with the highest generalizability within a budget.

        cost = n_t * topic_cost + n_t * n_a * documents_per_topic * judgment_cost

    Parameters
    ----------
    budget : total budget. topic_cost : fixed cost of a topic before judging (writing it, pooling). judgment_cost : cost
        of one judgment of one document by one assessor. All in one currency.
    documents_per_topic : number of documents that an assessor judges per topic.

    All designs within the budget of at most 1,000 topics and 20 assessors are evaluated. The same design has the
    smallest standard error of a difference. Of equally good designs it is the cheapest, then the one with the fewest
    assessors.

    Raises
    ------
    ArgumentError
        A cost below 0, all costs 0, a budget below the cost of one topic with one assessor.
    """
    for name, value in (("topic_cost", topic_cost), ("judgment_cost", judgment_cost)):
        if not 0 <= value < np.inf:
            raise ArgumentError("0 or more was expected", name, value)
    for name, value in (("budget", budget), ("documents_per_topic", documents_per_topic)):
        if not 0 < value < np.inf:
            raise ArgumentError("a number above 0 was expected", name, value)
    if topic_cost == judgment_cost == 0:
        raise ArgumentError("topic_cost=0, judgment_cost=0: without costs no design is best")
    t = np.repeat(np.arange(1, MAX_TOPICS + 1), MAX_ASSESSORS)
    a = np.tile(np.arange(1, MAX_ASSESSORS + 1), MAX_TOPICS)
    cost = t * topic_cost + t * a * documents_per_topic * judgment_cost
    paid = cost <= budget * (1 + 1e-12)
    if not paid.any():
        raise ArgumentError(f"one topic with one assessor costs {cost[0]:g}", "budget", budget)
    study = _study(components, t[paid], a[paid], None, cost[paid])
    if np.isnan(study.generalizability).all():
        raise ArgumentError("components: nothing varies, so no design is better than another")
    equally_good = np.flatnonzero(
        study.generalizability > np.nanmax(study.generalizability) - 1e-12
    )  # but for rounding
    cheapest = equally_good[np.lexsort((study.n_assessors[equally_good], study.cost[equally_good]))[:1]]
    most = np.array([np.flatnonzero(study.n_assessors == n)[-1] for n in np.unique(study.n_assessors)])
    best = study.rows(cheapest)
    numbers: dict[str, Any] = {name: getattr(best, name)[0].item() for name in DesignStudy._COLUMNS}
    return BestDesign(
        **numbers,
        budget=float(budget),
        design=study.design,
        by_assessors=study.rows(most),
        n_designs=int(paid.sum()),
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


def _counts(name: str, numbers: Iterable[int]) -> NDArray[np.int64]:
    counts = list(numbers)
    if not counts:
        raise ArgumentError(f"{name}: at least one number was expected")
    for n in counts:
        if n != int(n) or n < 1:
            raise ArgumentError(f"{name}: {n!r} is no whole number above 0")
    return np.array(counts, np.int64)

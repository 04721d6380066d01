"""One measure against another, by system and by topic: are they related, and are they the same?

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, section 6.2,
Figure 8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats
from qrowd.kernels.correlation import pearson, tau_b
from qrowd.model.result import Result
from qrowd.model.scores import known_mean, one_table, scores_of

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


@dataclass(frozen=True, eq=False)
class Scatter(Result):
    """Means of two measures, over the cells where both have a score.

    `to_frame` has two rows, of systems and of topics, with n, pearson and tau_b; what="points" gives one row per system
    and topic, with both means.

    names : of the measures.
    systems : (systems,) labels; by_system : (2, systems) means over topics.
    topics : (topics,) labels; by_topic : (2, topics) means over systems, the ease of the topics.
    pearson, tau : (2,) correlations of systems, and of topics: Pearson's, and Kendall's tau-b; nan where one of the two
        does not vary.
    """

    names: tuple[str, str]
    systems: tuple[str, ...]
    by_system: Floats
    topics: tuple[str, ...]
    by_topic: Floats
    pearson: Floats
    tau: Floats

    def _tables(self) -> dict[str, Callable[[], Mapping[str, Any]]]:
        return {"correlations": self._correlations, "points": self._points}

    def _correlations(self) -> dict[str, Any]:
        n = [int((~np.isnan(means).any(axis=0)).sum()) for means in (self.by_system, self.by_topic)]
        return {"of": ("systems", "topics"), "n": n, "pearson": self.pearson, "tau_b": self.tau}

    def _points(self) -> dict[str, Any]:
        first, second = np.concatenate([self.by_system, self.by_topic], axis=1)
        of = np.repeat(np.array(["systems", "topics"], object), [len(self.systems), len(self.topics)])
        return {"of": of, "label": (*self.systems, *self.topics), self.names[0]: first, self.names[1]: second}


def scatter(first: AnyScores, second: AnyScores) -> Scatter:
    """Two measures of the same systems on the same topics, against each other.

    first, second : scores of one measure and one assessor each. A cell counts where both have a score.

    Raises
    ------
    ArgumentError
        Scores of several measures or assessors, or two measures of one name.
    NoOverlapError
        No topic or no system in common.
    """
    first, second = scores_of(first), scores_of(second)
    topics = [topic for topic in first.topics if topic in set(second.topics)]
    systems = [system for system in first.systems if system in set(second.systems)]
    if not topics or not systems:
        raise NoOverlapError("scatter: the two scores share no topic or no system; name both as the runs do")
    x, y = (one_table(scores.sel(topic=topics, system=systems))[0].copy() for scores in (first, second))
    names = (first.measures[0], second.measures[0])
    if names[0] == names[1]:
        raise ArgumentError(f"scatter: both measures are called {names[0]!r}; two different names were expected")
    unknown = np.isnan(x) | np.isnan(y)
    x[unknown] = y[unknown] = np.nan
    by_system, by_topic = (np.stack([known_mean(table, axis=axis) for table in (x, y)]) for axis in (0, 1))
    linear = np.array([_pearson(*means) for means in (by_system, by_topic)])
    tau = np.array([float(tau_b(means[1:], means[:1])[0]) for means in (by_system, by_topic)])
    return Scatter(names, tuple(systems), by_system, tuple(topics), by_topic, linear, tau)


def _pearson(x: Floats, y: Floats) -> float:
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    return float(pearson(x[None], y[None])[0]) if x.size > 1 else float("nan")

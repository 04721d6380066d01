"""Two rankings of the same systems, such as by magnitudes and by grades as gains: means, tau and both top sets.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 7.2 and Figures 10 and 11.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.rankings import kendall_tau_b, shared_means
from qrowd.comparison.top_set import top_set
from qrowd.errors import NoOverlapError
from qrowd.kernels.arrays import Floats
from qrowd.model.result import Result
from qrowd.model.scores import one_table, scores_of

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


@dataclass(frozen=True, eq=False)
class TwoRankings(Result):
    """Systems by two kinds of scores; every array is (systems,).

    systems : those with scores on both sides in all shared topics.
    x, y : their mean scores over the shared topics.
    top_x, top_y : whether the system is in the top set: not significantly below the best (Wilcoxon).
    n_topics : topics that both sides share.
    """

    systems: tuple[str, ...]
    x: Floats
    y: Floats
    top_x: NDArray[np.bool_]
    top_y: NDArray[np.bool_]
    n_topics: int

    _COLUMNS = ("systems", "x", "y", "top_x", "top_y")

    @property
    def tau(self) -> float:
        """Kendall's tau-b of the two rankings."""
        return kendall_tau_b(self.x, self.y)

    @property
    def overlap(self) -> float:
        """Share of the second top set that is in the first too, as the paper counts; nan where there is none."""
        return float((self.top_x & self.top_y).sum() / self.top_y.sum()) if self.top_y.any() else np.nan


def two_rankings(first: AnyScores, second: AnyScores) -> TwoRankings:
    """Compare the rankings of the systems by two kinds of scores, each of one measure and one assessor.

    Raises
    ------
    ArgumentError
        Scores of several measures or assessors.
    NoOverlapError
        No shared topic or system.

    >>> from qrowd import Scores
    >>> values = np.array([[0.1, 0.2, 0.4], [0.2, 0.3, 0.3], [0.3, 0.5, 0.6]])
    >>> names = ["tf-idf", "bm25", "dense"]
    >>> both = two_rankings(Scores.from_array(values, systems=names), Scores.from_array(values**2, systems=names))
    >>> both.tau, both.overlap
    (1.0, 1.0)
    """
    one, other = scores_of(first), scores_of(second)
    topics = [topic for topic in one.topics if topic in set(other.topics)]
    systems = [system for system in one.systems if system in set(other.systems)]
    if not topics or not systems:
        raise NoOverlapError("the two kinds of scores share no topic or no system, so there are no two rankings")
    sides = [each.sel(topic=topics, system=systems) for each in (one, other)]
    x, y, n_topics, is_shared = shared_means(*(one_table(side)[0] for side in sides))
    if not x.size:
        raise NoOverlapError("no system has scores on both sides in every shared topic, so there are no two rankings")
    if x.size < len(systems):
        systems = list(compress(systems, is_shared))
        sides = [side.sel(system=systems) for side in sides]
    tops = [top_set(side).member for side in sides]
    return TwoRankings(tuple(systems), x, y, tops[0], tops[1], n_topics)

"""The top set: the best system, and the systems that do not differ significantly from it over the topics.

The test: `qrowd.comparison.p_values`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.interval_widths import check_confidence
from qrowd.comparison.p_values import holm, signed_rank_p
from qrowd.comparison.system_ranking import Correction, settled
from qrowd.errors import NoOverlapError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.model.labels import plural
from qrowd.model.result import Result
from qrowd.model.scores import by_cluster, known_mean, one_table

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


@dataclass(frozen=True, eq=False)
class TopSet(Result):
    """The best system and those not significantly different from it; each array is (systems,).

    best : the system with the highest mean; of several that are equal apart from rounding, the first.
    mean : over the topics where the system has a score.
    p : paired Wilcoxon signed-rank test of each system against the best, two-sided, corrected as `correction` says; nan
        for the best itself and for a system that shares no topic with it.
    member : the best, and all whose p is 1 - confidence or more.
    n_topics : topics where both the system and the best have a score.
    """

    systems: tuple[str, ...]
    best: str
    mean: Floats
    p: Floats
    member: NDArray[np.bool_]
    n_topics: NDArray[np.int64]
    confidence: float
    correction: Correction

    _COLUMNS = ("systems", "mean", "p", "member", "n_topics")

    def _sentence(self) -> str:
        others = plural(len(self.members) - 1, "other")
        verb = "is" if others == "1 other" else "are"
        return (
            f"{self.best} is the best of {len(self.systems)} systems; {others} {verb} not significantly different "
            f"(Wilcoxon, correction {self.correction}, confidence {self.confidence:g})."
        )

    @property
    def members(self) -> tuple[str, ...]:
        """The names of the members, highest mean first."""
        order = np.argsort(-self.mean, kind="stable")
        return tuple(self.systems[s] for s in order if self.member[s])


def top_set(
    scores: AnyScores,
    *,
    confidence: float = 0.95,
    correction: Correction = "none",
) -> TopSet:
    """The best system and those that do not differ significantly from it.

    scores : of one measure and one assessor, or a panel's mean (`scores.panel_mean()`).
    correction : "holm" corrects p for the number of systems, which makes the set larger; "none" does not.

    Differences that are equal apart from rounding (1e-12 of the largest score) count as equal, so that 0.1 + 0.2 - 0.3
    is a zero. p is scipy.stats.wilcoxon's, which leaves out topics without a difference. Where all differences are 0, p
    is 1. A system that does not differ significantly is not shown to be equal: with few topics the set is
    large.

    Raises
    ------
    ArgumentError
        An unknown option; a confidence outside 0 to 1; no system.
    NoOverlapError
        No system has a score.

    >>> from qrowd import Scores
    >>> values = np.linspace(0.1, 0.9, 12)[:, None] + np.array([0.0, 0.1, -0.2]) * np.array([[1.0], [0.2], [1.0]] * 4)
    >>> top_set(Scores.from_array(values, systems=["bm25", "dense", "tf-idf"])).members
    ('dense',)
    """
    check_choice("correction", correction, Correction)
    check_confidence(confidence)
    values, (_, systems) = one_table(scores)
    mean = known_mean(values, axis=0)
    if np.isnan(mean).all():
        raise NoOverlapError("scores: no system has a score on any topic, so none is the best")
    best = int(np.nanargmax(settled(mean)))
    differences = values - values[:, [best]]
    p = signed_rank_p(by_cluster(scores, differences, sums=True), float(np.nanmax(np.abs(values))))
    p[best] = np.nan
    if correction == "holm":
        p = holm(p)
    member = p >= 1 - confidence
    member[best] = True
    n_topics = (~np.isnan(differences)).sum(axis=0)
    return TopSet(systems, systems[best], mean, p, member, n_topics, confidence, correction)


def top_set_overlap(first: TopSet, second: TopSet) -> float:
    """Jaccard coefficient of two top sets: systems in both over systems in either; 1 for equal sets."""
    members, others = set(first.members), set(second.members)
    return len(members & others) / len(members | others)

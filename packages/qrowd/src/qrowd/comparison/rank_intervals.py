"""Simultaneous intervals for the ranks of systems, and the systems that may be the best, by one test of all pairs.

Mogstad, Romano, Shaikh, Wilhelm (2024), Inference for Ranks with Applications to Mobility across Neighbourhoods and
Academic Achievement across Countries. Review of Economic Studies 91(1): a test of all pairs, by the largest |t|, leaves
each system the ranks that no significant difference excludes. The test: `qrowd.comparison.max_t`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.interval_widths import check_confidence
from qrowd.comparison.max_t import adjusted_p, critical_t, largest_of, pair_statistics
from qrowd.comparison.resampling import Over, Panel, panel_of
from qrowd.comparison.system_ranking import ranks, settled
from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.labels import first_of, number_of
from qrowd.model.result import Result

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

ENOUGH_ASSESSORS = 10
"""Number of assessors from which on the test keeps its level even if they prefer the same systems (coverage study)."""


@dataclass(frozen=True, eq=False)
class DifferencesTo(Result):
    """All systems minus one of them; arrays are (systems,), nan for that system itself.

    low, high, p : interval and p-value, adjusted for all pairs of systems.
    """

    summary = "All systems minus one of them"

    difference: Floats
    low: Floats
    high: Floats
    p: Floats

    _COLUMNS = ("difference", "low", "high", "p")


@dataclass(frozen=True, eq=False)
class RankIntervals(Result):
    """Simultaneous intervals for the ranks of all systems; arrays are (systems,), rank 1 is the best.

    mean : over topics of the means over assessors. rank : by the mean; equal means share the better rank.
    rank_low, rank_high : the best and the worst rank that the system may have: 1 + the number of systems significantly
        ahead of it, and the number of systems - those significantly behind it.
    p : (systems, systems) of the difference of two systems, adjusted for all pairs of systems; 1 on the diagonal.
    standard_error : (systems, systems) of the difference. critical : the value that |difference| / standard error has
        to exceed for p < 1 - confidence: the intervals difference +- critical x standard error hold for all pairs
        together.
    better : (systems, systems) whether the row's system is significantly ahead of the column's: a higher mean and
        p < 1 - confidence.
    over : what is resampled: "both" topics and assessors, or "topics" alone; `reason` says where the data left no
        choice, and where the assessors are too few.
    too_few_assessors : whether there are only 2, with whom the intervals hold less often than `confidence`.
    n_resamples, seed : number of replicates, and their seed.
    """

    systems: tuple[str, ...]
    mean: Floats
    rank: NDArray[np.int64]
    rank_low: NDArray[np.int64]
    rank_high: NDArray[np.int64]
    p: Floats
    standard_error: Floats
    critical: float
    better: NDArray[np.bool_]
    over: Over
    reason: str
    too_few_assessors: bool
    confidence: float
    n_resamples: int
    seed: Seed

    @property
    def may_be_best(self) -> tuple[str, ...]:
        """The confidence set of the best systems: those that no other is significantly ahead of, best mean first."""
        return tuple(self.systems[s] for s in np.argsort(-self.mean, kind="stable") if self.rank_low[s] == 1)

    def _sentence(self) -> str:
        best = self.may_be_best
        return (
            f"{first_of(best, 5)} may be the best: {len(best)} of {len(self.systems)} systems, at confidence "
            f"{self.confidence:g} for all systems together."
        )

    def against(self, system: str) -> DifferencesTo:
        """Each system minus this one, with the interval that holds for all pairs together, and the adjusted p."""
        which = number_of(system, self.systems, "system")
        difference = self.mean - self.mean[which]
        error = self.standard_error[which]
        # A difference that does not vary has no width, however few the replicates.
        half = np.multiply(self.critical, error, out=np.zeros_like(error), where=error > 0)
        columns = [difference, difference - half, difference + half, self.p[which].copy()]
        for column in columns:
            column[which] = np.nan
        return DifferencesTo(*columns)

    def _columns(self) -> dict[str, Any]:
        order = np.argsort(-self.mean, kind="stable")
        names = ("mean", "rank", "rank_low", "rank_high")
        return {
            "system": np.array(self.systems, object)[order],
            **{name: getattr(self, name)[order] for name in names},
            "p": self.against(self.systems[order[0]]).p[order],
            "may_be_best": self.rank_low[order] == 1,
        }


def rank_intervals(
    scores: AnyScores,
    *,
    over: Over = "both",
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = None,
    threads: int | None = None,
) -> RankIntervals:
    """Simultaneous intervals for the ranks of all systems by one measure.

    All pairs of systems are tested together, by the largest |t| over `n_resamples` replicates with random signs of
    topics and, with over="both", with other assessors. The probability that any system is wrongly found ahead of
    another, that any true rank lies outside its interval, or that the best system is missing from `may_be_best`, is at
    most 1 - confidence.

    over : "both" allows for other topics and other assessors, "topics" takes the assessors as fixed. Fewer than 10
        assessors say little about others: where they prefer the same kinds of systems, the test errs more often than
        its level, which `reason` says. With one assessor, or own assessors for each topic, only topics are resampled.

    Raises
    ------
    ArgumentError
        Fewer than two systems; an option outside its range.
    NoOverlapError
        The systems share fewer than two topics.
    """
    check_choice("over", over, Over)
    check_confidence(confidence)
    if n_resamples < 2:
        raise ArgumentError("at least 2 replicates were expected", "n_resamples", n_resamples)
    panel = panel_of(scores)
    if len(panel.systems) < 2:
        raise ArgumentError(f"scores: {len(panel.systems)} system(s); at least 2 are needed to compare")
    reason = "asked for"
    if over == "both" and not panel.components_known:
        over, reason = "topics", f"{panel.design}: says nothing about other assessors"
    too_few = over == "both" and panel.assessor_df < 2
    if over == "both" and panel.assessor_df + 1 < ENOUGH_ASSESSORS:
        reason = f"asked for; {_caution(panel.assessor_df + 1)}"
    seed = seed_of(rng)
    pairs = pair_statistics(_in_order_of_names(panel), over)
    largest = largest_of(pairs, n_resamples, seed, threads)
    at = np.argsort(np.argsort(np.array(panel.systems, object), kind="stable"))
    p, error = adjusted_p(pairs.t, largest)[np.ix_(at, at)], pairs.error[np.ix_(at, at)]
    np.fill_diagonal(p, 1.0)
    mean = settled(pairs.mean[at])
    better = (mean[:, None] > mean) & (p < 1 - confidence)
    low, high = 1 + better.sum(axis=0), len(panel.systems) - better.sum(axis=1)
    return RankIntervals(
        panel.systems, pairs.mean[at], ranks(mean), low, high, p, error, critical_t(largest, 1 - confidence), better,
        over, reason, too_few, confidence, n_resamples, seed,
    )  # fmt: skip


def _caution(n_assessors: int) -> str:
    """The coverage with so few assessors in simulations (`qrowd_papers.rank_coverage`)."""
    if n_assessors == 2:
        return "2 assessors are too few: the intervals may be too narrow"
    coverage = "89 to 99" if n_assessors < 5 else "91 to 97"
    return f"{n_assessors} assessors: 95 % intervals held in {coverage} % of simulations, depending on the assessors"


def _in_order_of_names(panel: Panel) -> Panel:
    """Topics and systems in the order of their names, so that results do not depend on the order of the files."""
    topics, systems = (sorted(range(len(names)), key=names.__getitem__) for names in (panel.topics, panel.systems))
    return replace(
        panel,
        topics=tuple(panel.topics[t] for t in topics),
        systems=tuple(panel.systems[s] for s in systems),
        values=np.ascontiguousarray(panel.values[topics][:, :, systems]),
        known=panel.known[topics],
    )

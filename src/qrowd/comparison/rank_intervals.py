"""Which ranks may a system hold, all systems at once?

Mogstad, Romano, Shaikh, Wilhelm (2024), Inference for Ranks with Applications to Mobility across Neighbourhoods and
Academic Achievement across Countries. Review of Economic Studies 91(1): simultaneous intervals of all differences, by
the bootstrap's largest |t|, leave each system the ranks that no difference excludes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.resampling import Over, panel_of, replicate_means
from qrowd.errors import ArgumentError
from qrowd.kernels.two_way import largest_t, pair_deviations
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.frames import make_frame
from qrowd.model.scores import Floats

if TYPE_CHECKING:
    from qrowd.comparison.labelled import OneMeasure


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """The ranks that all systems hold together with the given confidence; arrays are (systems,), rank 1 the best.

    mean : over topics of the means over assessors. rank : by it, 1 for the highest; equal means share the better rank.
    low, high : the best and the worst rank that the system may hold.
    critical : two systems differ where |difference| > critical * error. better : (systems, systems) whether the row's
        system is surely ahead of the column's.
    over : what the bootstrap drew: "both" topics and assessors, or "topics" alone; `reason` where it had no choice.
    """

    systems: tuple[str, ...]
    mean: Floats
    rank: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    critical: float
    better: NDArray[np.bool_]
    over: Over
    reason: str
    confidence: float
    n: int
    seed: Seed

    @property
    def tied_at_the_top(self) -> tuple[str, ...]:
        """The systems that may be the best: no other is surely ahead."""
        return tuple(name for name, low in zip(self.systems, self.low.tolist(), strict=True) if low == 1)

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per system, best first."""
        order = np.argsort(-self.mean, kind="stable")
        return make_frame(
            {
                "system": np.array(self.systems, object)[order],
                "mean": self.mean[order],
                "rank": self.rank[order],
                "low": self.low[order],
                "high": self.high[order],
                "top": self.low[order] == 1,
            },
            backend,
        )


def rank_intervals(
    scores: OneMeasure,
    *,
    over: Over = "both",
    confidence: float = 0.95,
    n: int = 10_000,
    rng: Rng = None,
    threads: int | None = None,
) -> RankIntervals:
    """Simultaneous intervals for the ranks of all systems; (assessor, topic, system) scores of one measure.

    With c the confidence quantile over n replicates of max over pairs |d* - d| / s(d*), a system may hold the ranks
    from 1 + systems surely ahead of it to the number of systems - systems surely behind; "surely" is |d| > c s(d*).

    over : "both" draws topics and assessors, and needs enough of both: with fewer than 5 assessors the bootstrap's
        spread is too small (v_a shrinks by (A - 1)/A, and few assessors make heavy tails). One assessor, or own
        assessors for each topic, leave topics alone, which `reason` says.

    Raises
    ------
    ArgumentError
        Fewer than two systems; an option outside its range.
    NoOverlapError
        The systems share fewer than two topics.
    """
    if over not in get_args(Over):
        raise ArgumentError(f"over={over!r}: choose from {', '.join(get_args(Over))}")
    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence={confidence!r}: a level between 0 and 1 was expected")
    panel = panel_of(scores)
    if len(panel.systems) < 2:
        raise ArgumentError(f"scores: {len(panel.systems)} system(s); at least 2 are needed to compare")
    reason = "asked for"
    if over == "both" and not panel.components_known:
        over, reason = "topics", f"{panel.design}: topics are all that can be drawn"
    elif over == "both" and len(panel.assessors) < 5:
        reason = f"asked for; {len(panel.assessors)} assessors make these intervals too narrow"
    seed = seed_of(rng)
    replicates = replicate_means(panel, n, over, seed, threads)
    mean = panel.by_topic(panel.values).mean(axis=0)
    scale = 1e-12 * float(np.abs(panel.values).max(initial=0.0))
    error = pair_deviations(replicates)
    error[error <= scale] = 0.0  # differences that do not vary are sure
    critical = float(np.quantile(largest_t(replicates, mean, error), confidence))
    apart = mean[:, None] - mean
    better = apart > np.maximum(critical * error, scale)
    low, high = 1 + better.sum(axis=0), len(panel.systems) - better.sum(axis=1)
    rank = 1 + (apart < -scale).sum(axis=1)
    return RankIntervals(
        panel.systems, mean, rank, low, high, critical, better, over, reason, confidence, n, seed
    )  # fmt: skip

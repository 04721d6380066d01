"""Systems: how well each does, which differences are sure, which ranks are possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.differences import AllDifferences
from qrowd.comparison.rank_intervals import RankIntervals
from qrowd.comparison.system_intervals import SystemIntervals
from qrowd.errors import ArgumentError
from qrowd.reports.plots.marks import above, cells, name_rows
from qrowd.reports.plots.style import PALETTE, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_systems(
    intervals: SystemIntervals, *, top: int | None = None, measure: str = "score", ax: Axes | None = None
) -> Axes:
    """Systems from the best down: dot the mean, thick bar other topics, thin bar other topics and other assessors.

    The intervals are made to compare systems by; see `system_intervals`. top : so many of the best; None: all.
    """
    ax = axes_or_new(ax)
    n = len(intervals.systems) if top is None else min(top, len(intervals.systems))
    y = name_rows(ax, intervals.systems[:n])
    level = f"{100 * intervals.confidence:g} %"
    if not np.isnan(intervals.low[:n]).all():
        ax.hlines(
            y,
            intervals.low[:n],
            intervals.high[:n],
            color=PALETTE[1],
            linewidth=1.0,
            label=f"{level}: topics and assessors",
        )
    ax.hlines(
        y,
        intervals.low_topics[:n],
        intervals.high_topics[:n],
        color=PALETTE[0],
        linewidth=3.2,
        alpha=0.45,
        label=f"{level}: topics alone",
    )
    ax.plot(intervals.mean[:n], y, "o", color=PALETTE[0], markersize=3.8, label="mean")
    ax.set_xlabel(f"mean {measure}")
    above(ax)
    return ax


def plot_differences(
    differences: AllDifferences,
    *,
    show: Literal["probability", "difference"] = "probability",
    alpha: float = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """Every two systems: how probable it is that the row's is better than the column's, over topics and assessors.

    show : "probability" in per cent, or "difference" of means times 1000. Systems stand from the best down; the colour
    is the probability. Bold: p < `alpha` after Holm's correction over all pairs.
    """
    ax = axes_or_new(ax)
    if show not in ("probability", "difference"):
        raise ArgumentError("choose probability or difference", "show", show)
    n = len(differences.systems)
    lead, better, p = (np.full((n, n), np.nan) for _ in range(3))
    lead[differences.first, differences.second], lead[differences.second, differences.first] = (
        differences.difference,
        -differences.difference,
    )
    better[differences.first, differences.second], better[differences.second, differences.first] = (
        differences.p_better,
        1 - differences.p_better,
    )
    adjusted = differences.adjusted("holm")
    p[differences.first, differences.second], p[differences.second, differences.first] = adjusted, adjusted
    order = np.argsort(-np.nansum(lead, axis=1), kind="stable")
    lead, better, p = (matrix[np.ix_(order, order)] for matrix in (lead, better, p))
    names = [differences.systems[s] for s in order]

    def shown(i: int, j: int) -> str:
        if i == j:
            return ""
        return _per_cent(better[i, j]) if show == "probability" else f"{1000 * lead[i, j]:+.0f}"

    what = "P(row is better), %" if show == "probability" else "row minus column, times 1000"
    label = f"{what}; bold: p < {alpha:g} (Holm)"
    cells(ax, better, names, names, limits=(0, 1), shown=shown, label=label, colours="RdBu", bold=p < alpha)
    return ax


def _per_cent(share: float) -> str:
    """Whole per cent; never 0 or 100."""
    return ">99" if share > 0.995 else "<1" if share < 0.005 else f"{100 * share:.0f}"


def plot_ranks(
    intervals: RankIntervals,
    *,
    by_assessor: NDArray[np.int64] | None = None,
    top: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Simultaneous rank intervals of systems (bars), ranks by the mean (dots), and ranks by each assessor (ticks).

    by_assessor : (assessors, systems) ranks, 0 for none, as `SystemRanking.rank_by_assessor`. top : number of systems.

    Mogstad, Romano, Shaikh, Wilhelm (2024), Review of Economic Studies 91(1).
    """
    ax = axes_or_new(ax)
    order = np.argsort(-intervals.mean, kind="stable")[:top]
    y = name_rows(ax, [intervals.systems[s] for s in order])
    label = f"{100 * intervals.confidence:g} %, all systems at once"
    ax.barh(
        y,
        intervals.rank_high[order] - intervals.rank_low[order] + 0.9,
        left=intervals.rank_low[order] - 0.45,
        height=0.62,
        color="#CFE3F1",
        label=label,
    )
    if by_assessor is not None:
        assessor_ranks = by_assessor[:, order]
        column = np.broadcast_to(y, assessor_ranks.shape)[assessor_ranks > 0]
        ax.plot(
            assessor_ranks[assessor_ranks > 0],
            column,
            "|",
            color=PALETTE[1],
            markersize=5,
            markeredgewidth=0.9,
            label="by one assessor",
        )
    ax.plot(intervals.rank[order], y, "o", color=PALETTE[0], markersize=3.8, label="by the panel")
    ax.set_xlabel("rank (1 is best)")
    ax.set_xlim(0.2, len(intervals.systems) + 0.8)
    above(ax)
    return ax

"""Systems: how well each does, which differences are sure, which ranks are possible, and what these depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.comparison.differences import AllDifferences
from qrowd.comparison.generalizability import VarianceComponents
from qrowd.comparison.rank_intervals import RankIntervals
from qrowd.comparison.system_ranking import RankChanges, SystemIntervals
from qrowd.influence.fragility import Fragility
from qrowd.influence.score_cells import Change
from qrowd.kernels.arrays import Ints
from qrowd.reports.phrases import count, mean_of, percent
from qrowd.reports.plots.style import (
    GREY,
    MARKERS,
    PALETTE,
    SMALL,
    above,
    axes_or_new,
    cells,
    labels_of,
    name_points,
    name_rows,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


HATCHES = ("", "//", "||", "\\\\", "xx", "++", "--")
STEP = 1.25  # inches from one method to the next
LEADERS = 4  # systems whose pairs are named
CHANGES: dict[Change, str] = {
    "grade": "moves one judgment by one grade, or between yes and no",
    "panel": "replaces one judgment by what another assessor gave the document",
}


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
    ax.set_xlabel(mean_of(measure))
    above(ax)
    return ax


def plot_differences(differences: AllDifferences, *, alpha: float = 0.05, ax: Axes | None = None) -> Axes:
    """Each pair of systems: how probable it is that the row's is better than the column's, over topics and assessors.

    Systems stand from the best down; the colour is the probability in per cent. Bold: p < `alpha` after Holm's
    correction over all pairs.
    """
    ax = axes_or_new(ax)
    n = len(differences.systems)
    first = differences.first
    second = differences.second
    lead, better, p = (np.full((n, n), np.nan) for _ in range(3))
    lead[first, second], lead[second, first] = differences.difference, -differences.difference
    better[first, second], better[second, first] = differences.p_better, 1 - differences.p_better
    p[first, second] = p[second, first] = differences.adjusted("holm")
    order = np.argsort(-np.nansum(lead, axis=1), kind="stable")
    better = better[np.ix_(order, order)]
    p = p[np.ix_(order, order)]
    names = [differences.systems[s] for s in order]
    label = f"P(row is better), %; bold: p < {alpha:g} (Holm)"

    def shown(i: int, j: int) -> str:
        return "" if i == j else _per_cent(better[i, j])

    cells(ax, better, names, names, limits=(0, 1), shown=shown, label=label, colours="RdBu", bold=p < alpha)
    return ax


def _per_cent(share: float) -> str:
    """Whole per cent; never 0 or 100."""
    return ">99" if share > 0.995 else "<1" if share < 0.005 else f"{100 * share:.0f}"


def plot_ranks(
    intervals: RankIntervals, *, by_assessor: Ints | None = None, top: int | None = None, ax: Axes | None = None
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


def plot_bump(changes: RankChanges, *, ax: Axes | None = None) -> Axes:
    """How the ranking changes from one method to the next; the systems that move most are highlighted.

    Systems of equal mean are drawn one below another in the order of the method before.
    """
    ax = axes_or_new(ax)
    height = np.empty(changes.rank.shape)
    before = np.arange(len(changes.systems), dtype=np.float64)
    for m, rank in enumerate(changes.rank):
        order = np.lexsort((before, np.where(rank == 0, len(rank) + 1, rank)))
        height[m, order] = np.arange(1, len(rank) + 1)
        height[m, rank == 0] = np.nan
        before = np.where(np.isnan(height[m]), before, height[m])
    moved = np.nanmax(height, axis=0) - np.nanmin(height, axis=0)
    movers = [s for s in np.argsort(-moved, kind="stable")[: len(PALETTE) - 1].tolist() if moved[s] >= 2]
    x = np.arange(len(changes.methods))
    for s, name in enumerate(labels_of(changes.systems)):
        line: dict[str, Any] = {"color": "#B8B8B8", "linewidth": 1.2, "zorder": 2, "marker": "o", "markersize": 3.2}
        label: dict[str, Any] = {"color": "#444444", "weight": "normal"}
        if s in movers:
            k = movers.index(s)
            line = {"color": PALETTE[k], "linewidth": 2.2, "zorder": 3, "marker": MARKERS[k], "markersize": 5}
            label = {"color": PALETTE[k], "weight": "bold"}
        ax.plot(x, height[:, s], "-", **line)
        for end, side, shift in ((0, "right", -0.1), (-1, "left", 0.1)):
            if not np.isnan(height[end, s]):
                ax.text(x[end] + shift, height[end, s], name, ha=side, va="center", fontsize=SMALL, **label)
    ax.set_xticks(x, [name.replace("(", "\n(") for name in changes.methods], fontsize=SMALL + 0.5)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.set_yticks([])
    beside = _beside(changes) / STEP
    ax.set_xlim(-beside, len(x) - 1 + beside)
    ax.set_ylim(len(changes.systems) + 0.5, 0.5)
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def bump_size(changes: RankChanges) -> tuple[float, float]:
    """Inches of the picture."""
    return STEP * (len(changes.methods) - 1) + 2 * _beside(changes), 0.7 + 0.19 * len(changes.systems)


def _beside(changes: RankChanges) -> float:
    """Inches that names take on either side."""
    return 0.25 + 0.062 * max(10, *map(len, labels_of(changes.systems)))


def plot_fragility(fragility: Fragility, order: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """Each pair of systems: its difference, and the number of changes that reverse it (log scale).

    order : the systems, best first. Pairs of the first are named by their ranks. Pairs for which no such changes were
    found stand at the top.
    """
    ax = axes_or_new(ax)
    size = np.abs(fragility.difference)
    number = fragility.n_changes_high
    apart = (fragility.low > 0) | (fragility.high < 0)
    never = np.isinf(number)
    highest = float(number[np.isfinite(number)].max(initial=1.0))
    height = np.where(never, 2.2 * highest, number)
    groups = (
        (np.isfinite(number) & ~apart, f"{percent(fragility.confidence)} interval includes 0", "o", PALETTE[0]),
        (np.isfinite(number) & apart, "interval excludes 0", "s", PALETTE[1]),
        (never, "no changes found that reverse it", "^", PALETTE[6]),
    )
    for rows, label, marker, colour in groups:
        if rows.any():
            face = colour if marker == "s" else "none"
            look: Any = {"marker": marker, "color": colour, "markerfacecolor": face, "markersize": 4.2}
            ax.plot(size[rows], height[rows], linestyle="none", label=label, markeredgewidth=0.9, **look)
    ax.set_yscale("log")
    ax.set_ylim(0.7, max((3.0 if never.any() else 1.6) * highest, 4.0))
    ax.set_yticks([n for n in 10 ** np.arange(7) if n <= 3 * highest])
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    widest = float(size.max(initial=0.0)) or 1.0
    ax.set_xlim(-0.02 * widest, 1.05 * widest)
    ax.set_xlabel(f"difference of means, {fragility.measure}")
    ax.set_ylabel("number of changes")
    rank = {name: place + 1 for place, name in enumerate(order)}
    pairs = [
        sorted((rank[first], rank[second])) for first, second in zip(fragility.first, fragility.second, strict=True)
    ]
    names = ["\N{EN DASH}".join(map(str, pair)) if pair[1] <= LEADERS else "" for pair in pairs]
    name_points(ax, size, height, names)
    above(ax)
    return ax


def fragility_caption(fragility: Fragility, order: Sequence[str], measure: str) -> str:
    """What is counted, and the names of the systems whose ranks are shown."""
    leaders = ", ".join(f"{place} {name}" for place, name in enumerate(labels_of(order)[:LEADERS], start=1))
    bound = "" if fragility.exact else "; fewer changes than were found may do it, so that the number is an upper bound"
    return (
        f"Differences of {count(len(fragility.first), 'pair')} of systems by {measure}, and the number of "
        f"changes of judgments after which the other system is ahead. A change {CHANGES[fragility.change]}{bound}. "
        f"Intervals are by t over topics, for each pair alone. Ranks: {leaders}."
    )


def plot_components(components: Mapping[str, VarianceComponents], *, ax: Axes | None = None) -> Axes:
    """Where the variance of scores comes from: a bar for each measure, in per cent.

    components : {measure: components}, all of one design. Brennan (2001), Generalizability Theory.
    """
    ax = axes_or_new(ax)
    names: Sequence[str] = list(components)
    y = name_rows(ax, names)
    sources = max(components.values(), key=lambda one: len(one.sources)).sources
    start = np.zeros(len(names))
    for k, source in enumerate(sources):
        share = np.array(
            [one.share[one.sources.index(source)] if source in one.sources else 0.0 for one in components.values()]
        )
        share = 100 * np.nan_to_num(share)
        bars = ax.barh(
            y,
            share,
            left=start,
            height=0.7,
            color=PALETTE[k] if k < 6 else GREY,
            alpha=0.85,
            edgecolor="white",
            hatch=HATCHES[k],
            label=source.replace("*", " \N{MULTIPLICATION SIGN} "),
            linewidth=0.5,
        )
        labels = [f"{width:.0f}" if width >= 5 else "" for width in share]
        box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "linewidth": 0}
        ax.bar_label(bars, labels, label_type="center", fontsize=SMALL, bbox=box)
        start = start + share
    ax.set_xlim(0, 100)
    ax.set_xlabel("% of the variance of scores")
    above(ax, columns=4)
    return ax

"""Critical-difference diagrams: systems on an axis of mean ranks, those that do not differ joined by bars.

Demsar (2006), Statistical Comparisons of Classifiers over Multiple Data Sets. JMLR 7, 1-30, Figure 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isnan
from typing import TYPE_CHECKING

from qrowd.comparison.mean_ranks import MeanRanks
from qrowd.reports.phrases import percent, probability
from qrowd.reports.plots.style import GREY, PALETTE, SMALL, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW, LEVEL = 0.17, 0.075  # inches of a row of labels, and of a level of bars
AXIS = 3.6  # inches from the first to the last rank
PAD = 0.1
MOST_TICKS = 12


@dataclass(frozen=True)
class Layout:
    """Where everything stands, in inches from the upper left corner.

    left, right : ends of the axis. top : of the axis. bars : (first system, last system, level) of each group.
    rows : where the first row of labels stands. low, high : ranks at the ends of the axis.
    """

    width: float
    height: float
    left: float
    right: float
    top: float
    rows: float
    low: int
    high: int
    bars: tuple[tuple[int, int, int], ...]

    @property
    def size(self) -> tuple[float, float]:
        return self.width, self.height

    def x(self, rank: float) -> float:
        return self.left + (self.right - self.left) * (rank - self.low) / (self.high - self.low)


def layout_of(ranked: MeanRanks, top: int | None = None) -> Layout:
    """The layout of the diagram of the `top` systems; default: all."""
    names = ranked.systems[:top]
    n = len(names)
    half = ceil(len(names) / 2)
    sides = [max((_width(_named(ranked, s)) for s in side), default=0.0) for side in (range(half), range(half, n))]
    low = floor(ranked.mean_rank[0])
    high = max(ceil(ranked.mean_rank[n - 1]), floor(ranked.mean_rank[0]) + 1)
    left = PAD + sides[0] + 0.15
    bars = _levels(ranked, n)
    right = left + AXIS
    above = 0.62 if not isnan(ranked.critical_difference) else 0.38
    rows = above + 0.12 + LEVEL * (1 + max((level for _, _, level in bars), default=-1)) + ROW
    return Layout(right + 0.15 + sides[1] + PAD, rows + ROW * half, left, right, above, rows, low, high, bars)


def plot_critical_difference(ranked: MeanRanks, *, top: int | None = None, ax: Axes | None = None) -> Axes:
    """Systems on an axis of mean ranks, best on the left; a thick bar joins systems that do not differ significantly.

    top : number of the best systems that are shown; ranks and groups are those among all systems. The critical
        difference of Nemenyi's test stands above the axis.
    """
    ax = axes_or_new(ax)
    place = layout_of(ranked, top)
    n = len(ranked.systems[:top])
    ax.set_axis_off()
    ax.set_xlim(0, place.width)
    ax.set_ylim(place.height, 0)
    ax.hlines(place.top, place.left, place.right, color="black", linewidth=1.0)
    for rank in _ticks(place.low, place.high):
        ax.vlines(place.x(rank), place.top - 0.05, place.top, color="black", linewidth=1.0)
        ax.text(place.x(rank), place.top - 0.08, str(rank), ha="center", va="bottom", fontsize=SMALL)
    _critical(ax, ranked, place)
    half = ceil(n / 2)
    for s in range(n):
        on_left = s < half
        row = place.rows + ROW * (s if on_left else n - 1 - s)
        x = place.x(ranked.mean_rank[s])
        end = place.left - 0.1 if on_left else place.right + 0.1
        ax.plot([x, x, end], [place.top, row, row], color=GREY, linewidth=0.7, solid_joinstyle="miter")
        ax.plot([x], [place.top], "o", color=PALETTE[0], markersize=2.6)
        name = _named(ranked, s)
        side = -0.04 if on_left else 0.04
        ax.text(end + side, row, name, ha="right" if on_left else "left", va="center", fontsize=SMALL)
    for first, last, level in place.bars:
        y = place.top + 0.12 + LEVEL * level
        ends = place.x(ranked.mean_rank[first]) - 0.03, place.x(ranked.mean_rank[last]) + 0.03
        ax.hlines(y, *ends, color=PALETTE[1], linewidth=2.6)
    return ax


def caption_of(ranked: MeanRanks, measure: str, top: int | None) -> str:
    """What the diagram shows and by which test."""
    n = len(ranked.systems)
    shown = f"the best {top} of {n}" if top is not None and top < n else f"{n}"
    test = "max-t over topics and assessors" if ranked.test == "max-t" else "Nemenyi, over topics"
    overall = "" if isnan(ranked.friedman_p) else f"; Friedman p {_equals(probability(ranked.friedman_p))}"
    return (
        f"Mean ranks of {shown} systems by {measure} over {ranked.n_topics} topics, best on the left. Bars join "
        f"systems that do not differ significantly ({test}; {percent(ranked.confidence)} for all pairs together"
        f"{overall})."
    )


def _equals(p: str) -> str:
    return p if p.startswith("<") else f"= {p}"


def _critical(ax: Axes, ranked: MeanRanks, place: Layout) -> None:
    """The critical difference as a bar above the axis; one that is longer than the axis is only named."""
    difference = ranked.critical_difference
    if isnan(difference):
        return
    end = place.x(place.low + difference)
    if end <= place.right:
        ax.plot([place.left, end], [0.28, 0.28], "|-", color="black", linewidth=1.0, markersize=5)
    ax.text(place.left, 0.2, f"critical difference {difference:.2f}", ha="left", va="bottom", fontsize=SMALL)


def _levels(ranked: MeanRanks, n: int) -> tuple[tuple[int, int, int], ...]:
    """(first, last, level) of each group of at least two of the first n systems; bars of a level do not touch."""
    ends: list[float] = []
    bars: list[tuple[int, int, int]] = []
    gap = 0.02 * (float(ranked.mean_rank[n - 1]) - float(ranked.mean_rank[0])) + 1e-9
    for group in ranked.groups:
        first = ranked.systems.index(group[0])
        last = min(first + len(group), n) - 1
        if first >= n or last <= first or (bars and last <= bars[-1][1]):  # cut off where the shown systems end
            continue
        start = float(ranked.mean_rank[first])
        end = float(ranked.mean_rank[last])
        level = next((i for i, other in enumerate(ends) if other + gap < start), len(ends))
        ends[level : level + 1] = [end]
        bars.append((first, last, level))
    return tuple(bars)


def _named(ranked: MeanRanks, s: int) -> str:
    return f"{ranked.systems[s]}  {ranked.mean_rank[s]:.2f}"


def _width(text: str) -> float:
    """Inches that a label takes."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=SMALL)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]) / 72


def _ticks(low: int, high: int) -> Sequence[int]:
    """Whole ranks from low to high, at most so many that their numbers do not touch."""
    steps = (times * power for power in (1, 10, 100) for times in (1, 2, 5))
    step = next(step for step in steps if (high - low) / step <= MOST_TICKS)
    return range(-(-low // step) * step, high + 1, step)

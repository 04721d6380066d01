"""How the ranking of systems depends on the assessors and on the method that combines them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from qrowd.comparison.generalizability import VarianceComponents
from qrowd.comparison.rankings import RankingAgreement
from qrowd.comparison.system_ranking import RankChanges
from qrowd.reports.plots.marks import SMALL, above, cells, labels_of, name_rows
from qrowd.reports.plots.style import GREY, MARKERS, PALETTE, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HATCHES = ("", "//", "||", "\\\\", "xx", "++", "--")
STEP = 1.25  # inches from one method to the next


def plot_bump(changes: RankChanges, *, ax: Axes | None = None) -> Axes:
    """How the ranking changes from one method to the next; the systems that move most are highlighted.

    Systems of equal mean are drawn side by side in the order of the method before.
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
        k = movers.index(s) if s in movers else None
        colour = "#B8B8B8" if k is None else PALETTE[k]
        ax.plot(
            x,
            height[:, s],
            "-",
            color=colour,
            linewidth=1.2 if k is None else 2.2,
            zorder=2 if k is None else 3,
            marker="o" if k is None else MARKERS[k],
            markersize=3.2 if k is None else 5,
        )
        for end, side, shift in ((0, "right", -0.1), (-1, "left", 0.1)):
            if not np.isnan(height[end, s]):
                ax.text(
                    x[end] + shift,
                    height[end, s],
                    name,
                    ha=side,
                    va="center",
                    fontsize=SMALL,
                    color="#444444" if k is None else colour,
                    weight="normal" if k is None else "bold",
                )
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


def plot_correlation(agreement: RankingAgreement, *, ax: Axes | None = None) -> Axes:
    """How alike assessors rank the systems: Kendall's tau-b of any two."""
    ax = axes_or_new(ax)
    low = min(0.0, float(np.nanmin(agreement.tau_b, initial=0.0)))
    names = agreement.assessors
    cells(
        ax,
        agreement.tau_b,
        names,
        names,
        limits=(low, 1),
        shown=lambda i, j: short(agreement.tau_b[i, j]),
        label="Kendall's tau-b",
    )
    return ax


def short(value: float) -> str:
    """Two decimals without the leading 0."""
    text = f"{value:.2f}".replace("-0.00", "0.00")
    return text.replace("0.", ".", 1) if abs(value) < 0.995 else text[:-3]


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
        ax.barh(
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
        for row, (width, left) in enumerate(zip(share, start, strict=True)):
            if width >= 5:
                ax.text(
                    left + width / 2,
                    row,
                    f"{width:.0f}",
                    ha="center",
                    va="center",
                    fontsize=SMALL,
                    color="black",
                    bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "linewidth": 0},
                )
        start = start + share
    ax.set_xlim(0, 100)
    ax.set_xlabel("% of the variance of scores")
    above(ax, columns=4)
    return ax

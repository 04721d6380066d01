"""Preferences: how few are enough, how assessors agree on them, and how they compare with grades.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from qrowd.kernels.arrays import Floats
from qrowd.reports.plots.style import GREY, LINES, MARKERS, PALETTE, above, axes_or_new, note
from qrowd_papers.preferences.replays import Curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_judgments_needed(curves: Curves, conditions: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """Judgments that a topic takes against its number of documents, a line for each order of asking.

    conditions : of `curves`, seven at most. Grey: one judgment per document. Dots grow with the number of topics behind
    them.

    Figure 2.
    """
    ax = axes_or_new(ax)
    most = int(curves.topics.max())
    for i, name in enumerate(conditions):
        rows = np.flatnonzero(curves.condition == name)
        rows = rows[np.argsort(curves.documents[rows])]
        x, y = curves.documents[rows], curves.judgments[rows]
        ax.plot(x, y, LINES[i % 4], color=PALETTE[i])
        ax.plot([], [], LINES[i % 4], color=PALETTE[i], marker=MARKERS[i], label=name)
        size = 6 + 26 * curves.topics[rows] / most
        ax.scatter(x, y, s=size, color=PALETTE[i], marker=MARKERS[i], zorder=3, linewidths=0)
    n = np.array([curves.documents.min(), curves.documents.max()])
    ax.plot(n, n, color=GREY, linewidth=0.9)
    ax.annotate("one per document", (n[1], n[1]), (0, -4), textcoords="offset points", ha="right", va="top",
                fontsize=7, color=GREY)  # fmt: skip
    ax.set_xlabel("documents of a topic")
    ax.set_ylabel("judgments")
    ax.set_ylim(bottom=0)
    above(ax, columns=2)
    return ax


def plot_measures_beside(
    first: Floats, second: Floats, *, names: tuple[str, str], ax: Axes | None = None, most: int = 4000
) -> Axes:
    """Every score of one measure against that of another, a dot for each system and topic, and their correlation.

    first, second : of one shape; pairs with nan are left out. Of more than `most` every k-th is drawn. Table 5(a).
    """
    ax = axes_or_new(ax)
    known = ~np.isnan(first) & ~np.isnan(second)
    x, y = np.asarray(first)[known], np.asarray(second)[known]
    step = max(1, -(-x.size // most))
    ax.plot(x[::step], y[::step], "o", color=PALETTE[0], markersize=2.4, alpha=0.35, markeredgewidth=0)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    if x.size > 1 and x.std() > 0 and y.std() > 0:
        note(ax, f"r {np.corrcoef(x, y)[0, 1]:.3f}")
    return ax

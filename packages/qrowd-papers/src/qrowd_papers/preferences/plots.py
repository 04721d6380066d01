"""Preferences: how few are enough, how assessors agree on them, and how they compare with grades.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from qrowd.kernels.arrays import Floats
from qrowd.preferences import PreferenceTable
from qrowd.reports.plots.style import GREY, LINES, MARKERS, PALETTE, above, axes_or_new, cells, name_rows, note
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


def plot_what_others_say(
    states: Sequence[str], probability: Floats, *, total: Floats | None = None, ax: Axes | None = None
) -> Axes:
    """What one assessor says (column), given what another does (row): shares of a row, and how often the row is said.

    states : names of rows and columns. probability : (states, states); rows sum to 1, a row of nan is empty.
    total : (states,) judgments of the row, written behind its name.

    Tables 1, 2 and 3.
    """
    ax = axes_or_new(ax)
    rows = list(states) if total is None else [f"{s} ({n:,.0f})" for s, n in zip(states, total, strict=True)]
    cells(ax, np.asarray(probability), rows, list(states), limits=(0, 1), label="the other says",
          shown=lambda i, j: f"{probability[i, j]:.2f}")  # fmt: skip
    ax.set_xlabel("the other says")
    ax.set_ylabel("one says (judgments)" if total is not None else "one says")
    return ax


def plot_tie_rates(
    preferences: PreferenceTable, inferred: PreferenceTable, *, ax: Axes | None = None, points: int = 41
) -> Axes:
    """Would grades agree as well as preferences? It depends on how often assessors agree where two grades are equal.

    preferences : of assessors who compared documents. inferred : from grades, with equal ones apart ("A = B").
    Shaded: the difference is not significant (p >= .05, chi-square with every pair once).

    Section 3.2.
    """
    from qrowd_papers.preferences.inferred_tables import agreement_difference, redistributed

    ax = axes_or_new(ax)
    rate = np.linspace(0, 1, points)
    tables = [redistributed(inferred, rate=float(r)) for r in rate]
    share = np.array([table.agreement for table in tables])
    alike = np.array([agreement_difference(preferences, table).p >= 0.05 for table in tables])
    ax.fill_between(rate, 0, 1, where=alike.tolist(), color=GREY, alpha=0.18, linewidth=0, step="mid",
                    transform=ax.get_xaxis_transform(), label="no significant difference")  # fmt: skip
    ax.axhline(preferences.agreement, color=PALETTE[1], linestyle="--", label="preferences")
    ax.plot(rate, share, color=PALETTE[0], label="grades")
    coin = redistributed(inferred, rate=0.5).agreement
    ax.plot(0.5, coin, MARKERS[0], color=PALETTE[0])
    ax.annotate(
        "a coin for ties", (0.5, coin), (6, -8), textcoords="offset points", fontsize=7.5, color=PALETTE[0], va="top"
    )
    ax.set_xlabel("rate of agreement where two grades are equal")
    ax.set_ylabel("share of judgments that agree")
    ax.set_xlim(0, 1)
    above(ax)
    return ax


def plot_judging_times(
    medians: Mapping[str, Sequence[float]], assessors: Sequence[str], *, ax: Axes | None = None
) -> Axes:
    """Median seconds per judgment of every assessor, a mark for each kind of judgment.

    medians : {kind of judgment: (assessors,)}; nan where there is none. Table 4.
    """
    ax = axes_or_new(ax)
    y = name_rows(ax, assessors)
    table = np.array([list(values) for values in medians.values()], np.float64)
    ax.hlines(y, np.nanmin(table, axis=0), np.nanmax(table, axis=0), color="#C4C4C4", linewidth=1.0)
    for i, (kind, values) in enumerate(zip(medians, table, strict=True)):
        ax.plot(values, y, MARKERS[i], color=PALETTE[i], label=kind)
    ax.set_xlim(left=0)
    ax.set_xlabel("median seconds per judgment")
    above(ax)
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

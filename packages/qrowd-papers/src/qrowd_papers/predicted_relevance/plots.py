"""Predicted relevance: how probable it is that a random user finds relevant what an assessor graded so.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19, Figures 1 to 3 and Table 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from qrowd.comparison.rankings import kendall_tau_b
from qrowd.predicted_relevance import PredictedRelevance
from qrowd.reports.plots.style import GREY, LINES, MARKERS, PALETTE, axes_or_new
from qrowd_papers.predicted_relevance.sensitivity import SensitivityToRank, SensitivityToSampleSize, SensitivityToTopics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = "p(relevant | grade)"
Names = Mapping[float, str] | None
"""What grades are called; without, their numbers."""


def plot_relevance_by_grade(
    models: Mapping[str, PredictedRelevance],
    *,
    grades: Names = None,
    printed: Mapping[str, Sequence[float]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """p(R|i) of every grade with its interval, for several notions of relevance or several panels (as Table 3).

    models : {label: model}, each with its own colour and mark. printed : {label: one number for every grade, lowest
        first}, drawn as grey bars beside.
    """
    ax = axes_or_new(ax)
    wide = 0.6 / max(len(models), 1)
    seen: set[float] = set()
    for m, (label, model) in enumerate(models.items()):
        at = model.grades + wide * (m - (len(models) - 1) / 2)
        seen |= set(model.grades.tolist())
        below, above = (np.abs(model.probability - end) for end in (model.low, model.high))
        colour = PALETTE[m % len(PALETTE)]
        ax.errorbar(
            at, model.probability, [below, above], fmt=MARKERS[m % len(MARKERS)], color=colour, capsize=2.5,
            elinewidth=1.2, label=label,
        )  # fmt: skip
        if printed is not None and label in printed:
            ax.plot(
                at, np.asarray(printed[label]), linestyle="none", marker="_", markersize=15, markeredgewidth=1.6,
                color=GREY, zorder=1, label="printed" if m == 0 else None,
            )  # fmt: skip
    _grade_ticks(ax, sorted(seen), grades)
    ax.grid(False, axis="x")
    ax.set_xlabel("the assessor's grade")
    ax.set_ylabel(LEVEL)
    ax.set_ylim(-0.02, 1.02)
    ax.legend(loc="upper left", fontsize=8)
    return ax


def plot_relevance_by_rank(
    curves: SensitivityToRank, *, grades: Names = None, least: int = 20, deepest: float = 100, ax: Axes | None = None
) -> Axes:
    """p(R|i) learnt from the best results, then from more and more (as Figure 1).

    least : points that rest on fewer judgments of the grade are not drawn. deepest : the last rank shown.
    """
    ax = axes_or_new(ax)
    shown = curves.rank <= deepest
    ends = []
    for i in np.argsort(-curves.grades):
        good = shown & (curves.n[:, i] >= least)
        if good.any():
            ax.plot(curves.rank[good], curves.probability[good, i], LINES[i % len(LINES)], color=_colour(i))
            ends.append((float(curves.probability[good, i][-1]), int(i)))
    ranks = curves.rank[shown]
    ax.set_xscale("log")
    ax.set_xlim(ranks[0], ranks[-1])
    ticks = [t for t in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if ranks[0] <= t <= ranks[-1]]
    ax.set_xticks(ticks, [str(t) for t in ticks])
    ax.minorticks_off()
    ax.set_xlabel("documents that a system ranks so high, or higher")
    ax.set_ylabel(LEVEL)
    ax.set_ylim(0, 1)
    _name_lines(ax, float(ranks[-1]), ends, [_called(g, grades) for g in curves.grades])
    return ax


def plot_relevance_by_topics(draws: SensitivityToTopics, *, grades: Names = None, ax: Axes | None = None) -> Axes:
    """p(R|i) if other topics had been judged: median, quartiles, and whiskers of 1.5 boxes (as Figure 2).

    Highest grade first, as printed; the standard error stands above each box.
    """
    ax = axes_or_new(ax)
    order = [int(i) for i in np.argsort(-draws.grades) if not np.isnan(draws.replicates[:, i]).all()]
    drawn = [draws.replicates[~np.isnan(draws.replicates[:, i]), i] for i in order]
    boxes = ax.boxplot(
        drawn, widths=0.5, patch_artist=True, medianprops={"color": "black", "linewidth": 1.4},
        flierprops={"marker": ".", "markersize": 2.5, "markeredgecolor": GREY},
    )  # fmt: skip
    top = max(float(values.max()) for values in drawn)
    for place, (i, box, values) in enumerate(zip(order, boxes["boxes"], drawn, strict=True), 1):
        box.set_facecolor(_colour(i))
        box.set_alpha(0.55)
        ax.text(place, values.max() + 0.02 * top, f"± {draws.standard_error[i]:.3f}", ha="center", fontsize=8)
    ax.set_xticks(range(1, len(order) + 1), [_called(draws.grades[i], grades) for i in order])
    ax.grid(False, axis="x")
    ax.set_xlabel("the assessor's grade")
    ax.set_ylabel(LEVEL)
    ax.set_ylim(0, 1.12 * top)
    return ax


def plot_relevance_by_sample_size(
    curves: SensitivityToSampleSize, *, grades: Names = None, ax: Axes | None = None
) -> Axes:
    """p(R|i) with one standard deviation above and below, as double judgments come in (as Figure 3)."""
    ax = axes_or_new(ax)
    ends = []
    for i in range(curves.grades.size):
        mean, off = curves.mean[:, i], curves.sd[:, i]
        if np.isnan(mean).all():
            continue
        ax.fill_between(curves.size, mean - off, mean + off, color=_colour(i), alpha=0.2, linewidth=0)
        ax.plot(curves.size, mean, LINES[i % len(LINES)], color=_colour(i))
        ends.append((float(mean[-1]), i))
    ax.set_xlim(0, curves.size[-1])
    ax.set_ylim(0, None)
    _name_lines(ax, float(curves.size[-1]), ends, [_called(g, grades) for g in curves.grades])
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel("documents judged twice")
    ax.set_ylabel(LEVEL)
    return ax


def plot_against(
    x: ArrayLike,
    y: ArrayLike,
    *,
    names: tuple[str, str],
    x_error: ArrayLike,
    y_error: ArrayLike,
    ax: Axes | None = None,
) -> Axes:
    """One score of every system against another, a dot each, with Kendall's tau-b, and the line where both are equal.

    names : of the axes. x_error, y_error : (systems,) standard errors, drawn as bars.
    """
    ax = axes_or_new(ax)
    first, second = np.asarray(x, np.float64), np.asarray(y, np.float64)
    ax.errorbar(
        first, second, xerr=x_error, yerr=y_error, fmt="o", color=PALETTE[0], ecolor="#9CC3DE", elinewidth=0.8,
        markersize=4,
    )  # fmt: skip
    ends = (min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1]))
    ax.plot(ends, ends, "--", color=GREY, linewidth=1, zorder=1)
    ax.set_xlim(*ends)
    ax.set_ylim(*ends)
    ax.set_aspect("equal", adjustable="box")
    known = ~np.isnan(first) & ~np.isnan(second)
    if known.sum() > 1:
        tau = kendall_tau_b(first[known], second[known])
        ax.text(0.04, 0.95, f"tau-b {tau:.3f}", transform=ax.transAxes, va="top", color=GREY, fontsize=8)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    return ax


# ------------------------------------------------------------------ parts


def _colour(i: int | np.integer) -> str:
    """Of the grade with this number, alike in all pictures."""
    return PALETTE[int(i) % len(PALETTE)]


def _called(grade: float, grades: Names) -> str:
    return f"{grade:g}" if grades is None else grades.get(float(grade), f"{grade:g}")


def _grade_ticks(ax: Axes, seen: Sequence[float], grades: Names) -> None:
    ax.set_xticks(list(seen), [_called(grade, grades) for grade in seen])


def _name_lines(ax: Axes, right: float, ends: Sequence[tuple[float, int]], names: Sequence[str]) -> None:
    """The grades at the right ends of their lines, moved apart where they would touch."""
    if not ends:
        return
    low, high = ax.get_ylim()
    gap = 0.06 * (high - low)
    last = -np.inf
    for end, i in sorted(ends):
        last = max(end, last + gap)
        ax.annotate(
            f" {names[i]}", (right, last), color=_colour(i), fontsize=8, va="center", annotation_clip=False,
        )  # fmt: skip

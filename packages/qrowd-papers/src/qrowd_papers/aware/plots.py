"""AWARE: random assessors compared with real ones, and effects of the parts of methods that combine assessors.

Ferrante, Ferro, Maistro (2017), AWARE: Exploiting Evaluation Measures to Combine Multiple Assessors. ACM TOIS 36(2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.aware.estimators import GAPS
from qrowd.aware.similarity import Similarities
from qrowd.kernels.arrays import Floats
from qrowd.reports.plots.style import GREY, LINES, MARKERS, PALETTE, SMALL, above, axes_or_new, name_rows
from qrowd_papers.analysis_of_variance import InteractionEffects, MainEffects
from qrowd_papers.tukey import Tukey

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES_OF_EFFECTS = {"small": 0.01, "medium": 0.06, "large": 0.14}
"""From which omega squared on an effect is called so (section 6.1)."""
FAINT = "#C4C4C4"


def plot_score_densities(
    random: Mapping[str, Floats], assessors: Mapping[str, Floats], *, measure: str = "score", ax: Axes | None = None
) -> Axes:
    """How scores spread when documents are judged at random, and when they are judged.

    random : {kind of random assessor: (points,) density at points equally spaced from 0 to 1}; coloured lines.
    assessors : the same of real ones; thin grey lines.

    What the gap "kld" compares (equation 10), for the random assessors of section 4.2.
    """
    ax = axes_or_new(ax)
    for i, density in enumerate(assessors.values()):
        x = np.linspace(0, 1, density.size)
        ax.plot(x, density, color=FAINT, linewidth=0.9, label="assessors" if i == 0 else None)
    for i, (name, density) in enumerate(random.items()):
        x = np.linspace(0, 1, density.size)
        peak = int(density.argmax())
        ax.plot(x, density, LINES[i % 4], color=PALETTE[i], linewidth=1.8, label=f"random, {name}", zorder=3)
        ax.plot(x[peak], density[peak], MARKERS[i], color=PALETTE[i], zorder=3)
    ax.set_xlim(0, 1)
    ax.set_ylim(bottom=0)
    ax.set_xlabel(measure)
    ax.set_ylabel("density of scores")
    above(ax, columns=2)
    return ax


def plot_similarity_to_random(
    similarities: Similarities, measure: str, gap: str, *, names: bool = True, ax: Axes | None = None
) -> Axes:
    """How like each kind of random assessor every assessor is by one gap, from 0 on; 1 would be the same.

    Assessors stand with the one least like any random assessor on top. names : whether they are named.

    Similarities of equations 20-24, over all topics; minimal ones make weights (equations 25 and 26).
    """
    ax = axes_or_new(ax)
    alike = similarities.single[GAPS.index(gap), similarities.scores.measures.index(measure)]  # (levels, assessors)
    order = np.argsort(alike.max(axis=0), kind="stable")
    y = name_rows(ax, [similarities.scores.assessors[a] if names else "" for a in order])
    ax.hlines(y, alike.min(axis=0)[order], alike.max(axis=0)[order], color=FAINT, linewidth=1.0)
    for i, level in enumerate(similarities.levels):
        ax.plot(alike[i, order], y, MARKERS[i], color=PALETTE[i], markersize=3.8, label=f"random, {level}")
    highest = max(float(np.nanmax(alike)), 0.01)
    ax.set_xlim(-0.03 * highest, 1.06 * highest)
    ax.set_xlabel(f"likeness by {gap}")
    return ax


def plot_main_effects(
    effects: MainEffects, factor: str, *, response: str | None = None, ax: Axes | None = None
) -> Axes:
    """Mean response at every level of a factor, net of all others: a line, and a shaded 95 % interval.

    Levels that are numbers stand where their number is. Figures 4, 6, 8 and 9 (a-d).
    """
    ax = axes_or_new(ax)
    results = effects.of(factor)
    x, text = _places(results.level)
    spread = np.nan_to_num(1.96 * results.standard_error)
    ax.fill_between(x, results.mean - spread, results.mean + spread, color=PALETTE[0], alpha=0.18, linewidth=0)
    ax.plot(x, results.mean, "-", marker=MARKERS[0] if text else None, color=PALETTE[0])
    _tick(ax, x, text)
    if text:
        ax.set_xlim(-0.35, len(text) - 0.65)
    ax.set_xlabel(factor)
    ax.set_ylabel(response or f"mean {effects.response}")
    return ax


def plot_interaction(
    effects: InteractionEffects,
    *,
    shown: Sequence[str] | None = None,
    response: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Whether one factor's levels change places with another's.

    The mean response along the first factor, a line for each level of the second.

    shown : levels of the second factor with a colour, a mark and their name at the line's end; the others are thin grey
        lines. None: all, if there are no more than seven.

    Figures 5, 7, and 8 and 9 (g-i).
    """
    ax = axes_or_new(ax)
    levels = effects.levels[1]
    named = [name for name in (levels if shown is None else shown) if name in levels][: len(PALETTE)]
    x, text = _places(effects.levels[0])
    for name in levels:
        if name not in named:
            ax.plot(x, effects.mean[:, levels.index(name)], color=FAINT, linewidth=0.6, zorder=1)
    every = max(1, len(x) // 6)
    ends: list[tuple[float, str, str]] = []
    for i, name in enumerate(named):
        y = effects.mean[:, levels.index(name)]
        style: Any = {"color": PALETTE[i], "marker": MARKERS[i], "markevery": (i % every, every), "linewidth": 1.3}
        ax.plot(x, y, LINES[i % 4], zorder=3, label=name, **style)
        ends.append((float(y[-1]), name, PALETTE[i]))
    _tick(ax, x, text)
    ax.set_xlabel(effects.factors[0])
    ax.set_ylabel(response or f"mean {effects.response}")
    name_ends(ax, float(x[-1]), ends)
    return ax


def name_ends(ax: Axes, x: float, ends: Sequence[tuple[float, str, str]]) -> None:
    """Names of lines beside their ends (height, name, colour), moved apart where they would cover each other."""
    low, high = ax.get_ylim()
    height = ax.get_window_extent().height * 72 / ax.figure.dpi
    step = (high - low) * (SMALL + 1.5) / max(height, 30.0)
    ordered = sorted(ends)
    heights = np.array([end[0] for end in ordered])
    for _ in range(200):  # push neighbours apart until none touch
        gap = np.diff(heights)
        short = np.where(gap < step, (step - gap) / 2 + 1e-9, 0.0)
        if not short.any():
            break
        heights[:-1] -= short
        heights[1:] += short
    heights += np.clip(low - heights[0], 0, None) - np.clip(heights[-1] - high, 0, None)
    for place, (y, name, colour) in zip(heights.tolist(), ordered, strict=True):
        ax.annotate(
            name, (x, y), xytext=(1.04, place), textcoords=ax.get_yaxis_transform(), va="center",
            fontsize=SMALL, color=colour, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.5, "shrinkA": 0, "shrinkB": 3},
        )  # fmt: skip


def plot_tukey(
    tukey: Tukey,
    *,
    marked: Sequence[str] = (),
    compared: Sequence[str] = (),
    response: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The levels of a factor, best on top, with the intervals of Tukey's test: those that do not overlap differ.

    Blue dots: not significantly different from the best. marked : levels to make out, as baselines, by orange squares;
    the others are grey. A dashed line shows how far the best level's interval reaches; letters, if they are few, name
    the groups. compared : levels whose interval is a band over all rows, which the intervals of those that do not
    differ significantly from them reach; the legend says how many these are.

    Figures 4(e), 6(e), 8 and 9 (d-f).
    """
    ax = axes_or_new(ax)
    y = name_rows(ax, tukey.levels)
    base = np.array([level in marked for level in tukey.levels])
    kinds = (
        (tukey.top & ~base, PALETTE[0], MARKERS[0], "not significantly different from the best"),
        (base, PALETTE[1], MARKERS[1], "baselines"),
        (~tukey.top & ~base, GREY, MARKERS[2], "others"),
    )
    for chosen, colour, mark, label in kinds:
        if chosen.any():
            ax.errorbar(tukey.mean[chosen], y[chosen], xerr=tukey.half_width[chosen], fmt=mark, color=colour,
                        markersize=3.6, elinewidth=1.2, label=label)  # fmt: skip
    for i, level in enumerate(name for name in compared if name in tukey.levels):
        at, colour = tukey.levels.index(level), PALETTE[(i + 2) % len(PALETTE)]
        low, high = tukey.mean[at] - tukey.half_width[at], tukey.mean[at] + tukey.half_width[at]
        overlapping = np.abs(tukey.mean - tukey.mean[at]) <= tukey.half_width + tukey.half_width[at]
        label = f"not different from {level}: {overlapping.sum() - 1}"
        ax.axvspan(low, high, color=colour, alpha=0.22, linewidth=0, zorder=0, label=label)
    sign = -1 if tukey.best == "highest" else 1
    ax.axvline(tukey.mean[0] + sign * tukey.half_width[0], color=PALETTE[0], linestyle="--", linewidth=0.8)
    if len(tukey.groups) <= 6:
        for row, letters in zip(y.tolist(), tukey.letters, strict=True):
            ax.annotate(letters, (1.01, row), xycoords=("axes fraction", "data"), va="center", fontsize=SMALL)
    ax.set_xlabel(response or "mean")
    return ax


def plot_effect_sizes(
    printed: Mapping[str, float], ours: Mapping[str, Mapping[str, float]], *, ax: Axes | None = None
) -> Axes:
    """Omega squared of every source of variation: as a paper printed it, and on other panels.

    printed : {source: size}, nan where none is printed; ours : {panel: {source: size}}. Shaded from light to dark:
    small, medium and large effects. The scale is that of a square root, so that small ones can be seen.

    Tables 1-4.
    """
    ax = axes_or_new(ax)
    sources = list(printed)
    y = name_rows(ax, sources)
    edges = [*SIZES_OF_EFFECTS.values(), 1.0]
    for (name, low), high, alpha in zip(SIZES_OF_EFFECTS.items(), edges[1:], (0.06, 0.12, 0.18), strict=True):
        ax.axvspan(low, high, color=PALETTE[0], alpha=alpha, linewidth=0)
        ax.annotate(name, ((low**0.5 + high**0.5) ** 2 / 4, 1.01), xycoords=("data", "axes fraction"), ha="center",
                    fontsize=SMALL, color=GREY)  # fmt: skip
    everyone = {"printed": printed, **ours}
    for i, (name, sizes) in enumerate(everyone.items()):
        values = np.array([sizes.get(source, np.nan) for source in sources])
        colour = "black" if name == "printed" else PALETTE[i - 1]
        face = "none" if name == "printed" else colour
        ax.plot(values, y, MARKERS[i], color=colour, markerfacecolor=face, markersize=6 if name == "printed" else 4,
                label=name, clip_on=False)  # fmt: skip
    ax.set_xscale("function", functions=(lambda v: np.sqrt(np.maximum(v, 0)), lambda v: v**2))
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 0.01, 0.06, 0.14, 0.3, 0.5, 0.75, 1], ["0", ".01", ".06", ".14", ".3", ".5", ".75", "1"])
    ax.set_xlabel("omega squared")
    return ax


def _places(levels: Sequence[str]) -> tuple[Floats, list[str]]:
    """Where levels stand along an axis, and their names; no names where they are numbers."""
    try:
        return np.array([float(level) for level in levels]), []
    except ValueError:
        return np.arange(len(levels), dtype=np.float64), list(levels)


def _tick(ax: Axes, x: Floats, text: Sequence[str]) -> None:
    """The names of levels below the axis, or whole numbers where levels are such."""
    if text:
        ax.set_xticks(x, text, rotation=0 if max(map(len, text)) < 9 else 20)
    elif (x == np.round(x)).all():
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True))

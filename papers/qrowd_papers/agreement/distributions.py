"""Pictures of gain distributions, and of the measures made of them beside ordinary ones.

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, Figures 6 to 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from qrowd.errors import ArgumentError
from qrowd.gain_distributions import GainDensity, Scatter
from qrowd.kernels.arrays import Floats
from qrowd.reports.plots.style import LINES, MARKERS, PALETTE, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Curve = Literal["gain", "discounted"]
Of = Literal["systems", "topics"]
Pairs = Mapping[str, tuple[ArrayLike, ArrayLike]]

HIGH, LOW = PALETTE[2], PALETTE[0]
OVERLAP = 1.7  # rows that the highest ridge covers
POINTS = 200


def smoothed(values: Floats, at: Floats) -> Floats:
    """(at,) density of values under a normal kernel of Scott's width, s.d. x n^(-1/5)."""
    width = max(float(values.std(ddof=1)) * values.size**-0.2, 1e-9) if values.size > 1 else 0.1
    away = (at[:, None] - values) / width
    return np.asarray(np.exp(-(away**2) / 2).mean(axis=1) / (width * np.sqrt(2 * np.pi)))


def check_curves(checks: Pairs) -> tuple[Floats, dict[str, tuple[Floats, Floats]]]:
    """(points,) logs, and {topic: (density of H, density of N)} there: what `plot_check_distributions` draws."""
    flat = {topic: tuple(np.asarray(side, np.float64) for side in pair) for topic, pair in checks.items()}
    every = np.concatenate([side for pair in flat.values() for side in pair])
    low, high = np.quantile(every, [0.001, 0.999])
    at = np.linspace(low - 0.3 * (high - low) / 4, high + 0.3 * (high - low) / 4, POINTS)
    return at, {topic: (smoothed(pair[0], at), smoothed(pair[1], at)) for topic, pair in flat.items()}


def plot_check_distributions(checks: Pairs, *, ax: Axes | None = None) -> Axes:
    """What many assessors said of one relevant and one irrelevant document of every topic (Figure 6).

    checks : {topic: (logs of the relevant document's magnitudes, of the irrelevant one's)}.
    """
    if not checks:
        raise ArgumentError("checks={}: at least one topic needed")
    ax = axes_or_new(ax)
    at, curves = check_curves(checks)
    top = max(float(curve.max()) for pair in curves.values() for curve in pair)
    n = len(curves)
    for row, pair in enumerate(curves.values()):
        base = float(n - 1 - row)
        for curve, colour, line in zip(pair, (HIGH, LOW), (LINES[0], LINES[1]), strict=True):
            height = base + OVERLAP * curve / top
            ax.fill_between(at, base, height, color=colour, alpha=0.22, linewidth=0, zorder=3 * row + 2)
            ax.plot(at, height, line, color=colour, linewidth=1.1, zorder=3 * row + 3)
    for curve, text, colour in zip(
        next(iter(curves.values())), ("H, relevant (full line)", "N, not relevant (dashed)"), (HIGH, LOW), strict=True
    ):
        peak = float(at[curve.argmax()])
        ax.text(peak, n - 1 + OVERLAP * 1.05, text, color=colour, ha="left" if colour == HIGH else "right", va="bottom")
    ax.set_yticks(np.arange(n)[::-1], list(curves))
    ax.set_ylim(-0.3, n + OVERLAP - 0.2)
    ax.set_xlim(at[0], at[-1])
    ax.grid(False, axis="y")
    ax.set_xlabel("magnitude (natural logarithm)")
    ax.set_ylabel("topic")
    return ax


def plot_gain_ridges(found: GainDensity, curve: Curve = "gain", *, ax: Axes | None = None) -> Axes:
    """The gain of the document at every rank as a curve, or its part in the cumulated gain (Figure 7, columns).

    The dotted line is the mean of what is shown, over ranks.
    """
    if curve not in get_args(Curve):
        raise ArgumentError(f"curve={curve!r}: choose one of {', '.join(get_args(Curve))}")
    ax = axes_or_new(ax)
    edges = found.edges if curve == "gain" else found.cumulated_edges
    rows: Floats = getattr(found, curve)
    centre = (edges[:-1] + edges[1:]) / 2
    n, top = rows.shape[0], float(rows.max())
    for r, row in enumerate(rows):
        base = float(n - 1 - r)
        height = base + OVERLAP * row / top
        ax.fill_between(centre, base, height, color=PALETTE[5], alpha=0.5, linewidth=0, zorder=3 * r + 2)
        ax.plot(centre, height, color=PALETTE[0], linewidth=0.9, zorder=3 * r + 3)
    share = rows.sum(axis=0)
    ax.axvline(
        float(share @ centre / share.sum()), color=PALETTE[1], linestyle=LINES[3], linewidth=1.4, zorder=3 * n + 4
    )
    ax.set_yticks(np.arange(n)[::-1], [str(r) for r in range(1, n + 1)])
    ax.set_ylim(-0.2, n + OVERLAP - 0.8)
    ax.set_xlim(edges[0], edges[-1])
    ax.grid(False, axis="y")
    ax.set_xlabel("gain")
    ax.set_ylabel("rank")
    return ax


def plot_cumulated_gain(found: GainDensity, *, ax: Axes | None = None) -> Axes:
    """The gain cumulated down the whole list, its mean as a dotted line (Figure 7, bottom row)."""
    ax = axes_or_new(ax)
    edges, height = found.cumulated_edges, found.cumulated[-1]
    centre = (edges[:-1] + edges[1:]) / 2
    ax.fill_between(centre, 0, height, color=PALETTE[5], alpha=0.5, linewidth=0)
    ax.plot(centre, height, color=PALETTE[0])
    mean, sd = float(found.mean[-1]), float(found.sd[-1])
    ax.axvline(mean, color=PALETTE[1], linestyle=LINES[3], linewidth=1.4)
    ax.text(0.98, 0.94, f"mean {mean:.2f}\ns.d. {sd:.2f}", transform=ax.transAxes, ha="right", va="top")
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0, None)
    ax.set_xlabel("cumulated gain")
    ax.set_ylabel("density")
    return ax


def plot_scatter(found: Scatter, of: Of = "systems", *, ax: Axes | None = None) -> Axes:
    """One measure against another: one point a system, or a topic, with both correlations (Figure 8)."""
    if of not in get_args(Of):
        raise ArgumentError(f"of={of!r}: choose one of {', '.join(get_args(Of))}")
    side = get_args(Of).index(of)
    x, y = (found.by_system, found.by_topic)[side]
    known = ~(np.isnan(x) | np.isnan(y))
    ax = axes_or_new(ax)
    colour = (PALETTE[0], PALETTE[1])[side]
    ax.plot(x[known], y[known], MARKERS[side], color=colour, markersize=4.5, alpha=0.75, markeredgewidth=0)
    spread = float(np.ptp(y[known])) if known.any() else 0.0
    if spread:
        ax.set_ylim(float(y[known].min()) - 0.06 * spread, float(y[known].max()) + 0.22 * spread)
    told = f"{int(known.sum())} {of}: r = {found.pearson[side]:.2f}, τ = {found.tau[side]:.2f}"
    ax.text(0.03, 0.97, told, transform=ax.transAxes, va="top")
    ax.set_xlabel(f"mean {found.names[0]}")
    ax.set_ylabel(f"mean {found.names[1]}")
    return ax

"""Scores of systems by one definition against another, each with its standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from qrowd.comparison.correlation import kendall_tau_b
from qrowd.reports.plots.style import GREY, PALETTE, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_against(
    x: ArrayLike,
    y: ArrayLike,
    *,
    names: tuple[str, str],
    x_error: ArrayLike | None = None,
    y_error: ArrayLike | None = None,
    same_unit: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """One score of every system against another, a dot each, with Kendall's tau-b.

    names : of the axes. x_error, y_error : (systems,) standard errors, drawn as bars. same_unit : draw the line where
    both are equal, and give both axes the same limits.
    """
    ax = axes_or_new(ax)
    first, second = np.asarray(x, np.float64), np.asarray(y, np.float64)
    ax.errorbar(
        first, second, xerr=x_error, yerr=y_error, fmt="o", color=PALETTE[0], ecolor="#9CC3DE", elinewidth=0.8,
        markersize=4,
    )  # fmt: skip
    if same_unit:
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

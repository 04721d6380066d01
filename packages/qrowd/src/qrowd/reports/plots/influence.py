"""What differences rest on: their size against the number of judgments that would have to change to reverse them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.influence.cells import Change
from qrowd.influence.fragility import Fragility
from qrowd.reports.phrases import count, percent
from qrowd.reports.plots.marks import above, labels_of, name_points, note
from qrowd.reports.plots.style import PALETTE, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEADERS = 4  # systems whose pairs are named
CHANGES: dict[Change, str] = {
    "grade": "moves one judgment by one grade",
    "panel": "replaces one judgment by what another assessor gave the document",
}


def plot_fragility(fragility: Fragility, order: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """Each pair of systems: its difference, and the number of changes that reverse it (log scale).

    order : the systems, best first. Pairs of the first are named by their ranks. Pairs for which no such changes were
    found stand at the top.
    """
    ax = axes_or_new(ax)
    size, number = np.abs(fragility.difference), fragility.n_changes_high
    apart = (fragility.low > 0) | (fragility.high < 0)
    reversible = np.isfinite(number)
    never = np.isinf(number)
    highest = float(number[reversible].max(initial=1.0))
    height = np.where(never, 2.2 * highest, number)
    level = percent(fragility.confidence)
    groups: tuple[tuple[Any, str, dict[str, Any]], ...] = (
        (reversible & ~apart, f"{level} interval includes 0", {"marker": "o", "markerfacecolor": "none"}),
        (reversible & apart, "interval excludes 0", {"marker": "s", "color": PALETTE[1]}),
        (never, "no changes found that reverse it", {"marker": "^", "color": PALETTE[6], "markerfacecolor": "none"}),
    )
    for rows, label, look in groups:
        if rows.any():
            style = {"color": PALETTE[0], "markersize": 4.2, "markeredgewidth": 0.9, **look}
            ax.plot(size[rows], height[rows], linestyle="none", label=label, **style)
    ax.set_yscale("log")
    ax.set_ylim(0.7, max((3.0 if never.any() else 1.6) * highest, 4.0))
    ax.set_yticks([n for n in 10 ** np.arange(7) if n <= 3 * highest])
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    widest = float(size.max(initial=0.0)) or 1.0
    ax.set_xlim(-0.02 * widest, 1.05 * widest)
    ax.set_xlabel(f"difference of means, {fragility.measure}")
    ax.set_ylabel("number of changes")
    rank = {name: place + 1 for place, name in enumerate(order)}
    names = [
        "\N{EN DASH}".join(map(str, sorted((rank[first], rank[second]))))
        if max(rank[first], rank[second]) <= LEADERS
        else ""
        for first, second in zip(fragility.first, fragility.second, strict=True)
    ]
    name_points(ax, size, height, names)
    above(ax)
    note(ax, "numbers: ranks of the two systems")
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

"""Pictures of agreement: topic by topic, by relevance level, and without some of the topics.

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, Figures 1, 3, 4
and 5; Figure 2 is `plot_topics`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from qrowd.agreement import AlphaByGold, Alphas, MatchedSize, TopicRemoval
from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.reports.plots.style import GREY, MARKERS, PALETTE, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Of = Literal["score", "tau"]

STROKES: tuple[Literal["-", "--", "-.", ":"], ...] = ("-", "--", "-.", ":")
REMOVED = ("low-agreement topics left", "high-agreement topics left", "random topics left")


def plot_alpha_by_topic(found: Alphas | AlphaByGold, name: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Alpha of every topic, ascending, with its interval where one was computed (Figure 1).

    name : the gold levels whose documents count, where alpha is by gold; all by default.
    """
    if isinstance(found, Alphas):
        alphas = found.alphas
    else:
        found.of(found.names[-1] if name is None else name)  # refuses a name that there is not
        alphas = tuple(row[-1 if name is None else found.names.index(name)] for row in found.alphas)
    value = np.array([alpha.value for alpha in alphas])
    low, high = (np.array([getattr(alpha, side) for alpha in alphas]) for side in ("low", "high"))
    order = np.argsort(value)[: int((~np.isnan(value)).sum())]
    ax = axes_or_new(ax)
    rank = np.arange(1, order.size + 1)
    ax.axhline(0, color=GREY, linewidth=0.8)
    known = ~np.isnan(low[order])
    if known.any():
        ax.vlines(rank[known], low[order][known], high[order][known], color=PALETTE[5], linewidth=1.1)
    ax.plot(rank, value[order], MARKERS[0], color=PALETTE[0], markersize=3.2)
    ax.set_xlabel("topics, in order of agreement")
    ax.set_ylabel("Krippendorff's α")
    ax.set_xlim(0, order.size + 1)
    return ax


def plot_alpha_by_gold(found: AlphaByGold, matched: MatchedSize | None = None, *, ax: Axes | None = None) -> Axes:
    """Alpha of the documents of every set of gold levels; each curve has its topics in ascending order (Figure 3).

    matched : alpha of subsets as large as the set of relevant documents, as pale curves.
    """
    ax = axes_or_new(ax)
    from matplotlib.ticker import MaxNLocator  # after our own word on Matplotlib that is not there

    value = found.value[found.complete]
    ends: list[tuple[float, int, str, str]] = []
    for number, name in enumerate(found.names):
        curve = _ascending(value[:, number])
        if not curve.size:
            continue
        last = number == len(found.names) - 1
        colour = PALETTE[6] if last else PALETTE[number % 6]
        ax.plot(
            np.arange(1, curve.size + 1),
            curve,
            STROKES[0] if last else STROKES[number % 4],
            color=colour,
            linewidth=2.2 if last else 1.3,
            marker=MARKERS[number % 7],
            markevery=max(curve.size // 8, 1),
            markersize=3.5,
        )
        ends.append((float(curve[-1]), curve.size, rf"$\alpha^{{{'A' if last else name}}}$", colour))
    if matched is not None:
        for column in matched.mean.T:
            curve = _ascending(column)
            ax.plot(np.arange(1, curve.size + 1), curve, color=GREY, linewidth=4, alpha=0.35)
        told = "pale: subsets of the size of the relevant documents"
        ax.text(0.98, 0.02, told, transform=ax.transAxes, ha="right", va="bottom", color=GREY)
    ax.axhline(0, color=GREY, linewidth=0.8, zorder=0)
    n = value.shape[0]
    ax.set_xlim(0, n * 1.12 + 0.5)
    _label_ends(ax, ends, n * 1.045 + 0.3)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("topics, in order of agreement within each curve")
    ax.set_ylabel("Krippendorff's α")
    return ax


def plot_topic_removal(found: TopicRemoval, of: Of = "score", *, ax: Axes | None = None) -> Axes:
    """Mean score of all systems ("score", Figure 4), or tau of their ranking with that on all topics ("tau", Figure 5).

    The band holds `found.confidence` of the random orders. Fewer than a tenth of the topics are not shown: there single
    topics decide.
    """
    if of not in get_args(Of):
        raise ArgumentError(f"of={of!r}: choose one of {', '.join(get_args(Of))}")
    ax = axes_or_new(ax)
    values, side = (found.score, 0) if of == "score" else (found.tau, 1)
    shown = found.n_topics >= max(0.1 * found.n_topics.max(), 2)
    x, values = found.n_topics[shown], values[:, shown]
    low, high = found.low[side][shown], found.high[side][shown]
    ax.fill_between(x, low, high, color=GREY, alpha=0.18, linewidth=0)
    step = max(x.size // 9, 1)
    for number, (curve, name) in enumerate(zip(values, REMOVED, strict=True)):
        colour = (PALETTE[1], PALETTE[0], GREY)[number]
        ax.plot(
            x, curve, STROKES[(1, 0, 3)[number]], color=colour, label=name,
            marker=MARKERS[(2, 0, 1)[number]], markevery=(step * number // 3, step), markersize=4,
        )  # fmt: skip
    ax.set_xlabel("topics left")
    if of == "score":
        ax.set_xlim(x.max() + 0.5, x.min() - 0.5)
        ax.set_ylabel("mean score of all systems")
        reach = np.nanmax(np.abs(np.concatenate([*values[:2], low, high]) - values[0, 0]))
        ax.set_ylim(values[0, 0] - 1.1 * reach, values[0, 0] + 1.8 * reach)
        ax.legend(loc="upper left")
    else:
        ax.set_xlim(x.min() - 0.5, x.max() + 0.5)
        ax.set_ylabel("Kendall's τ with all topics")
        ax.legend(loc="lower right")
    return ax


def _ascending(values: Floats) -> Floats:
    return np.sort(values[~np.isnan(values)])


def _label_ends(ax: Axes, ends: list[tuple[float, int, str, str]], beside: float) -> None:
    """Names beside the ends of curves, moved apart where they would touch, within the axes."""
    low, high = ax.get_ylim()
    least = 0.07 * (high - low)
    ends = sorted(ends)
    heights = apart([end[0] for end in ends], least, high - least / 2)
    for (y, last, name, colour), height in zip(ends, heights, strict=True):
        ax.plot([last, beside], [y, height], color=colour, linewidth=0.6)
        ax.text(beside, height, name, color=colour, va="center")
    ax.set_ylim(low, high)


def apart(ends: list[float], least: float, top: float) -> list[float]:
    """Heights in the same ascending order, at least so far apart, and none above the top."""
    heights: list[float] = []
    for y in ends:
        heights.append(max(y, heights[-1] + least) if heights else y)
    for i in reversed(range(len(heights))):
        heights[i] = min(heights[i], top)
        top = heights[i] - least
    return heights

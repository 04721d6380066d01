"""The plots of Considering Assessor Agreement: Figures 1 to 8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from qrowd.agreement import Alpha
from qrowd.agreement.by_topic import EaseCorrelation, binned
from qrowd.kernels.arrays import Floats
from qrowd.reports.plots.style import GREY, LINES, MARKERS, PALETTE, above, axes_or_new, name_points, note
from qrowd_papers.agreement.gain_density import GainDensity
from qrowd_papers.agreement.gold import AlphaByGold, MatchedSize
from qrowd_papers.agreement.scatter import Scatter
from qrowd_papers.agreement.study import TopicRemoval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Of = Literal["score", "tau"]
Curve = Literal["gain", "discounted"]
Means = Literal["systems", "topics"]
Pairs = Mapping[str, tuple[ArrayLike, ArrayLike]]

HIGH, LOW = PALETTE[2], PALETTE[0]
OVERLAP = 1.7  # rows that the highest ridge covers
POINTS = 200
REMOVED = ("low-agreement topics left", "high-agreement topics left", "random topics left")


def plot_alpha_by_topic(alphas: Sequence[Alpha], *, ax: Axes | None = None) -> Axes:
    """Alpha of every topic, ascending, with its interval where one was computed (Figure 1)."""
    value, low, high = np.array([(alpha.value, alpha.low, alpha.high) for alpha in alphas]).T
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


def plot_alpha_by_gold(alphas: AlphaByGold, matched: MatchedSize | None = None, *, ax: Axes | None = None) -> Axes:
    """Alpha of the documents of every set of gold levels; each curve has its topics in ascending order (Figure 3).

    matched : alpha of subsets as large as the set of relevant documents, as pale curves.
    """
    ax = axes_or_new(ax)
    from matplotlib.ticker import MaxNLocator  # after our own word on Matplotlib that is not there

    value = alphas.value[alphas.complete]
    ends: list[tuple[float, int, str, str]] = []
    for number, name in enumerate(alphas.names):
        curve = _ascending(value[:, number])
        if not curve.size:
            continue
        last = number == len(alphas.names) - 1
        colour = PALETTE[6] if last else PALETTE[number % 6]
        ax.plot(
            np.arange(1, curve.size + 1),
            curve,
            LINES[0] if last else LINES[number % 4],
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
        text = "pale: subsets of the size of the relevant documents"
        ax.text(0.98, 0.02, text, transform=ax.transAxes, ha="right", va="bottom", color=GREY)
    ax.axhline(0, color=GREY, linewidth=0.8, zorder=0)
    n = value.shape[0]
    ax.set_xlim(0, n * 1.12 + 0.5)
    _label_ends(ax, ends, n * 1.045 + 0.3)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("topics, in order of agreement within each curve")
    ax.set_ylabel("Krippendorff's α")
    return ax


def plot_topic_removal(removal: TopicRemoval, of: Of = "score", *, ax: Axes | None = None) -> Axes:
    """Mean score of all systems ("score", Figure 4), or tau of their ranking with that on all topics ("tau", Figure 5).

    The band holds 95 % of the random orders. Fewer than a tenth of the topics are not shown: there
    single topics decide.
    """
    ax = axes_or_new(ax)
    values, side = (removal.score, 0) if of == "score" else (removal.tau, 1)
    shown = removal.n_topics >= max(0.1 * removal.n_topics.max(), 2)
    x, values = removal.n_topics[shown], values[:, shown]
    low, high = removal.low[side][shown], removal.high[side][shown]
    ax.fill_between(x, low, high, color=GREY, alpha=0.18, linewidth=0)
    step = max(x.size // 9, 1)
    for number, (curve, name) in enumerate(zip(values, REMOVED, strict=True)):
        colour = (PALETTE[1], PALETTE[0], GREY)[number]
        ax.plot(
            x, curve, LINES[(1, 0, 3)[number]], color=colour, label=name,
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


# ---------------------------------------------------------------------- gain distributions


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


def plot_gain_ridges(gains: GainDensity, curve: Curve = "gain", *, ax: Axes | None = None) -> Axes:
    """The gain of the document at every rank as a curve, or its part in the cumulated gain (Figure 7, columns).

    The dotted line is the mean of what is shown, over ranks.
    """
    ax = axes_or_new(ax)
    edges = gains.edges
    rows: Floats = getattr(gains, curve)
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


def plot_cumulated_gain(gains: GainDensity, *, ax: Axes | None = None) -> Axes:
    """The gain cumulated down the whole list, its mean as a dotted line (Figure 7, bottom row)."""
    ax = axes_or_new(ax)
    edges, height = gains.edges, gains.cumulated[-1]
    centre = (edges[:-1] + edges[1:]) / 2
    ax.fill_between(centre, 0, height, color=PALETTE[5], alpha=0.5, linewidth=0)
    ax.plot(centre, height, color=PALETTE[0])
    mean, sd = float(gains.mean[-1]), float(gains.sd[-1])
    ax.axvline(mean, color=PALETTE[1], linestyle=LINES[3], linewidth=1.4)
    ax.text(0.98, 0.94, f"mean {mean:.2f}\ns.d. {sd:.2f}", transform=ax.transAxes, ha="right", va="top")
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0, None)
    ax.set_xlabel("cumulated gain")
    ax.set_ylabel("density")
    return ax


def plot_scatter(scatter: Scatter, of: Means = "systems", *, ax: Axes | None = None) -> Axes:
    """One measure against another: one point a system, or a topic, with both correlations (Figure 8)."""
    side = get_args(Means).index(of)
    x, y = (scatter.by_system, scatter.by_topic)[side]
    known = ~(np.isnan(x) | np.isnan(y))
    ax = axes_or_new(ax)
    colour = (PALETTE[0], PALETTE[1])[side]
    ax.plot(x[known], y[known], MARKERS[side], color=colour, markersize=4.5, alpha=0.75, markeredgewidth=0)
    spread = float(np.ptp(y[known])) if known.any() else 0.0
    if spread:
        ax.set_ylim(float(y[known].min()) - 0.06 * spread, float(y[known].max()) + 0.22 * spread)
    text = f"{int(known.sum())} {of}: r = {scatter.pearson[side]:.2f}, τ = {scatter.tau[side]:.2f}"
    ax.text(0.03, 0.97, text, transform=ax.transAxes, va="top")
    ax.set_xlabel(f"mean {scatter.names[0]}")
    ax.set_ylabel(f"mean {scatter.names[1]}")
    return ax


def plot_topics(ease: EaseCorrelation, *, bins: int = 8, ax: Axes | None = None) -> Axes:
    """Ease against agreement: a dot for each topic, diamonds for the means of bins of topics of like agreement.

    Maddalena, Roitero, Demartini & Mizzaro (2017), ICTIR, section 4.2, Figure 2.
    """
    ax = axes_or_new(ax)
    agreement = ease.agreement[-1]
    known = ~np.isnan(agreement)
    ax.plot(agreement, ease.ease, "o", color=PALETTE[0], markersize=4, alpha=0.75, label="topic")
    x, y = np.empty(0), np.empty(0)
    if bins and known.sum() >= 2 * bins:
        x, y = binned(agreement, ease.ease, bins)
        ax.plot(x, y, "D-", color=PALETTE[1], markersize=5, linewidth=0.9, label=f"mean of one of {bins} bins")
    ax.set_xlabel("agreement (Krippendorff's alpha)")
    ax.set_ylabel("ease (mean score of all systems)")
    above(ax)
    one = ease.correlations[-1][ease.bins.index(0)] if 0 in ease.bins else None
    if one is not None:
        p = "< .001" if one.p < 0.001 else f"= {one.p:.3f}"
        note(ax, f"Pearson's r {one.r:.2f}, p {p}, {one.n} topics", "upper left")
    spread = [np.nan if not np.any(known) else float(f(agreement[known])) for f in (np.min, np.max)]
    ends = (agreement <= spread[0] + 0.1 * (spread[1] - spread[0])) | (
        agreement >= spread[1] - 0.1 * (spread[1] - spread[0])
    )
    names = [name if end else "" for name, end in zip(ease.topics, ends, strict=True)] + [""] * x.size
    name_points(ax, np.append(agreement, x), np.append(ease.ease, y), names)
    return ax

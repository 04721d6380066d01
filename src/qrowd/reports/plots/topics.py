"""Topics: where assessors agree, whether those topics are easier, and on which documents they are split."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qrowd.agreement.alpha import Alphas
from qrowd.agreement.by_topic import EaseCorrelation, binned
from qrowd.agreement.split_documents import SplitDocuments
from qrowd.reports.plots.marks import above, cells, name_points, name_rows, note
from qrowd.reports.plots.style import GREY, PALETTE, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_alpha(
    by_topic: Alphas, *, overall: float | None = None, top: int | None = None, ax: Axes | None = None
) -> Axes:
    """Krippendorff's alpha of every topic with its interval, the topics that agree most on top.

    overall : alpha of all topics together, as a line. top : topics shown, half from either end; None: all.

    Maddalena, Roitero, Demartini & Mizzaro (2017), ICTIR, section 4.1.
    """
    ax = axes_or_new(ax)
    order = alpha_order(by_topic, top)
    alphas = [by_topic.alphas[t] for t in order]
    y = name_rows(ax, [by_topic.labels[t] for t in order])
    low, high = (np.array([getattr(one, end) for one in alphas]) for end in ("low", "high"))
    if not np.isnan(low).all():
        ax.hlines(
            y,
            low,
            high,
            color=PALETTE[0],
            alpha=0.5,
            linewidth=2.2,
            label=f"{100 * alphas[0].confidence:g} %, over documents",
        )
    ax.plot([one.value for one in alphas], y, "o", color=PALETTE[0], markersize=3.8, label="alpha of the topic")
    if overall is not None:
        ax.axvline(overall, color=PALETTE[1], linewidth=1.2, linestyle="--", label=f"all topics: {overall:.3f}")
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    ax.set_xlabel(f"Krippendorff's alpha, {alphas[0].level} level" if alphas else "Krippendorff's alpha")
    above(ax)
    return ax


def alpha_order(by_topic: Alphas, top: int | None = None) -> list[int]:
    """Numbers of the topics, the highest alpha first, those without one left out; the ends alone of more than `top`."""
    value = by_topic.value
    order = [t for t in np.argsort(-value, kind="stable").tolist() if not np.isnan(value[t])]
    if top is not None and len(order) > top:
        return order[: (top + 1) // 2] + order[len(order) - top // 2 :]
    return order


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


def split_names(split: SplitDocuments) -> list[str]:
    """Topic and document of each row; of a long document name the end."""
    return [
        f"{topic}: {name if len(name) <= 18 else '…' + name[-17:]}"
        for topic, name in zip(split.topics, split.documents, strict=True)
    ]


def plot_split(split: SplitDocuments, *, ax: Axes | None = None) -> Axes:
    """Everyone's grade of the documents on which assessors are split most; the severe stand left, the lenient right."""
    ax = axes_or_new(ax)

    def shown(i: int, j: int) -> str:
        value = split.value[i, j]
        return f"{value:g}" if value % 1 == 0 else f"{value:.2f}".removeprefix("0")

    cells(
        ax,
        split.share,
        split_names(split),
        split.assessors,
        limits=(0, 1),
        shown=shown,
        label="grade, and its share of the highest (colour)",
        colours="cividis",
    )
    return ax

"""Topics: where assessors agree, whether those topics are easier, and on which documents they are split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement.alpha import AlphaBy
from qrowd.agreement.by_topic import EaseAgreement, binned
from qrowd.errors import NoOverlapError, ScaleError
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.scores import Floats
from qrowd.reports.plots.marks import above, cells, name_points, name_rows, note
from qrowd.reports.plots.style import GREY, PALETTE, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_alpha(found: AlphaBy, *, overall: float | None = None, top: int | None = None, ax: Axes | None = None) -> Axes:
    """Krippendorff's alpha of every topic with its interval, the topics that agree most on top.

    overall : alpha of all topics together, as a line. top : topics shown, half from either end; None: all.

    Maddalena, Roitero, Demartini & Mizzaro (2017), ICTIR, section 4.1.
    """
    ax = axes_or_new(ax)
    order = alpha_order(found, top)
    alphas = [found.alphas[t] for t in order]
    y = name_rows(ax, [found.labels[t] for t in order])
    low, high = (np.array([getattr(one, end) for one in alphas]) for end in ("low", "high"))
    if not np.isnan(low).all():
        ax.hlines(y, low, high, color=PALETTE[0], alpha=0.5, linewidth=2.2,
                  label=f"{100 * alphas[0].confidence:g} %, over documents")  # fmt: skip
    ax.plot([one.value for one in alphas], y, "o", color=PALETTE[0], markersize=3.8, label="alpha of the topic")
    if overall is not None:
        ax.axvline(overall, color=PALETTE[1], linewidth=1.2, linestyle="--", label=f"all topics: {overall:.3f}")
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    ax.set_xlabel(f"Krippendorff's alpha, {alphas[0].level} level" if alphas else "Krippendorff's alpha")
    above(ax)
    return ax


def alpha_order(found: AlphaBy, top: int | None = None) -> list[int]:
    """Numbers of the topics, the highest alpha first, those without one left out; the ends alone of more than `top`."""
    value = found.value
    order = [t for t in np.argsort(-value, kind="stable").tolist() if not np.isnan(value[t])]
    if top is not None and len(order) > top:
        return order[: (top + 1) // 2] + order[len(order) - top // 2 :]
    return order


def plot_topics(found: EaseAgreement, *, bins: int = 8, ax: Axes | None = None) -> Axes:
    """Ease against agreement: a dot for each topic, diamonds for the means of bins of topics of like agreement.

    Maddalena, Roitero, Demartini & Mizzaro (2017), ICTIR, section 4.2, Figure 2.
    """
    ax = axes_or_new(ax)
    agreement = found.agreement[-1]
    known = ~np.isnan(agreement)
    ax.plot(agreement, found.ease, "o", color=PALETTE[0], markersize=4, alpha=0.75, label="topic")
    x, y = np.empty(0), np.empty(0)
    if bins and known.sum() >= 2 * bins:
        x, y = binned(agreement, found.ease, bins)
        ax.plot(x, y, "D-", color=PALETTE[1], markersize=5, linewidth=0.9, label=f"mean of one of {bins} bins")
    ax.set_xlabel("agreement (Krippendorff's alpha)")
    ax.set_ylabel("ease (mean score of all systems)")
    above(ax)
    one = found.correlations[-1][found.bins.index(0)] if 0 in found.bins else None
    if one is not None:
        p = "< .001" if one.p < 0.001 else f"= {one.p:.3f}"
        note(ax, f"Pearson's r {one.r:.2f}, p {p}, {one.n} topics", "upper left")
    spread = [np.nan if not np.any(known) else float(f(agreement[known])) for f in (np.min, np.max)]
    ends = (agreement <= spread[0] + 0.1 * (spread[1] - spread[0])) | (
        agreement >= spread[1] - 0.1 * (spread[1] - spread[0])
    )
    names = [name if end else "" for name, end in zip(found.topics, ends, strict=True)] + [""] * x.size
    name_points(ax, np.append(agreement, x), np.append(found.ease, y), names)
    return ax


@dataclass(frozen=True, eq=False)
class SplitDocuments:
    """The documents on which assessors are split most; arrays are (documents,) unless said otherwise.

    split : 4 times the variance of the grades over their scales' maxima: 0 where all say the same, 1 where half give
        the lowest and half the highest. value, share : (documents, assessors) grade, and grade over the scale's
        maximum; nan where not judged. Assessors who judged some of these stand from the most severe to the most
        lenient on all documents.
    """

    topics: tuple[str, ...]
    documents: tuple[str, ...]
    assessors: tuple[str, ...]
    split: Floats
    value: Floats
    share: Floats

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per judgment of these documents."""
        i, j = np.nonzero(~np.isnan(self.value))
        return make_frame(
            {
                "topic": np.array(self.topics, object)[i],
                "document": np.array(self.documents, object)[i],
                "assessor": np.array(self.assessors, object)[j],
                "value": self.value[i, j],
                "share": self.share[i, j],
                "split": self.split[i],
            },
            backend,
        )


def split_documents(
    judgments: Judgments, *, top: int = 15, least: int | None = None, repeats: Repeats = "first"
) -> SplitDocuments:
    """The documents on which assessors are split most, and who said what.

    least : assessors who must have judged a document; by default half of the most that judged any, but 2 at least.

    Raises
    ------
    ScaleError
        Magnitudes, which have no highest value.
    NoOverlapError
        No document was judged by so many.
    """
    panel = judgments.panel(repeats)
    if not np.isfinite(panel.maximum).all():
        raise ScaleError("magnitudes have no highest value to be split between; qrowd.agreement.spread is for them")
    share = panel.values / panel.maximum
    known = ~np.isnan(share)
    n = known.sum(axis=1)
    needed = max(2, (int(n.max(initial=0)) + 1) // 2) if least is None else least
    enough = n >= needed
    if not enough.any():
        raise NoOverlapError(f"no document was judged by {needed} assessors, so nobody is split")
    total = np.where(known, share, 0.0)
    mean = total.sum(axis=1) / np.maximum(n, 1)
    squares = np.where(known, (share - mean[:, None]) ** 2, 0.0).sum(axis=1)
    split = np.where(enough, 4 * squares / np.maximum(n, 1), -1.0)
    rows = [i for i in np.argsort(-split, kind="stable")[:top].tolist() if enough[i]]
    lenient = np.divide(total.sum(axis=0), known.sum(axis=0), out=np.zeros(known.shape[1]), where=known.any(axis=0))
    columns = np.argsort(lenient, kind="stable")
    columns = columns[known[rows][:, columns].any(axis=0)]
    topic: NDArray[np.int64] = np.repeat(np.arange(len(panel.pool.topics)), np.diff(panel.pool.starts))
    return SplitDocuments(
        tuple(panel.pool.topics[topic[i]] for i in rows),
        tuple(panel.pool.documents[panel.pool.document[i]] for i in rows),
        tuple(panel.assessors[a] for a in columns),
        split[rows],
        panel.values[rows][:, columns],
        share[rows][:, columns],
    )


def split_names(found: SplitDocuments) -> list[str]:
    """Topic and document of each row; of a long document name the end."""
    return [
        f"{topic}: {name if len(name) <= 18 else '…' + name[-17:]}"
        for topic, name in zip(found.topics, found.documents, strict=True)
    ]


def plot_split(found: SplitDocuments, *, ax: Axes | None = None) -> Axes:
    """Everyone's grade of the documents on which assessors are split most; the severe stand left, the lenient right."""
    ax = axes_or_new(ax)

    def shown(i: int, j: int) -> str:
        value = found.value[i, j]
        return f"{value:g}" if value % 1 == 0 else f"{value:.2f}".removeprefix("0")

    cells(
        ax,
        found.share,
        split_names(found),
        found.assessors,
        limits=(0, 1),
        shown=shown,
        label="grade, and its share of the highest (colour)",
        colours="cividis",
    )
    return ax

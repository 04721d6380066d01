"""The figures of Considering Assessor Agreement, drawn from what `agreement_study` found.

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.agreement.by_topic import binned
from qrowd.model.chance import Rng
from qrowd.reports.plots.style import Figure
from qrowd_papers.agreement.gold import AlphaByGold
from qrowd_papers.agreement.plots import (
    check_curves,
    plot_alpha_by_gold,
    plot_alpha_by_topic,
    plot_check_distributions,
    plot_cumulated_gain,
    plot_gain_ridges,
    plot_scatter,
    plot_topic_removal,
    plot_topics,
)
from qrowd_papers.agreement.study import AgreementStudy, Progress, agreement_study
from qrowd_papers.frames import frame_of, stacked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

SHOWN_BINS = 8


def agreement_figures(
    data: str | None = None, *, quick: bool = False, rng: Rng = 1, progress: Progress | None = None
) -> tuple[Figure, ...]:
    """Figures 1 to 8: agreement-1 ... agreement-8.

    data, quick, rng, progress : see `agreement_study`.
    """
    return figures_of(agreement_study(data, quick=quick, rng=rng, progress=progress))


def figures_of(study: AgreementStudy) -> tuple[Figure, ...]:
    """The same from a study that was computed before."""
    return (
        _figure_1(study),
        _figure_2(study),
        _figure_3(study),
        _figure_4(study),
        _figure_5(study),
        _figure_6(study),
        _figure_7(study),
        _figure_8(study),
    )


def _figure_1(study: AgreementStudy) -> Figure:
    results = study.in_crowd.by_gold

    def frame() -> DataFrame:
        rows: DataFrame = results.to_frame()
        mine = rows[rows["gold"] == results.names[-1]]
        return mine.sort_values("alpha", ignore_index=True)

    def draw(ax: Axes) -> None:
        plot_alpha_by_topic([alphas[-1] for alphas in results.alphas], ax=ax)
        ax.text(0.02, 0.97, study.crowd.name, transform=ax.transAxes, va="top")

    caption = (
        f"Krippendorff's alpha of every topic, ascending, with 95 % intervals over documents. {_crowd(study)}. "
        "Figure 1 of the paper."
    )
    return Figure("agreement-1", caption, draw, frame)


def _figure_2(study: AgreementStudy) -> Figure:
    results = study.in_collections

    def draw(axes: Any) -> None:
        for ax, one, collection in zip(_grid(axes, 1, len(results))[0], results, study.collections, strict=True):
            plot_topics(one.ease, bins=SHOWN_BINS, ax=ax)
            ax.set_ylabel("ease (mean nDCG of all systems)")
            ax.set_title(collection.name, loc="right")
            low, high = ax.get_ylim()
            ax.set_ylim(low, high + 0.1 * (high - low))  # room for the line of small print

    def frame() -> DataFrame:
        import pandas as pd

        parts = []
        for one, collection in zip(results, study.collections, strict=True):
            for bins in (0, SHOWN_BINS):
                agreement, ease = one.ease.agreement[-1], one.ease.ease
                known = ~np.isnan(agreement)
                x, y = binned(agreement, ease, bins) if bins else (agreement[known], ease[known])
                of = np.array(range(1, bins + 1) if bins else one.ease.topics, object)[slice(None) if bins else known]
                rows = pd.DataFrame({"of": of.astype(str), "agreement": x, "ease": y, "bins": bins})
                parts.append((collection.name, rows))
        return stacked(parts, "collection")

    caption = (
        "How easy topics are (mean nDCG of all systems) against how far assessors agree on them, topic by topic and in "
        f"bins of topics of like agreement. {_collections(study)}. Figure 2 of the paper, on other data."
    )
    return Figure("agreement-2", caption, draw, frame, (1, len(results)), (5.2 if len(results) == 1 else 8.4, 3.6))


def _figure_3(study: AgreementStudy) -> Figure:
    above, below = study.in_crowd.by_gold, study.in_magnitudes.by_gold

    def draw(axes: Sequence[Axes]) -> None:
        plot_alpha_by_gold(above, ax=axes[0])
        plot_alpha_by_gold(below, study.in_magnitudes.matched, ax=axes[1])
        _titled(axes[0], study.crowd.name, f"{int(above.complete.sum())} topics")
        _titled(axes[1], "magnitudes", f"simulated, {int(below.complete.sum())} topics")

    caption = (
        "Alpha of the documents of each gold level and of several (superscripts; A: all), topics in order of agreement "
        f"within each curve. Above: {_crowd(study)}. Below: {study.magnitudes.about}; alpha of logarithms. Figure 3 of "
        "the paper."
    )
    frames = {study.crowd.name: above, "magnitudes": below}
    return Figure(
        "agreement-3", caption, draw,
        lambda: stacked({name: _curves(one) for name, one in frames.items()}, "data"), (2, 1), (5.6, 6.4),
    )  # fmt: skip


def _curves(alphas: AlphaByGold) -> DataFrame:
    """One row per set of gold levels and topic, ascending in alpha."""
    rows: DataFrame = alphas.to_frame()
    rows = rows[rows["complete"] & rows["alpha"].notna()].sort_values(["gold", "alpha"])
    return rows.assign(rank=rows.groupby("gold").cumcount() + 1)[["gold", "rank", "topic", "alpha"]]


def _figure_4(study: AgreementStudy) -> Figure:
    caption = (
        "Mean nDCG of all systems when topics are left out: those of high agreement first, those of low "
        f"agreement first, or at random (grey, with 95 % of the draws). {_collections(study)}. Figure 4 of the "
        "paper, on other data."
    )
    return _removal(study, "agreement-4", "score", caption)


def _figure_5(study: AgreementStudy) -> Figure:
    caption = (
        "Kendall's tau between the ranking of systems on some of the topics and on all: topics of low agreement, of "
        f"high agreement, random ones (grey, with 95 % of the draws). {_collections(study)}. Figure 5 of the paper, on "
        "other data."
    )
    return _removal(study, "agreement-5", "tau", caption)


def _removal(study: AgreementStudy, name: str, of: Any, caption: str) -> Figure:
    results = study.in_collections
    columns = ["removed", "n_topics", of, f"{of}_low", f"{of}_high"]

    def draw(axes: Any) -> None:
        for ax, one, collection in zip(_grid(axes, 1, len(results))[0], results, study.collections, strict=True):
            plot_topic_removal(one.removal, of, ax=ax)
            _titled(ax, collection.name)
            if of == "score":
                ax.set_ylabel("mean nDCG of all systems")

    def frame() -> DataFrame:
        both = zip(results, study.collections, strict=True)
        return stacked([(collection.name, one.removal.to_frame()[columns]) for one, collection in both], "collection")

    return Figure(name, caption, draw, frame, (1, len(results)), (5.2 if len(results) == 1 else 8.4, 3.4))


def _figure_6(study: AgreementStudy) -> Figure:
    checks = study.in_magnitudes.checks

    def draw(ax: Axes) -> None:
        plot_check_distributions(checks, ax=ax)

    def frame() -> DataFrame:
        at, curves = check_curves(checks)
        rows = (
            (topic, name, *point)
            for topic, pair in curves.items()
            for name, curve in zip("HN", pair, strict=True)
            for point in zip(at.tolist(), curve.tolist(), strict=True)
        )
        return frame_of(rows, ["topic", "document", "log_magnitude", "density"])

    sizes = [len(pair[0]) for pair in checks.values()]
    caption = (
        f"What {min(sizes)} to {max(sizes)} assessors said of one relevant document (H) and one irrelevant one (N) of "
        f"every topic, smoothed with a normal kernel. {study.magnitudes.about}. Figure 6 of the paper, whose "
        "magnitudes are not public."
    )
    return Figure("agreement-6", caption, draw, frame, size=(5.2, 6.4))


def _figure_7(study: AgreementStudy) -> Figure:
    listed, ideal = study.in_magnitudes.listed, study.in_magnitudes.ideal

    def draw(axes: Any) -> None:
        grid = axes[0, 0].get_gridspec()
        grid.set_height_ratios([3, 1.1])
        for pair, (results, who) in enumerate(((listed, f"list of {listed.system}"), (ideal, "ideal list"))):
            left, right = axes[0, 2 * pair], axes[0, 2 * pair + 1]
            plot_gain_ridges(results, ax=left)
            plot_gain_ridges(results, "discounted", ax=right)
            left.set_title(who)
            right.set_title(f"{who}, discounted")
            axes[1, 2 * pair + 1].remove()
            wide = axes[1, 2 * pair]
            wide.set_subplotspec(grid[1, 2 * pair : 2 * pair + 2])
            plot_cumulated_gain(results, ax=wide)
        for ax in axes[0, 1:]:
            ax.set_ylabel("")
        low = min(results.edges[0] for results in (listed, ideal))
        high = max(results.edges[-1] for results in (listed, ideal))
        for ax in (*axes[0], axes[1, 0], axes[1, 2]):
            ax.set_xlim(low, high)

    caption = (
        f"The gain (log magnitude) of the first ten documents of {listed.system} on topic {listed.topic} and of the "
        "ideal list, before and after the discount, and below them the mixture down the whole list; dotted: means. "
        f"{study.magnitudes.about}. Figure 7 of the paper, whose magnitudes are not public."
    )
    frames = {str(listed.system): listed, "ideal": ideal}
    return Figure(
        "agreement-7", caption, draw,
        lambda: stacked({name: one.to_frame() for name, one in frames.items()}, "system"), (2, 4), (9.6, 6.2),
    )  # fmt: skip


def _figure_8(study: AgreementStudy) -> Figure:
    results = [("magnitudes, simulated", study.in_magnitudes.against)]
    results += [
        (collection.name, one.aware) for collection, one in zip(study.collections, study.in_collections, strict=True)
    ]

    def draw(axes: Any) -> None:
        for row, (name, one) in zip(_grid(axes, len(results), 2), results, strict=True):
            plot_scatter(one, "systems", ax=row[0])
            plot_scatter(one, "topics", ax=row[1])
            _titled(row[0], name)

    def frame() -> DataFrame:
        parts = []
        for name, one in results:
            points = one.to_frame(what="points")
            points.columns = ["of", "label", "AP", "AANDCG"]
            parts.append((name, points))
        return stacked(parts, "data")

    caption = (
        "Agreement-aware nDCG (0 is ideal) against average precision, by system and by topic. Magnitudes: "
        f"{study.magnitudes.about}. {_collections(study)}. Figure 8 of the paper, whose magnitudes are not public."
    )
    return Figure("agreement-8", caption, draw, frame, (len(results), 2), (8.0, 2.7 * len(results)))


# ---------------------------------------------------------------------- words and axes


def _crowd(study: AgreementStudy) -> str:
    return f"{study.crowd.name}: {study.crowd.about}"


def _collections(study: AgreementStudy) -> str:
    return "; ".join(f"{one.name}: {one.about}" for one in study.collections)


def _titled(ax: Axes, *words: str) -> None:
    ax.set_title(", ".join(words), loc="left")


def _grid(axes: Any, rows: int, columns: int) -> Any:
    """(rows, columns) axes, whatever shape Matplotlib gave them."""
    return np.array(axes, object).reshape(rows, columns)

"""Magnitudes: how they are distributed, how they agree with gold, what they are worth as gains.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3). Each function draws onto one set of axes, given or new, and gives it back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.reports.plots.style import GREY, LINES, MARKERS, PALETTE, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from qrowd.magnitude import GainProfile, LevelTests
    from qrowd_papers.magnitude.distribution import Distribution
    from qrowd_papers.magnitude.geometric_sd import GeometricSD
    from qrowd_papers.magnitude.level_ratios import LevelRatios
    from qrowd_papers.magnitude.order_agreement import OrderAgreement
    from qrowd_papers.magnitude.unit_counts import UnitWidths


BLUE, ORANGE, GREEN = PALETTE[:3]
PALE = "#CFE3F1"
ROUND = (1, 2, 5, 10)
DOTS = 200  # of a curve, which no eye tells from all of them
GAIN_LIMIT, RATIO_LIMIT, DEVIATION_LIMIT = 20.0, 3.5, 6.0  # ends of the axes; what lies beyond is counted
MANY = 500  # marks beyond this many are drawn as pixels even in vector pictures


def plot_distribution(
    distribution: Distribution, group: str = "all", *, name: str | None = None, ax: Axes | None = None
) -> Axes:
    """Share of magnitudes up to each value (dots), the fitted log-normal curve, and dashed lines at 1, 2, 5 and 10.

    group : one of `distribution.groups`; name : what stands in the corner instead. Steps are round numbers that many
    wrote. Figures 1 (as written) and 2 (normalised).
    """
    from scipy.special import ndtr

    ax = axes_or_new(ax)
    g = distribution.groups.index(group)
    values, count = np.unique(np.split(distribution.values, np.cumsum(distribution.n)[:-1])[g], return_counts=True)
    share = np.cumsum(count) / count.sum()
    some = np.unique(np.linspace(0, values.size - 1, min(values.size, DOTS)).astype(int))
    for number in ROUND:
        ax.axvline(number, color=GREY, linewidth=0.6, linestyle="--", zorder=1)
    ax.plot(values[some], share[some], ".", color="black", markersize=2.5, zorder=2)
    along = np.geomspace(values[0], values[-1], 200)
    ax.plot(
        along,
        ndtr((np.log(along) - distribution.log_mean[g]) / distribution.log_sd[g]),
        color=BLUE,
        linewidth=1.2,
        zorder=3,
    )
    ax.set_xscale("log")
    ax.set(ylim=(0, 1.03), xlabel="magnitude", ylabel="share up to it")
    ax.text(0.04, 0.96, name or group, transform=ax.transAxes, va="top", weight="bold", bbox=_paper())
    return ax


def plot_distributions(
    axes: NDArray[Any], panels: Sequence[tuple[Distribution, str, str]], *, limits: tuple[float, float]
) -> None:
    """Several distributions, one per axes of a grid: (distribution, group, name in the corner). Figures 1 and 2.

    limits : of the magnitudes shown, in all panels but the first.
    """
    rows, columns = axes.shape
    for i, ax in enumerate(axes.flat):
        if i >= len(panels):
            ax.set_visible(False)
            continue
        distribution, group, name = panels[i]
        plot_distribution(distribution, group, name=name, ax=ax)
        if i % columns:
            ax.set(ylabel=None)
        if i < min(len(panels), (rows - 1) * columns):
            ax.set(xlabel=None)
        if i:
            ax.set_xlim(*limits)


def plot_levels(tests: LevelTests, names: Sequence[str], *, color: str = BLUE, ax: Axes | None = None) -> Axes:
    """The documents' median magnitudes by gold level, those without gold (U) first; log scale.

    names : of the levels, lowest first. Figure 3.
    """
    ax = axes_or_new(ax)
    masks = [np.isnan(tests.level), *(tests.level == level for level in tests.levels)]
    draw_boxes(ax, [tests.magnitude[mask] for mask in masks], color=color)
    name_categories(ax, ["U", *names])
    ax.set_yscale("log")
    ax.set(xlabel="gold level", ylabel="median magnitude")
    return ax


def plot_levels_by_topic(
    axes: NDArray[Any], tests: Mapping[str, LevelTests], names: Mapping[str, Sequence[str]], topics: Sequence[str]
) -> None:
    """The same by topic, one axes of a grid each; several kinds of gold stand side by side. Figure 4.

    tests, names : {kind of gold: its tests}, {kind: names of its levels, lowest first}.
    """
    rows, columns = axes.shape
    for i, ax in enumerate(axes.flat):
        if i >= len(topics):
            ax.set_visible(False)
            continue
        _draw_levels(ax, tests, names, topics[i])
        ax.text(0.03, 0.97, topics[i], transform=ax.transAxes, va="top", weight="bold")
        bottom = i >= min(len(topics), rows * columns) - columns
        ax.set(xlabel=" | ".join(tests) if bottom else None, ylabel=None if i % columns else "median magnitude")


def _draw_levels(ax: Axes, tests: Mapping[str, LevelTests], names: Mapping[str, Sequence[str]], topic: str) -> None:
    """The boxes of each kind of gold side by side, with a line between two kinds."""
    labels: list[str] = []
    for kind, color in zip(tests, PALETTE, strict=False):
        one = tests[kind]
        in_topic = one.topic == one.topics.index(topic)
        masks = [np.isnan(one.level), *(one.level == level for level in one.levels)]
        if labels:
            ax.axvline(len(labels) + 1, color=GREY, linewidth=0.8)
            labels.append("")
        places = range(len(labels) + 1, len(labels) + len(masks) + 1)
        draw_boxes(ax, [one.magnitude[in_topic & mask] for mask in masks], places=places, color=color)
        labels += ["U", *names[kind]]
    name_categories(ax, labels)
    ax.set_yscale("log")


def plot_spread(ratios: GeometricSD, *, checks: NDArray[np.bool_], ax: Axes | None = None) -> Axes:
    """Number of documents by ratio of highest to lowest magnitude; inside, ratio against geometric standard deviation.

    checks : (documents,) the check documents, which are drawn apart. Ratios are rounded to multiples of 5. Figure 5.
    """
    ax = axes_or_new(ax)
    rounded, count = np.unique(5 * np.maximum(np.round(ratios.ratio / 5), 1), return_counts=True)
    ax.scatter(rounded, count, s=12, color=BLUE, marker=MARKERS[0], zorder=3)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set(xlabel="highest / lowest magnitude, to the nearest 5", ylabel="documents")
    ax.set_ylim(0.7, 12 * count.max())
    ax.set_xlim(right=4 * float(rounded.max()))
    inner = ax.inset_axes((0.56, 0.5, 0.43, 0.48))
    small: dict[str, Any] = {"s": 3, "linewidths": 0, "rasterized": ratios.ratio.size > MANY}
    inner.scatter(ratios.ratio[~checks], ratios.geometric_sd[~checks], color=GREY, alpha=0.5, **small)
    inner.scatter(ratios.ratio[checks], ratios.geometric_sd[checks], color=ORANGE, marker="^", s=10, linewidths=0)
    if checks.any():
        low = (float(np.median(ratios.ratio[checks])), float(ratios.geometric_sd[checks].min()))
        inner.annotate(
            "check documents", low, (0.98, 0.04), textcoords="axes fraction", ha="right", fontsize=7, color=ORANGE
        )
    inner.set_xscale("log")
    inner.set_yscale("log")
    inner.set_ylabel("geometric standard deviation", fontsize=7)
    inner.set_xlabel("highest / lowest", fontsize=7)
    inner.tick_params(labelsize=6)
    _plain_ticks(inner.xaxis, ratios.ratio)
    _plain_ticks(inner.yaxis, ratios.geometric_sd)
    return ax


def plot_unit_agreement(results: Mapping[str, OrderAgreement], *, ax: Axes | None = None) -> Axes:
    """Share of units (or assessors) that order at least so many of their document pairs as the reference does.

    results : {name: order agreement by unit}. Figure 6.
    """
    ax = axes_or_new(ax)
    for i, (name, one) in enumerate(results.items()):
        known = np.sort(one.value[~np.isnan(one.value)])
        at = np.append(np.unique(known), 1.0)
        share = 1 - np.searchsorted(known, at, side="left") / known.size
        ax.step(
            100 * np.append(0, at), 100 * np.append(1.0, share), where="pre",
            color=PALETTE[i], linestyle=LINES[i % len(LINES)], label=f"{name} ({known.size:,})",
        )  # fmt: skip
    ax.set(xlim=(0, 101), ylim=(0, 103), xlabel="pairs in the order of gold, %", ylabel="units with at least that, %")
    ax.legend(loc="lower left")
    return ax


def plot_order_agreement(values: Mapping[str, Floats], *, ax: Axes | None = None) -> Axes:
    """Share of document pairs in the same order, one small dot per topic, the mean as a large diamond with its value.

    values : {column: (topics,) shares}; nan is left out. Figure 7.
    """
    ax = axes_or_new(ax)
    random = np.random.default_rng(1)
    for i, share in enumerate(values.values()):
        known = 100 * share[~np.isnan(share)]
        ax.scatter(
            i + random.uniform(-0.16, 0.16, known.size), known, s=9, color=BLUE, alpha=0.55, linewidths=0, zorder=2
        )
        ax.scatter(i, known.mean(), s=42, color=ORANGE, marker="D", edgecolors="white", linewidths=0.8, zorder=3)
        ax.annotate(
            f"{known.mean():.0f}", (i, known.mean()), (9, 0), textcoords="offset points", va="center",
            fontsize=8, color=ORANGE, weight="bold", zorder=4,
        )  # fmt: skip
    name_categories(ax, list(values), start=0)
    ax.set_xlim(-0.5, len(values) - 0.3)
    ax.set_ylabel("pairs in the same order, %")
    return ax


def plot_schemes(values: Mapping[tuple[str, str], Floats], *, ax: Axes | None = None) -> Axes:
    """Order agreement under each normalisation (groups) and aggregation (boxes in a group); diamonds are means.

    values : {(scheme, aggregator): (topics,) shares}. Figure 8.
    """
    ax = axes_or_new(ax)
    schemes = list(dict.fromkeys(scheme for scheme, _ in values))
    aggregators = list(dict.fromkeys(name for _, name in values))
    width = 0.8 / len(aggregators)
    for j, name in enumerate(aggregators):
        places = [i + (j - (len(aggregators) - 1) / 2) * width for i in range(len(schemes))]
        known = [100 * values[scheme, name][~np.isnan(values[scheme, name])] for scheme in schemes]
        draw_boxes(ax, known, places=places, width=0.8 * width, color=PALETTE[j])
        means = [group.mean() for group in known]
        ax.scatter(places, means, s=26, marker=MARKERS[j], color=PALETTE[j], edgecolors="white", zorder=4, label=name)
    name_categories(ax, [scheme.replace(" ", "\n") for scheme in schemes], start=0)
    ax.set(ylabel="pairs in the order of gold, %", xlim=(-0.5, len(schemes) - 0.5))
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.14 * (high - low))
    ax.legend(loc="upper center", ncols=len(aggregators), title=None, columnspacing=1.4, handletextpad=0.2)
    return ax


def plot_deviations(deviations: Floats, *, ax: Axes | None = None) -> Axes:
    """Histogram of the documents' standard deviations; how many lie above the limit is written beside. Figure 9."""
    ax = axes_or_new(ax)
    edges = np.linspace(0, DEVIATION_LIMIT, 49).tolist()
    ax.hist(deviations[deviations <= DEVIATION_LIMIT], bins=edges, color=BLUE, edgecolor="white", linewidth=0.3)
    middle = float(np.median(deviations))
    ax.axvline(middle, color=ORANGE, linestyle="--")
    ax.annotate(
        f"median {middle:.1f}", (middle, 0.95), (5, 0), xycoords=("data", "axes fraction"),
        textcoords="offset points", color=ORANGE, bbox=_paper(),
    )  # fmt: skip
    beyond = f"{(deviations > DEVIATION_LIMIT).sum():,} documents\nabove {DEVIATION_LIMIT:g}"
    ax.text(0.99, 0.6, beyond, transform=ax.transAxes, ha="right", color=GREY, bbox=_paper())
    ax.set(
        xlim=(0, DEVIATION_LIMIT), xlabel="standard deviation of a document's normalised magnitudes", ylabel="documents"
    )
    return ax


def plot_two_rankings(
    x: Floats,
    y: Floats,
    *,
    top_x: NDArray[np.bool_],
    top_y: NDArray[np.bool_],
    tau: float,
    name: str,
    kind: str,
    ax: Axes | None = None,
) -> Axes:
    """Systems by magnitudes as gains against gold grades; top sets have markers of their own, tau is written in.

    x, y : (systems,) mean scores. name : of the measure; kind : whose grades. Figures 10 and 11.
    """
    ax = axes_or_new(ax)
    kinds = (
        ("neither top set", ~top_x & ~top_y, GREY, "o", 11),
        ("top by magnitudes", top_x & ~top_y, GREEN, ">", 20),
        (f"top by {kind} grades", top_y & ~top_x, PALETTE[4], "^", 20),
        ("top by both", top_x & top_y, ORANGE, "D", 20),
    )
    for label, mask, color, marker, size in kinds:
        ax.scatter(x[mask], y[mask], s=size, color=color, marker=marker, linewidths=0, alpha=0.85, label=label)
    ax.set(xlabel=f"{name}, gains are magnitudes", ylabel=f"{name}, gains are {kind} grades")
    ax.text(0.04, 0.97, rf"$\tau$ = {tau:.3f}", transform=ax.transAxes, va="top", weight="bold", bbox=_paper())
    return ax


def legend_above(axes: Any) -> None:
    """One legend for several axes, over all of them, where it covers nothing."""
    first = axes.flat[0]
    first.figure.legend(*first.get_legend_handles_labels(), loc="outside upper left", ncols=4)


def plot_correlations(values: Mapping[str, Floats], *, marks: Mapping[str, float], ax: Axes | None = None) -> Axes:
    """Kendall's tau over draws of one magnitude per document, a box each; diamonds mark tau of the merged magnitudes.

    values : {name: (draws,)}. marks : {name: tau}. Figure 12.
    """
    ax = axes_or_new(ax)
    ax.axhline(0, color=GREY, linewidth=0.8)
    draw_boxes(ax, list(values.values()), width=0.5)
    for i, name in enumerate(values, start=1):
        if name in marks:
            ax.scatter(i, marks[name], s=36, marker="D", color=ORANGE, edgecolors="white", zorder=5)
            ax.annotate(
                f"{marks[name]:.2f}", (i + 0.26, marks[name]), (2, 0), textcoords="offset points",
                fontsize=8, color=ORANGE, weight="bold", va="center",
            )  # fmt: skip
    name_categories(ax, list(values))
    ax.set_ylabel(r"Kendall's $\tau$ of the systems' rankings")
    ax.set_ylim(min(-0.2, ax.get_ylim()[0]), 1.0)
    return ax


def plot_widths(widths: UnitWidths, *, least: int = 4, ax: Axes | None = None) -> Axes:
    """How many units put the check documents that far apart; ratios that fewer than `least` units have are left out.

    The threshold divides narrow units from wide ones. Figure 13.
    """
    ax = axes_or_new(ax)
    counts = widths.to_frame(what="counts")
    shown = counts[counts["n_units"] >= least]
    left_out = int(counts["n_units"].sum() - shown["n_units"].sum())
    ax.vlines(shown["ratio"], 0, shown["n_units"], color=BLUE, linewidth=1.1)
    tall = shown[shown["n_units"] > 0.05 * shown["n_units"].max()]
    ax.scatter(tall["ratio"], tall["n_units"], s=9, color=BLUE, linewidths=0, zorder=3)
    ax.axvline(widths.threshold, color=ORANGE, linestyle="--")
    for side, text in ((-1, "narrow"), (1, "wide")):
        ax.annotate(
            text, (widths.threshold, 0.97), (6 * side, 0), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha="right" if side < 0 else "left", va="top", color=ORANGE, bbox=_paper(),
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_ylim(0, 1.15 * shown["n_units"].max())
    ax.set(xlabel="H / N, log scale", ylabel="units")
    if left_out:
        text = f"{left_out:,} units with\nrarer ratios"
        ax.text(0.99, 0.72, text, transform=ax.transAxes, ha="right", color=GREY, bbox=_paper())
    return ax


def plot_gain_profile(profile: GainProfile, names: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """What each gold level is worth, as a multiple of N in the same unit, beside the linear and exponential gains.

    The width of a shape is the share of magnitudes at that height, the dark line their median; below stand how many
    there are, and how many lie above the plot. names : of the levels, lowest first. Figure 14.
    """
    ax = axes_or_new(ax)
    for i, level in enumerate(profile.levels):
        inside = profile.gain[(profile.level == level) & (profile.gain <= GAIN_LIMIT)]
        density, edges = np.histogram(inside, bins=np.linspace(0, GAIN_LIMIT, 81))
        half = 0.42 * np.sqrt(density / density.max())
        ax.fill_betweenx(
            np.repeat(edges, 2)[1:-1], i - np.repeat(half, 2), i + np.repeat(half, 2), color=PALE, linewidth=0
        )
        label = "median" if i == 0 else None
        ax.plot([i - 0.42, i + 0.42], [profile.gains.median[i]] * 2, color="black", linewidth=2, label=label)
    places = np.arange(profile.levels.size)
    for label, gains, marker, color in (
        ("linear", profile.linear, MARKERS[0], BLUE), ("exponential", profile.exponential, MARKERS[2], ORANGE),
    ):  # fmt: skip
        ax.plot(
            places, gains, marker, color="white", markeredgecolor=color, markeredgewidth=1.4, markersize=7, label=label
        )
    beyond = [int((profile.gain[profile.level == level] > GAIN_LIMIT).sum()) for level in profile.levels]
    about = [
        f"{name}\nn = {n:,}\n{above:,} > {GAIN_LIMIT:g}"
        for name, n, above in zip(names, profile.gains.n, beyond, strict=True)
    ]
    name_categories(ax, about, start=0)
    ax.set(ylabel="magnitude / magnitude of N", ylim=(0, GAIN_LIMIT), xlim=(-0.55, profile.levels.size - 0.45))
    ax.legend(loc="upper left")
    return ax


def plot_level_ratios(ratios: LevelRatios, *, ax: Axes | None = None) -> Axes:
    """Ratios of magnitudes between two relevant levels, one grey dot per two documents of a unit, with boxes over them.

    How many lie above the plot is written on top. Figure 15.
    """
    ax = axes_or_new(ax)
    random = np.random.default_rng(1)
    groups = [ratios.ratio[ratios.pair == p] for p in range(len(ratios.pairs))]
    for i, group in enumerate(groups, start=1):
        inside = group[group <= RATIO_LIMIT]
        ax.scatter(
            i + random.uniform(-0.32, 0.32, inside.size), inside, s=2, color=GREY, alpha=0.3, linewidths=0,
            rasterized=inside.size > MANY, zorder=2,
        )  # fmt: skip
        above = f"{(group > RATIO_LIMIT).sum():,} above"
        ax.text(i + 0.17, 0.985 * RATIO_LIMIT, above, va="top", fontsize=8, color=GREY, bbox=_paper(), zorder=5)
    draw_boxes(ax, groups, width=0.3, outliers=False, fill=False)
    for i, middle in enumerate(ratios.ratios.median, start=1):
        ax.annotate(
            f"{middle:.2f}", (i + 0.16, middle), (3, 0), textcoords="offset points", va="center", fontsize=8,
            weight="bold", bbox=_paper(), zorder=6,
        )  # fmt: skip
    ax.axhline(1, color=ORANGE, linewidth=0.9, linestyle="--", zorder=1)
    name_categories(ax, list(ratios.pairs))
    ax.set(ylabel="upper level / lower level", ylim=(0, RATIO_LIMIT))
    return ax


# ---------------------------------------------------------------------- what several of them need


def draw_boxes(
    ax: Axes,
    groups: Sequence[Floats],
    *,
    places: Sequence[float] | None = None,
    width: float = 0.6,
    color: str = BLUE,
    outliers: bool = True,
    fill: bool = True,
) -> None:
    """Boxes from quartile to quartile, whiskers up to 1.5 times that beyond, outliers as points; empty groups none."""
    where = list(range(1, len(groups) + 1)) if places is None else list(places)
    full = [(place, group) for place, group in zip(where, groups, strict=True) if group.size]
    ax.boxplot(
        [group for _, group in full],
        positions=[place for place, _ in full],
        widths=width,
        manage_ticks=False,
        patch_artist=True,
        showfliers=outliers,
        boxprops={"facecolor": "white" if fill else "none", "edgecolor": color, "linewidth": 1.4},
        medianprops={"color": "black", "linewidth": 1.8},
        whiskerprops={"color": color},
        capprops={"color": color},
        flierprops={"marker": ".", "markersize": 2, "markerfacecolor": color, "markeredgecolor": "none", "alpha": 0.5},
        zorder=3,
    )


def name_categories(ax: Axes, names: Sequence[str], start: int = 1) -> None:
    """Categories along the bottom."""
    ax.set_xticks(range(start, start + len(names)), names)
    ax.set_xlim(start - 0.6, start + len(names) - 0.4)
    ax.grid(False, axis="x")
    ax.tick_params(axis="x", length=0)


def _plain_ticks(axis: Axis, values: Floats) -> None:
    """A few plain numbers along a log scale."""
    from matplotlib.ticker import NullFormatter

    low, high = float(values.min()), float(values.max())
    steps = (1, 1.5, 2, 3, 5, 10, 20, 50, 100) if high < 100 * low else tuple(10.0**power for power in range(12))
    labels = [step for step in steps if low <= step <= high]
    axis.set_ticks(labels, [f"{step:,.4g}" for step in labels])
    axis.set_minor_formatter(NullFormatter())


def _paper() -> dict[str, Any]:
    """A patch of paper under words."""
    return {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.2}

"""Assessors: who is severe, who agrees with whom, who judged what the systems return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from qrowd.agreement.alpha import Alphas
from qrowd.agreement.assessor_profiles import AssessorProfiles
from qrowd.agreement.pairwise import PairwiseAgreement
from qrowd.comparison.judged_share import JudgedShare
from qrowd.comparison.rankings import RankingAgreement
from qrowd.kernels.arrays import Floats, Ints
from qrowd.reports.plots.style import GREY, PALETTE, above, axes_or_new, cells, name_points, name_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CROWD = 60  # more assessors than that have no room for names and intervals


def plot_assessors(profiles: AssessorProfiles, *, ax: Axes | None = None) -> Axes:
    """Severity against agreement with the others, a dot for each assessor, with 95 % intervals; who stands out.

    Right: severe, left: lenient, up: in agreement. `assessor_profiles` says what stands out means, and why each does.
    Of more than 60 assessors only those who stand out are named, and there are no intervals.
    """
    ax = axes_or_new(ax)
    out = np.array([bool(reasons) for reasons in profiles.reasons])
    crowd = len(profiles.assessors) > CROWD
    errors = (
        1.96 * np.nan_to_num(profiles.severity_standard_error),
        1.96 * np.nan_to_num(profiles.agreement_standard_error),
    )
    for which, marker, colour, label in ((~out, "o", PALETTE[0], "assessor"), (out, "D", PALETTE[1], "stands out")):
        if which.any():
            ax.errorbar(
                profiles.severity[which],
                profiles.agreement[which],
                xerr=None if crowd else errors[0][which],
                yerr=None if crowd else errors[1][which],
                fmt=marker,
                color=colour,
                elinewidth=0.8,
                markersize=3 if crowd else 5,
                alpha=0.5 if crowd and marker == "o" else 1.0,
                label=label,
            )
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    unit = "logarithms" if profiles.scale.kind == "magnitude" else "share of the scale"
    ax.set_xlabel(f"\N{LEFTWARDS ARROW} lenient    severity ({unit})    severe \N{RIGHTWARDS ARROW}")
    ax.set_ylabel("agreement with the others, beyond chance")
    above(ax)
    ax.margins(0.12, 0.1)
    names = [name if mark or not crowd else "" for name, mark in zip(profiles.assessors, out, strict=True)]
    name_points(ax, profiles.severity, profiles.agreement, names, most=40)
    return ax


def plot_kappa(pairs: PairwiseAgreement, *, ax: Axes | None = None) -> Axes:
    """Cohen's kappa of each pair of assessors; those who agree most with the others first.

    Cohen (1960), A Coefficient of Agreement for Nominal Scales. Educ. Psychol. Meas. 20(1).
    """
    order = kappa_order(pairs)
    label = "Cohen's kappa" if pairs.weights is None else f"Cohen's kappa, {pairs.weights} weights"
    return _plot_pairs(pairs.kappa[np.ix_(order, order)], [pairs.assessors[a] for a in order], label, ax)


def plot_correlation(agreement: RankingAgreement, *, ax: Axes | None = None) -> Axes:
    """How alike assessors rank the systems: Kendall's tau-b of any two."""
    return _plot_pairs(agreement.tau_b, agreement.assessors, "Kendall's tau-b", ax)


def _plot_pairs(values: Floats, names: Sequence[str], label: str, ax: Axes | None) -> Axes:
    """A table of a number from -1 to 1 for each pair of assessors."""
    ax = axes_or_new(ax)
    low = min(0.0, float(np.nanmin(values, initial=0.0)))
    cells(ax, values, names, names, limits=(low, 1), shown=lambda i, j: short(values[i, j]), label=label)
    return ax


def kappa_order(pairs: PairwiseAgreement) -> Ints:
    """(assessors,) by mean kappa with the others, the highest first."""
    defined = ~np.isnan(pairs.kappa)
    mean = np.where(defined, pairs.kappa, 0.0).sum(axis=1) / np.maximum(defined.sum(axis=1), 1)
    return np.argsort(-mean, kind="stable")


def plot_coverage(shares: JudgedShare, *, top: int | None = None, ax: Axes | None = None) -> Axes:
    """Per cent of each system's first documents that each assessor judged; the systems with the least on top.

    top : so many systems; None: all. The first column holds what anybody judged.
    """
    ax = axes_or_new(ax)
    systems = shares.systems[:top]
    values = 100 * np.column_stack([shares.anyone, shares.share])[: len(systems)]
    cells(
        ax,
        values,
        systems,
        ["anyone", *shares.assessors],
        limits=(0, 130),
        shown=lambda i, j: f"{values[i, j]:.0f}",
        label=f"% of the first {shares.cutoff} documents judged",
        colours="YlGnBu",
    )
    ax.axvline(1, color="white", linewidth=3)
    return ax


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


def short(value: float) -> str:
    """Two decimals without the leading 0."""
    text = f"{value:.2f}".replace("-0.00", "0.00")
    return text.replace("0.", ".", 1) if abs(value) < 0.995 else text[:-3]

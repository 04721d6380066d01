"""The arms of a study side by side: agreement, time and feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.reports.plots.style import GREY, MARKERS, PALETTE, Figure, axes_or_new, name_rows
from qrowd_papers.arms.arm_measures import ArmAgreement, ArmFeedback
from qrowd_papers.arms.arm_times import ArmTimes
from qrowd_papers.arms.compared_arms import ArmsReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_arm_agreement(agreement: ArmAgreement, *, ax: Axes | None = None) -> Axes:
    """Share of pairs of documents on which two assessors agree, a row for each arm; arms by grades are hollow."""
    ax = axes_or_new(ax)
    y = name_rows(ax, list(agreement.tables))
    for i, (arm, table) in enumerate(agreement.tables.items()):
        fill = "none" if arm in agreement.inferred else PALETTE[i]
        ax.plot(table.agreement, y[i], MARKERS[i], color=PALETTE[i], markerfacecolor=fill, markersize=6)
    ax.set_xlim(0, 1)
    ax.set_xlabel("agreement on pairs of documents")
    return ax


def plot_arm_times(times: ArmTimes, *, ax: Axes | None = None) -> Axes:
    """Median seconds per judgment in each arm: a mark for all assessors, a tick for each of them.

    The hollow mark beneath is the median at first sight of a document.
    """
    ax = axes_or_new(ax)
    arms = times.arms[:-1]
    y = name_rows(ax, arms)
    for i in range(len(arms)):
        own = times.median[:-1, i]
        ax.plot(own, np.full(own.size, y[i]), "|", color=GREY, markersize=9)
        ax.plot(times.median[-1, i], y[i], MARKERS[i], color=PALETTE[i], markersize=6)
        first = times.first_sight[-1, i]
        ax.plot(first, y[i] + 0.2, MARKERS[i], color=PALETTE[i], markerfacecolor="none", markersize=5)
    ax.set_xlim(left=0)
    ax.set_xlabel("median seconds per judgment (hollow: at first sight)")
    return ax


def plot_arm_feedback(feedback: ArmFeedback, *, ax: Axes | None = None) -> Axes:
    """Median confidence (filled) and understanding (hollow), from 1 to 5, in each arm."""
    ax = axes_or_new(ax)
    arms = [arm for arm in dict.fromkeys(feedback.arms) if arm != "all"]
    y = name_rows(ax, arms)
    for arm, question, value in zip(feedback.arms, feedback.questions, feedback.median.tolist(), strict=True):
        if arm == "all":
            continue
        i, hollow = arms.index(arm), question == "understanding"
        fill = "none" if hollow else PALETTE[i]
        ax.plot(
            value,
            y[i] + 0.2 * hollow,
            MARKERS[i],
            color=PALETTE[i],
            markerfacecolor=fill,
            markersize=5 if hollow else 6,
        )
    ax.set_xlim(0.8, 5.2)
    ax.set_xlabel("median confidence (hollow: understanding)")
    return ax


def arms_figure(report: ArmsReport) -> Figure:
    """What there is of agreement, time and feedback, one panel each."""
    panels: list[Any] = []
    if (agreement := report.agreement) is not None:
        panels.append(lambda ax: plot_arm_agreement(agreement, ax=ax))
    if (times := report.times) is not None:
        panels.append(lambda ax: plot_arm_times(times, ax=ax))
    if (feedback := report.feedback) is not None:
        panels.append(lambda ax: plot_arm_feedback(feedback, ax=ax))

    def draw(axes: Any) -> None:
        for one, ax in zip(panels, np.atleast_1d(axes).ravel(), strict=True):
            one(ax)

    n = max(len(panels), 1)
    size = (3.6 * n, 0.9 + 0.3 * max(len(report.n_answers), 4))
    caption = f"Arms of a study. {report.sentence}"
    return Figure("arms", caption, draw, report.to_frame, (1, n), size)

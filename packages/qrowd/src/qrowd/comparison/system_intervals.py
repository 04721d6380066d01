"""Means of systems with intervals that are made to compare systems by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qrowd.comparison.bounded import UNBOUNDED, Bounds, cut
from qrowd.comparison.interval_widths import Method, check_confidence, half_widths, recommended
from qrowd.comparison.resampling import panel_of
from qrowd.kernels.arrays import Floats
from qrowd.model.result import Result

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


@dataclass(frozen=True, eq=False)
class SystemIntervals(Result):
    """Means of systems, best first, with two intervals each; arrays are (systems,) unless stated otherwise.

    low_topics, high_topics : interval for other topics and the same assessors.
    low, high : interval for other topics and other assessors; nan where assessors and topics cannot be separated.
    by_assessor : (assessors, systems) means over topics; nan without a score.
    """

    summary = "Means of systems, best first, with two intervals each"

    systems: tuple[str, ...]
    assessors: tuple[str, ...]
    mean: Floats
    low_topics: Floats
    high_topics: Floats
    low: Floats
    high: Floats
    by_assessor: Floats
    method: Method
    confidence: float

    _COLUMNS = ("systems", "mean", "low_topics", "high_topics", "low", "high")


def system_intervals(scores: AnyScores, *, confidence: float = 0.95, bounds: Bounds = UNBOUNDED) -> SystemIntervals:
    """Means over topics of the means over assessors, by one measure, with intervals to compare systems by.

    The effect of a topic or an assessor on all systems alike is not part of the intervals: they are those of a system's
    difference from the mean of all systems, by t over topics, and by the method of
    `half_widths` that is recommended for the number of assessors.

    bounds : of the measure; intervals are cut there.

    Raises
    ------
    NoOverlapError
        The systems share fewer than two topics.
    """
    check_confidence(confidence)
    from scipy.special import stdtrit

    panel = panel_of(scores)
    mean = panel.by_topic(panel.values).mean(axis=0)
    centred = np.where(panel.known[:, :, None], panel.values - panel.values.mean(axis=2, keepdims=True), 0.0)
    by_topic = panel.by_topic(centred)
    n = len(by_topic)
    topics = stdtrit(n - 1, (1 + confidence) / 2) * by_topic.std(axis=0, ddof=1) / np.sqrt(n)
    method: Method = "topics"
    both = np.full(mean.size, np.nan)
    if panel.components_known:
        method = recommended(len(panel.assessors))
        both = half_widths(panel.squares(centred), method, confidence)
    with np.errstate(invalid="ignore"):
        by_assessor = panel.values.sum(axis=0) / panel.known.sum(axis=0)[:, None]
    order = np.argsort(-mean, kind="stable")
    mean, topics, both = mean[order], topics[order], both[order]
    return SystemIntervals(
        tuple(panel.systems[s] for s in order),
        panel.assessors,
        mean,
        *cut(mean - topics, mean + topics, bounds),
        *cut(mean - both, mean + both, bounds),
        by_assessor[:, order],
        method,
        confidence,
    )

"""Variance components from sums over topics: the sums of squares of `generalizability`, as fractions, rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from qrowd.comparison.generalizability import (
    COMPLETE_ENOUGH,
    VarianceComponents,
    complete_block,
    crossed_estimates,
    estimated,
    harmonic_mean,
    nested_estimates,
    nested_handling,
    refuse_few,
)
from qrowd.comparison.panel_sums import PanelSums
from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.kernels.arrays import Floats, Ints


def components_of(
    panel: PanelSums,
    assessors: Sequence[str],
    topics: Sequence[str],
    design: Literal["crossed", "nested", "auto"],
) -> VarianceComponents:
    """`variance_components` from sums. assessors, topics : all of the scores.

    Raises
    ------
    ArgumentError
        As there; a crossed design in which only a block of topics and assessors is complete.
    """
    check_choice("design", design, ("crossed", "nested", "auto"))
    if len(panel.systems) < 2:
        raise ArgumentError(f"scores: {len(panel.systems)} system; variance among systems needs 2")
    refuse_few(len(panel.assessors), len(assessors), "assessor")
    refuse_few(panel.n_topics, len(topics), "topic")
    used = tuple(topic for topic in topics if topic not in panel.sums.topics_left_out)
    if _is_crossed(panel, design):
        shape = (len(panel.assessors), panel.n_topics, len(panel.systems))
        squares = crossed_estimates(_crossed(panel), shape, panel.sums.largest)
        handling, n_assessors = "every assessor has a score in every topic", float(shape[0])
        if panel.n_cells < len(assessors) * len(topics):
            handling = (
                f"the largest complete block: {shape[0]} of {len(assessors)} assessors and {shape[1]} of "
                f"{len(topics)} topics, {panel.n_cells:,} of {panel.n_cells:,} cells with scores"
            )
        return estimated(
            "crossed", squares, used, panel.assessors, panel.systems, n_assessors, panel.n_cells, 0, handling
        )
    sizes = _sizes(panel)
    handling = nested_handling(sizes, len(topics))
    squares = nested_estimates(_nested(panel), sizes, len(panel.systems), panel.sums.largest)
    n_assessors = harmonic_mean(sizes)
    return estimated("nested", squares, used, panel.assessors, panel.systems, n_assessors, panel.n_cells, 0, handling)


def _is_crossed(panel: PanelSums, design: str) -> bool:
    """Whether the design is crossed, as `variance_components` decides."""
    if design == "nested" or panel.is_complete:
        return design != "nested"
    known = np.zeros((len(panel.assessors), panel.n_topics), bool)
    first = 0
    for members, own in panel.patterns.items():
        known[list(members), first : first + own.n_topics] = True
        first += own.n_topics
    rows, columns, _ = complete_block(known)
    if rows.size == 0 and design == "crossed":
        raise NoOverlapError("scores: no 2 assessors share 2 topics, so nothing is crossed; design='nested'")
    if design == "crossed" or rows.size * columns.size >= COMPLETE_ENOUGH * panel.n_cells:
        raise ArgumentError(
            f"design={design!r}: only a block of {rows.size} assessors and {columns.size} topics is complete, which "
            "sums over all topics do not show; use the scores (qrowd.evaluate), or design='nested'"
        )
    return False


def _sizes(panel: PanelSums) -> Ints:
    """(topics,) number of assessors."""
    counts = [own.n_topics for own in panel.patterns.values()]
    return np.repeat(np.array([len(members) for members in panel.patterns], np.int64), counts)


def _crossed(panel: PanelSums) -> Floats:
    """(sources,) sums of squares of a complete table."""
    n_a, n_t, n_s = len(panel.assessors), panel.n_topics, len(panel.systems)
    by_assessor, of_cells, of_topics = panel.by_assessor, panel.of_cells, panel.of_topics(0)
    of_all = by_assessor.sum() ** 2 / (n_a * n_t * n_s)
    s = (by_assessor.sum(axis=0) ** 2).sum() / (n_t * n_a) - of_all
    t = of_topics.sum() / (n_s * n_a) - of_all
    a = (by_assessor.sum(axis=1) ** 2).sum() / (n_s * n_t) - of_all
    st = np.trace(of_topics) / n_a - of_all - s - t
    sa = (by_assessor**2).sum() / n_t - of_all - s - a
    ta = of_cells.sum() / n_s - of_all - t - a
    rest = np.trace(of_cells) - of_all - s - t - a - st - sa - ta
    return _floats([s, t, a, st, sa, ta, rest])


def _nested(panel: PanelSums) -> Floats:
    """(sources,) the same where each topic has assessors of its own, a topic weighing as their number."""
    n, n_s = panel.n_cells, len(panel.systems)
    by_system, of_cells, of_topics = panel.by_assessor.sum(axis=0), panel.of_cells, panel.of_topics(1)
    of_all = by_system.sum() ** 2 / (n * n_s)
    s = (by_system**2).sum() / n - of_all
    t = of_topics.sum() / n_s - of_all
    a = of_cells.sum() / n_s - of_all - t
    st = np.trace(of_topics) - of_all - s - t
    rest = np.trace(of_cells) - of_all - s - t - a - st
    return _floats([s, t, a, st, rest])


def _floats(exact: list[Any]) -> Floats:
    return np.array([float(one) for one in exact])

"""The difference of two systems as a weighted sum of the gains of judgments, by cells.

A cell is a topic as one assessor judged it. The score of a system there is a sum of weight x gain over the documents
it ranks, over a normaliser. The difference of two systems is the mean over topics of the means over the assessors who
have a score there, so that a cell has the share 1 / (topics x assessors of the topic).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from qrowd.errors import ArgumentError, MeasureError
from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats, Ints
from qrowd.measures.gain import NDCG
from qrowd.measures.precision import R
from qrowd.measures.scoring import ByGain, Linear, TopicView
from qrowd.model.alignment import align
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import number_of
from qrowd.model.measure import Measure
from qrowd.model.panel import Panel, Pool
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.model.scores import Scores

Change = Literal["grade", "panel"]
ROUNDING = 1e-12  # differences of less are 0
FIXED = ("ties", "unjudged", "missing", "empty", "duplicates")  # conventions that must have their default


@dataclass(frozen=True, eq=False)
class Cells:
    """What a measure reads of systems and judgments; cell t x assessors + a is topic t by assessor a.

    documents : (items,) labels of the judged documents that any system ranks within the cut-off, or of all judged ones.
    topic : (items,).
    weight : (systems, items) of a gain before the normaliser. level : (items, assessors) number of the value in
    `values`, -1 where not judged. lowest, highest : (items, assessors) levels to which one judgment can change.
    gains : (assessors, levels). share, normaliser : (cells,); a share is 0 where the assessor has no score.
    numerator : (systems, cells). ideal : (documents + 1,) sum of the first weights of the ideal ranking; None where
    the measure has no normaliser that judgments move. counts, least, most : (cells, levels) judged documents of each
    level or higher: today's, and what changes can make of them.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    assessors: tuple[str, ...]
    documents: tuple[str, ...]
    topic: Ints
    weight: Floats
    values: Floats
    level: Ints
    lowest: Ints
    highest: Ints
    gains: Floats
    share: Floats
    normaliser: Floats
    numerator: Floats
    ideal: Floats | None
    counts: Ints
    least: Ints
    most: Ints

    @property
    def n_assessors(self) -> int:
        return len(self.assessors)

    @cached_property
    def scale(self) -> Floats:
        """(cells,) what a unit of the sum of a cell adds to a difference; 0 where the normaliser is 0."""
        divisor = np.where(self.normaliser > 0, self.normaliser, np.inf)
        return np.asarray(self.share / divisor)

    @cached_property
    def gain_steps(self) -> Floats:
        """(assessors, levels) what each level adds to the gain of the one below."""
        return np.diff(self.gains, axis=1, prepend=0.0)

    @cached_property
    def own_gains(self) -> Floats:
        """(items, assessors) gains of the judgments; 0 where not judged."""
        return self.gains_at(self.level)

    def gains_at(self, level: Ints) -> Floats:
        """(items, assessors) gains of these levels; 0 where not judged."""
        return _at(self.gains, level)

    def by_cell(self, first: int, second: int) -> Floats:
        """(cells,) what each cell adds to the difference of two systems."""
        return np.asarray((self.numerator[first] - self.numerator[second]) * self.scale)

    @property
    def n_topics(self) -> int:
        """Topics in which anybody has a score."""
        return int((self.share.reshape(-1, self.n_assessors) > 0).any(axis=1).sum())


def cells_of(
    runs: Runs,
    judgments: Judgments,
    measure: Measure,
    *,
    systems: Sequence[str] | None,
    change: Change | None,
    conventions: Conventions,
    unranked: bool = False,
) -> Cells:
    """The cells of these systems.

    change : what a judgment can become; None: what it is, of any scale. unranked : whether judged documents that no
    system ranks within the cut-off are items too, as the normaliser counts them.

    Raises
    ------
    MeasureError
        A measure that is not linear in gains.
    ArgumentError
        Judgments without grades, assessors on different scales for change="panel", fewer than two systems.
    """
    chosen = selected(runs, systems)
    _check(measure)
    check_conventions(measure, conventions)
    graded = conventions.graded(judgments)
    panel = graded.panel(repeats=conventions.repeats)
    share = cell_shares(evaluate(chosen, judgments, measure, conventions=conventions))
    values, level, lowest, highest = levels_of(panel, change)
    gains = gains_of_levels(measure, panel, values)
    if change is not None and (gains == gains[:, :1]).all():
        raise MeasureError(f"{measure}: gives every judgment the same gain, so that no change of one matters")
    weight = _weights(chosen, panel.pool, measure, conventions)
    topic = np.repeat(np.arange(len(panel.pool.topics)), np.diff(panel.pool.starts))
    counts, least, most = (_counts(one, topic, values.size) for one in (level, lowest, highest))
    ideal = _ideal(measure, panel.pool)
    normaliser = np.ones(share.size)
    if ideal is not None:
        _check_rising(measure, gains)
        normaliser = normalisers(ideal, np.tile(gains, (len(panel.pool.topics), 1)), counts)
    elif isinstance(measure.definition, R):
        normaliser = np.full(share.size, float(measure["recall_base"]))  # type: ignore[arg-type]
    rows = np.flatnonzero((unranked | (weight != 0).any(axis=0)) & (level >= 0).any(axis=1))
    own = _at(gains, level)
    numerator = np.zeros((len(chosen.systems), len(panel.pool.topics), level.shape[1]))
    for a in range(level.shape[1]):
        np.add.at(numerator[..., a].T, topic[rows], (weight[:, rows] * own[rows, a]).T)
    return Cells(
        chosen.systems,
        panel.pool.topics,
        panel.assessors,
        tuple(panel.pool.documents[d] for d in panel.pool.document[rows]),
        topic[rows],
        np.ascontiguousarray(weight[:, rows]),
        values,
        level[rows],
        lowest[rows],
        highest[rows],
        gains,
        share,
        normaliser,
        numerator.reshape(len(chosen.systems), -1),
        ideal,
        counts,
        least,
        most,
    )


def cell_shares(scores: Scores) -> Floats:
    """(cells,) 1 / (topics x assessors of the topic); 0 where the assessor has no score."""
    has_score = ~np.isnan(scores.values[0]).all(axis=2).T  # (topics, assessors)
    n_assessors = has_score.sum(axis=1, keepdims=True)
    n_topics = max(int((n_assessors > 0).sum()), 1)
    return np.asarray(np.where(has_score, 1 / np.maximum(n_assessors, 1) / n_topics, 0.0).ravel())


def normalisers(ideal: Floats, gains: Floats, counts: Ints) -> Floats:
    """(...,) sum over levels v of (gain v - gain v - 1) x (sum of the first n_v weights of the ideal ranking).

    n_v documents have the level v or a higher one: in the ideal ranking these stand first, and each of them has the
    part of its gain that the level v adds.
    """
    steps = np.diff(gains, axis=-1, prepend=0.0)
    return np.asarray((steps * ideal[counts]).sum(axis=-1))


def _at(gains: Floats, level: Ints) -> Floats:
    """(documents, assessors) gains of levels; 0 where not judged."""
    return np.where(level >= 0, gains[np.arange(level.shape[1]), np.maximum(level, 0)], 0.0)


def selected(runs: Runs, systems: Sequence[str] | None) -> Runs:
    """The runs of these systems, of which there must be two."""
    if systems is None:
        chosen = runs
    else:
        for name in systems:
            number_of(name, runs.systems, "system")
        chosen = runs.select(systems=lambda name: name in systems)
    if len(chosen.systems) < 2:
        raise ArgumentError(f"runs: {len(chosen.systems)} system(s); at least 2 are needed for a difference")
    return chosen


def is_weighted_sum(measure: Measure) -> bool:
    """Whether a score is a weighted sum of gains over a normaliser that is known as a function of the judgments."""
    definition = measure.definition
    if not isinstance(definition, Linear) or measure.values.get("judged_only") or measure.values.get("residual"):
        return False
    own = type(definition).normaliser is not Linear.normaliser
    return definition.several_topics(measure) and (not own or isinstance(definition, NDCG | R))


def _check(measure: Measure) -> None:
    if not is_weighted_sum(measure):
        raise MeasureError(f"{measure}: is not a weighted sum of gains by rank; use one such as nDCG@10, P@10 or RBP")


def check_conventions(measure: Measure, conventions: Conventions) -> None:
    """Refuse what joins assessors or topics, so that a judgment would not matter to its own topic alone."""
    if measure.values.get("recall_base") == "union":
        raise MeasureError(f"{measure}: recall_base='union' joins the assessors; write recall_base='own' or a number")
    for name in FIXED:
        if getattr(conventions, name) != getattr(Conventions(), name):
            raise ArgumentError(
                f"conventions: {name}={getattr(conventions, name)!r} is not supported here; leave {name} at its default"
            )


def check_panel(assessors: Sequence[str], scales: Sequence[Scale], argument: str) -> None:
    """Refuse a panel of one assessor, or of several scales. argument : what the message begins with."""
    kinds = {(scale.kind if scale.maximum != 1 else "up to 1", scale.maximum) for scale in scales}
    if len(assessors) < 2:
        raise ArgumentError(f"{argument}: the judgments are of one assessor; at least 2 are needed")
    if len(kinds) > 1:
        names = ", ".join(sorted({str(scale) for scale in scales}))
        raise ArgumentError(
            f"{argument}: the assessors judged on different scales ({names}); declare one scale for all, or "
            "divide grades by the maximum of their scale: grades='rescaled'"
        )


def levels_of(panel: Panel, change: Change | None) -> tuple[Floats, Ints, Ints, Ints]:
    """The possible values, and of each judgment its level and the lowest and highest it can change to."""
    given = panel.values[~np.isnan(panel.values)]
    if change is None:
        values = np.unique(given) if given.size else np.zeros(1)
    elif change == "panel":
        check_panel(panel.assessors, panel.scales, "change='panel'")
        ends = [0.0, *(scale.maximum for scale in panel.scales if np.isfinite(scale.maximum))]
        values = np.unique(np.append(given, ends))
    else:
        for name, scale in zip(panel.assessors, panel.scales, strict=True):
            if scale.kind not in ("binary", "graded"):
                raise ArgumentError(f"change={change!r}: {name} judged on the scale {scale}; whole grades are needed")
        if (given % 1 != 0).any():
            raise ArgumentError(
                f"change={change!r}: a judgment is {given[given % 1 != 0][0]:g}, the mean of repeated ones; whole "
                "grades are needed, as with Conventions(repeats='first')"
            )
        values = np.arange(max(scale.maximum for scale in panel.scales) + 1.0)
    judged = ~np.isnan(panel.values)
    level = np.where(judged, np.searchsorted(values, np.where(judged, panel.values, values[0])), -1)
    if change == "panel":
        low = np.where(judged, level, values.size).min(axis=1, keepdims=True)
        high = level.max(axis=1, keepdims=True)
    elif change is None:
        low = high = level
    else:
        low, high = np.zeros((len(level), 1), np.int64), np.array([[int(scale.maximum) for scale in panel.scales]])
    return values, level, np.where(judged, low, -1), np.where(judged, high, -1)


def gains_of_levels(measure: Measure, panel: Panel, values: Floats) -> Floats:
    """(assessors, levels) gains of the values."""
    n = values.size
    pool = Pool(("",), tuple(map(str, range(n))), np.array([0, n]), np.arange(n, dtype=np.int32))
    table = np.repeat(values[:, None], len(panel.assessors), axis=1)
    of_levels = Panel(pool, panel.assessors, panel.scales, table)
    definition = measure.definition
    assert isinstance(definition, ByGain)
    gains = np.asarray(definition.gains(measure, TopicView(np.zeros((1, 1), np.int32), table, of_levels)), np.float64)
    return np.ascontiguousarray(gains.T)


def _weights(runs: Runs, pool: Pool, measure: Measure, conventions: Conventions) -> Floats:
    """(systems, pairs of the pool) weight of the rank at which each system has each document."""
    lists = align(runs, pool, conventions.score_dtype).lists
    definition = measure.definition
    assert isinstance(definition, Linear)
    by_rank = definition.coefficients(measure, int(lists.rank.max(initial=0)) + 1)
    system = np.repeat(np.arange(lists.starts.size - 1), np.diff(lists.starts)) % lists.n_systems
    within = lists.rank < by_rank.size
    weight = np.zeros((lists.n_systems, pool.document.size))
    weight[system[within], lists.row[within]] = by_rank[lists.rank[within]]
    return weight


def _counts(level: Ints, topic: Ints, n_levels: int) -> Ints:
    """(cells, levels) documents of each level or higher."""
    n_cells, n_assessors = (int(topic.max(initial=-1)) + 1) * level.shape[1], level.shape[1]
    cell = topic[:, None] * n_assessors + np.arange(n_assessors)
    judged = level >= 0
    counts = np.bincount((cell * n_levels + level)[judged], minlength=n_cells * n_levels).reshape(n_cells, n_levels)
    return counts[:, ::-1].cumsum(axis=1)[:, ::-1]


def _ideal(measure: Measure, pool: Pool) -> Floats | None:
    """(documents + 1,) sum of the first weights of the ideal ranking."""
    n = int(np.diff(pool.starts).max(initial=0))
    definition = measure.definition
    if isinstance(definition, NDCG):
        given = definition.coefficients(measure, n)
        return np.append(0.0, np.cumsum(np.append(given, np.zeros(n - given.size))))
    if isinstance(definition, R) and measure["recall_base"] == "own":
        return np.arange(n + 1.0)
    return None


def _check_rising(measure: Measure, gains: Floats) -> None:
    if (gains[:, 0] < 0).any() or (np.diff(gains, axis=1) < 0).any():
        raise MeasureError(f"{measure}: a higher grade must not gain less, since the ideal ranking is by grade")

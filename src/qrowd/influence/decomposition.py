"""The difference of two systems as a sum over topics, documents, assessors and judgments; and each of them left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.evaluation import measure as parsed_measure
from qrowd.influence.cells import Cells, cells_of, normalisers
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.arguments import converting
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import number_of
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.result import Result


@dataclass(frozen=True, eq=False)
class DifferenceParts(Result):
    """Parts of a difference, the largest first; arrays are (parts,).

    topics, documents, assessors, value : which topic, document, assessor or judgment; None where the part has none.
    n_judgments : judgments of the part; None for judgments. part : what it adds to the difference. difference_without :
    the difference if its judgments are left out, as scoring again gives it; None for judgments.
    """

    topics: tuple[str, ...] | None
    documents: tuple[str, ...] | None
    assessors: tuple[str, ...] | None
    value: Floats | None
    n_judgments: Ints | None
    part: Floats
    difference_without: Floats | None

    def _columns(self) -> Mapping[str, Any]:
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        names = {"topics": "topic", "documents": "document", "assessors": "assessor"}
        return {names.get(name, name): value for name, value in values.items() if value is not None}


@dataclass(frozen=True, eq=False)
class DecomposedDifference(Result):
    """The difference of two systems as a sum.

    difference : first minus second, of the means over topics of the means over assessors. topics, documents,
    assessors, judgments : its parts; those of each sum to the difference. Of judgments only those with a part that is
    not 0 are listed.
    n_judgments : of the topics that are scored.
    """

    first: str
    second: str
    measure: str
    difference: float
    n_topics: int
    n_judgments: int
    topics: DifferenceParts
    documents: DifferenceParts
    assessors: DifferenceParts
    judgments: DifferenceParts

    def _tables(self) -> dict[str, Callable[[], Mapping[str, Any]]]:
        names = ("topics", "documents", "assessors", "judgments")
        return {name: partial(DifferenceParts._columns, getattr(self, name)) for name in names}

    def _sentence(self) -> str:
        return (
            f"{self.first} minus {self.second} is {self.difference:.4f} by {self.measure}, a sum over "
            f"{self.judgments.part.size:,} of {self.n_judgments:,} judgments."
        )


@converting
def decompose_difference(
    runs: AnyRuns,
    judgments: AnyJudgments,
    first: str,
    second: str,
    measure: object = "nDCG@10",
    *,
    conventions: Conventions = Conventions(),
) -> DecomposedDifference:
    """The difference of two systems as a sum over topics, documents, assessors and judgments.

    A judgment adds (weight of the document's rank in the first system - that in the second) x gain / (normaliser of the
    topic and assessor x assessors of the topic x topics). A topic, document or assessor adds what its judgments add.
    A document is one of a topic: in another topic it is another one.

    `difference_without` is the difference if all judgments of a topic, document or assessor were missing, with the
    normaliser, and the topics and assessors with a score, that are then left: what `qrowd.evaluate` gives for the
    remaining judgments. nan where no score is left. Scales that were inferred stay those of all judgments.

    Parameters
    ----------
    first, second
        Names of the systems.
    measure
        nDCG, DCG, P, R, RBP or another weighted sum of gains by rank.
    conventions
        Those of scoring; ties, unjudged, missing, empty and duplicates must have their defaults.

    Raises
    ------
    MeasureError
        A measure that is not linear in gains, or whose normaliser is not known.
    ArgumentError
        An unknown system, the same one twice, or a convention that is not supported.

    >>> import qrowd
    >>> runs = {"a": {"t": {"d1": 2, "d2": 1}}, "b": {"t": {"d2": 2, "d1": 1}}}
    >>> result = qrowd.decompose_difference(runs, {"t": {"d1": 3, "d2": 1}}, "a", "b", "DCG@1")
    >>> result.difference
    2.0
    >>> result.to_frame(what="documents")[["document", "part", "difference_without"]].values.tolist()
    [['d1', 3.0, -1.0], ['d2', -1.0, 3.0]]
    """
    rankings, rows = as_runs(runs), as_judgments(judgments)
    for name in (first, second):
        number_of(name, rankings.systems, "system")
    if first == second:
        raise ArgumentError(f"systems {first!r} and {second!r} are the same; name two")
    cells = cells_of(
        rankings,
        rows,
        parsed_measure(measure),
        systems=(first, second),
        change=None,
        conventions=conventions,
        unranked=True,
    )
    i, j = (cells.systems.index(name) for name in (first, second))
    pair = _Pair(
        cells, cells.weight[i] - cells.weight[j], cells.numerator[i] - cells.numerator[j], *_pools(rows), conventions
    )
    return DecomposedDifference(
        first,
        second,
        str(parsed_measure(measure)),
        float((pair.numerator * cells.scale).sum()),
        cells.n_topics,
        int(pair.judged.sum()),
        pair.by_topic(),
        pair.by_document(),
        pair.by_assessor(),
        pair.by_judgment(),
    )


def _pools(judgments: Judgments) -> tuple[Ints, Ints]:
    """(topics,) documents of each pool, and (topics, assessors) those of them that only this assessor was shown."""
    shape = len(judgments.topics), len(judgments.assessors)
    rows = np.unique(np.stack([judgments.pair_numbers, judgments.assessor]), axis=1)
    _, heads, counts = np.unique(rows[0], return_index=True, return_counts=True)
    topic = rows[0, heads] // max(len(judgments.documents), 1)
    alone = np.zeros(shape, np.int64)
    np.add.at(alone, (topic[counts == 1], rows[1, heads[counts == 1]]), 1)
    return np.bincount(topic, minlength=shape[0]), alone


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two systems.

    weight : (items,) of a gain, first minus second. numerator : (cells,) the sums of both, likewise. pool : (topics,)
    documents. alone : (topics, assessors) documents of the pool that only this assessor was shown.
    """

    cells: Cells
    weight: Floats
    numerator: Floats
    pool: Ints
    alone: Ints
    conventions: Conventions

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.cells.topics), self.cells.n_assessors

    @property
    def judged(self) -> NDArray[np.bool_]:
        """(items, assessors) judgments in cells that have a score."""
        return (self.cells.level >= 0) & self.has_score[self.cells.topic]

    @property
    def has_score(self) -> NDArray[np.bool_]:
        """(topics, assessors)"""
        return np.asarray(self.cells.share.reshape(self.shape) > 0)

    def enough(self, n_judged: Ints, pool: Ints) -> NDArray[np.bool_]:
        """Whether an assessor has a score who judged so many documents of a pool."""
        coverage = n_judged / np.maximum(pool, 1)
        return np.asarray((coverage > 0) & (coverage >= self.conventions.min_coverage))

    @property
    def scores(self) -> Floats:
        """(topics, assessors) differences; 0 where the normaliser is 0."""
        return _quotient(self.numerator, self.cells.normaliser).reshape(self.shape)

    @property
    def parts(self) -> Floats:
        """(items, assessors) what each judgment adds to the difference."""
        scale = self.cells.scale.reshape(self.shape)
        return np.asarray(self.weight[:, None] * self.cells.own_gains * scale[self.cells.topic])

    def by_topic(self) -> DifferenceParts:
        topics = np.flatnonzero(self.has_score.any(axis=1))
        parts = (self.numerator * self.cells.scale).reshape(self.shape).sum(axis=1)[topics]
        means = _means(self.scores, self.has_score)[topics]
        without = (means.sum() - means) / (means.size - 1) if means.size > 1 else np.full(means.size, np.nan)
        n_judgments = np.bincount(self.cells.topic, self.judged.sum(axis=1), len(self.cells.topics))[topics]
        order = _largest_first(parts)
        return DifferenceParts(
            _labels(self.cells.topics, topics[order]),
            None,
            None,
            None,
            n_judgments[order].astype(np.int64),
            parts[order],
            without[order],
        )

    def by_assessor(self) -> DifferenceParts:
        scores = self.scores
        assessors = np.flatnonzero((self.cells.level >= 0).any(axis=0))
        without = np.full(assessors.size, np.nan)
        n_judged = self.cells.counts[:, 0].reshape(self.shape)
        for row, a in enumerate(assessors):
            others = self.enough(n_judged, (self.pool - self.alone[:, a])[:, None])
            others[:, a] = False
            if others.any():
                without[row] = np.nanmean(_means(scores, others))
        parts = (self.numerator * self.cells.scale).reshape(self.shape).sum(axis=0)[assessors]
        order = _largest_first(parts)
        return DifferenceParts(
            None,
            None,
            _labels(self.cells.assessors, assessors[order]),
            None,
            self.judged.sum(axis=0)[assessors][order],
            parts[order],
            without[order],
        )

    def by_document(self) -> DifferenceParts:
        cells, judged = self.cells, self.judged
        items = np.flatnonzero(self.cells.level.max(axis=1, initial=-1) >= 0)
        parts, without = self.parts.sum(axis=1), np.full(judged.shape[0], np.nan)
        means = _means(self.scores, self.has_score)
        has_score = ~np.isnan(means)
        total, n_topics = float(means[has_score].sum()), int(has_score.sum())
        for rows in np.split(items, np.flatnonzero(np.diff(cells.topic[items])) + 1) if items.size else ():
            t = int(cells.topic[rows[0]])
            after = self._topic_without(t, rows)
            left = ~np.isnan(after)
            n_left = n_topics - has_score[t] + left
            sums = total - np.where(has_score[t], means[t], 0.0) + np.where(left, after, 0.0)
            without[rows] = np.where(n_left > 0, sums / np.maximum(n_left, 1), np.nan)
        order = items[_largest_first(parts[items])]
        return DifferenceParts(
            _labels(cells.topics, cells.topic[order]),
            _labels(cells.documents, order),
            None,
            None,
            judged.sum(axis=1)[order],
            parts[order],
            without[order],
        )

    def _topic_without(self, topic: int, items: Ints) -> Floats:
        """(items,) the difference in their topic without each of these documents; nan where no score is left."""
        cells = self.cells
        of_topic = slice(topic * cells.n_assessors, (topic + 1) * cells.n_assessors)
        level = cells.level[items]
        numerator = self.numerator[of_topic] - self.weight[items, None] * cells.own_gains[items]
        counts = cells.counts[of_topic] - (level[..., None] >= np.arange(cells.values.size))
        normaliser = np.broadcast_to(cells.normaliser[of_topic], numerator.shape)
        if cells.ideal is not None:
            normaliser = normalisers(cells.ideal, cells.gains, counts)
        return _means(_quotient(numerator, normaliser), self.enough(counts[..., 0], self.pool[topic] - 1))

    def by_judgment(self) -> DifferenceParts:
        cells, parts = self.cells, self.parts
        items, assessors = np.nonzero(parts)
        order = _largest_first(parts[items, assessors])
        items, assessors = items[order], assessors[order]
        return DifferenceParts(
            _labels(cells.topics, cells.topic[items]),
            _labels(cells.documents, items),
            _labels(cells.assessors, assessors),
            cells.values[cells.level[items, assessors]],
            None,
            parts[items, assessors],
            None,
        )


def _means(scores: Floats, has_score: NDArray[np.bool_]) -> Floats:
    """(...,) means over the assessors who have a score; nan where nobody has one."""
    n = has_score.sum(axis=-1)
    return np.where(n > 0, np.where(has_score, scores, 0.0).sum(axis=-1) / np.maximum(n, 1), np.nan)


def _quotient(numerator: Floats, normaliser: Floats) -> Floats:
    """The score; 0 where the normaliser is 0."""
    return np.asarray(np.where(normaliser > 0, numerator / np.where(normaliser > 0, normaliser, 1.0), 0.0))


def _largest_first(parts: Floats) -> Ints:
    return np.argsort(-np.abs(parts), kind="stable")


def _labels(labels: tuple[str, ...], numbers: Ints) -> tuple[str, ...]:
    return tuple(labels[number] for number in numbers.tolist())

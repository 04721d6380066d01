"""The difference of two systems as a sum over topics, documents, assessors and judgments; and each of them left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.kinship import related_pairs
from qrowd.errors import ArgumentError
from qrowd.evaluation import measure as parsed_measure
from qrowd.influence.cells import ROUNDING, Cells, cells_of, is_weighted_sum, normalisers
from qrowd.influence.scored import ScoredCells, scored_cells
from qrowd.influence.shown import Shown
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.conventions import Conventions
from qrowd.model.labels import Selection, number_of
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.result import Result
from qrowd.model.runs import Runs


@dataclass(frozen=True, eq=False)
class DifferenceParts(Result):
    """Parts of a difference, the largest first; arrays are (parts,).

    topics, documents, assessors, value : which topic, document, assessor or judgment; None where the part has none.
    n_judgments : judgments of the part; None for judgments. part : what it adds to the difference; None for documents
    and judgments where the measure is no weighted sum of gains. difference_without : the difference if its judgments
    are left out, as scoring again gives it.
    """

    topics: tuple[str, ...] | None
    documents: tuple[str, ...] | None
    assessors: tuple[str, ...] | None
    value: Floats | None
    n_judgments: Ints | None
    part: Floats | None
    difference_without: Floats

    def _columns(self) -> Mapping[str, Any]:
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        names = {"topics": "topic", "documents": "document", "assessors": "assessor"}
        return {names.get(name, name): value for name, value in values.items() if value is not None}


@dataclass(frozen=True, eq=False)
class RelativesParts(Result):
    """What assessors who are related to the systems add to a difference; arrays are (groups,).

    related_to : "first", "second", "both" or "neither" of the systems; groups without assessors are left out.
    assessors : their names. n_assessors, n_judgments : how many. part : what they add to the difference.
    difference_without : the difference if their judgments are left out, as scoring again gives it.
    difference_without_relatives : the same without the assessors related to either system.
    """

    related_to: tuple[str, ...]
    assessors: tuple[str, ...]
    n_assessors: Ints
    n_judgments: Ints
    part: Floats
    difference_without: Floats
    difference_without_relatives: float

    def _columns(self) -> Mapping[str, Any]:
        names = ("related_to", "assessors", "n_assessors", "n_judgments", "part", "difference_without")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class DecomposedDifference(Result):
    """The difference of two systems as a sum.

    difference : first minus second, of the means over topics of the means over assessors. topics, documents,
    assessors, judgments : its parts; those of each sum to the difference. Of judgments only those with a part that is
    not 0 are listed, or without which the difference is another one where judgments have no parts. relatives : parts by
    the system that assessors are related to; None where none were declared. n_judgments : of the topics that are
    scored.
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
    relatives: RelativesParts | None = None

    @property
    def n_documents(self) -> int:
        """Documents that add to the difference; 0 where documents have no parts."""
        return 0 if self.documents.part is None else int((np.abs(self.documents.part) > ROUNDING).sum())

    @property
    def n_documents_enough(self) -> int:
        """The least number of documents whose parts alone add up to the difference."""
        parts = np.zeros(0) if self.documents.part is None else self.documents.part
        sums = np.cumsum(-np.sort(-np.sign(self.difference) * parts))
        return int(np.argmax(np.append(sums, np.inf) >= abs(self.difference) - ROUNDING)) + 1

    def _tables(self) -> dict[str, Callable[[], Mapping[str, Any]]]:
        names = ("topics", "documents", "assessors", "judgments", "relatives")
        parts = {name: getattr(self, name) for name in names}
        return {name: part._columns for name, part in parts.items() if part is not None}

    def _sentence(self) -> str:
        weighted = self.judgments.part is not None
        return (
            f"{self.first} minus {self.second} is {self.difference:.4f} by {self.measure}"
            f"{', a sum over' if weighted else '; it rests on'} {len(self.judgments.topics or ()):,} of "
            f"{self.n_judgments:,} judgments{self._without_relatives()}."
        )

    def _without_relatives(self) -> str:
        if self.relatives is None:
            return ""
        n = int(self.relatives.n_assessors[[name != "neither" for name in self.relatives.related_to]].sum())
        related = "1 assessor who is" if n == 1 else f"{n} assessors who are"
        return f"; {self.relatives.difference_without_relatives:.4f} without the {related} related to one of them"


def decompose_difference(
    runs: AnyRuns,
    judgments: AnyJudgments,
    first: str,
    second: str,
    measure: object = "nDCG@10",
    *,
    related: Mapping[str, Selection] | None = None,
    conventions: Conventions = Conventions(),
) -> DecomposedDifference:
    """The difference of two systems as a sum over topics, documents, assessors and judgments.

    A judgment adds (weight of the document's rank in the first system - that in the second) x gain / (normaliser of the
    topic and assessor x assessors of the topic x topics). A topic, document or assessor adds what its judgments add.
    A document is one of a topic: in another topic it is another one.

    `difference_without` is the difference if the judgment, or all of a topic, document or assessor, were missing, with
    the normaliser, and the topics and assessors with a score, that are then left: what `qrowd.evaluate` gives for the
    remaining judgments. nan where no score is left. Scales that were inferred stay those of all judgments.

    Measures that are no weighted sums of gains, such as AP, RR and ERR, are sums over topics and assessors alone.
    Documents and judgments have a `difference_without`, found by scoring again, and no part.

    Parameters
    ----------
    first, second
        Names of the systems.
    measure
        Any measure of judgments.
    related
        {assessors: systems} that are related, by name or shell pattern, as in {"qwen*": ["dual*"]}: what assessors
        related to the first system, to the second, and to neither add is in the table `relatives`.
    conventions
        Those of scoring; ties, unjudged, missing, empty and duplicates must have their defaults.

    Raises
    ------
    MeasureError
        A measure of preferences, or one that joins the assessors.
    ArgumentError
        An unknown system, the same one twice, a name or pattern in `related` that matches nothing, or a convention that
        is not supported.

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
    parsed, systems = parsed_measure(measure), (first, second)
    options: dict[str, Any] = {"systems": systems, "change": None, "conventions": conventions}
    pair: _WeightedPair | _ScoredPair
    if is_weighted_sum(parsed):
        cells = cells_of(rankings, rows, parsed, unranked=True, **options)
        i, j = (cells.systems.index(name) for name in systems)
        numerator, weight = cells.numerator[i] - cells.numerator[j], cells.weight[i] - cells.weight[j]
        pair = _WeightedPair(cells, numerator, Shown.of(rows, cells), conventions, weight)
    else:
        scored = scored_cells(rankings, rows, parsed, **options)
        i, j = (scored.systems.index(name) for name in systems)
        pair = _ScoredPair(scored, scored.score[i] - scored.score[j], Shown.of(rows, scored), conventions, (i, j))
    return DecomposedDifference(
        first,
        second,
        str(parsed),
        pair.difference,
        pair.cells.n_topics,
        int(pair.judged.sum()),
        pair.by_topic(),
        pair.by_document(),
        pair.by_assessor(),
        pair.by_judgment(),
        None if related is None else pair.by_relatives(_relation(rankings, rows.assessors, systems, related)),
    )


def _relation(
    runs: Runs, assessors: tuple[str, ...], systems: tuple[str, str], related: Mapping[str, Selection]
) -> dict[str, NDArray[np.bool_]]:
    """{what they are related to: (assessors,) whether they are}"""
    pairs = related_pairs(assessors, runs.systems, related)
    first, second = (pairs[:, runs.systems.index(name)] for name in systems)
    return {
        "first": first & ~second,
        "second": second & ~first,
        "both": first & second,
        "neither": ~first & ~second,
    }


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two systems. numerator : (cells,) first minus second, before the normaliser."""

    cells: Cells | ScoredCells
    numerator: Floats
    shown: Shown
    conventions: Conventions

    @property
    def difference(self) -> float:
        return float((self.numerator * self.cells.scale).sum())

    @cached_property
    def pool(self) -> Ints:
        """(topics,) documents."""
        return self.shown.pool(len(self.cells.topics))

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
        assessors = np.flatnonzero((self.cells.level >= 0).any(axis=0))
        without = np.array([self.without_assessors(np.arange(self.shape[1]) == a) for a in assessors])
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

    def without_assessors(self, left_out: NDArray[np.bool_]) -> float:
        """The difference without the judgments of these assessors; nan where no score is left."""
        pool = self.shown.pool(len(self.cells.topics), left_out)
        has_score = self.enough(self.cells.counts[:, 0].reshape(self.shape), pool[:, None]) & ~left_out
        return float(np.nanmean(_means(self.scores, has_score))) if has_score.any() else np.nan

    def by_relatives(self, groups: Mapping[str, NDArray[np.bool_]]) -> RelativesParts:
        """By groups of assessors. groups : {name: (assessors,)}."""
        groups = {name: members for name, members in groups.items() if members.any()}
        parts = (self.numerator * self.cells.scale).reshape(self.shape).sum(axis=0)
        names = [[self.cells.assessors[a] for a in np.flatnonzero(members)] for members in groups.values()]
        neither = groups.get("neither", np.zeros(self.shape[1], bool))
        return RelativesParts(
            tuple(groups),
            tuple(map(", ".join, names)),
            np.array([len(one) for one in names], np.int64),
            np.array([self.judged[:, members].sum() for members in groups.values()], np.int64),
            np.array([parts[members].sum() for members in groups.values()]),
            np.array([self.without_assessors(members) for members in groups.values()]),
            self.without_assessors(~neither),
        )

    @cached_property
    def _by_topic(self) -> Floats:
        """(topics,) means over assessors; nan where nobody has a score."""
        return _means(self.scores, self.has_score)

    def _with_topic(self, topics: Ints, after: Floats) -> Floats:
        """The differences if each of these topics alone had this mean over assessors; nan where no score is left."""
        before = self._by_topic[topics]
        n_left = int((~np.isnan(self._by_topic)).sum()) - ~np.isnan(before) + ~np.isnan(after)
        sums = np.nansum(self._by_topic) - np.nan_to_num(before) + np.nan_to_num(after)
        return np.where(n_left > 0, sums / np.maximum(n_left, 1), np.nan)


@dataclass(frozen=True, eq=False)
class _WeightedPair(_Pair):
    """By a measure that is a weighted sum of gains. weight : (items,) of a gain, first minus second."""

    cells: Cells
    weight: Floats

    @property
    def parts(self) -> Floats:
        """(items, assessors) what each judgment adds to the difference."""
        scale = self.cells.scale.reshape(self.shape)
        return np.asarray(self.weight[:, None] * self.cells.own_gains * scale[self.cells.topic])

    def by_document(self) -> DifferenceParts:
        cells, judged = self.cells, self.judged
        items = np.flatnonzero(self.cells.level.max(axis=1, initial=-1) >= 0)
        parts, without = self.parts.sum(axis=1), np.full(judged.shape[0], np.nan)
        for rows in np.split(items, np.flatnonzero(np.diff(cells.topic[items])) + 1) if items.size else ():
            without[rows] = self._with_topic(cells.topic[rows], self._topic_without(int(cells.topic[rows[0]]), rows))
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
            self._with_topic(cells.topic[items], self._without_judgments(items, assessors)),
        )

    def _without_judgments(self, items: Ints, assessors: Ints) -> Floats:
        """(judgments,) the difference in their topic without each of these; nan where no score is left."""
        cells, rows = self.cells, np.arange(items.size)
        topic, level = cells.topic[items], cells.level[items, assessors]
        cell = topic * cells.n_assessors + assessors
        numerator = self.numerator[cell] - self.weight[items] * cells.gains[assessors, level]
        normaliser = cells.normaliser[cell]
        if cells.ideal is not None:
            counts = cells.counts[cell] - (level[:, None] >= np.arange(cells.values.size))
            normaliser = normalisers(cells.ideal, cells.gains[assessors], counts)
        scores = self.scores[topic]
        scores[rows, assessors] = _quotient(numerator, normaliser)
        n_judged = cells.counts[:, 0].reshape(self.shape)[topic]
        n_judged[rows, assessors] -= 1
        pool = self.pool[topic] - self.shown.alone[items, assessors]
        return _means(scores, self.enough(n_judged, pool[:, None]))


@dataclass(frozen=True, eq=False)
class _ScoredPair(_Pair):
    """By any other measure. systems : numbers of the two."""

    cells: ScoredCells
    systems: tuple[int, int]

    @cached_property
    def _cells_without(self) -> Floats:
        """(items, assessors) the difference of the cell without this judgment; as it is where there is none."""
        scores = self.scores[self.cells.topic]
        for a in range(self.cells.n_assessors):
            items = np.flatnonzero(self.cells.level[:, a] >= 0)
            moved = self.cells.moved(a, items, np.full(items.size, -1))
            scores[items, a] += moved[self.systems[0]] - moved[self.systems[1]]
        return scores

    def by_document(self) -> DifferenceParts:
        cells, judged = self.cells, self.cells.level >= 0
        items = np.flatnonzero(judged.any(axis=1))
        topic = cells.topic[items]
        n_judged = cells.counts.reshape(self.shape)[topic] - judged[items]
        after = _means(self._cells_without[items], self.enough(n_judged, self.pool[topic][:, None] - 1))
        without = self._with_topic(topic, after)
        order = self._most_moved(without)
        return DifferenceParts(
            _labels(cells.topics, topic[order]),
            _labels(cells.documents, items[order]),
            None,
            None,
            self.judged.sum(axis=1)[items][order],
            None,
            without[order],
        )

    def by_judgment(self) -> DifferenceParts:
        cells = self.cells
        items, assessors = np.nonzero(cells.level >= 0)
        rows, topic = np.arange(items.size), cells.topic[items]
        scores, n_judged = self.scores[topic], cells.counts.reshape(self.shape)[topic]
        scores[rows, assessors] = self._cells_without[items, assessors]
        n_judged[rows, assessors] -= 1
        pool = self.pool[topic] - self.shown.alone[items, assessors]
        without = self._with_topic(topic, _means(scores, self.enough(n_judged, pool[:, None])))
        order = self._most_moved(without)
        order = order[~(np.abs(without[order] - self.difference) <= ROUNDING)]
        items, assessors = items[order], assessors[order]
        return DifferenceParts(
            _labels(cells.topics, cells.topic[items]),
            _labels(cells.documents, items),
            _labels(cells.assessors, assessors),
            cells.values[cells.level[items, assessors]],
            None,
            None,
            without[order],
        )

    def _most_moved(self, without: Floats) -> Ints:
        return np.argsort(-np.abs(np.where(np.isnan(without), np.inf, without - self.difference)), kind="stable")


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

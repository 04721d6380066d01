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
from qrowd.influence.cells import ROUNDING, Cells, cells_of
from qrowd.influence.weighted_sums import weighted_sums
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
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
    cells = cells_of(rankings, rows, parsed, systems=systems, change=None, conventions=conventions)
    i, j = (cells.systems.index(name) for name in systems)
    weighted = weighted_sums(cells)
    parts = None if weighted is None else weighted.parts(i, j)
    scores = (cells.score[i] - cells.score[j]).reshape(-1, cells.n_assessors)
    pair = _Pair(cells, (i, j), scores, parts, _Shown.of(rows, cells), conventions)
    return DecomposedDifference(
        first,
        second,
        str(parsed),
        pair.difference,
        cells.n_topics,
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
class _Shown:
    """Which documents the assessors were shown, whether they judged them or not.

    topic, assessor, pair : (rows,) each document and assessor once; pair numbers topics and documents together, and
    rises.
    alone : (items, assessors) whether nobody but this assessor was shown the document.
    """

    topic: Ints
    assessor: Ints
    pair: Ints
    alone: NDArray[np.bool_]

    @classmethod
    def of(cls, judgments: Judgments, cells: Cells) -> _Shown:
        pair, assessor = np.unique(np.stack([judgments.pair_numbers, judgments.assessor]), axis=1)
        n_documents = max(len(judgments.documents), 1)
        _, heads, counts = np.unique(pair, return_index=True, return_counts=True)
        lone = heads[counts == 1]
        number = {label: n for n, label in enumerate(judgments.documents)}
        items = cells.topic * n_documents + np.array([number[label] for label in cells.documents], np.int64)
        alone = np.zeros(cells.level.shape, bool)
        if lone.size and items.size:
            place = np.minimum(np.searchsorted(pair[lone], items), lone.size - 1)
            only = pair[lone][place] == items
            alone[only, assessor[lone][place[only]]] = True
        return cls(pair // n_documents, assessor, pair, alone)

    def pool(self, n_topics: int, without: NDArray[np.bool_] | None = None) -> Ints:
        """(topics,) documents of each pool, as it is without some assessors. without : (assessors,)."""
        rows = slice(None) if without is None else ~without[self.assessor]
        heads = np.diff(self.pair[rows], prepend=-1) > 0
        return np.bincount(self.topic[rows][heads], minlength=n_topics)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two systems. systems : their numbers. scores : (topics, assessors) first minus second. parts : (items, assessors)
    what each judgment adds to the difference; None where the measure is no weighted sum of gains."""

    cells: Cells
    systems: tuple[int, int]
    scores: Floats
    parts: Floats | None
    shown: _Shown
    conventions: Conventions

    @property
    def by_cell(self) -> Floats:
        """(topics, assessors) what each adds to the difference."""
        return np.asarray(self.scores * self.cells.share.reshape(self.scores.shape))

    @property
    def difference(self) -> float:
        return float(self.by_cell.sum())

    @cached_property
    def pool(self) -> Ints:
        """(topics,) documents."""
        return self.shown.pool(len(self.cells.topics))

    @property
    def judged(self) -> NDArray[np.bool_]:
        """(items, assessors) judgments in cells that have a score."""
        return (self.cells.level >= 0) & self.has_score[self.cells.topic]

    @property
    def has_score(self) -> NDArray[np.bool_]:
        """(topics, assessors)"""
        return np.asarray(self.cells.share.reshape(self.scores.shape) > 0)

    def enough(self, n_judged: Ints, pool: Ints) -> NDArray[np.bool_]:
        """Whether an assessor has a score who judged so many documents of a pool."""
        coverage = n_judged / np.maximum(pool, 1)
        return np.asarray((coverage > 0) & (coverage >= self.conventions.min_coverage))

    @cached_property
    def without_judgment(self) -> Floats:
        """(items, assessors) the difference of the cell without this judgment; as it is where there is none."""
        scores = self.scores[self.cells.topic]
        items, assessors = np.nonzero(self.cells.level >= 0)
        moved = self.cells.moved(items, assessors, np.full(items.size, -1))
        scores[items, assessors] += moved[self.systems[0]] - moved[self.systems[1]]
        return scores

    def by_topic(self) -> DifferenceParts:
        topics = np.flatnonzero(self.has_score.any(axis=1))
        parts = self.by_cell.sum(axis=1)[topics]
        means = self.topic_means[topics]
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
        without = np.array([self.without_assessors(np.arange(self.cells.n_assessors) == a) for a in assessors])
        parts = self.by_cell.sum(axis=0)[assessors]
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
        has_score = self.enough(self.cells.counts, pool[:, None]) & ~left_out
        return float(np.nanmean(_means(self.scores, has_score))) if has_score.any() else np.nan

    def by_relatives(self, groups: Mapping[str, NDArray[np.bool_]]) -> RelativesParts:
        """By groups of assessors. groups : {name: (assessors,)}."""
        groups = {name: members for name, members in groups.items() if members.any()}
        parts = self.by_cell.sum(axis=0)
        names = [[self.cells.assessors[a] for a in np.flatnonzero(members)] for members in groups.values()]
        neither = groups.get("neither", np.zeros(self.cells.n_assessors, bool))
        return RelativesParts(
            tuple(groups),
            tuple(map(", ".join, names)),
            np.array([len(members) for members in names], np.int64),
            np.array([self.judged[:, members].sum() for members in groups.values()], np.int64),
            np.array([parts[members].sum() for members in groups.values()]),
            np.array([self.without_assessors(members) for members in groups.values()]),
            self.without_assessors(~neither),
        )

    def by_document(self) -> DifferenceParts:
        judged = self.cells.level >= 0
        items = np.flatnonzero(judged.any(axis=1))
        topic = self.cells.topic[items]
        enough = self.enough(self.cells.counts[topic] - judged[items], self.pool[topic][:, None] - 1)
        without = self._with_topic(topic, _means(self.without_judgment[items], enough))
        parts = None if self.parts is None else self.parts.sum(axis=1)[items]
        order = self._most_moved(without) if parts is None else _largest_first(parts)
        return DifferenceParts(
            _labels(self.cells.topics, topic[order]),
            _labels(self.cells.documents, items[order]),
            None,
            None,
            self.judged.sum(axis=1)[items][order],
            None if parts is None else parts[order],
            without[order],
        )

    def by_judgment(self) -> DifferenceParts:
        cells = self.cells
        items, assessors = np.nonzero(cells.level >= 0 if self.parts is None else self.parts)
        rows, topic = np.arange(items.size), cells.topic[items]
        scores, n_judged = self.scores[topic], self.cells.counts[topic]
        scores[rows, assessors] = self.without_judgment[items, assessors]
        n_judged[rows, assessors] -= 1
        pool = self.pool[topic] - self.shown.alone[items, assessors]
        without = self._with_topic(topic, _means(scores, self.enough(n_judged, pool[:, None])))
        if self.parts is None:
            order = self._most_moved(without)
            order = order[~(np.abs(without[order] - self.difference) <= ROUNDING)]
        else:
            order = _largest_first(self.parts[items, assessors])
        items, assessors = items[order], assessors[order]
        return DifferenceParts(
            _labels(cells.topics, cells.topic[items]),
            _labels(cells.documents, items),
            _labels(cells.assessors, assessors),
            cells.values[cells.level[items, assessors]],
            None,
            None if self.parts is None else self.parts[items, assessors],
            without[order],
        )

    @cached_property
    def topic_means(self) -> Floats:
        """(topics,) means over assessors; nan where nobody has a score."""
        return _means(self.scores, self.has_score)

    def _with_topic(self, topics: Ints, after: Floats) -> Floats:
        """The differences if each of these topics alone had this mean over assessors; nan where no score is left."""
        before = self.topic_means[topics]
        n_left = int((~np.isnan(self.topic_means)).sum()) - ~np.isnan(before) + ~np.isnan(after)
        sums = np.nansum(self.topic_means) - np.nan_to_num(before) + np.nan_to_num(after)
        return np.where(n_left > 0, sums / np.maximum(n_left, 1), np.nan)

    def _most_moved(self, without: Floats) -> Ints:
        return np.argsort(-np.abs(np.where(np.isnan(without), np.inf, without - self.difference)), kind="stable")


def _means(scores: Floats, has_score: NDArray[np.bool_]) -> Floats:
    """(...,) means over the assessors who have a score; nan where nobody has one."""
    n = has_score.sum(axis=-1)
    return np.where(n > 0, np.where(has_score, scores, 0.0).sum(axis=-1) / np.maximum(n, 1), np.nan)


def _largest_first(parts: Floats) -> Ints:
    return np.argsort(-np.abs(parts), kind="stable")


def _labels(labels: tuple[str, ...], numbers: Ints) -> tuple[str, ...]:
    return tuple(labels[number] for number in numbers.tolist())

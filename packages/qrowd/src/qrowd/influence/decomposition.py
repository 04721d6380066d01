"""The difference of two systems as a sum over topics, documents, assessors and judgments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.evaluation import measure as parsed_measure
from qrowd.influence.score_cells import ROUNDING, Cells, cells_of
from qrowd.influence.weighted_sums import weighted_sums
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.model.conventions import Conventions
from qrowd.model.labels import number_of
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.result import Result


@dataclass(frozen=True, eq=False)
class DifferenceParts(Result):
    """Parts of a difference, the largest first; arrays are (parts,).

    topics, documents, assessors, value : which topic, document, assessor or judgment; None where the part has none.
    n_judgments : judgments of the part; None for judgments. part : what it adds to the difference. difference_without :
    the difference without the topic or assessor, as scoring again gives it; None for documents and judgments.
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
    not 0 are listed. Documents and judgments are None where the measure is no weighted sum of gains. n_judgments : of
    the topics that are scored.
    """

    first: str
    second: str
    measure: str
    difference: float
    n_topics: int
    n_judgments: int
    topics: DifferenceParts
    assessors: DifferenceParts
    documents: DifferenceParts | None
    judgments: DifferenceParts | None

    @property
    def n_documents(self) -> int:
        """Documents that add to the difference; 0 where documents have no parts."""
        return 0 if self.documents is None else int((np.abs(self.documents.part) > ROUNDING).sum())

    @property
    def n_documents_enough(self) -> int:
        """The least number of documents whose parts alone add up to the difference."""
        parts = np.zeros(0) if self.documents is None else self.documents.part
        sums = np.cumsum(-np.sort(-np.sign(self.difference) * parts))
        return int(np.argmax(np.append(sums, np.inf) >= abs(self.difference) - ROUNDING)) + 1

    def _tables(self) -> dict[str, Callable[[], Mapping[str, Any]]]:
        parts = {name: getattr(self, name) for name in ("topics", "assessors", "documents", "judgments")}
        return {name: part._columns for name, part in parts.items() if part is not None}

    def _sentence(self) -> str:
        difference = f"{self.first} minus {self.second} is {self.difference:.4f} by {self.measure}"
        if self.judgments is None:
            return f"{difference}, a sum over topics and assessors."
        return f"{difference}, a sum over {self.judgments.part.size:,} of {self.n_judgments:,} judgments."


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

    `difference_without` of a topic or assessor is the difference if its judgments were missing, with the topics and
    assessors with a score that are then left: what `qrowd.evaluate` gives for the remaining judgments. nan where no
    score is left.

    Measures that are no weighted sums of gains, such as AP, RR and ERR, are sums over topics and assessors alone.

    Parameters
    ----------
    first, second
        Names of the systems.
    measure
        Any measure of judgments.
    conventions
        Those of scoring; ties, unjudged, missing, empty and duplicates must have their defaults.

    Raises
    ------
    MeasureError
        A measure of preferences, or one that joins the assessors.
    ArgumentError
        An unknown system, the same one twice, or a convention that is not supported.

    >>> import qrowd
    >>> runs = {"a": {"t": {"d1": 2, "d2": 1}}, "b": {"t": {"d2": 2, "d1": 1}}}
    >>> result = qrowd.decompose_difference(runs, {"t": {"d1": 3, "d2": 1}}, "a", "b", "DCG@1")
    >>> result.difference
    2.0
    >>> result.to_frame(what="documents")[["document", "part"]].values.tolist()
    [['d1', 3.0], ['d2', -1.0]]
    """
    rankings, rows = as_runs(runs), as_judgments(judgments)
    for name in (first, second):
        number_of(name, rankings.systems, "system")
    if first == second:
        raise ArgumentError(f"systems {first!r} and {second!r} are the same; name two")
    parsed, systems = parsed_measure(measure), (first, second)
    cells = cells_of(rankings, rows, parsed, systems=systems, change=None, conventions=conventions)
    i, j = (cells.systems.index(name) for name in systems)
    share = cells.share.reshape(-1, cells.n_assessors)
    by_cell = (cells.score[i] - cells.score[j]).reshape(share.shape) * share
    judged = (cells.level >= 0) & (share > 0)[cells.topic]
    weighted = weighted_sums(cells)
    parts = None if weighted is None else weighted.parts(i, j)
    graded = conventions.graded(rows).single(repeats=conventions.repeats)
    in_pool = np.zeros(cells.level.shape, bool)
    in_pool[cells.items_of(graded), graded.assessor] = True

    return DecomposedDifference(
        first,
        second,
        str(parsed),
        float(by_cell.sum()),
        cells.n_topics,
        int(judged.sum()),
        _by_topic(cells, by_cell, judged),
        _by_assessor(cells, by_cell, judged, cells.score[i] - cells.score[j], in_pool),
        None if parts is None else _by_document(cells, parts, judged),
        None if parts is None else _by_judgment(cells, parts),
    )


def _by_topic(cells: Cells, by_cell: Floats, judged: Bools) -> DifferenceParts:
    """by_cell : (topics, assessors) what each adds. judged : (items, assessors) judgments of cells with a score."""
    n_judgments = np.bincount(cells.topic, judged.sum(axis=1), len(cells.topics)).astype(np.int64)
    topics = np.flatnonzero(n_judgments)
    parts, n = by_cell.sum(axis=1)[topics], topics.size
    without = (parts.sum() - parts) * n / (n - 1) if n > 1 else np.full(n, np.nan)
    order = _largest_first(parts)
    names = _labels(cells.topics, topics[order])
    return DifferenceParts(names, None, None, None, n_judgments[topics][order], parts[order], without[order])


def _by_assessor(cells: Cells, by_cell: Floats, judged: Bools, difference: Floats, in_pool: Bools) -> DifferenceParts:
    """difference : (cells,) first minus second system. in_pool : (items, assessors) whether judged or shown."""
    assessors = np.flatnonzero((cells.level >= 0).any(axis=0))
    parts = by_cell.sum(axis=0)[assessors]
    order = _largest_first(parts)
    n_judgments = judged.sum(axis=0)[assessors][order]
    differences = difference.reshape(-1, cells.n_assessors)
    without = np.array([_without(cells, differences, in_pool, assessor) for assessor in assessors[order].tolist()])
    names = _labels(cells.assessors, assessors[order])
    return DifferenceParts(None, None, names, None, n_judgments, parts[order], without)


def _without(cells: Cells, differences: Floats, in_pool: Bools, assessor: int) -> float:
    """The difference without an assessor, whose documents leave the pool unless others have them in it."""
    others = np.arange(cells.n_assessors) != assessor
    n_pool = np.bincount(cells.topic, in_pool[:, others].any(axis=1), len(cells.topics))[:, None]
    n_judged = cells.counts[:, others]
    has_score = (n_judged > 0) & (n_judged / np.maximum(n_pool, 1) >= cells.conventions.min_coverage)
    scored = np.where(has_score, differences[:, others], np.nan)[has_score.any(axis=1)]
    can_be_scored = np.isin(cells.topics, cells.runs.topics)[n_pool[:, 0] > 0].any()
    return float(np.nanmean(scored, axis=1).mean()) if scored.size and can_be_scored else np.nan


def _by_document(cells: Cells, parts: Floats, judged: Bools) -> DifferenceParts:
    """parts : (items, assessors) what each judgment adds."""
    items = np.flatnonzero((cells.level >= 0).any(axis=1))
    items = items[_largest_first(parts.sum(axis=1)[items])]
    topics, documents = _labels(cells.topics, cells.topic[items]), _labels(cells.documents, items)
    return DifferenceParts(topics, documents, None, None, judged.sum(axis=1)[items], parts.sum(axis=1)[items], None)


def _by_judgment(cells: Cells, parts: Floats) -> DifferenceParts:
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


def _largest_first(parts: Floats) -> Ints:
    return np.argsort(-np.abs(parts), kind="stable")


def _labels(labels: tuple[str, ...], numbers: Ints) -> tuple[str, ...]:
    return tuple(labels[number] for number in numbers.tolist())

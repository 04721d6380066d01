"""How often a second assessor finds relevant what a first one graded i: equations 4 and 5, and their resamples.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19, section 5.2. Equation 5 adds both directions of every pair, which is the coincidence matrix of Krippendorff (2011),
Computing Krippendorff's Alpha-Reliability, step 2, summed over the relevant grades of each row and divided by the row.
So it holds for any number of judgments of a document, each judgment counting once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.kernels.counts import coincidences
from qrowd.kernels.resample import resampled
from qrowd.model.labels import closest
from qrowd.predicted_relevance.doubles import Graded

Method = Literal["symmetric", "one-sided"]
First = str | Sequence[str] | None

CELLS_AT_ONCE = 2_000_000  # of a block of resamples


@dataclass(frozen=True, eq=False)
class Observed:
    """Counts of each document, which can be summed with any weights.

    weight : (documents, grades) number of judgments that predict, which are denominators: of that grade under equation
        5; 1 for the first assessor's grade under equation 4.
    relevant : (documents, grades) the part of them that another assessor found relevant: numerators.
    matrix : (grades, grades) sum over documents of grade given (rows) and grade given by another assessor (columns).
    topic : (documents,) numbers of topics.
    kinds, multiplicity : (kinds,) one document of each kind, equal in counts, and their number.
    included : of the documents judged twice, those with a judgment by a first assessor.
    """

    weight: Floats
    relevant: Floats
    matrix: Floats
    topic: Ints
    kinds: Ints
    multiplicity: Ints
    included: Bools


def observed(doubles: Graded, relevant: Bools, method: Method = "symmetric", first: First = None) -> Observed:
    """Count by equation 5 ("symmetric") or 4 ("one-sided").

    relevant : (grades,) which grades are relevant to a user.
    first : under equation 4, the assessor whose judgment predicts: a name; several names, of which the first who judged
        a document counts; None, whoever judged it first (by the order column, else by position). The other assessors
        of the document are users, who share its weight.

    Raises
    ------
    ArgumentError
        An unknown method or name, or `first` under equation 5.
    NoOverlapError
        No document judged twice was judged by the first assessor.
    """
    check_choice("method", method, Method)
    counts = doubles.counts
    n = counts.shape[0]
    if method == "symmetric":
        if first is not None:
            raise ArgumentError("only method='one-sided' (equation 4) has a first assessor", "first", first)
        # The mean over the other judgments of the document, without the judgment itself.
        others = (counts @ relevant)[:, None] - relevant
        found_relevant = counts * others / (doubles.size - 1)[:, None]
        matrix = coincidences(counts, 1 / (doubles.size - 1))
        return Observed(counts, found_relevant, matrix, doubles.topic, *_kinds(counts), np.ones(n, bool))
    row = _first_rows(doubles, first)
    included = row >= 0
    if not included.any():
        raise NoOverlapError(f"first={first!r} judged no document that another assessor judged too; choose another")
    count = np.eye(doubles.grades.size)[doubles.grade[row[included]]]
    others = counts[included] - count
    share = others / others.sum(axis=1, keepdims=True)
    found_relevant = count * (share @ relevant)[:, None]
    kinds = _kinds(np.hstack([count, others]))
    return Observed(count, found_relevant, count.T @ share, doubles.topic[included], *kinds, included)


def _first_rows(doubles: Graded, first: First) -> Ints:
    """(documents,) the row of the judgment that predicts; -1 where no named assessor judged the document."""
    if first is None:
        return doubles.starts[:-1]
    names = [first] if isinstance(first, str) else list(first)
    for name in names:
        if name not in doubles.assessors:
            raise ArgumentError(f"first={name!r} is no assessor; {closest(name, doubles.assessors, 'assessor')}")
    order = np.full(len(doubles.assessors), len(names))
    for place, name in reversed(list(enumerate(names))):
        order[doubles.assessors.index(name)] = place
    of_row = order[doubles.assessor]
    rows = np.lexsort((of_row, doubles.of_rows()))[doubles.starts[:-1]]
    return np.where(of_row[rows] < len(names), rows, -1)


def _kinds(rows: Floats) -> tuple[Ints, Ints]:
    """(kinds,) the first of each kind of equal rows, and their number; rows : (documents, ...) whole numbers.

    Rows too wide for one 64-bit number are each a kind of their own.
    """
    base = int(rows.max(initial=0)) + 1
    if base ** rows.shape[1] >= 2**63:
        return np.arange(rows.shape[0]), np.ones(rows.shape[0], np.int64)
    place = np.array([base**i for i in range(rows.shape[1])], np.int64)
    _, kinds, multiplicity = np.unique(rows.astype(np.int64) @ place, return_index=True, return_counts=True)
    return kinds, multiplicity.astype(np.int64)


def estimate(relevant: Floats, weight: Floats, smoothing: float) -> Floats:
    """(..., grades) p(R|i) = (relevant + smoothing * overall) / (weight + smoothing); nan without any weight.

    overall : the share of all judgments by others that are relevant, whatever the predicting grade.
    """
    whole = weight.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        overall = relevant.sum(axis=-1, keepdims=True) / whole
        return np.asarray((relevant + smoothing * overall) / (weight + smoothing)) if smoothing else relevant / weight


def resampled_documents(
    counts: Observed, n_resamples: int, random: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """(rows, grades) numerators and denominators of documents drawn with replacement, block by block."""
    kind = np.arange(counts.kinds.size)
    return _blocks(counts, counts.kinds, kind, counts.multiplicity, n_resamples, random)


def resampled_topics(
    counts: Observed, n_resamples: int, random: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """(rows, grades) numerators and denominators of topics drawn with replacement, with all their documents."""
    topics, topic = np.unique(counts.topic, return_inverse=True)
    return _blocks(counts, np.arange(counts.topic.size), topic, np.ones(topics.size, np.int64), n_resamples, random)


def _blocks(
    counts: Observed, documents: Ints, group: Ints, multiplicity: Ints, n_resamples: int, random: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """group : of each of these documents, what is drawn as a whole; multiplicity : (groups,) the number of each."""
    shape = multiplicity.size, counts.weight.shape[1]
    parts = []
    for part in (counts.relevant, counts.weight):
        cells = np.zeros(shape)
        np.add.at(cells, group, part[documents])
        parts.append(cells)
    for often in resampled(multiplicity, n_resamples, max(1, CELLS_AT_ONCE // max(shape)), random):
        yield often @ parts[0], often @ parts[1]

"""Double judgments: documents that at least two assessors judged, from which disagreement is learnt.

How often a second assessor finds relevant what a first one graded i: equations 4 and 5 of Demeester, Aly, Hiemstra,
Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J. 19, section 5.2. Equation 5
adds both directions of every pair, which is the coincidence matrix of Krippendorff (2011), Computing Krippendorff's
Alpha-Reliability, step 2, summed over the relevant grades of each row and divided by the row. So it holds for any
number of judgments of a document, each judgment counting once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError, ScaleError, check_choice
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.kernels.counts import coincidences, value_counts
from qrowd.kernels.resample import resampled
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest, distinct_values
from qrowd.model.one_scale import CombineScales, on_one_scale
from qrowd.model.panel import Pool
from qrowd.model.scales import Scale

Repeated = Literal["first", "last", "error"]
"""Which of an assessor's repeated judgments counts; a mean of grades is no grade."""


@dataclass(frozen=True, eq=False)
class Graded:
    """Judgments as grades numbered from 0, document by document.

    grades : (grades,) the values that anyone gave, rising; scale : the one they are on.
    topics, documents, assessors : labels.
    topic, document : (documents,) numbers of each document, topic by topic.
    starts : (documents + 1,); the judgments of document d are the rows starts[d]:starts[d + 1], the first one given
        first.
    assessor, grade : (rows,) numbers of the assessor and of the grade.
    n_repeats : judgments that repeat one of the same assessor. n_single : documents judged once, which are left out.
    """

    grades: Floats
    scale: Scale
    topics: tuple[str, ...]
    documents: tuple[str, ...]
    assessors: tuple[str, ...]
    topic: Ints
    document: Ints
    starts: Ints
    assessor: NDArray[np.int32]
    grade: NDArray[np.int32]
    n_repeats: int
    n_single: int = 0

    @property
    def pool(self) -> Pool:
        """The judged documents."""
        starts = np.searchsorted(self.topic, np.arange(len(self.topics) + 1)).astype(np.int64)
        return Pool(self.topics, self.documents, starts, self.document.astype(np.int32))

    @cached_property
    def counts(self) -> Floats:
        """(documents, grades) how many assessors gave each document each grade."""
        counts = value_counts(self.starts.copy(), self.grade, self.grades.size)  # a sparse result takes them over
        return np.asarray(counts if isinstance(counts, np.ndarray) else counts.toarray(), np.float64)

    @cached_property
    def size(self) -> Ints:
        """(documents,) judgments of each."""
        return np.diff(self.starts)

    def of_rows(self) -> Ints:
        """(rows,) the document of each judgment."""
        return np.repeat(np.arange(self.size.size), self.size)

    def part(self, which: Bools) -> Graded:
        """Some of the documents."""
        rows = which[self.of_rows()]
        starts = np.append(0, np.cumsum(self.size[which])).astype(np.int64)
        return replace(
            self,
            topic=self.topic[which],
            document=self.document[which],
            starts=starts,
            assessor=self.assessor[rows],
            grade=self.grade[rows],
        )

    def doubles(self) -> Graded:
        """The documents that at least two assessors judged.

        Raises
        ------
        NoOverlapError
            There is none.
        """
        if not (self.size > 1).any():
            raise NoOverlapError(
                f"none of {self.size.size:,} documents was judged by two assessors, and disagreement is learnt from "
                "such documents; let a second assessor judge a sample of the documents of every topic"
            )
        return replace(self.part(self.size > 1), n_single=int(np.count_nonzero(self.size == 1)))


def graded(judgments: Judgments, repeats: Repeated = "first", combine_scales: CombineScales = "auto") -> Graded:
    """Sort and number judgments; "not judged" (negative) is no judgment.

    combine_scales : values on unlike scales; "auto": each is relevant or not.

    Raises
    ------
    ScaleError
        Magnitudes beside another scale; fractions or magnitudes on one scale, which have no grades.
    NoOverlapError
        No judgment at all.
    """
    check_choice("repeats", repeats, Repeated)
    judgments = on_one_scale(judgments, combine_scales, "relevant")
    scale = grades_scale(judgments)
    one = judgments.single(repeats=repeats)
    judged = np.flatnonzero(one.value >= 0)
    if not judged.size:
        raise NoOverlapError("there are no judgments, so there is no disagreement to learn from")
    pair = one.pair_numbers
    order = (pair[judged],) if one.order is None else (one.order[judged], pair[judged])
    rows = judged[np.lexsort(order)]
    pairs, begins = np.unique(pair[rows], return_index=True)
    grades, grade = distinct_values(one.value[rows])
    return Graded(
        grades,
        scale,
        one.topics,
        one.documents,
        one.assessors,
        pairs // len(one.documents),
        pairs % len(one.documents),
        np.append(begins, rows.size).astype(np.int64),
        one.assessor[rows],
        grade.astype(np.int32),
        judgments.n_repeats(),
    )


def grades_scale(judgments: Judgments) -> Scale:
    """The scale of grades that all assessors share.

    Raises
    ------
    ScaleError
        Unlike scales; fractions or magnitudes.
    """
    scale = judgments.shared_scale()
    if scale.kind in ("fractions", "magnitude") or (judgments.value[judgments.value >= 0] % 1 != 0).any():
        raise ScaleError(
            f"predicted relevance needs whole grades, and these are {scale.kind} ({scale}); recode them into grades "
            "(--recode), by a mapping or a threshold"
        )
    return scale


def is_relevant(grades: Floats, scale: Scale, rel: float | None) -> tuple[Bools, str]:
    """(grades,) which grades a user finds relevant, which are rel and all above it, and the rule in words.

    Raises
    ------
    ArgumentError
        No threshold, or one outside the scale.
    """
    if rel is None:
        raise ArgumentError("the lowest relevant grade is needed, as in --rel 2 (in Python rel=2)")
    top = scale.maximum
    if not 0 < rel <= top:
        raise ArgumentError(f"it is outside the scale ({scale}); choose a grade above 0, up to {top:g}", "rel", rel)
    return grades >= rel, f"grade >= {rel:g}"


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


def observed(doubles: Graded, relevant: Bools, method: Method = "symmetric", first: Sequence[str] = ()) -> Observed:
    """Count by equation 5 ("symmetric") or 4 ("one-sided").

    relevant : (grades,) which grades are relevant to a user.
    first : under equation 4, the assessors whose judgments predict, of whom the first who judged a document counts;
        none: whoever judged it first (by the order column, else by position). The other assessors of the document are
        users, who share its weight.

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
        if first:
            raise ArgumentError("only method one-sided (equation 4) has a first assessor", "first", ", ".join(first))
        # The mean over the other judgments of the document, without the judgment itself.
        others = (counts @ relevant)[:, None] - relevant
        found_relevant = counts * others / (doubles.size - 1)[:, None]
        matrix = coincidences(counts, 1 / (doubles.size - 1))
        return Observed(counts, found_relevant, matrix, doubles.topic, *_kinds(counts), np.ones(n, bool))
    row = _first_rows(doubles, first)
    included = row >= 0
    if not included.any():
        raise NoOverlapError(
            f"first={', '.join(first)!r} judged no document that another assessor judged too; choose another"
        )
    count = np.eye(doubles.grades.size)[doubles.grade[row[included]]]
    others = counts[included] - count
    share = others / others.sum(axis=1, keepdims=True)
    found_relevant = count * (share @ relevant)[:, None]
    kinds = _kinds(np.hstack([count, others]))
    return Observed(count, found_relevant, count.T @ share, doubles.topic[included], *kinds, included)


def _first_rows(doubles: Graded, first: Sequence[str]) -> Ints:
    """(documents,) the row of the judgment that predicts; -1 where no named assessor judged the document."""
    if not first:
        return doubles.starts[:-1]
    for name in first:
        if name not in doubles.assessors:
            raise ArgumentError(f"first={name!r} is no assessor; {closest(name, doubles.assessors, 'assessor')}")
    order = np.full(len(doubles.assessors), len(first))
    for place, name in reversed(list(enumerate(first))):
        order[doubles.assessors.index(name)] = place
    of_row = order[doubles.assessor]
    rows = np.lexsort((of_row, doubles.of_rows()))[doubles.starts[:-1]]
    return np.where(of_row[rows] < len(first), rows, -1)


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

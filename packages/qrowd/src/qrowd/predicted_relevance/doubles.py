"""Double judgments: documents that at least two assessors judged, from which disagreement is learnt."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError, ScaleError, check_choice
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.kernels.counts import value_counts
from qrowd.model.judgments import Judgments
from qrowd.model.labels import distinct_values
from qrowd.model.one_scale import CombineScales, on_one_scale
from qrowd.model.scales import Scale

Repeated = Literal["first", "last", "error"]
"""Which of an assessor's repeated judgments counts; a mean of grades is no grade."""


class Pairs(NamedTuple):
    """(topic, document) pairs, by number among labels: `topic` and `document` are (pairs,)."""

    topics: tuple[str, ...]
    topic: NDArray[np.integer]
    documents: tuple[str, ...]
    document: NDArray[np.integer]


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
    def pairs(self) -> Pairs:
        """(documents,) the judged documents."""
        return Pairs(self.topics, self.topic, self.documents, self.document)

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


def double_judgments(
    judgments: Judgments, repeats: Repeated = "first", combine_scales: CombineScales = "auto"
) -> Graded:
    """All documents judged at least twice; errors as of `graded` and `Graded.doubles`."""
    return graded(judgments, repeats, combine_scales).doubles()


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


def is_relevant(
    grades: Floats, scale: Scale, rel: float | None, relevant_grades: Collection[float] | None
) -> tuple[Bools, str]:
    """(grades,) which grades a user finds relevant, and the rule in words.

    rel : this grade and all above it; relevant_grades : these grades. One of the two.

    Raises
    ------
    ArgumentError
        Neither or both; a threshold or a grade outside the scale; all grades relevant.
    """
    if (rel is None) == (relevant_grades is None):
        raise ArgumentError(
            "rel: give the lowest relevant grade (rel=2), or all relevant grades (relevant_grades={2, 3}); one of the "
            "two is needed"
        )
    top = scale.maximum
    if rel is not None:
        if not 0 < rel <= top:
            raise ArgumentError(f"rel={rel:g} is outside the scale ({scale}); choose a grade above 0, up to {top:g}")
        return grades >= rel, f"grade >= {rel:g}"
    grades_named = sorted({float(grade) for grade in relevant_grades or ()})
    if not grades_named:
        raise ArgumentError("relevant_grades: no grade is named; name some grades of the scale")
    for grade in grades_named:
        if grade % 1 != 0 or not 0 <= grade <= top:
            raise ArgumentError(
                f"relevant_grades: {grade:g} is no grade of the scale ({scale}); choose from 0 to {top:g}"
            )
    if len(grades_named) > top:
        raise ArgumentError(f"relevant_grades: every grade of the scale ({scale}) is named; leave out some")
    return np.isin(grades, grades_named), "grade in {" + ", ".join(f"{grade:g}" for grade in grades_named) + "}"

"""How preference measures are scored: the view of one topic they read, from preferences or from grades.

A document that a system did not rank stands one below its last; so does, under a cut-off, every document below the
cut-off. A pair of which neither document is ranked is not looked at.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels import preference
from qrowd.kernels.arrays import Floats
from qrowd.kernels.gain_sums import discounts
from qrowd.kernels.ranking import condensed
from qrowd.model.measure import Definition, Measure
from qrowd.model.preferences import TopicPreferences

Ranks = NDArray[np.int32]
WITHOUT_LIMIT = np.iinfo(np.int32).max - 1
Made = TypeVar("Made")


@dataclass(eq=False)
class PairView:
    """One topic as preference measures read it.

    rows : (systems, depth) int32, place in the topic's pool of the document at each rank; -1 outside the pool and
        beyond the list's end.
    tied : (systems, depth) bool, the document has the score of the one above.
    lengths : (systems,) how many documents each system returned.
    source : what the assessors said, in places of the pool; or their grades, (documents, assessors), nan where not
        judged, from which preferences are inferred.
    """

    rows: Ranks
    tied: NDArray[np.bool_]
    lengths: NDArray[np.int64]
    source: TopicPreferences | Floats
    _memo: dict[object, object] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """Systems and assessors."""
        n_assessors = self.source.shape[1] if isinstance(self.source, np.ndarray) else self.source.n_assessors
        return int(self.rows.shape[0]), int(n_assessors)

    @property
    def n_documents(self) -> int:
        """In the topic's pool."""
        return int(self.source.shape[0]) if isinstance(self.source, np.ndarray) else self.source.n_documents

    @property
    def grades(self) -> Floats | None:
        """The grades behind the preferences, where they were inferred."""
        return self.source if isinstance(self.source, np.ndarray) else None

    @property
    def said(self) -> TopicPreferences:
        """The preferences; inferred from grades only when they are asked for, being many."""
        source = self.source
        return self.remember("said", lambda: pairs_of_grades(source)) if isinstance(source, np.ndarray) else source

    def remember(self, key: object, make: Callable[[], Made]) -> Made:
        """make() the first time; measures of one evaluation share what they read."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]  # type: ignore[return-value]

    def ranks(self, *, last: int | None = None, ascending: bool = False) -> tuple[Ranks, Ranks]:
        """(systems, documents) ranks and (systems,) limits, the rank of documents that are not ranked.

        last : cut-off, below which documents are not ranked.
        ascending : equal scores are broken by document id, lowest first, where a measure is defined so.
        """

        def make() -> Ranks:
            ranks = np.empty((self.rows.shape[0], self.n_documents), np.int32)
            preference.document_ranks(self.rows, self.tied, ascending, ranks)
            return ranks

        def capped() -> tuple[Ranks, Ranks]:
            end = np.minimum(self.lengths, WITHOUT_LIMIT if last is None else last).astype(np.int32)
            ranks = self.remember(("ranks", ascending), make)
            return np.where((ranks > 0) & (ranks <= end[:, None]), ranks, end[:, None] + 1).astype(np.int32), end + 1

        return self.remember(("capped", ascending, last), capped)

    def weights(self, strong: float) -> Floats:
        """(rows,) weight of each preference, `strong` times as much where it was strong."""
        return np.asarray(self.said.weight * np.where(self.said.strength == 2, strong, 1.0))

    def judged(self) -> Floats:
        """(documents, assessors) 1 where the assessor compared or marked the document, else 0."""
        grades = self.grades
        return self.remember(
            "judged", lambda: (self.said.judged() if grades is None else ~np.isnan(grades)).astype(np.float64)
        )

    def condensed(self, assessor: int) -> PairView:
        """One assessor's view with the documents he or she has not judged taken out of every ranking (Sakai 2007)."""
        judged = self.judged()[:, assessor] > 0
        rows, tied = condensed(self.rows, self.tied, judged)
        alone = self.said.of(assessor) if self.grades is None else self.grades[:, [assessor]]
        return PairView(rows, tied, (rows >= 0).sum(axis=1), alone)


def pairs_of_grades(grades: Floats) -> TopicPreferences:
    """Every document is preferred to those that the same assessor graded lower; those graded 0 or less are Bad.

    grades : (documents, assessors), nan where not judged.
    """
    judged = ~np.isnan(grades.T)
    assessor, document = np.nonzero(judged)
    starts = np.append(0, np.cumsum(judged.sum(axis=1))).astype(np.int64)
    value = grades.T[assessor, document]
    pairs, ends = preference.pairs_by_value(starts, value)
    marks = value <= 0
    return TopicPreferences(
        grades.shape[0],
        ends,
        document.astype(np.int32)[pairs],
        np.ones(pairs.shape[0]),
        np.ones(pairs.shape[0], np.int64),
        np.append(0, np.cumsum(np.bincount(assessor[marks], minlength=grades.shape[1]))).astype(np.int64),
        document[marks].astype(np.int32),
        np.empty(0, np.int64),
    )


class PreferenceMeasure(Definition):
    """A measure of how far a ranking follows preferences."""

    @abstractmethod
    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        """Write the (systems, assessors) scores of one topic into out."""

    def n_relevant(self, measure: Measure, view: PairView) -> Floats:
        """(assessors,) how many preferences the measure could have rewarded; where 0, the score says nothing."""
        return np.diff(view.said.starts).astype(np.float64)


def share(part: Floats, whole: Floats) -> Floats:
    """part / whole, 0 where the whole is 0."""
    return np.asarray(part / np.where(whole > 0, whole, np.inf))


def pair_discounts(form: str, deepest: int) -> Floats:
    """(deepest + 1,) what a pair weighs by the rank that decides, rank 0 unused.

    form : "lower" and "upper" (of the two ranks) 1 / log2(r + 1), "upper-log2" 1 / (1 + log2(r)), anything else 1.
    """
    ranks = np.arange(1, deepest + 1, dtype=np.float64)
    weights = np.ones(deepest + 1)
    if form in ("lower", "upper"):
        weights[1:] = discounts(deepest)
    elif form == "upper-log2":
        weights[1:] = 1 / (1 + np.log2(ranks))
    return weights

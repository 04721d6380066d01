"""How measures are scored: the view of one topic they read, and the two kinds there are.

A `Linear` measure is a weighted sum of gains, weights by rank, over a normaliser per assessor. That is enough to give
it expected scores under ties and to take it apart by document. Any other `Scored` measure brings its kernel.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import MeasureError
from qrowd.kernels import ranking
from qrowd.kernels.arrays import Floats
from qrowd.model.measure import Definition, Measure, Parameter, Value, any_of, number, one_of
from qrowd.model.panel import Panel

WITHOUT_LIMIT = np.iinfo(np.int64).max


@dataclass(eq=False)
class TopicView:
    """One topic as measures read it.

    rows : (systems, depth) int32, row of `values` at each rank, -1 for unpooled documents and beyond the list's end.
    values : (documents, assessors) float64, nan where not judged.
    panel : the assessors these values are of, with their scales.
    tied : (systems, depth) bool, True where a document shares the score of the one above; given for expected scores.
    everyone : the view of the whole panel where this one shows only some assessors; recall_base='union' asks it.
    lengths : (systems,) how many documents each system returned; default: as many as there are columns.
    """

    rows: NDArray[np.int32]
    values: Floats
    panel: Panel
    tied: NDArray[np.bool_] | None = None
    everyone: TopicView | None = None
    lengths: NDArray[np.int64] | None = None
    _memo: dict[object, Floats] = field(default_factory=dict)
    _alone: dict[int, TopicView] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        return int(self.rows.shape[1])

    def length(self, system: int) -> int:
        """How many documents the system returned."""
        return self.depth if self.lengths is None else int(self.lengths[system])

    def remember(self, key: object, make: Callable[[], Floats]) -> Floats:
        """make() the first time; measures of one evaluation share what they read."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]

    def condensed(self, assessor: int) -> TopicView:
        """One assessor's view with the documents he or she has not judged taken out of every ranking (Sakai 2007)."""
        if assessor in self._alone:
            return self._alone[assessor]
        values = np.ascontiguousarray(self.values[:, [assessor]])
        ties = np.zeros(self.rows.shape, bool) if self.tied is None else self.tied
        rows, tied = ranking.condensed(self.rows, ties, ~np.isnan(values[:, 0]))
        panel = self.panel.part(slice(assessor, assessor + 1))
        self._alone[assessor] = TopicView(
            rows,
            values,
            panel,
            None if self.tied is None else tied,
            self.everyone or self,
            (rows >= 0).sum(axis=1),
        )
        return self._alone[assessor]

    def judged(self) -> Floats:
        """(documents, assessors) 1 where judged, else 0."""
        return self.remember("judged", lambda: np.equal(self.values, self.values, out=np.empty_like(self.values)))

    def grades(self) -> Floats:
        """(documents, assessors) values, 0 where not judged."""
        return self.remember("grades", lambda: np.fmax(self.values, 0.0))

    def probabilities(self, measure: Measure) -> Floats:
        """(documents, assessors) probability that a user finds the document relevant, the value; 0 where not judged."""
        grades = self.grades()
        highest = grades.max(axis=0, initial=0.0)
        if (highest > 1).any():
            who = self.panel.assessors[int(highest.argmax())]
            raise MeasureError(
                f"{measure}: assessor {who} gives {highest.max():g}, which is no probability of relevance; recode it "
                "to 1 or below, or leave relevance out"
            )
        return grades

    def relevant(self, measure: Measure) -> Floats:
        """(documents, assessors) 1 where the value reaches the measure's `rel`, else 0."""
        lowest = self.lowest_relevant(measure)
        return self.remember(
            ("relevant", measure["rel"]),
            lambda: np.greater_equal(self.values, lowest, out=np.empty_like(self.values)),
        )

    def n_relevant(self, measure: Measure) -> Floats:
        """(assessors,) how many documents reach the measure's `rel`."""
        relevant = self.relevant(measure)
        return self.remember(("n_relevant", measure["rel"]), lambda: np.asarray(relevant.sum(axis=0)))

    def lowest_relevant(self, measure: Measure) -> Floats:
        """(assessors,) from which value on a document is relevant: `rel`, else what each scale says."""
        rel, lowest = measure["rel"], self.panel.rel
        if rel is not None:
            return np.full(lowest.size, float(rel))  # type: ignore[arg-type]
        if np.isnan(lowest).any():
            raise MeasureError(
                f"{measure}: assessor {self.panel.assessors[int(np.isnan(lowest).argmax())]} gives magnitudes, so "
                f"nothing says what counts as relevant; write {measure.definition.name}(rel=...)"
            )
        return lowest

    def maximum(self, measure: Measure, grades: Floats) -> Floats:
        """(assessors,) the highest grade possible: the measure's `max_rel`, else each scale's maximum.

        max_rel="topic": of a scale without a maximum, the highest grade of the assessor in this topic.
        """
        max_rel, name = measure["max_rel"], measure.definition.name
        highest = grades.max(axis=0, initial=0.0)
        if max_rel is None:
            maximum = self.panel.maximum
        elif max_rel == "topic":
            maximum = np.where(np.isinf(self.panel.maximum), np.where(highest > 0, highest, 1.0), self.panel.maximum)
        else:
            maximum = np.full(grades.shape[1], float(max_rel))  # type: ignore[arg-type]
        wrong = np.isinf(maximum) | (highest > maximum)
        if wrong.any():
            a = int(wrong.argmax())
            assessor = self.panel.assessors[a]
            if np.isinf(maximum[a]):
                raise MeasureError(
                    f"{measure}: assessor {assessor} gives magnitudes, which have no maximum; "
                    f"write {name}(max_rel=topic), {name}(max_rel=...) or recode them"
                )
            raise MeasureError(
                f"{measure}: assessor {assessor} gives {highest[a]:g}, above the maximum {maximum[a]:g}; "
                f"write {name}(max_rel={highest[a]:g}) or recode"
            )
        return maximum


class Scored(Definition):
    """A measure that can be scored."""

    @abstractmethod
    def score(self, measure: Measure, view: TopicView, out: Floats) -> None:
        """Write the (systems, assessors) scores of one topic into out."""

    def n_relevant(self, measure: Measure, view: TopicView) -> Floats:
        """(assessors,) how many documents the measure could have rewarded; where 0, the score says nothing."""
        return view.n_relevant(measure)


class Linear(Scored):
    """score = sum over ranks of coefficients[rank] * gains[document at rank] / normaliser."""

    linear = True

    @abstractmethod
    def coefficients(self, measure: Measure, depth: int) -> Floats:
        """(depth or fewer,) weight of each rank; ranks beyond weigh nothing."""

    @abstractmethod
    def gains(self, measure: Measure, view: TopicView) -> Floats:
        """(documents, assessors) gains, 0 where not judged."""

    def normaliser(self, measure: Measure, view: TopicView) -> Floats | None:
        """(assessors,) what the sum is divided by, or None; where it is 0 the score is 0."""
        return None

    def weights(self, measure: Measure, view: TopicView) -> Floats:
        """(systems or 1, ranks) coefficients; under ties, every document of a tied group gets its mean weight."""
        coefficients = self.coefficients(measure, view.depth)
        if view.tied is None:
            return coefficients[None]
        weights = np.zeros(view.rows.shape)
        weights[:, : coefficients.size] = coefficients
        return mean_within_ties(weights, view.tied)

    def score(self, measure: Measure, view: TopicView, out: Floats) -> None:
        ranking.weighted_sum(view.rows, self.weights(measure, view), self.gains(measure, view), out)
        normaliser = self.normaliser(measure, view)
        if normaliser is not None:
            divide(out, normaliser)

    def n_relevant(self, measure: Measure, view: TopicView) -> Floats:
        return np.asarray((self.gains(measure, view) > 0).sum(axis=0), np.float64)


def divide(out: Floats, by: Floats) -> None:
    """out /= by, with 0 where by is 0."""
    np.divide(out, np.where(by > 0, by, np.inf), out=out)


def mean_within_ties(weights: Floats, tied: NDArray[np.bool_]) -> Floats:
    """(systems, depth) weights averaged over each run of tied ranks (McSherry & Najork 2008)."""
    first = np.flatnonzero(~tied.ravel())
    sizes = np.diff(np.append(first, tied.size))
    means = np.add.reduceat(weights.ravel(), first) / sizes
    return np.repeat(means, sizes).reshape(weights.shape)


def reach(measure: Measure) -> int:
    """The last rank looked at, as kernels take it."""
    return measure.cutoff or WITHOUT_LIMIT


def recall_base(measure: Measure, view: TopicView) -> Floats:
    """(assessors,) how many relevant documents there are: the assessor's own, anyone's, or a given number."""
    base: Value = measure["recall_base"]
    own = view.n_relevant(measure)
    if base == "own":
        return own
    if base == "union":
        base = float((view.everyone or view).relevant(measure).any(axis=1).sum())
    return np.full(own.size, float(base))  # type: ignore[arg-type]


REL = Parameter(
    "rel",
    None,
    "lowest relevant value, in the assessor's units; default: the scale's own (grade 1, half of a fraction's maximum)",
    number(0, open_ends=True),
)
RECALL_BASE = Parameter(
    "recall_base",
    "own",
    "how many relevant documents there are: each assessor's 'own', the 'union' over assessors, or a number",
    any_of(one_of("own", "union"), number(1)),
)
RELEVANCE = Parameter(
    "relevance",
    "threshold",
    "'threshold': 1 from rel on, else 0; 'given': values are probabilities of relevance, and they are counted",
    one_of("threshold", "given"),
)
JUDGED_ONLY = Parameter(
    "judged_only", False, "leave documents the assessor has not judged out of the ranking", one_of(False, True)
)
MAX_REL = Parameter(
    "max_rel",
    None,
    "highest grade possible; default: the maximum of the assessor's scale; 'topic': of magnitudes, which have no "
    "maximum, the assessor's highest in the topic",
    any_of(one_of("topic"), number(0, open_ends=True)),
)

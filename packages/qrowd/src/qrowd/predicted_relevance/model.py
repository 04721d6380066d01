"""The predicted relevance model: the probability that a random user finds relevant what an assessor graded i.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement: Analysis and
Practical Applications for Search Evaluation. Inf. Retr. J. 19.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, ScaleError
from qrowd.kernels.arrays import Bools, Floats
from qrowd.model.chance import Seed
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result
from qrowd.model.scales import Scale
from qrowd.predicted_relevance.counting import First, Method
from qrowd.predicted_relevance.doubles import Pairs

Resample = Literal["topics", "documents", "binomial"]

PROBABILITY = Scale("fractions", 1.0)
NEGLIGIBLE = 0.02  # p(R|0) above which a warning says that unjudged documents gain 0


@dataclass(frozen=True)
class DoubleJudgments:
    """The judgments that a model was estimated from.

    n_documents, n_judgments, n_topics : documents judged at least twice, their judgments, and their topics.
    n_single : documents judged once. n_left_out : documents judged twice, but not by a first assessor.
    n_repeats : judgments, of all topics, that repeat one of the same assessor.
    """

    n_documents: int
    n_judgments: int
    n_topics: int
    n_single: int
    n_left_out: int
    n_repeats: int


@dataclass(frozen=True)
class EstimationOptions:
    """The options of `predicted_relevance` in force.

    scale : of the grades. resample : "documents" also where "topics" were asked for and there is only one topic.
    n_resamples : 0 where none were drawn.
    """

    method: Method
    first: First
    smoothing: float
    scale: str
    resample: Resample
    n_resamples: int
    confidence: float


@dataclass(frozen=True, eq=False)
class PredictedRelevance(Result):
    """p(R|i) of every grade i, and the data behind it; arrays are (grades,) unless stated otherwise.

    grades : rising. relevant : bool, which are relevant to a user; rule : the same in words.
    probability : p(R|i), that another assessor, who stands for a user, finds relevant a result which an assessor gave
        grade i; nan for a grade that no double judgment has.
    standard_error, low, high : of the probability; intervals hold `options.confidence` of the replicates, widened for
        few topics (`qrowd.kernels.resample.tail`; binomial: Wilson's).
    n, n_relevant : denominators and numerators of equation 4 or 5.
    coincidences : (grades, grades) how often one assessor gave the row's grade and another the column's.
    data, options : counts of the judgments, and the options in force.
    seed : as `rng` it draws the same resamples again. n_undefined : resamples without the grade.
    replicates : (resamples, grades) p(R|i) in each resample.
    """

    grades: Floats
    relevant: Bools
    rule: str
    probability: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    n: Floats
    n_relevant: Floats
    coincidences: Floats
    data: DoubleJudgments
    options: EstimationOptions
    seed: Seed | None
    n_undefined: NDArray[np.int64]
    replicates: Floats = field(repr=False)

    def __getitem__(self, grade: float) -> float:
        """p(R|grade)."""
        return float(self.gains_of(np.array([float(grade)]), self.probability)[0])

    def judgments(self, judgments: Judgments, *, grade_gains: Floats | None = None) -> Judgments:
        """The same judgments with every grade i replaced by p(R|i), as fractions up to 1.

        What is linear in relevance becomes its expected value for a random user (section 3.3): DCG, nDCG over the ideal
        of expected gains, RBP; P, R and GAP with relevance='given'; ERR with stop='given'. "Not judged" stays.

        grade_gains : (grades,) other gains.

        Warns if a document judged 0 gains more than .02, since unjudged documents gain 0.

        Raises
        ------
        ScaleError
            A grade whose p(R|i) is not known.
        """
        replaced = self.with_gains(judgments, grade_gains=grade_gains)
        of_zero = (self.probability if grade_gains is None else np.asarray(grade_gains, np.float64))[self.grades == 0]
        if of_zero.size and of_zero[0] > NEGLIGIBLE:
            warnings.warn(
                f"a document judged 0 gains p(R|0) = {of_zero[0]:.3f}, but an unjudged one gains 0, which favours "
                "systems that retrieve judged documents; compare on judged documents (unjudged='condensed')",
                stacklevel=2,
            )
        return replaced

    def with_gains(self, judgments: Judgments, *, grade_gains: Floats | None = None) -> Judgments:
        """`judgments` with these (grades,) gains, by default p(R|i), without the warning."""
        judgments = self.on_scale(judgments)
        judged = judgments.value >= 0
        value = judgments.value.copy()
        if grade_gains is None:
            topic, document = judgments.topic[judged], judgments.document[judged]
            pairs = Pairs(judgments.topics, topic, judgments.documents, document)
            value[judged] = self.probabilities(value[judged], pairs)
        else:
            gain = np.asarray(grade_gains, np.float64)
            if gain.shape != self.grades.shape:
                raise ArgumentError(f"grade_gains: {gain.size} for {self.grades.size} grades; one for each is needed")
            value[judged] = self.gains_of(value[judged], gain)
        return replace(judgments, value=value, scales=(PROBABILITY,) * len(judgments.assessors))

    def on_scale(self, judgments: Judgments) -> Judgments:
        """The judgments as relevant or not, where p(R|i) was estimated from such judgments."""
        return judgments.relevant_or_not() if self.options.scale == "binary" else judgments

    def probabilities(self, values: Floats, pairs: Pairs) -> Floats:
        """p(R|i) of each value, which an assessor gave to the (topic, document) pair.

        Raises
        ------
        ScaleError
            A value that is none of the grades, or whose p(R|i) is not known.
        """
        return self.gains_of(values, self.probability)

    def gains_of(self, values: Floats, gain: Floats) -> Floats:
        """The gain of each value, by its grade. gain : (grades,).

        Raises
        ------
        ScaleError
            A value that is none of the grades, or whose gain is nan.
        """
        at = np.minimum(np.searchsorted(self.grades, values), self.grades.size - 1)
        gained = gain[at]
        known = (self.grades[at] == values) & ~np.isnan(gained)
        if not known.all():
            grade = float(values[int(known.argmin())])
            others = ", ".join(f"{g:g}" for g in self.grades[~np.isnan(gain)])
            raise ScaleError(
                f"p(R|{grade:g}) is not known: no double judgment has grade {grade:g} (known: {others}); judge some "
                "such documents again, recode the grade, or use smoothing"
            )
        return np.asarray(gained)

    def _columns(self) -> dict[str, Any]:
        """One row per grade."""
        names = ("probability", "standard_error", "low", "high", "n", "n_relevant", "n_undefined")
        return {"grade": self.grades, "relevant": self.relevant, **{name: getattr(self, name) for name in names}}

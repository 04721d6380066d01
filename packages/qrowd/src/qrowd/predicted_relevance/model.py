"""The predicted relevance model: the probability that a random user finds relevant what an assessor graded i.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement: Analysis and
Practical Applications for Search Evaluation. Inf. Retr. J. 19.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, ScaleError
from qrowd.kernels.arrays import Bools, Floats
from qrowd.model.chance import Rng, Seed
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result
from qrowd.predicted_relevance.bands import Bands, Ranks
from qrowd.predicted_relevance.counting import First, Method
from qrowd.predicted_relevance.doubles import Pairs
from qrowd.predicted_relevance.users import (
    SampledUsers,
    at_least_of,
    disagreement_weights,
    expected_utility,
    on_fractions,
)

Resample = Literal["topics", "documents", "binomial"]

NEGLIGIBLE = 0.02  # p(R|0) above which a warning says that unjudged documents gain 0


@dataclass(frozen=True, eq=False)
class ByBand(Result):
    """p(R|i) of each band of ranks; arrays are (bands, grades) unless stated otherwise.

    bands : the documents of each band. grades : as of `PredictedRelevance`.
    probability, standard_error, low, high : of the band, or of neighbouring bands together where it has few judgments
        of the grade.
    n_judgments : judgments of the grade of documents in the band. same : (grades, bands, bands) whether two bands share
        an estimate. n_documents : (bands,) judged at least twice.
    """

    bands: Bands
    grades: Floats
    probability: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    n_judgments: Floats
    same: Bools
    n_documents: NDArray[np.int64]

    def _columns(self) -> dict[str, Any]:
        """One row per band and grade."""
        n_bands, n_grades = self.probability.shape
        names = ("probability", "standard_error", "low", "high", "n_judgments")
        return {
            "ranks": np.repeat(np.array(self.bands.labels, object), n_grades),
            "grade": np.tile(self.grades, n_bands),
            **{name: getattr(self, name).ravel() for name in names},
            "n_documents": np.repeat(self.n_documents, n_grades),
        }


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
        grade i; in the evaluated ranks where there are bands, else of all documents judged twice; nan for a grade that
        no double judgment there has.
    standard_error, low, high : of the probability; intervals hold `options.confidence` of the replicates, widened for
        few topics (`qrowd.kernels.resample.tail`; binomial: Wilson's).
    n, n_relevant : denominators and numerators of equation 4 or 5. With bands a judgment counts once for each system
        that has the document in the evaluated ranks.
    coincidences : (grades, grades) how often one assessor gave the row's grade and another the column's, in all bands.
    data, options : counts of the judgments, and the options in force.
    seed : as `rng` it draws the same resamples again. n_undefined : resamples without the grade.
    replicates : (resamples, grades) p(R|i) in each resample.
    by_band : p(R|i) by band of ranks; None where all documents were taken together.
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
    by_band: ByBand | None = field(default=None, repr=False)

    @property
    def ranks(self) -> Ranks:
        """Whether p(R|i) was estimated by "bands" of ranks, or from the whole "pool"."""
        return "pool" if self.by_band is None else "bands"

    def __getitem__(self, grade: float) -> float:
        """p(R|grade)."""
        return float(self.gains_of(np.array([float(grade)]), self.probability)[0])

    def judgments(self, judgments: Judgments, *, grade_gains: Floats | None = None) -> Judgments:
        """The same judgments with every grade i replaced by p(R|i), of the document's band, as fractions up to 1.

        What is linear in relevance becomes its expected value for a random user (section 3.3): DCG, nDCG over the ideal
        of expected gains, RBP; P, R and GAP with relevance='given'; ERR with stop='given'. "Not judged" stays.

        grade_gains : (grades,) other gains, such as `relevance_to_at_least(2, 3)`.

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
        return on_fractions(judgments, value)

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
        if self.by_band is None:
            return self.gains_of(values, self.probability)
        band, _ = self.by_band.bands.of(pairs)
        return self.gains_of(values, self.by_band.probability, band=band)

    def gains_of(self, values: Floats, gain: Floats, *, band: NDArray[np.int64] | None = None) -> Floats:
        """The gain of each value, by its grade.

        gain : (grades,), or (bands, grades) where `band` says which.

        Raises
        ------
        ScaleError
            A value that is none of the grades, or whose gain is nan.
        """
        at = np.minimum(np.searchsorted(self.grades, values), self.grades.size - 1)
        rows = np.atleast_2d(gain)
        gained = rows[0 if band is None else band, at]
        known = (self.grades[at] == values) & ~np.isnan(gained)
        if not known.all():
            grade = float(values[int(known.argmin())])
            others = ", ".join(f"{g:g}" for g in self.grades[~np.isnan(rows).any(axis=0)])
            raise ScaleError(
                f"p(R|{grade:g}) is not known: no double judgment has grade {grade:g} (known: {others}); judge some "
                "such documents again, recode the grade, or use smoothing"
            )
        return np.asarray(gained)

    def sample(self, judgments: Judgments, n_users: int, *, rng: Rng = None) -> SampledUsers:
        """Random users, each of whom finds a document relevant with its p(R|i); a `Blocks` for `qrowd.evaluate`.

        The mean of a measure over them is its expected value, such as E[nDCG]; gains give E[DCG] over the ideal of
        expected gains.

        judgments : of one assessor.
        """
        return SampledUsers(self.with_gains(judgments), n_users, rng)

    def relevance_to_at_least(self, m: int, n: int) -> Floats:
        """(grades,) probability that at least m of n random users find the result relevant (section 3.1.7).

        sum over k >= m of C(n, k) p^k (1 - p)^(n - k), which takes users for independent given the grade. The function
        `relevance_to_at_least` counts the same in data.
        """
        return at_least_of(self.probability, m, n)

    def user_disagreement(self, *, m: int = 1, n: int = 2, zero: bool = True) -> Floats:
        """(grades,) weights of the older user disagreement model, for comparison (section 3.4).

        The probability that at least m of n, the assessor among them, find the result relevant. So with m = 1 the
        weight is 1 where the assessor finds it relevant, and with n = 2 it is p(R|i) elsewhere.

        zero : the lowest grade has weight 0, whatever its p(R|i).
        """
        return disagreement_weights(self.probability, self.relevant, self.grades, m, n, zero)

    def fractional_utility(self, *, grade_utility: Mapping[float, float] | None = None) -> Floats:
        """(grades,) expected utility to a random user whose utility is a fraction, not 0 or 1 (sections 2.2 and 8).

        E[u | i] = sum over grades j of u(j) p(j|i), where p(j|i) is the share of the other assessors' judgments that
        are j, by `coincidences`. With u = 1 for relevant grades and 0 for others it is p(R|i), without bands.

        grade_utility : {grade: utility from 0 to 1} of each grade; default: the grade over the highest one.

        Raises
        ------
        ArgumentError
            A grade without a utility, or a utility that is no fraction.
        """
        return expected_utility(self.coincidences, self.grades, grade_utility)

    def _columns(self) -> dict[str, Any]:
        """One row per grade."""
        names = ("probability", "standard_error", "low", "high", "n", "n_relevant", "n_undefined")
        return {"grade": self.grades, "relevant": self.relevant, **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True, eq=False)
class PredictedRelevanceByType(Result):
    """One model for each type of topic; labels : the types, models : one each."""

    labels: tuple[str, ...]
    models: tuple[PredictedRelevance, ...]

    def __getitem__(self, label: str) -> PredictedRelevance:
        return self.models[self.labels.index(label)]

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[tuple[str, PredictedRelevance]]:
        return zip(self.labels, self.models, strict=True)

    def _columns(self) -> dict[str, Any]:
        """One row per type and grade."""
        parts = [model._columns() for model in self.models]
        types = [np.full(model.grades.size, label, object) for label, model in self]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return {"type": np.concatenate(types), **columns}

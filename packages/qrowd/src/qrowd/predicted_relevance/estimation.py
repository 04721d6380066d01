"""Estimating p(R|i) from double judgments, with standard errors.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19, section 5.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, ScaleError, check_choice
from qrowd.kernels.arrays import Bools, Floats
from qrowd.kernels.resample import tail
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.labels import first_of
from qrowd.model.one_scale import CombineScales
from qrowd.model.result import Result
from qrowd.model.scales import Scale
from qrowd.predicted_relevance.doubles import (
    First,
    Graded,
    Method,
    Repeated,
    estimate,
    graded,
    is_relevant,
    observed,
    resampled_documents,
    resampled_topics,
)

Resample = Literal["topics", "documents", "binomial"]

PROBABILITY = Scale("fractions", 1.0)
FIRST_JUDGMENTS = "first-judgments"
EVALUATED: dict[Method, str] = {
    "symmetric": "assessors who judged all documents of a topic count, else the first judgment of each document",
    "one-sided": "judgments that predict count, one of each document",
}
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
    first: tuple[str, ...]
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
        gain = self.probability if grade_gains is None else np.asarray(grade_gains, np.float64)
        if gain.shape != self.grades.shape:
            raise ArgumentError(f"grade_gains: {gain.size} for {self.grades.size} grades; one for each is needed")
        value[judged] = self.gains_of(value[judged], gain)
        return replace(judgments, value=value, scales=(PROBABILITY,) * len(judgments.assessors))

    def evaluated(self, judgments: Judgments) -> Judgments:
        """The judgments that systems are evaluated by; the others serve to estimate p(R|i) alone.

        symmetric : of each topic, those of the assessors who judged all its documents (section 5.1: one assessor judges
            everything, others a part again); where nobody did, the first judgment of each document (by the order
            column, else by place), as of one assessor, `FIRST_JUDGMENTS`.
        one-sided : those that predict, of `first`, or the first of each document.
        """
        judgments = self.on_scale(judgments)
        named = [judgments.select(assessors=name) for name in self.options.first]
        judgments = concatenate_judgments(named or [judgments])
        first = replace(judgments.slots(1), assessors=(FIRST_JUDGMENTS,))
        both = concatenate_judgments([first, judgments])
        counts = (both.coverage() == 1) & (self.options.method == "symmetric")  # (assessors, topics)
        counts[0] = ~counts[1:].any(axis=0)
        return both._take(np.flatnonzero(counts[both.assessor, both.topic]))

    def evaluated_gains(self, judgments: Judgments) -> Judgments:
        """`judgments` of the evaluated ones, with a warning that says which they are."""
        evaluated = self.evaluated(judgments)
        warnings.warn(f"evaluated judgments: {evaluated_text(self, judgments, evaluated)}", stacklevel=2)
        return self.judgments(evaluated)

    def on_scale(self, judgments: Judgments) -> Judgments:
        """The judgments as relevant or not, where p(R|i) was estimated from such judgments."""
        return judgments.relevant_or_not() if self.options.scale == "binary" else judgments

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


def predicted_relevance(
    judgments: Judgments,
    *,
    rel: float | None = None,
    method: Method = "symmetric",
    first: First = None,
    smoothing: float = 0.0,
    resample: Resample = "topics",
    n_resamples: int = 1000,
    confidence: float = 0.95,
    rng: Rng = 1,
    repeats: Repeated = "first",
    combine_scales: CombineScales = "auto",
) -> PredictedRelevance:
    """p(R|i) of every grade i, estimated from the documents that at least two assessors judged.

    Parameters
    ----------
    rel : lowest grade that is relevant to a user.
    method : "symmetric", equation 5, where every judgment predicts all others of its document; or "one-sided", equation
        4, for a second round of judging of only some grades of the first.
    first : under equation 4, the assessor whose judgment predicts; of several, the first who judged the document; None,
        whoever judged it first.
    smoothing : counts added to each grade, relevant with the overall share: a Dirichlet prior. 0 adds nothing.
    resample : standard errors and intervals by drawing "topics" or "documents" with replacement; or "binomial",
        sqrt(p (1 - p) / n) as printed (section 5.2.2), which counts the two directions of a pair as two observations.
        Of a single topic documents are drawn.
    n_resamples : 0: no interval. rng : for drawing them; confidence : of the intervals.
    repeats : which of an assessor's repeated judgments counts: "first", "last" or "error".
    combine_scales : values on unlike scales; "auto": each judgment counts as relevant or not.

    Raises
    ------
    NoOverlapError
        No document judged by two assessors.
    ScaleError
        Scales that cannot be combined, or that have no grades.
    ArgumentError
        No rel, one outside the scale, or any other option out of range.

    >>> rows = [("q", d, who, g) for who, gs in {"ann": "2210", "bob": "2100"}.items() for d, g in zip("wxyz", gs)]
    >>> model = predicted_relevance(Judgments.from_rows([(*row[:3], float(row[3])) for row in rows]), rel=2, rng=1)
    >>> model.probability.round(3), model.n
    (array([0.   , 0.5  , 0.667]), array([3., 2., 3.]))
    """
    judged = graded(judgments, repeats, combine_scales)
    relevant, rule = is_relevant(judged.grades, judged.scale, rel)
    names = (first,) if isinstance(first, str) else tuple(first or ())
    options = EstimationOptions(method, names, smoothing, str(judged.scale), resample, n_resamples, confidence)
    return fitted(judged.doubles(), relevant, rule, options, rng)


def fitted(
    doubles: Graded, relevant: Bools, rule: str, options: EstimationOptions, rng: Rng, label: str = "all"
) -> PredictedRelevance:
    """The model of these documents; chance depends on the seed and the label alone."""
    _check(options)
    counts = observed(doubles, relevant, options.method, options.first)
    n_topics = int(np.unique(counts.topic).size)
    resample: Resample = "documents" if options.resample == "topics" and n_topics == 1 else options.resample
    found, weight = counts.relevant.sum(axis=0), counts.weight.sum(axis=0)
    probability = estimate(found, weight, options.smoothing)
    seed = seed_of(rng) if options.n_resamples and options.resample != "binomial" else None
    replicates = np.empty((0, doubles.grades.size))
    if seed is not None:
        random = Chance.of(seed).stream(f"predicted relevance {label}")
        draw = resampled_documents if resample == "documents" else resampled_topics
        sums = draw(counts, options.n_resamples, random)
        replicates = np.concatenate([estimate(*block, options.smoothing) for block in sums])
    beyond = tail(options.confidence, n_topics if resample == "topics" else None)
    return PredictedRelevance(
        doubles.grades,
        relevant,
        rule,
        probability,
        *_intervals(probability, weight, replicates, resample, beyond),
        weight,
        found,
        counts.matrix,
        DoubleJudgments(
            n_documents=int(counts.topic.size),
            n_judgments=int(doubles.size[counts.included].sum()),
            n_topics=n_topics,
            n_single=doubles.n_single,
            n_left_out=int(np.count_nonzero(~counts.included)),
            n_repeats=doubles.n_repeats,
        ),
        replace(options, resample=resample, n_resamples=replicates.shape[0]),
        seed,
        np.isnan(replicates).sum(axis=0),
        replicates,
    )


def evaluated_text(model: PredictedRelevance, judgments: Judgments, evaluated: Judgments) -> str:
    """Which judgments systems are evaluated by. evaluated : what `model.evaluated(judgments)` gives."""
    rule = EVALUATED[model.options.method]
    return f"{len(evaluated):,} of {len(judgments):,}, by {first_of(evaluated.assessors, 5)}; {rule}"


def _check(options: EstimationOptions) -> None:
    if not 0 <= options.smoothing < np.inf:
        raise ArgumentError("a number of counts from 0 was expected", "smoothing", options.smoothing)
    check_choice("resample", options.resample, Resample)
    if options.n_resamples < 0:
        raise ArgumentError("a whole number from 0 was expected", "n_resamples", options.n_resamples)
    if not 0 < options.confidence < 1:
        raise ArgumentError("a number between 0 and 1 was expected", "confidence", options.confidence)


def _intervals(
    probability: Floats, n: Floats, replicates: Floats, resample: str, beyond: float
) -> tuple[Floats, Floats, Floats]:
    """(grades,) standard error and ends of the interval; nan where they cannot be estimated.

    beyond : share of replicates, or of the normal distribution, beyond each end.
    """
    standard_error, low, high = (np.full(n.size, np.nan) for _ in range(3))
    if resample == "binomial":
        from scipy.special import ndtri

        z = ndtri(1 - beyond)
        with np.errstate(invalid="ignore", divide="ignore"):
            standard_error = np.sqrt(probability * (1 - probability) / n)
            middle = (probability + z**2 / (2 * n)) / (1 + z**2 / n)
            half = z * np.sqrt(probability * (1 - probability) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
        low, high = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
        return np.where(n > 0, standard_error, np.nan), low, high
    for i, column in enumerate(replicates.T):
        defined = column[~np.isnan(column)]
        if defined.size > 1:
            standard_error[i] = defined.std(ddof=1)
            low[i], high[i] = np.quantile(defined, [beyond, 1 - beyond])
    return standard_error, low, high

"""Estimating p(R|i) from double judgments, with standard errors, for all topics or by type of topic.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19, section 5.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.kernels.arrays import Bools, Floats
from qrowd.kernels.resample import tail
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.one_scale import CombineScales
from qrowd.model.runs import Runs
from qrowd.predicted_relevance.bands import Bands, Ranks, bands_of, shared, sharing
from qrowd.predicted_relevance.counting import (
    First,
    Method,
    Observed,
    estimate,
    observed,
    resampled_documents,
    resampled_topics,
)
from qrowd.predicted_relevance.doubles import Graded, Repeated, graded, is_relevant
from qrowd.predicted_relevance.model import (
    ByBand,
    DoubleJudgments,
    EstimationOptions,
    PredictedRelevance,
    PredictedRelevanceByType,
    Resample,
)


def predicted_relevance(
    judgments: Judgments,
    *,
    rel: float | None = None,
    relevant_grades: Collection[float] | None = None,
    runs: Runs | None = None,
    ranks: Ranks = "bands",
    cutoff: int = 10,
    method: Method = "symmetric",
    first: First = None,
    smoothing: float = 0.0,
    resample: Resample = "topics",
    n_resamples: int = 1000,
    confidence: float = 0.95,
    rng: Rng = None,
    repeats: Repeated = "first",
    combine_scales: CombineScales = "auto",
) -> PredictedRelevance:
    """p(R|i) of every grade i, estimated from the documents that at least two assessors judged.

    Parameters
    ----------
    rel : lowest grade that is relevant to a user; relevant_grades : all relevant grades. One of the two.
    runs : the systems to be evaluated. A document graded i is relevant to other assessors more often in good results
        than in the pool, so with runs p(R|i) is by default estimated from ranks like those that are evaluated.
    ranks : "bands" divides documents by where the systems retrieve them: the first `cutoff` ranks of any system in up
        to five bands, by the mean number of relevant results of the systems that retrieve the document there; then
        further ranks. In the first ranks each document counts once for every system that retrieves it there. "pool"
        takes all documents judged twice together, as the paper does, and as is done without runs.
    cutoff : number of ranks that are evaluated.
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
        No document judged by two assessors, or none of them in the first ranks of any run.
    ScaleError
        Scales that cannot be combined, or that have no grades.
    ArgumentError
        Neither rel nor relevant_grades, one outside the scale, or any other option out of range.

    >>> rows = [("q", d, who, g) for who, gs in {"ann": "2210", "bob": "2100"}.items() for d, g in zip("wxyz", gs)]
    >>> model = predicted_relevance(Judgments.from_rows([(*row[:3], float(row[3])) for row in rows]), rel=2, rng=1)
    >>> model.probability.round(3), model.n
    (array([0.   , 0.5  , 0.667]), array([3., 2., 3.]))
    """
    judged = graded(judgments, repeats, combine_scales)
    relevant, rule = is_relevant(judged.grades, judged.scale, rel, relevant_grades)
    options = EstimationOptions(method, first, smoothing, str(judged.scale), resample, n_resamples, confidence)
    return _Plan(relevant, rule, options, runs, ranks, cutoff, rng).fit(judged, "all")


def predicted_relevance_by_type(
    judgments: Judgments,
    types: Mapping[str, object],
    *,
    rel: float | None = None,
    relevant_grades: Collection[float] | None = None,
    runs: Runs | None = None,
    ranks: Ranks = "bands",
    cutoff: int = 10,
    method: Method = "symmetric",
    first: First = None,
    smoothing: float = 0.0,
    resample: Resample = "topics",
    n_resamples: int = 1000,
    confidence: float = 0.95,
    rng: Rng = None,
    repeats: Repeated = "first",
    combine_scales: CombineScales = "auto",
) -> PredictedRelevanceByType:
    """One model for each type of topic (section 5.1, step 2; Table 4).

    types : {topic: type}. Topics not named are left out.
    Other options : as of `predicted_relevance`.

    Raises
    ------
    NoOverlapError
        A type without a document judged by two assessors.
    ArgumentError
        No topic, or an unknown one; and as of `predicted_relevance`.
    """
    judged = graded(judgments, repeats, combine_scales)
    relevant, rule = is_relevant(judged.grades, judged.scale, rel, relevant_grades)
    options = EstimationOptions(method, first, smoothing, str(judged.scale), resample, n_resamples, confidence)
    plan = _Plan(relevant, rule, options, runs, ranks, cutoff, rng)
    labels, type_of = _types(judged.topics, types)
    of_document = type_of[judged.topic]
    for number, label in enumerate(labels):
        if not (judged.size[of_document == number] > 1).any():
            raise NoOverlapError(f"types: no topic of type {label!r} has a document judged twice; judge some again")
    models = [plan.fit(judged.part(of_document == number), label) for number, label in enumerate(labels)]
    return PredictedRelevanceByType(labels, tuple(models))


class _Plan:
    """How models are fitted: the relevant grades, the options, and the runs and ranks that are evaluated."""

    def __init__(
        self,
        relevant: Bools,
        rule: str,
        options: EstimationOptions,
        runs: Runs | None,
        ranks: Ranks,
        cutoff: int,
        rng: Rng,
    ) -> None:
        _check(options)
        check_choice("ranks", ranks, Ranks)
        self.relevant, self.rule, self.options = relevant, rule, options
        self.runs, self.cutoff = None if ranks == "pool" else runs, cutoff
        self.seed = seed_of(rng) if options.n_resamples and options.resample != "binomial" else None

    def fit(self, judged: Graded, label: str) -> PredictedRelevance:
        """The model of these documents; chance depends on the seed and the label alone."""
        options, doubles = self.options, judged.doubles()
        bands = None if self.runs is None else bands_of(judged, self.runs, self.relevant, self.cutoff)
        if bands is None:
            counts = observed(doubles, self.relevant, options.method, options.first)
        else:
            placed = bands.of(doubles.pairs)
            counts = observed(doubles, self.relevant, options.method, options.first, placed, len(bands.labels))
        n_top = 1 if bands is None else bands.n_top
        if not counts.by_band(counts.count)[:n_top].any():
            raise NoOverlapError(
                f"first={options.first!r}: no document judged by the first assessor and another is in the first "
                f"{self.cutoff} ranks of any run; choose another, or use ranks='pool' (--ranks pool)"
            )
        n_topics = int(np.unique(counts.topic).size)
        resample: Resample = "documents" if options.resample == "topics" and n_topics == 1 else options.resample
        p = _Probabilities(counts, n_top, options.smoothing)
        replicates, in_bands = p.replicates(resample, options.n_resamples, self.seed, label)
        beyond = tail(options.confidence, n_topics if resample == "topics" else None)
        interval = _intervals(p.overall, p.effective[:n_top].sum(axis=0), replicates, resample, beyond)
        top = counts.band < n_top
        return PredictedRelevance(
            doubles.grades,
            self.relevant,
            self.rule,
            p.overall,
            *interval,
            counts.weight[top].sum(axis=0),
            counts.relevant[top].sum(axis=0),
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
            self.seed,
            np.isnan(replicates).sum(axis=0),
            replicates,
            None if bands is None else _by_band(bands, doubles.grades, p, in_bands, resample, beyond),
        )


def _check(options: EstimationOptions) -> None:
    if not 0 <= options.smoothing < np.inf:
        raise ArgumentError(f"smoothing={options.smoothing!r}: a number of counts from 0 was expected")
    check_choice("resample", options.resample, Resample)
    if options.n_resamples < 0:
        raise ArgumentError(f"n_resamples={options.n_resamples!r}: a whole number from 0 was expected")
    if not 0 < options.confidence < 1:
        raise ArgumentError(f"confidence={options.confidence!r}: a number between 0 and 1 was expected")


class _Probabilities:
    """p(R|i) of all first ranks together, and of every band.

    overall : (grades,); by_band, effective : (bands, grades); effective is the number of judgments of equal weights
        that would vary as little (Kish 1965, Survey Sampling).
    """

    def __init__(self, counts: Observed, n_top: int, smoothing: float) -> None:
        self.counts, self.n_top, self.smoothing = counts, n_top, smoothing
        self.same = sharing(counts.by_band(counts.count), n_top)
        relevant, weight, squares = (counts.by_band(part) for part in (counts.relevant, counts.weight, counts.squares))
        self.overall, self.by_band = self.estimates(relevant, weight)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.effective = np.where(squares > 0, weight**2 / squares, 0.0)

    def estimates(self, relevant: Floats, weight: Floats) -> tuple[Floats, Floats]:
        """(..., grades) overall and (..., bands, grades), from (..., bands, grades) numerators and denominators."""
        first, first_weight = (part[..., : self.n_top, :].sum(axis=-2) for part in (relevant, weight))
        in_bands, band_weight = (shared(part, self.same) for part in (relevant, weight))
        return estimate(first, first_weight, self.smoothing), estimate(in_bands, band_weight, self.smoothing)

    def replicates(self, resample: str, n: int, seed: Seed | None, label: str) -> tuple[Floats, Floats]:
        """(resamples, grades) and (resamples, bands, grades)."""
        if seed is None:
            shape = self.by_band.shape
            return np.empty((0, shape[1])), np.empty((0, *shape))
        random = Chance.of(seed).stream(f"predicted relevance {label}")
        draw = resampled_documents if resample == "documents" else resampled_topics
        overall, by_band = zip(*(self.estimates(*sums) for sums in draw(self.counts, n, random)), strict=True)
        return np.concatenate(overall), np.concatenate(by_band)


def _by_band(
    bands: Bands, grades: Floats, p: _Probabilities, replicates: Floats, resample: str, beyond: float
) -> ByBand:
    counts = p.counts
    n = shared(p.effective, p.same)
    interval = _intervals(p.by_band.ravel(), n.ravel(), replicates.reshape(-1, n.size), resample, beyond)
    standard_error, low, high = (part.reshape(n.shape) for part in interval)
    n_documents = np.bincount(counts.band, minlength=counts.n_bands)
    n_judgments = counts.by_band(counts.count)
    return ByBand(bands, grades, p.by_band, standard_error, low, high, n_judgments, p.same, n_documents)


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


def _types(topics: tuple[str, ...], types: Mapping[str, object]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The types in order of their first topic, and (topics,) the type of each; -1 for topics not named."""
    type_names = {str(topic): str(kind) for topic, kind in types.items()}
    if not type_names:
        raise ArgumentError("types: no topic is named; expected {topic: type}")
    unknown = next((topic for topic in type_names if topic not in topics), None)
    if unknown is not None:
        raise ArgumentError(f"types: no topic is called {unknown!r}; {closest(unknown, topics, 'topic')}")
    labels = tuple(dict.fromkeys(type_names[topic] for topic in topics if topic in type_names))
    return labels, np.array(
        [labels.index(type_names[topic]) if topic in type_names else -1 for topic in topics], np.int64
    )

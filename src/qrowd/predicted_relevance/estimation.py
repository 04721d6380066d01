"""Learning p(R|i) from double judgments, with standard errors, for all topics or by type of topic.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19, section 5.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypedDict, Unpack, get_args, overload

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.resample import tail
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
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
from qrowd.predicted_relevance.doubles import Floats, Graded, Repeated, graded, is_relevant
from qrowd.predicted_relevance.model import ByBand, PredictedRelevance, PredictedRelevanceBy, Resample


class Options(TypedDict, total=False):
    """What `predicted_relevance` takes besides judgments, theta and by."""

    runs: Runs | None
    ranks: Ranks
    depth: int
    relevant: Collection[float] | None
    method: Method
    first: First
    smoothing: float
    resample: Resample
    bootstrap: int
    confidence: float
    rng: Rng
    repeats: Repeated


@overload
def predicted_relevance(
    judgments: Judgments, theta: float | None = None, *, by: None = None, **options: Unpack[Options]
) -> PredictedRelevance: ...
@overload
def predicted_relevance(
    judgments: Judgments, theta: float | None = None, *, by: Mapping[str, object], **options: Unpack[Options]
) -> PredictedRelevanceBy: ...
def predicted_relevance(
    judgments: Judgments,
    theta: float | None = None,
    *,
    runs: Runs | None = None,
    ranks: Ranks = "bands",
    depth: int = 10,
    relevant: Collection[float] | None = None,
    by: Mapping[str, object] | None = None,
    method: Method = "symmetric",
    first: First = None,
    smoothing: float = 0.0,
    resample: Resample = "topics",
    bootstrap: int = 1000,
    confidence: float = 0.95,
    rng: Rng = None,
    repeats: Repeated = "first",
) -> PredictedRelevance | PredictedRelevanceBy:
    """p(R|i) of every grade i, learnt from the documents that at least two assessors judged.

    theta : a user is satisfied by this grade and all above it. relevant : or by these grades. One of the two.
    runs : the systems to be evaluated. What an assessor graded i is relevant to others more often in good results than
        in the pool, so with runs p(R|i) is by default learnt from ranks like those that are evaluated.
    ranks : "bands" divides documents by where the systems retrieve them: the first `depth` ranks of any system in up to
        five bands, by how many relevant results the systems have that retrieve the document there; then ranks further
        down. In the first ranks each document counts once for every system that retrieves it there. "pool" takes all
        documents judged twice alike, as the paper does; so it is without runs.
    depth : how many ranks are evaluated.
    by : {topic: type}, for one model of each type (section 5.1, step 2; Table 4). Topics not named are left out.
    method : "symmetric", equation 5, every judgment predicting all others of its document; or "one-sided", equation 4,
        for a second round that judged again only some grades of the first.
    first : of the one-sided estimate, whose judgment predicts: an assessor; several, the first of them who judged the
        document; None, whoever judged it first.
    smoothing : counts added to each grade, relevant in the overall share: a Dirichlet prior. 0 adds nothing.
    resample : standard errors and intervals by drawing "topics" or "documents" with replacement; or "binomial",
        sqrt(p (1 - p) / n) as printed (section 5.2.2), which takes the two directions of a pair for two observations.
        Of a single topic documents are drawn.
    bootstrap : replicates, 0 for none; rng : for drawing them; confidence : of the intervals.
    repeats : which of an assessor's repeated judgments counts: "first", "last" or "error".

    Raises
    ------
    NoOverlapError
        No document judged by two assessors (in some type, or in the first ranks of any run).
    ScaleError
        Scales that cannot be one, or that have no grades.
    ArgumentError
        Neither theta nor relevant, or outside the scale; any other option out of range.

    >>> rows = [("q", d, who, g) for who, gs in {"ann": "2210", "bob": "2100"}.items() for d, g in zip("wxyz", gs)]
    >>> model = predicted_relevance(Judgments.from_rows([(*row[:3], float(row[3])) for row in rows]), theta=2, rng=1)
    >>> model.probability.round(3), model.n
    (array([0.   , 0.5  , 0.667]), array([3., 2., 3.]))
    """
    _check(smoothing, resample, ranks, bootstrap, confidence)
    everything = graded(judgments, repeats)
    satisfying, rule = is_relevant(everything.grades, everything.scale, theta, relevant)
    seed = seed_of(rng) if bootstrap and resample != "binomial" else None

    def fitted(part: Graded, label: str) -> PredictedRelevance:
        doubles = part.doubles()
        bands = None if runs is None or ranks == "pool" else bands_of(part, runs, satisfying, depth)
        if bands is None:
            seen = observed(doubles, satisfying, method, first)
        else:
            seen = observed(doubles, satisfying, method, first, bands.placed(doubles), len(bands.labels))
        n_top = 1 if bands is None else bands.n_top
        if not seen.by_band(seen.count)[:n_top].any():
            raise NoOverlapError(
                f"first={first!r}: no document judged by the first assessor and another is in the first {depth} ranks "
                "of any run; choose another, or use ranks='pool' (--ranks pool)"
            )
        drawn: Resample = "documents" if resample == "topics" and (seen.topic == seen.topic[0]).all() else resample
        chances = _Chances(seen, n_top, smoothing)
        replicates, in_bands = chances.replicates(drawn, bootstrap, seed, label)
        n_topics = int(np.unique(seen.topic).size)
        beyond = tail(confidence, n_topics if drawn == "topics" else None)
        spread = _spread(chances.overall, chances.effective[:n_top].sum(axis=0), replicates, drawn, beyond)
        top = seen.band < n_top
        return PredictedRelevance(
            doubles.grades, satisfying, rule, chances.overall, *spread,
            seen.given[top].sum(axis=0), seen.found[top].sum(axis=0), seen.matrix,
            method, first, smoothing, str(doubles.scale),
            n_documents=int(seen.topic.size),
            n_judgments=int(doubles.size[seen.kept].sum()),
            n_topics=n_topics,
            n_single=doubles.n_single,
            n_left_out=int(np.count_nonzero(~seen.kept)),
            n_repeats=doubles.n_repeats,
            resample=drawn,
            bootstrap=replicates.shape[0],
            confidence=confidence,
            seed=seed,
            n_undefined=np.isnan(replicates).sum(axis=0),
            replicates=replicates,
            by_band=None if bands is None else _by_band(bands, doubles.grades, chances, in_bands, drawn, beyond),
        )  # fmt: skip

    if by is None:
        return fitted(everything, "all")
    labels, type_of = _types(everything.topics, by)
    kind = type_of[everything.topic]
    for number, label in enumerate(labels):
        if not (everything.size[kind == number] > 1).any():
            raise NoOverlapError(f"by: no topic of type {label!r} has a document judged twice; judge some again")
    parts = [fitted(everything.part(kind == number), label) for number, label in enumerate(labels)]
    return PredictedRelevanceBy(labels, tuple(parts))


def _check(smoothing: float, resample: str, ranks: str, bootstrap: int, confidence: float) -> None:
    if not 0 <= smoothing < np.inf:
        raise ArgumentError(f"smoothing={smoothing!r}: a number of counts from 0 was expected")
    for name, value, choices in (("resample", resample, Resample), ("ranks", ranks, Ranks)):
        if value not in get_args(choices):
            raise ArgumentError(f"{name}={value!r}: choose one of {', '.join(get_args(choices))}")
    if bootstrap < 0:
        raise ArgumentError(f"bootstrap={bootstrap!r}: a number of replicates from 0 was expected")
    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence={confidence!r}: a share strictly between 0 and 1 was expected")


class _Chances:
    """p(R|i) of all first ranks together, and of every band, from what was said of documents.

    overall : (grades,); by_band, effective : (bands, grades), the latter as many judgments as would vary as little if
        all weighed the same (Kish 1965, Survey Sampling).
    """

    def __init__(self, seen: Observed, n_top: int, smoothing: float) -> None:
        self.seen, self.n_top, self.smoothing = seen, n_top, smoothing
        self.same = sharing(seen.by_band(seen.count), n_top)
        found, given, squares = (seen.by_band(part) for part in (seen.found, seen.given, seen.squares))
        self.overall, self.by_band = self.estimates(found, given)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.effective = np.where(squares > 0, given**2 / squares, 0.0)

    def estimates(self, found: Floats, given: Floats) -> tuple[Floats, Floats]:
        """(..., grades) overall and (..., bands, grades), from (..., bands, grades) found and given."""
        found_first, given_first = (part[..., : self.n_top, :].sum(axis=-2) for part in (found, given))
        found_shared, given_shared = (shared(part, self.same) for part in (found, given))
        return (
            estimate(found_first, given_first, self.smoothing),
            estimate(found_shared, given_shared, self.smoothing),
        )

    def replicates(self, resample: str, n: int, seed: Seed | None, label: str) -> tuple[Floats, Floats]:
        """(replicates, grades) and (replicates, bands, grades); chance depends on the seed and the label alone."""
        if seed is None:
            shape = self.by_band.shape
            return np.empty((0, shape[1])), np.empty((0, *shape))
        random = Chance.of(seed).stream(f"predicted relevance {label}")
        draw = resampled_documents if resample == "documents" else resampled_topics
        overall, by_band = zip(*(self.estimates(*sums) for sums in draw(self.seen, n, random)), strict=True)
        return np.concatenate(overall), np.concatenate(by_band)


def _by_band(
    bands: Bands, grades: Floats, chances: _Chances, replicates: Floats, resample: str, beyond: float
) -> ByBand:
    seen = chances.seen
    flat = replicates.reshape(-1, chances.by_band.size)
    n = shared(chances.effective, chances.same)
    spread = _spread(chances.by_band.ravel(), n.ravel(), flat, resample, beyond)
    error, low, high = (part.reshape(n.shape) for part in spread)
    n_documents = np.bincount(seen.band, minlength=seen.n_bands)
    n_judgments = seen.by_band(seen.count)
    return ByBand(bands, grades, chances.by_band, error, low, high, n_judgments, chances.same, n_documents)


def _spread(
    probability: Floats, n: Floats, replicates: Floats, resample: str, beyond: float
) -> tuple[Floats, Floats, Floats]:
    """(grades,) standard error and interval; nan where there is nothing to tell them from.

    beyond : share of replicates, or of the normal distribution, beyond each end.
    """
    error, low, high = (np.full(n.size, np.nan) for _ in range(3))
    if resample == "binomial":
        from scipy.special import ndtri

        z = ndtri(1 - beyond)
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(probability * (1 - probability) / n)
            middle = (probability + z**2 / (2 * n)) / (1 + z**2 / n)
            half = z * np.sqrt(probability * (1 - probability) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
        return np.where(n > 0, error, np.nan), np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
    for i, drawn in enumerate(replicates.T):
        defined = drawn[~np.isnan(drawn)]
        if defined.size > 1:
            error[i] = defined.std(ddof=1)
            low[i], high[i] = np.quantile(defined, [beyond, 1 - beyond])
    return error, low, high


def _types(topics: tuple[str, ...], by: Mapping[str, object]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The types in order of their first topic, and (topics,) the type of each; -1 for topics not named."""
    named = {str(topic): str(kind) for topic, kind in by.items()}
    if not named:
        raise ArgumentError("by: no topic is named; expected {topic: type}")
    unknown = next((topic for topic in named if topic not in topics), None)
    if unknown is not None:
        raise ArgumentError(f"by: no topic is called {unknown!r}; {closest(unknown, topics, 'topic')}")
    labels = tuple(dict.fromkeys(named[topic] for topic in topics if topic in named))
    return labels, np.array([labels.index(named[topic]) if topic in named else -1 for topic in topics], np.int64)

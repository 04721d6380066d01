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
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.predicted_relevance.counting import First, Method, Observed, by_documents, by_topics, estimate, observed
from qrowd.predicted_relevance.doubles import Floats, Graded, Repeated, graded, is_relevant
from qrowd.predicted_relevance.model import PredictedRelevance, PredictedRelevanceBy, StandardError


class Options(TypedDict, total=False):
    """What `predicted_relevance` takes besides judgments, theta and by."""

    relevant: Collection[float] | None
    method: Method
    first: First
    smoothing: float
    se: StandardError
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
    relevant: Collection[float] | None = None,
    by: Mapping[str, object] | None = None,
    method: Method = "symmetric",
    first: First = None,
    smoothing: float = 0.0,
    se: StandardError = "documents",
    bootstrap: int = 1000,
    confidence: float = 0.95,
    rng: Rng = None,
    repeats: Repeated = "first",
) -> PredictedRelevance | PredictedRelevanceBy:
    """p(R|i) of every grade i, learnt from the documents that at least two assessors judged.

    theta : a user is satisfied by this grade and all above it. relevant : or by these grades. One of the two.
    by : {topic: type}, for one model of each type (section 5.1, step 2; Table 4). Topics not named are left out.
    method : "symmetric", equation 5, every judgment predicting all others of its document; or "one-sided", equation 4,
        for a second round that judged again only some grades of the first.
    first : of the one-sided estimate, whose judgment predicts: an assessor; several, the first of them who judged the
        document; None, whoever judged it first.
    smoothing : counts added to each grade, relevant in the overall share: a Dirichlet prior. 0 adds nothing.
    se : standard errors by drawing "documents" or "topics" with replacement; or "binomial", sqrt(p (1 - p) / n) as
        printed (section 5.2.2), which takes the two directions of a pair for two observations.
    bootstrap : replicates, 0 for none; rng : for drawing them; confidence : of the intervals.
    repeats : which of an assessor's repeated judgments counts: "first", "last" or "error".

    Raises
    ------
    NoOverlapError
        No document judged by two assessors (in some type).
    ScaleError
        Scales that cannot be one, or that have no grades.
    ArgumentError
        Neither theta nor relevant, or outside the scale; any other option out of range.

    >>> rows = [("q", d, who, g) for who, gs in {"ann": "2210", "bob": "2100"}.items() for d, g in zip("wxyz", gs)]
    >>> model = predicted_relevance(Judgments.from_rows([(*row[:3], float(row[3])) for row in rows]), theta=2, rng=1)
    >>> model.probability.round(3), model.n
    (array([0.   , 0.5  , 0.667]), array([3., 2., 3.]))
    """
    _check(smoothing, se, bootstrap, confidence)
    everything = graded(judgments, repeats)
    satisfying, rule = is_relevant(everything.grades, everything.scale, theta, relevant)
    seed = seed_of(rng) if bootstrap and se != "binomial" else None

    def fitted(part: Graded, label: str) -> PredictedRelevance:
        seen = observed(part, satisfying, method, first)
        found, given = seen.sums()
        probability = estimate(found, given, smoothing)
        replicates = _drawn(seen, se, bootstrap, smoothing, seed, label)
        error, low, high = _spread(probability, given, replicates, se, confidence)
        return PredictedRelevance(
            part.grades, satisfying, rule, probability, error, low, high, given, found, seen.matrix,
            method, first, smoothing, str(part.scale),
            n_documents=int(seen.topic.size),
            n_judgments=int(part.size[seen.kept].sum()),
            n_topics=int(np.unique(seen.topic).size),
            n_single=part.n_single,
            n_left_out=int(np.count_nonzero(~seen.kept)),
            n_repeats=part.n_repeats,
            se=se,
            bootstrap=replicates.shape[0],
            confidence=confidence,
            seed=seed,
            n_undefined=np.isnan(replicates).sum(axis=0),
            replicates=replicates,
        )  # fmt: skip

    if by is None:
        return fitted(everything.doubles(), "all")
    labels, type_of = _types(everything.topics, by)
    kind = type_of[everything.topic]
    for number, label in enumerate(labels):
        if not (everything.size[kind == number] > 1).any():
            raise NoOverlapError(f"by: no topic of type {label!r} has a document judged twice; judge some again")
    parts = [fitted(everything.part(kind == number).doubles(), label) for number, label in enumerate(labels)]
    return PredictedRelevanceBy(labels, tuple(parts))


def _check(smoothing: float, se: str, bootstrap: int, confidence: float) -> None:
    if not 0 <= smoothing < np.inf:
        raise ArgumentError(f"smoothing={smoothing!r}: a number of counts from 0 was expected")
    if se not in get_args(StandardError):
        raise ArgumentError(f"se={se!r}: choose one of {', '.join(get_args(StandardError))}")
    if bootstrap < 0:
        raise ArgumentError(f"bootstrap={bootstrap!r}: a number of replicates from 0 was expected")
    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence={confidence!r}: a share strictly between 0 and 1 was expected")


def _drawn(seen: Observed, se: str, bootstrap: int, smoothing: float, seed: Seed | None, label: str) -> Floats:
    """(replicates, grades) p(R|i); its chance depends on the seed and the label alone."""
    if seed is None:
        return np.empty((0, seen.given.shape[1]))
    random = Chance.of(seed).stream(f"predicted relevance {label}")
    return (by_documents if se == "documents" else by_topics)(seen, bootstrap, smoothing, random)


def _spread(
    probability: Floats, n: Floats, replicates: Floats, se: str, confidence: float
) -> tuple[Floats, Floats, Floats]:
    """(grades,) standard error and interval; nan where there is nothing to tell them from."""
    error, low, high = (np.full(n.size, np.nan) for _ in range(3))
    if se == "binomial":
        from scipy.special import ndtri

        z = ndtri((1 + confidence) / 2)
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(probability * (1 - probability) / n)
            middle = (probability + z**2 / (2 * n)) / (1 + z**2 / n)
            half = z * np.sqrt(probability * (1 - probability) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
        return np.where(n > 0, error, np.nan), np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
    for i, drawn in enumerate(replicates.T):
        defined = drawn[~np.isnan(drawn)]
        if defined.size > 1:
            error[i] = defined.std(ddof=1)
            low[i], high[i] = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
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

"""What p(R|i) depends on: the type of topic, the ranks of documents, the topics, and the number of double judgments.

Sections 5.1 and 6.1 to 6.3 of Demeester et al. (2016), Inf. Retr. J. 19; but for types of topics (Table 4), each
function gives the columns of one of its figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.predicted_relevance import EstimationOptions, PredictedRelevance
from qrowd.predicted_relevance.doubles import Graded, estimate, graded, is_relevant, observed, resampled_topics
from qrowd.predicted_relevance.estimation import Resample, fitted

Ranks = Mapping[tuple[str, str], float] | Runs


@dataclass(frozen=True, eq=False)
class SensitivityToRank(Result):
    """p(R|i) from documents down to each rank (Figure 1); probability and n : (ranks, grades).

    rank : rising; n : judgments of each grade down to the rank; n_documents : (ranks,).
    """

    grades: Floats
    rank: Floats
    probability: Floats
    n: Floats
    n_documents: Ints
    rule: str

    def _columns(self) -> dict[str, Any]:
        """One row per rank and grade."""
        return _long(self.grades, {"rank": self.rank}, {"probability": self.probability, "n": self.n})


@dataclass(frozen=True, eq=False)
class SensitivityToTopics(Result):
    """p(R|i) of topics drawn with replacement (Figure 2).

    replicates : (resamples, grades), nan where no drawn topic has the grade; standard_error : (grades,).
    """

    grades: Floats
    replicates: Floats
    standard_error: Floats
    n_topics: int
    seed: Seed
    rule: str

    def _columns(self) -> dict[str, Any]:
        """One row per resample and grade."""
        number = {"resample": np.arange(1, len(self.replicates) + 1)}
        return _long(self.grades, number, {"probability": self.replicates})


@dataclass(frozen=True, eq=False)
class SensitivityToSampleSize(Result):
    """p(R|i) from a growing number of double judgments (Figure 3); mean and sd : (sizes, grades).

    size : number of documents judged twice, drawn with replacement.
    mean, sd : over resamples; the sd is nan where fewer than two resamples have the grade.
    """

    grades: Floats
    size: Ints
    mean: Floats
    sd: Floats
    n_resamples: int
    seed: Seed
    rule: str

    @property
    def size_needed(self) -> Floats:
        """(grades - 1,) number of double judgments from which two neighbouring grades are well separated.

        They are where their means are more than the two standard deviations apart at that size and all larger ones:
        the bands of Figure 3 do not overlap (section 6.3). nan where even the largest size does not separate them.
        """
        apart = np.abs(np.diff(self.mean, axis=1)) > self.sd[:, 1:] + self.sd[:, :-1]
        from_here = np.logical_and.accumulate(apart[::-1], axis=0)[::-1]
        return np.where(from_here.any(axis=0), self.size[from_here.argmax(axis=0)], np.nan)

    def _columns(self) -> dict[str, Any]:
        """One row per size and grade."""
        return _long(self.grades, {"size": self.size}, {"mean": self.mean, "sd": self.sd})


def predicted_relevance_by_type(
    judgments: Judgments,
    types: Mapping[str, object],
    *,
    rel: float,
    resample: Resample = "topics",
    n_resamples: int = 1000,
    rng: Rng = None,
) -> dict[str, PredictedRelevance]:
    """{type: its model}, symmetric (equation 5).

    types : {topic: type}. Topics not named are left out. Other options : as of `predicted_relevance`.

    Raises
    ------
    NoOverlapError
        A type without a document judged by two assessors.
    ArgumentError
        No topic, or an unknown one.
    """
    judged = graded(judgments)
    relevant, rule = is_relevant(judged.grades, judged.scale, rel)
    options = EstimationOptions("symmetric", (), 0.0, str(judged.scale), resample, n_resamples, 0.95)
    type_of = {str(topic): str(kind) for topic, kind in types.items()}
    if not type_of:
        raise ArgumentError("types: no topic is named; expected {topic: type}")
    unknown = next((topic for topic in type_of if topic not in judged.topics), None)
    if unknown is not None:
        raise ArgumentError(f"types: no topic is called {unknown!r}; {closest(unknown, judged.topics, 'topic')}")
    models = {}
    for label in dict.fromkeys(type_of[topic] for topic in judged.topics if topic in type_of):
        of_type = np.array([type_of.get(topic) == label for topic in judged.topics])[judged.topic]
        if not (judged.size[of_type] > 1).any():
            raise NoOverlapError(f"types: no topic of type {label!r} has a document judged twice; judge some again")
        models[label] = fitted(judged.part(of_type).doubles(), relevant, rule, options, rng, label)
    return models


def sensitivity_to_rank(
    judgments: Judgments,
    ranks: Ranks,
    *,
    rel: float,
) -> SensitivityToRank:
    """p(R|i) estimated from the documents down to each rank.

    ranks : {(topic, document): rank}, 1 is best, by any order of quality (the paper's: rank of the search engine that
        returned the document); or Runs, for the best rank by any system.

    Raises
    ------
    NoOverlapError
        No document judged twice has a rank.
    """
    doubles = graded(judgments).doubles()
    relevant, rule = is_relevant(doubles.grades, doubles.scale, rel)
    rank = _best_ranks(doubles, ranks) if isinstance(ranks, Runs) else _given_ranks(doubles, ranks)
    ranked = ~np.isnan(rank)
    if not ranked.any():
        raise NoOverlapError("ranks: no document judged twice has a rank; name (topic, document) as the judgments do")
    counts = observed(doubles.part(ranked), relevant)
    place = rank[ranked][counts.included]
    order = np.argsort(place, kind="stable")
    distinct, n = np.unique(place, return_counts=True)
    last = np.cumsum(n) - 1
    found, weight = (np.cumsum(column[order], axis=0)[last] for column in (counts.relevant, counts.weight))
    return SensitivityToRank(doubles.grades, distinct, estimate(found, weight, 0.0), weight, last + 1, rule)


def sensitivity_to_topics(
    judgments: Judgments,
    *,
    rel: float,
    n_resamples: int = 300,
    rng: Rng = None,
) -> SensitivityToTopics:
    """p(R|i) in resamples of the topics, each with all its judgments."""
    doubles = graded(judgments).doubles()
    relevant, rule = is_relevant(doubles.grades, doubles.scale, rel)
    counts = observed(doubles, relevant)
    seed = seed_of(rng)
    sums = resampled_topics(counts, n_resamples, Chance.of(seed).stream("topics drawn"))
    replicates = np.concatenate([estimate(found, weight, 0.0) for found, weight in sums])
    _, sd = _mean_and_sd(replicates)
    return SensitivityToTopics(doubles.grades, replicates, sd, np.unique(counts.topic).size, seed, rule)


def sensitivity_to_sample_size(
    judgments: Judgments,
    *,
    rel: float,
    sizes: Sequence[int] | None = None,
    n_resamples: int = 50,
    rng: Rng = None,
) -> SensitivityToSampleSize:
    """p(R|i) from samples of the documents judged twice, by sample size.

    sizes : numbers of documents; default: 50 steps up to all there are. Larger ones are allowed.
    """
    doubles = graded(judgments).doubles()
    relevant, rule = is_relevant(doubles.grades, doubles.scale, rel)
    counts = observed(doubles, relevant)
    n = counts.topic.size
    steps = np.linspace(0, n, 51)[1:] if sizes is None else np.array(list(sizes), np.float64)
    size = np.unique(np.ceil(steps).astype(np.int64))
    seed = seed_of(rng)
    random = Chance.of(seed).stream("number of double judgments")
    replicates = np.empty((n_resamples, size.size, doubles.grades.size))
    for replicate in replicates:
        rows = random.integers(n, size=int(size[-1]))
        found, weight = (np.cumsum(column[rows], axis=0)[size - 1] for column in (counts.relevant, counts.weight))
        replicate[:] = estimate(found, weight, 0.0)
    mean, sd = _mean_and_sd(replicates)
    return SensitivityToSampleSize(doubles.grades, size, mean, sd, n_resamples, seed, rule)


def _given_ranks(doubles: Graded, ranks: Mapping[tuple[str, str], float]) -> Floats:
    """(documents,) rank of each; nan without one."""
    topics = [doubles.topics[t] for t in doubles.topic.tolist()]
    documents = [doubles.documents[d] for d in doubles.document.tolist()]
    return np.array([ranks.get(pair, np.nan) for pair in zip(topics, documents, strict=True)], np.float64)


def _best_ranks(doubles: Graded, runs: Runs) -> Floats:
    """(documents,) best rank by any system; nan where no system retrieves the document."""
    rankings = runs.ranked()
    lengths, n_documents = rankings.lengths.ravel(), len(runs.documents)
    topic = np.repeat(np.arange(lengths.size), lengths) % len(runs.topics)  # system by system, each with all topics
    rank = np.arange(rankings.document.size) - np.repeat(rankings.starts.ravel(), lengths) + 1
    best = np.full(len(runs.topics) * n_documents + 1, np.inf)
    np.minimum.at(best, topic * n_documents + rankings.document, rank)
    topics = np.array([runs.topics.index(label) if label in runs.topics else -1 for label in doubles.topics], np.int64)
    documents = np.array([runs.document_number.get(label, -1) for label in doubles.documents], np.int64)
    t, d = topics[doubles.topic], documents[doubles.document]
    ranks = best[np.where((t >= 0) & (d >= 0), t * n_documents + d, -1)]
    return np.where(np.isinf(ranks), np.nan, ranks)


def _mean_and_sd(drawn: Floats) -> tuple[Floats, Floats]:
    """Over the first axis, of the values that are not nan; nan where there are too few."""
    known = ~np.isnan(drawn)
    n = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, drawn, 0.0).sum(axis=0) / n
        squares = np.where(known, (drawn - mean) ** 2, 0.0).sum(axis=0)
        return mean, np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan)


def _long(grades: Floats, index: Mapping[str, NDArray[Any]], columns: Mapping[str, Floats]) -> dict[str, Any]:
    """One row per entry of the index and grade."""
    ((name, labels),) = index.items()
    return {
        name: np.repeat(labels, grades.size),
        "grade": np.tile(grades, len(labels)),
        **{label: column.ravel() for label, column in columns.items()},
    }

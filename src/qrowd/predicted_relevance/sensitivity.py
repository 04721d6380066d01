"""What p(R|i) depends on: the quality of the results, the topics, and how many double judgments there are.

Sections 6.1 to 6.3 of Demeester et al. (2016), Inf. Retr. J. 19; each function gives the columns of one of its figures.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.predicted_relevance.counting import First, Method, estimate, observed, resampled_topics
from qrowd.predicted_relevance.doubles import Floats, Graded, Ints, Repeated, double_judgments, is_relevant
from qrowd.predicted_relevance.retrieved import retrieved

Ranks = Mapping[tuple[str, str], float] | Runs


@dataclass(frozen=True, eq=False)
class ByQuality:
    """p(R|i) from documents down to each rank, as Figure 1; probability and n : (ranks, grades).

    rank : rising; n : judgments of each grade so far; n_documents : (ranks,). n_unranked : documents without a rank.
    """

    grades: Floats
    rank: Floats
    probability: Floats
    n: Floats
    n_documents: Ints
    n_unranked: int
    rule: str

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per rank and grade."""
        return _long(self.grades, {"rank": self.rank}, {"probability": self.probability, "n": self.n}, backend)


@dataclass(frozen=True, eq=False)
class ByTopics:
    """p(R|i) of topics drawn with replacement, as Figure 2.

    replicates : (bootstrap, grades), nan where no drawn topic holds the grade; standard_error : (grades,).
    quartiles : (5, grades) lowest, quartile, median, quartile, highest.
    """

    grades: Floats
    replicates: Floats
    standard_error: Floats
    quartiles: Floats
    n_topics: int
    seed: Seed
    rule: str

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per replicate and grade."""
        number = {"replicate": np.arange(1, len(self.replicates) + 1)}
        return _long(self.grades, number, {"probability": self.replicates}, backend)


@dataclass(frozen=True, eq=False)
class ByNumber:
    """p(R|i) from a growing number of double judgments, as Figure 3; mean and deviation : (numbers, grades).

    number : documents judged twice so far, drawn with replacement; rounds : how often all was drawn.
    deviation : standard deviation over rounds; nan where fewer than two rounds held the grade.
    """

    grades: Floats
    number: Ints
    mean: Floats
    deviation: Floats
    rounds: int
    seed: Seed
    rule: str

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per number and grade."""
        return _long(self.grades, {"number": self.number}, {"mean": self.mean, "deviation": self.deviation}, backend)


def by_quality(
    judgments: Judgments,
    ranks: Ranks,
    theta: float | None = None,
    *,
    relevant: Collection[float] | None = None,
    method: Method = "symmetric",
    first: First = None,
    repeats: Repeated = "first",
) -> ByQuality:
    """p(R|i) learnt from the best documents only, then from more and more.

    ranks : {(topic, document): rank, 1 is best} by anything that tells quality (the paper's: rank of the search engine
        that returned it); or Runs, for the best rank that any system gave.

    Raises
    ------
    NoOverlapError
        No document judged twice has a rank.
    """
    doubles = double_judgments(judgments, repeats)
    satisfying, rule = is_relevant(doubles.grades, doubles.scale, theta, relevant)
    rank = _best_ranks(doubles, ranks) if isinstance(ranks, Runs) else _given_ranks(doubles, ranks)
    known = ~np.isnan(rank)
    if not known.any():
        raise NoOverlapError("ranks: no document judged twice has a rank; name (topic, document) as the judgments do")
    part = doubles.part(known)
    seen = observed(part, satisfying, method, first)
    place = rank[known][seen.kept]
    order = np.argsort(place, kind="stable")
    distinct, n = np.unique(place, return_counts=True)
    last = np.cumsum(n) - 1
    found, given = (np.cumsum(column[order], axis=0)[last] for column in (seen.found, seen.given))
    unranked = int(np.count_nonzero(~known))
    return ByQuality(doubles.grades, distinct, estimate(found, given, 0.0), given, last + 1, unranked, rule)


def by_topics_drawn(
    judgments: Judgments,
    theta: float | None = None,
    *,
    bootstrap: int = 300,
    rng: Rng = None,
    relevant: Collection[float] | None = None,
    method: Method = "symmetric",
    first: First = None,
    repeats: Repeated = "first",
) -> ByTopics:
    """p(R|i) if other topics like these had been judged: all of a topic's judgments as often as it is drawn."""
    if bootstrap < 2:
        raise ArgumentError(f"bootstrap={bootstrap}: at least 2 replicates are needed to see how far they lie apart")
    doubles = double_judgments(judgments, repeats)
    satisfying, rule = is_relevant(doubles.grades, doubles.scale, theta, relevant)
    seen = observed(doubles, satisfying, method, first)
    seed = seed_of(rng)
    drawn = resampled_topics(seen, bootstrap, Chance.of(seed).stream("topics drawn"))
    replicates = np.concatenate([estimate(found, given, 0.0)[:, 0] for found, given in drawn])
    _, deviation = _mean_and_deviation(replicates)
    quartiles = np.full((5, doubles.grades.size), np.nan)
    for i, column in enumerate(replicates.T):
        if not np.isnan(column).all():
            quartiles[:, i] = np.quantile(column[~np.isnan(column)], [0, 0.25, 0.5, 0.75, 1])
    return ByTopics(doubles.grades, replicates, deviation, quartiles, np.unique(seen.topic).size, seed, rule)


def by_number(
    judgments: Judgments,
    theta: float | None = None,
    *,
    numbers: Sequence[int] | None = None,
    rounds: int = 50,
    rng: Rng = None,
    relevant: Collection[float] | None = None,
    method: Method = "symmetric",
    first: First = None,
    repeats: Repeated = "first",
) -> ByNumber:
    """How sure p(R|i) becomes with more double judgments, by rounds of judging simulated from those there are.

    numbers : of documents judged twice, at which to look; without, 50 steps up to all there are. More may be asked for.
    """
    if rounds < 2:
        raise ArgumentError(f"rounds={rounds}: at least 2 are needed to see how far they lie apart")
    doubles = double_judgments(judgments, repeats)
    satisfying, rule = is_relevant(doubles.grades, doubles.scale, theta, relevant)
    seen = observed(doubles, satisfying, method, first)
    n = seen.topic.size
    steps = np.linspace(0, n, 51)[1:] if numbers is None else np.array(list(numbers), np.float64)
    number = np.unique(np.ceil(steps).astype(np.int64))
    if not number.size or number[0] < 1:
        raise ArgumentError("numbers: whole numbers from 1 were expected")
    seed = seed_of(rng)
    random = Chance.of(seed).stream("number of double judgments")
    drawn = np.empty((rounds, number.size, doubles.grades.size))
    for one in drawn:
        rows = random.integers(n, size=int(number[-1]))
        found, given = (np.cumsum(column[rows], axis=0)[number - 1] for column in (seen.found, seen.given))
        one[:] = estimate(found, given, 0.0)
    mean, deviation = _mean_and_deviation(drawn)
    return ByNumber(doubles.grades, number, mean, deviation, rounds, seed, rule)


def _given_ranks(doubles: Graded, ranks: Mapping[tuple[str, str], float]) -> Floats:
    """(documents,) rank of each, nan where none is given."""
    topics = [doubles.topics[t] for t in doubles.topic.tolist()]
    documents = [doubles.documents[d] for d in doubles.document.tolist()]
    return np.array([ranks.get(pair, np.nan) for pair in zip(topics, documents, strict=True)], np.float64)


def _best_ranks(doubles: Graded, runs: Runs) -> Floats:
    """(documents,) best rank that any system gave, nan where none did."""
    results = retrieved(runs)
    return np.append(results.best, np.nan)[results.of(doubles)]


def _mean_and_deviation(drawn: Floats) -> tuple[Floats, Floats]:
    """Over the first axis, of what is not nan; nan where there is too little."""
    known = ~np.isnan(drawn)
    n = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, drawn, 0.0).sum(axis=0) / n
        squares = np.where(known, (drawn - mean) ** 2, 0.0).sum(axis=0)
        return mean, np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan)


def _long(grades: Floats, index: Mapping[str, NDArray[Any]], columns: Mapping[str, Floats], backend: str) -> Any:
    """One row per entry of the index and grade."""
    ((name, labels),) = index.items()
    return make_frame(
        {
            name: np.repeat(labels, grades.size),
            "grade": np.tile(grades, len(labels)),
            **{label: column.ravel() for label, column in columns.items()},
        },
        backend,
    )

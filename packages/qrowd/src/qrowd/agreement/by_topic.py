"""Agreement by topic and scores of systems: correlation with topic ease, and rankings on fewer topics.

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, sections 3.3,
4.2, 5.1 and 5.2 (Figures 2, 4 and 5, Table 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement.alpha import Alphas
from qrowd.agreement.correlation import PearsonTest, pearson_test
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats
from qrowd.kernels.correlation import tau_b
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.frames import make_frame
from qrowd.model.result import Result
from qrowd.model.scores import interpolated, known_mean, one_measure, rankable

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

Agreement = Alphas | Mapping[str, float] | Mapping[str, Mapping[str, float]]
"""Agreement of every topic: alpha, {topic: number}, or {set of documents: {topic: number}}."""

STRATEGIES = ("high", "low", "random")


@dataclass(frozen=True, eq=False)
class EaseCorrelation(Result):
    """Correlation of topic ease with agreement.

    topics : (topics,) those that have both scores and agreement. ease : (topics,) mean score of all systems.
    names : (sets,) the sets of documents on which agreement was computed. agreement : (sets, topics).
    bins : numbers of bins, 0 for single topics. correlations : (sets, bins).
    significance : p-value below which a correlation is marked as significant.
    """

    topics: tuple[str, ...]
    ease: Floats
    names: tuple[str, ...]
    agreement: Floats
    bins: tuple[int, ...]
    correlations: tuple[tuple[PearsonTest, ...], ...]
    significance: float

    def _columns(self) -> dict[str, Any]:
        flat = [one for row in self.correlations for one in row]
        p = np.array([one.p for one in flat])
        return {
            "agreement": np.repeat(np.array(self.names, object), len(self.bins)),
            "bins": np.tile(np.array(self.bins), len(self.names)),
            "n": np.array([one.n for one in flat]),
            "pearson": np.array([one.r for one in flat]),
            "p": p,
            "significant": p < self.significance,
        }

    def points(self, *, bins: int = 0, name: str | None = None, backend: str = "pandas") -> Any:
        """The points of Figure 2: agreement and ease of every topic, or their means in every bin of topics."""
        if name is not None and name not in self.names:
            raise ArgumentError(f"choose from {', '.join(self.names)}", "name", name)
        agreement = self.agreement[self.names.index(name) if name is not None else -1]
        defined = np.flatnonzero(~np.isnan(agreement))
        if not bins:
            columns = {"topic": np.array(self.topics, object)[defined]}
            return make_frame({**columns, "agreement": agreement[defined], "ease": self.ease[defined]}, backend)
        x, y = binned(agreement, self.ease, bins)
        return make_frame({"bin": np.arange(1, x.size + 1), "agreement": x, "ease": y}, backend)


def ease_correlation(
    scores: AnyScores,
    agreement: Agreement,
    *,
    bins: Sequence[int] = (8, 16, 32),
    significance: float = 0.005,
    interpolate: bool = False,
) -> EaseCorrelation:
    """Pearson's correlation of topic ease with agreement: are topics on which assessors agree easier for systems?

    Parameters
    ----------
    scores : of one measure; several assessors are averaged topic by topic first. The ease of a topic is the mean score
        of all systems.
    agreement : by topic: krippendorff_alpha(..., by="topic"), {topic: number}, or several sets of documents as
        {set: {topic: number}}.
    bins : numbers of bins. Topics are sorted by agreement and divided into bins of equal size (differing by at most
        one), whose means are correlated; nan if there are fewer topics than bins.
    significance : p-value below which a correlation is marked as significant.
    interpolate : fill missing (topic, system) scores first; see `qrowd.model.scores.interpolated`.

    Raises
    ------
    ArgumentError
        Scores of several measures.
    NoOverlapError
        Scores and agreement share no topic.
    """
    labels, table = _topic_scores(scores, interpolate)
    sets = _sets(agreement)
    places = [i for i, topic in enumerate(labels) if any(topic in by_topic for by_topic in sets.values())]
    if not places:
        raise NoOverlapError("scores and agreement share no topic; check that both are of the same collection")
    ease = known_mean(table[places], axis=1)
    topics = tuple(labels[i] for i in places)
    value = np.array([[by_topic.get(topic, np.nan) for topic in topics] for by_topic in sets.values()])
    numbers = (*bins, 0)
    correlations = tuple(
        tuple(pearson_test(*(binned(row, ease, n) if n else (row, ease))) for n in numbers) for row in value
    )
    return EaseCorrelation(topics, ease, tuple(sets), value, numbers, correlations, significance)


def binned(agreement: Floats, ease: Floats, bins: int) -> tuple[Floats, Floats]:
    """(bins,) means of agreement and of ease in bins of topics sorted by agreement; nan for more bins than topics."""
    defined = ~(np.isnan(agreement) | np.isnan(ease))
    if np.count_nonzero(defined) < bins:
        return np.full(bins, np.nan), np.full(bins, np.nan)
    parts = _in_bins(agreement[defined], bins)
    x, y = ([column[defined][part].mean() for part in parts] for column in (agreement, ease))
    return np.array(x), np.array(y)


def _in_bins(agreement: Floats, bins: int) -> list[NDArray[np.int64]]:
    """The places of topics in bins of equal size (differing by at most one), sorted by agreement."""
    if not 1 <= bins <= agreement.size:
        raise ArgumentError(f"expected 1 bin or more, and at most the number of topics, {agreement.size}", "bins", bins)
    return np.array_split(np.argsort(agreement, kind="stable"), bins)


@dataclass(frozen=True, eq=False)
class TopicRemoval(Result):
    """Scores and system rankings on fewer and fewer topics.

    The strategies are, in order: topics with high agreement removed first, with low agreement first, at random.

    n_topics : (sizes,) topics left, from all down to 1; with `bins` above 0, bins of topics left.
    score : (strategies, sizes) mean over systems of their mean score. tau : (strategies, sizes) tau-b of the systems'
        ranking with that on all topics (nan if all systems tie). Random removal: means over resamples.
    low, high : (2, sizes) interval of the random score (row 0) and tau (row 1), over resamples, at level `confidence`.
    n_resamples : number of random orders of topics. seed : pass it as `rng` to draw them again.
    bins : number of bins that topics were divided into; 0 for single topics.
    """

    n_topics: NDArray[np.int64]
    score: Floats
    tau: Floats
    low: Floats
    high: Floats
    n_resamples: int
    confidence: float
    seed: Seed
    bins: int = 0

    def _columns(self) -> dict[str, Any]:
        n = self.n_topics.size
        blank = np.full((2, n), np.nan)
        return {
            "removed": np.repeat(np.array(STRATEGIES, object), n),
            "n_topics": np.tile(self.n_topics, 3),
            "score": self.score.ravel(),
            "score_low": np.concatenate([*blank, self.low[0]]),
            "score_high": np.concatenate([*blank, self.high[0]]),
            "tau": self.tau.ravel(),
            "tau_low": np.concatenate([*blank, self.low[1]]),
            "tau_high": np.concatenate([*blank, self.high[1]]),
        }


def topic_removal(
    scores: AnyScores,
    agreement: Alphas | Mapping[str, float],
    *,
    bins: int = 0,
    n_resamples: int = 300,
    confidence: float = 0.95,
    interpolate: bool = False,
    rng: Rng = None,
) -> TopicRemoval:
    """Scores and rankings when topics are removed: high agreement first, low agreement first, at random (Figures 4, 5).

    Topics without agreement are left out from the start. Ties in agreement keep the order of the scores' topics.
    Missing scores are left out of a system's mean.

    Parameters
    ----------
    scores, interpolate : as in `ease_correlation`.
    agreement : krippendorff_alpha(..., by="topic") or {topic: number}.
    bins : number of bins of topics with similar agreement, as of `ease_correlation`, which are removed as a whole; a
        bin scores the mean of its topics. 0 removes single topics.
    n_resamples : number of random orders in which topics are removed.
    confidence : level of the intervals of random removal.
    rng : source of chance for the random orders.

    Raises
    ------
    ArgumentError
        Scores of several measures.
    NoOverlapError
        Scores and agreement share no topic.
    """
    labels, table = _topic_scores(scores, interpolate)
    (by_topic,) = _sets(agreement).values()
    value = np.array([by_topic.get(topic, np.nan) for topic in labels])
    defined = np.flatnonzero(~np.isnan(value))
    if not defined.size:
        raise NoOverlapError("scores and agreement share no topic; check that both are of the same collection")
    table, value = table[defined], value[defined]
    if bins:
        parts = _in_bins(value, bins)
        table, value = (np.array([known_mean(by[part], axis=0) for part in parts]) for by in (table, value))
    reference = known_mean(table, axis=0)
    seed = seed_of(rng)
    random = Chance.of(seed).stream("topic removal")
    ascending = np.argsort(value, kind="stable")
    shuffled = np.argsort(random.random((n_resamples, value.size)), axis=1)
    by_agreement = [_on_first(table[order], reference) for order in (ascending, ascending[::-1])]
    at_random = np.array([_on_first(table[order], reference) for order in shuffled]).reshape(n_resamples, 2, -1)
    sides = [(1 - confidence) / 2, (1 + confidence) / 2]
    with np.errstate(all="ignore"):
        low, high = _known_quantiles(at_random, sides)
    both = np.array([*by_agreement, known_mean(at_random, axis=0)])[:, :, ::-1]
    sizes = np.arange(value.size, 0, -1)
    return TopicRemoval(sizes, both[:, 0], both[:, 1], low[:, ::-1], high[:, ::-1], n_resamples, confidence, seed, bins)


def _on_first(ordered: Floats, reference: Floats) -> tuple[Floats, Floats]:
    """(topics,) mean score and tau on the first 1, 2, ... of the topics (topics, systems)."""
    defined = ~np.isnan(ordered)
    count = np.cumsum(defined, axis=0)
    means = np.where(count > 0, np.cumsum(np.where(defined, ordered, 0.0), axis=0) / np.maximum(count, 1), np.nan)
    # Sums in another order differ in their last digits; scores equal up to rounding are tied.
    return known_mean(means, axis=1), tau_b(rankable(means), rankable(reference)[None])


def _known_quantiles(values: Floats, sides: list[float]) -> Floats:
    """(sides, ...) quantiles over the first axis of the values that are not nan."""
    flat = values.reshape(values.shape[0], -1)
    out = np.full((len(sides), flat.shape[1]), np.nan)
    for column in range(flat.shape[1]):
        defined = flat[~np.isnan(flat[:, column]), column]
        if defined.size:
            out[:, column] = np.quantile(defined, sides)
    return out.reshape(len(sides), *values.shape[1:])


def _topic_scores(scores: AnyScores, interpolate: bool) -> tuple[tuple[str, ...], Floats]:
    """Topics, and (topics, systems) scores of the panel's mean."""
    values, (_, topics, _) = one_measure(scores)
    table = known_mean(values, axis=0)
    return topics, interpolated(table) if interpolate else table


def _sets(agreement: Agreement) -> dict[str, dict[str, float]]:
    """{set of documents: {topic: agreement}}."""
    if isinstance(agreement, Alphas):
        return {"all": dict(zip(agreement.labels, agreement.value.tolist(), strict=True))}
    several = {name: part for name, part in agreement.items() if isinstance(part, Mapping)}
    alone = {name: value for name, value in agreement.items() if not isinstance(value, Mapping)}
    sets = several or {"all": alone}
    return {name: {str(topic): float(value) for topic, value in part.items()} for name, part in sets.items()}

"""Measures under label uncertainty: the distribution of scores and ranks over draws of the labels.

Labels are drawn repeatedly, from an aggregate's posterior or from the assessors' judgments, and each draw is scored.
The topics are fixed: differences between draws are due to the labels alone. The result is the distribution over draws,
not an interval for the true score: a document at the top of good runs is more likely to be relevant than its labels
alone suggest, so the draws score good runs too low. Draws of `relevance_given_ranks` account for it and give an
interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.aggregation import Aggregate
from qrowd.comparison.system_ranking import ranks, settled
from qrowd.errors import ArgumentError
from qrowd.evaluation import DEFAULT_MEASURES
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.uncertainty.label_samples import Draw, sampled_scores
from qrowd.uncertainty.relevance_given_ranks import RelevanceGivenRanks

CONVENTIONS = Conventions()
AT_ONCE = 1 << 22  # comparisons of two systems in memory at once


@dataclass(frozen=True, eq=False)
class LabelUncertainty(Result):
    """The distribution of each system's score and rank over draws of the labels, by each measure.

    labels : a description of the labels drawn. n_topics : topics that any draw has a score in.
    samples : (measures, n_resamples, systems) mean score over topics, draw by draw; nan where a draw has no score.
    mean, sd, low, high : (measures, systems) of the draws: their mean, standard deviation (divisor n - 1; nan for one
        draw) and the quantiles that leave (1 - confidence) / 2 of the draws on either side: the
        spread over draws; of RelevanceGivenRanks, an interval of the score by true relevance unless `labels` says
        that assessors err alike.
    rank_shares : (measures, systems, ranks) share of the draws in which the system has that rank; 1 is best and comes
        first. Systems with equal means, rounding aside, share the better rank.
    rank_low, rank_high : (measures, systems) the ranks between which the share `confidence` of the draws lies; 0
        without a score.
    above : (measures, A, B) share of the draws in which A's mean is higher than B's; what it and its converse leave
        are ties. Not the probability that A is better, unless the draws are of RelevanceGivenRanks.
    confidence, n_resamples, seed, conventions : as given; `seed` as `rng` reproduces the result.
    """

    measures: tuple[str, ...]
    systems: tuple[str, ...]
    labels: str
    n_topics: int
    samples: Floats
    mean: Floats
    sd: Floats
    low: Floats
    high: Floats
    rank_shares: Floats
    rank_low: Ints
    rank_high: Ints
    above: Floats
    confidence: float
    n_resamples: int
    seed: Seed
    conventions: dict[str, Any]

    @property
    def first(self) -> Floats:
        """(measures, systems) share of the draws in which the system is first, alone or tied."""
        return np.asarray(self.rank_shares[..., 0])

    def share_above(self, better: str, other: str, measure: str | None = None) -> float:
        """Share of the draws in which `better` scores higher than `other`.

        measure : by its name; not needed where there is only one.

        Raises
        ------
        ArgumentError
            A system or measure that is not there, or several measures and none named.
        """
        if measure is None and len(self.measures) > 1:
            raise ArgumentError(f"measure=None: there are several; choose one of {', '.join(self.measures)}")
        at = []
        for name, names, noun in (
            (self.measures[0] if measure is None else measure, self.measures, "measure"),
            (better, self.systems, "system"),
            (other, self.systems, "system"),
        ):
            if name not in names:
                raise ArgumentError(f"no {noun} is called {name!r}; {closest(name, names, noun)}")
            at.append(names.index(name))
        return float(self.above[tuple(at)])

    def _columns(self) -> dict[str, Any]:
        names = ("mean", "sd", "low", "high", "first", "rank_low", "rank_high")
        return {
            "measure": np.repeat(np.array(self.measures, object), len(self.systems)),
            "system": np.tile(np.array(self.systems, object), len(self.measures)),
            **{name: getattr(self, name).ravel() for name in names},
        }


def under_label_uncertainty(
    runs: Runs,
    labels: Judgments | Aggregate | RelevanceGivenRanks,
    measures: object | Sequence[object] = DEFAULT_MEASURES,
    *,
    n_resamples: int = 1000,
    draw: Draw = "document",
    confidence: float = 0.95,
    conventions: Conventions = CONVENTIONS,
    rng: Rng = None,
    block: int = 512,
    threads: int | None = None,
) -> LabelUncertainty:
    """Scores and ranks of the systems over `n_resamples` draws of the labels.

    Parameters
    ----------
    labels : judgments; an aggregate, whose posterior is drawn from, each document for itself; or what
        `relevance_given_ranks` gives for the same runs, whose draws are taken, all of them, whatever n_resamples.
    draw : from judgments, "document": every document takes one of its judgments, all equally likely; "topic": every
        topic takes one of its assessors, of those whose `min_coverage` gives them a score there, with all their
        judgments. The first is for crowds and treats documents as independent; the second keeps the severity of an
        assessor and leaves each assessor on their own scale.
    confidence : share of the draws that lie between low and high, and between the two ranks.
    conventions : of the scores. A draw's mean goes over the topics it has a score in.
    block : draws scored at once; memory is about 8 bytes x block x measures x topics x systems.

    Raises
    ------
    ArgumentError
        An aggregate without a posterior (mean, median), n_resamples below 1, or no draw with a score.
    NoOverlapError
        Runs and labels share no topic.
    ScaleError
        draw="document" from assessors on scales that cannot be one.
    """
    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence={confidence!r}: a number between 0 and 1 was expected")
    if isinstance(labels, RelevanceGivenRanks):
        seed, n_resamples = labels.seed, labels.n_resamples
    else:
        seed = seed_of(rng)
    source_of_labels = labels.panel() if isinstance(labels, RelevanceGivenRanks) else labels
    means: list[Floats] = []
    with_scores: list[NDArray[np.bool_]] = []
    names: tuple[str, ...] = ()
    for scores in sampled_scores(
        runs, source_of_labels, measures, n_resamples, draw, conventions, seed, block=block, threads=threads
    ):
        means.append(topic_means(scores.values))
        with_scores.append(np.asarray(~np.isnan(scores.values).all(axis=(0, 1, 3))))
        names = scores.measures
    samples = np.concatenate(means, axis=1)
    for m, name in enumerate(names):
        if np.isnan(samples[m]).all():
            raise ArgumentError(f"{name}: no draw has a score; lower min_coverage, or draw='document'")
    columns = [_statistics(table, confidence) for table in samples]
    mean, sd, low, high = (np.array([column[i] for column in columns]) for i in range(4))
    ranks_by_draw = [_ranks(table) for table in samples]
    rank_intervals = [_rank_interval(table, confidence) for table in ranks_by_draw]
    source = f"{labels.method}, posterior" if isinstance(labels, Aggregate) else f"judgments, one per {draw}"
    if isinstance(labels, RelevanceGivenRanks):
        source = "relevance given labels and ranks"
        if not labels.independent:
            source += f", no interval of the true score: assessors err alike (p {labels.p_independent:.3f})"
    elif draw == "topic":
        source = "judgments, one assessor per topic"
    return LabelUncertainty(
        names,
        runs.systems,
        source,
        int(np.any(with_scores, axis=0).sum()),
        samples,
        mean,
        sd,
        low,
        high,
        np.array([_shares(table) for table in ranks_by_draw]),
        np.array([spread[0] for spread in rank_intervals]),
        np.array([spread[1] for spread in rank_intervals]),
        np.array([_above(table) for table in ranks_by_draw]),
        confidence,
        int(n_resamples),
        seed,
        conventions.as_dict(),
    )


def topic_means(values: Floats) -> Floats:
    """(..., systems) mean over the topics with a score of (..., topics, systems); nan without any.

    Topics are added one after the other, so that a draw's mean does not depend on the block it stood in.
    """
    total, count = np.zeros((*values.shape[:-2], values.shape[-1])), np.zeros((*values.shape[:-2], values.shape[-1]))
    for t in range(values.shape[-2]):
        one = values[..., t, :]
        known = ~np.isnan(one)
        total += np.where(known, one, 0.0)
        count += known
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def _statistics(samples: Floats, confidence: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean, s.d., low and high of each column; measured from its first number, so that equal ones have s.d. 0."""
    if np.isnan(samples).any():
        statistics = []
        for column in samples.T:
            known = column[~np.isnan(column)]
            statistics.append(
                [part[0] for part in _statistics(known[:, None], confidence)] if known.size else [np.nan] * 4
            )
        mean, sd, low, high = np.array(statistics).T
        return mean, sd, low, high
    moved = samples - samples[0]
    sd = moved.std(axis=0, ddof=1) if len(samples) > 1 else np.full(samples.shape[1], np.nan)
    tail = (1 - confidence) / 2
    low, high = np.quantile(samples, [tail, 1 - tail], axis=0)
    return samples[0] + moved.mean(axis=0), sd, low, high


def _ranks(samples: Floats) -> Ints:
    """(n, systems) ranks draw by draw; 0 without a score."""
    rows = np.array([settled(row) for row in samples])
    step = max(1, AT_ONCE // max(1, rows.shape[1] ** 2))
    return np.concatenate([ranks(rows[begin : begin + step]) for begin in range(0, len(rows), step)])


def _shares(ranks: Ints) -> Floats:
    """(systems, ranks) share of the draws, of those in which the system has a score; nan without any."""
    n_systems = ranks.shape[1]
    counts = np.array([np.bincount(column, minlength=n_systems + 1)[1:] for column in ranks.T], np.float64)
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _rank_interval(ranks: Ints, confidence: float) -> tuple[Ints, Ints]:
    """(systems,) ranks; at most (1 - confidence) / 2 of the draws lie below the first, and as many above the second."""
    low, high = np.zeros(ranks.shape[1], np.int64), np.zeros(ranks.shape[1], np.int64)
    tail = (1 - confidence) / 2
    for s, column in enumerate(ranks.T):
        known = np.sort(column[column > 0])
        if known.size:
            outside = int(np.floor(tail * known.size + 1e-9))
            low[s], high[s] = known[outside], known[-1 - outside]
    return low, high


def _above(ranks: Ints) -> Floats:
    """(systems, systems) share of the draws in which the row's system has the better rank; nan where never both."""
    n, n_systems = ranks.shape
    better, both = np.zeros((n_systems, n_systems)), np.zeros((n_systems, n_systems))
    step = max(1, AT_ONCE // max(1, n_systems**2))
    for begin in range(0, n, step):
        rows = ranks[begin : begin + step]
        known = rows > 0
        pair = known[:, :, None] & known[:, None, :]
        better += ((rows[:, :, None] < rows[:, None, :]) & pair).sum(axis=0)
        both += pair.sum(axis=0)
    return np.asarray(np.where(both > 0, better / np.maximum(both, 1), np.nan))

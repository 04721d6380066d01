"""Distributions of gain cumulated down ranked lists: DCG as an interval, as a distribution, as draws.

    DCG@k = sum_{r <= k} w_r G_r,   C@k = sum_{r <= k} w_r

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, section 6.1. The
text cumulates distributions as sums and then builds mixtures of them with weights w_r / C. The means agree, the spreads
do not: unanimous assessors make a sum certain, while the mixture still spreads as far as the gains of the list differ.
Both let a strict and a lenient assessor change places from one document to the next; "assessors" does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.gain_distributions.distributions import GainDistributions, gain_distributions
from qrowd.gain_distributions.weights import Floats
from qrowd.kernels.gain_sums import discounts
from qrowd.kernels.ranking import weighted_sum
from qrowd.model.alignment import Alignment, align
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs, ScoreDtype
from qrowd.model.scores import interpolated, known_mean

Cumulate = Literal["sum", "mixture", "assessors"]
Discount = Literal["log2", "original"]
Missing = Literal["zero", "skip", "interpolate"]
Unjudged = Literal["nonrelevant"]


@dataclass(frozen=True, eq=False)
class IntervalDCG:
    """The least and the most that every list can gain, document by document; arrays are (topics, systems).

    cutoff, dcg : the last rank and the discount.
    """

    topics: tuple[str, ...]
    systems: tuple[str, ...]
    lower: Floats
    upper: Floats
    cutoff: int
    dcg: Discount

    @property
    def mean(self) -> Floats:
        """The middle of the interval."""
        return self.lower + (self.upper - self.lower) / 2

    @property
    def sd(self) -> Floats:
        """Of the interval taken as a uniform distribution: width / sqrt(12)."""
        return np.asarray((self.upper - self.lower) / np.sqrt(12))

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per topic and system."""
        return cells(self.topics, self.systems, {"lower": self.lower, "upper": self.upper}, backend)


@dataclass(frozen=True, eq=False)
class UncertainDCG:
    """Mean and standard deviation of what every list gains; arrays are (topics, systems).

    cumulate : "sum" or "assessors", of DCG; "mixture", of the mixture, on the scale of DCG / C.
    cutoff, dcg : the last rank and the discount. constant : C@cutoff.
    """

    topics: tuple[str, ...]
    systems: tuple[str, ...]
    mean: Floats
    sd: Floats
    cumulate: Cumulate
    cutoff: int
    dcg: Discount
    constant: float

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per topic and system."""
        return cells(self.topics, self.systems, {"mean": self.mean, "sd": self.sd}, backend)


@dataclass(frozen=True, eq=False)
class SampledDCG:
    """DCG of every list in draws of everybody's gains; systems share the draw of a document they both retrieve.

    values : (draws, topics, systems).
    cutoff, dcg : the last rank and the discount. seed : give it as `rng` to see the same draws again.
    """

    topics: tuple[str, ...]
    systems: tuple[str, ...]
    values: Floats
    cutoff: int
    dcg: Discount
    seed: Seed

    @property
    def mean(self) -> Floats:
        """(topics, systems) over draws."""
        return np.asarray(self.values.mean(axis=0))

    @property
    def sd(self) -> Floats:
        """(topics, systems) over draws, with draws - 1."""
        return np.asarray(self.values.std(axis=0, ddof=1))

    def by_system(self) -> Floats:
        """(draws, systems) mean over topics."""
        return known_mean(self.values, axis=1)

    def first(self) -> Floats:
        """(systems,) share of draws in which the system has the highest mean; several that tie share the draw."""
        means = self.by_system()
        best = means == np.fmax.reduce(means, axis=1)[:, None]
        return np.asarray((best / np.maximum(best.sum(axis=1, keepdims=True), 1)).mean(axis=0))


def interval_dcg(
    runs: Runs,
    judgments: Judgments | GainDistributions,
    cutoff: int = 10,
    *,
    dcg: Discount = "log2",
    missing: Missing = "zero",
    unjudged: Unjudged = "nonrelevant",
    score_dtype: ScoreDtype = "float64",
) -> IntervalDCG:
    """DCG by interval arithmetic: what a list gains if every document gains its least, and if its most (section 6.1.1).

    Arguments and errors as in `uncertain_dcg`. The ends are those of `lower` and `upper` of the distributions.
    """
    made, alignment, weights = laid_over(runs, judgments, cutoff, dcg, missing, unjudged, score_dtype)
    ends = (at_ranks(alignment, cutoff, column) @ weights for column in (made.lower, made.upper))
    lower, upper = (with_missing(end, alignment, missing) for end in ends)
    return IntervalDCG(made.pool.topics, runs.systems, lower, upper, cutoff, dcg)


def uncertain_dcg(
    runs: Runs,
    judgments: Judgments | GainDistributions,
    cutoff: int = 10,
    *,
    cumulate: Cumulate = "sum",
    dcg: Discount = "log2",
    missing: Missing = "zero",
    unjudged: Unjudged = "nonrelevant",
    score_dtype: ScoreDtype = "float64",
) -> UncertainDCG:
    """The distribution of discounted cumulated gain of every list: its mean and standard deviation (section 6.1).

        sum        mean = sum_r w_r m_r            sd^2 = sum_r w_r^2 v_r
        mixture    mean = sum_r w_r m_r / C        sd^2 = sum_r w_r (v_r + m_r^2) / C - mean^2
        assessors  mean = sum_r w_r m_r            sd^2 = sum_a s_a (DCG of a - mean)^2

    Parameters
    ----------
    judgments : Judgments, with the default options of `gain_distributions`, or what that made of them.
    cumulate : "sum" adds gains up, documents being independent; its s.d. is disagreement and nothing else. "mixture"
        is the paper's: the gain at a rank drawn with probability w_r / C. Its s.d. also holds how much gains differ
        from rank to rank. "assessors" draws one assessor for the whole list, so that strict ones stay strict: its s.d.
        is that of everybody's own DCG, a document somebody has not judged gaining its mean. For panels who judged most.
    dcg : discount "log2", log2(r + 1), or "original", none at rank 1 and log2(r) from rank 2 (the paper's).
    missing : a judged topic that a run lacks counts as an empty list ("zero"), which gains nothing; not at all ("skip":
        nan); or as the mean of the system's other topics and the topic's other systems ("interpolate", section 3.3).
    unjudged : "nonrelevant": documents without a judgment, and ranks beyond the end of a list, surely gain 0.
    score_dtype : as in `qrowd.evaluate`. Ties are broken by document id.

    Raises
    ------
    ArgumentError
        A cut-off below 1, or an option that there is not.
    NoOverlapError
        Runs and judgments share no topic.
    """
    choose("cumulate", cumulate, Cumulate)
    made, alignment, weights = laid_over(runs, judgments, cutoff, dcg, missing, unjudged, score_dtype)
    mean, sd = list_moments(made, alignment, weights, cumulate)
    if cumulate == "mixture":
        mean = mean / weights.sum()
    mean, sd = with_missing(mean, alignment, missing), with_missing(sd, alignment, missing)
    return UncertainDCG(made.pool.topics, runs.systems, mean, sd, cumulate, cutoff, dcg, float(weights.sum()))


def sampled_dcg(
    runs: Runs,
    judgments: Judgments | GainDistributions,
    cutoff: int = 10,
    *,
    draws: int = 1000,
    rng: Rng = None,
    dcg: Discount = "log2",
    missing: Missing = "zero",
    unjudged: Unjudged = "nonrelevant",
    score_dtype: ScoreDtype = "float64",
) -> SampledDCG:
    """DCG of every list when every document's gain is drawn from its distribution, again and again.

    Documents are independent, as in cumulate="sum". Systems that retrieve the same documents share their luck, which
    mean and s.d. of each cannot say.

    draws : how many. rng : for them; None is fresh chance, and the result's `seed` draws the same again.
    Other arguments and errors as in `uncertain_dcg`.
    """
    if draws < 2:
        raise ArgumentError(f"draws={draws!r}: at least 2 are needed")
    seed = seed_of(rng)
    chance = Chance.of(seed)
    made, alignment, weights = laid_over(runs, judgments, cutoff, dcg, missing, unjudged, score_dtype)
    values = np.empty((draws, len(alignment.topics), len(runs.systems)))
    out = np.empty((len(runs.systems), draws))
    for t, topic in enumerate(alignment.topics):
        gains = made.draw(draws, chance.stream("gains", t), made.pool.rows(t))
        weighted_sum(topic.rows, weights[None], np.ascontiguousarray(gains), out)
        values[:, t] = out.T
    values[:, ~made.judged_topics] = np.nan
    if missing != "zero" and alignment.missing.any():
        values[:, alignment.missing] = np.nan
        if missing == "interpolate":
            values = interpolated(values.transpose(1, 2, 0)).transpose(2, 0, 1)
    return SampledDCG(made.pool.topics, runs.systems, values, cutoff, dcg, seed)


# ------------------------------------------------------------------ what the room shares


def laid_over(
    runs: Runs,
    judgments: Judgments | GainDistributions,
    cutoff: int,
    dcg: Discount,
    missing: Missing,
    unjudged: Unjudged,
    score_dtype: ScoreDtype,
) -> tuple[GainDistributions, Alignment, Floats]:
    """The distributions, the runs over their pool, and (cutoff,) the weight of each rank; options checked."""
    choose("missing", missing, Missing)
    choose("unjudged", unjudged, Unjudged)
    weights = rank_weights(cutoff, dcg)
    made = made_of(judgments)
    return made, align(runs, made.pool, score_dtype), weights


def made_of(judgments: Judgments | GainDistributions) -> GainDistributions:
    """The distributions of judgments, by default options where they are not made yet."""
    return judgments if isinstance(judgments, GainDistributions) else gain_distributions(judgments)


def rank_weights(cutoff: object, dcg: Discount) -> Floats:
    """(cutoff,) the weight of each rank."""
    if isinstance(cutoff, bool) or not isinstance(cutoff, int | np.integer) or cutoff < 1:
        raise ArgumentError(f"cutoff={cutoff!r}: a whole number from 1 was expected")
    choose("dcg", dcg, Discount)
    return discounts(int(cutoff), original=dcg == "original")


def choose(name: str, given: object, choices: Any) -> None:
    """Refuse what is no choice."""
    if given not in get_args(choices):
        hint = {"exp-log2": "; 2^g - 1 is gains={1: 1, 2: 3, 3: 7}", "condensed": "; it needs one assessor's rankings"}
        wrong = f"{name}={given!r}: choose one of {', '.join(get_args(choices))}"
        raise ArgumentError(wrong + hint.get(str(given).replace("exp-original", "exp-log2"), ""))


def at_ranks(alignment: Alignment, cutoff: int, column: Floats) -> Floats:
    """(topics, systems, cutoff) what stands at each rank of each list, of a column (pairs,); 0 where unjudged."""
    n_systems = alignment.missing.shape[1]
    found = np.zeros((len(alignment.topics), n_systems, cutoff))
    for t, topic in enumerate(alignment.topics):
        here = np.append(column[alignment.pool.rows(t)], 0.0)  # row -1, unjudged, is the last
        rows = topic.rows[:, :cutoff]
        found[t, :, : rows.shape[1]] = here[rows]
    found[np.diff(alignment.pool.starts) == 0] = np.nan
    return found


def moments(means: Floats, variances: Floats, weights: Floats, cumulate: Cumulate) -> tuple[Floats, Floats]:
    """(...,) mean of DCG, and its s.d. ("sum") or that of the mixture, on the scale of DCG / C.

    means, variances : (..., ranks) of the gain at each rank.
    """
    mean = means @ weights
    if cumulate != "mixture":
        return mean, np.sqrt(variances @ weights**2)
    constant = weights.sum()
    between = (means - (mean / constant)[..., None]) ** 2
    return mean, np.sqrt((variances + between) @ weights / constant)


def list_moments(
    made: GainDistributions, alignment: Alignment, weights: Floats, cumulate: Cumulate
) -> tuple[Floats, Floats]:
    """(topics, systems) `moments` of every list, or, for cumulate="assessors", with the s.d. over assessors."""
    means, variances = (at_ranks(alignment, weights.size, column) for column in (made.mean, made.variance))
    mean, sd = moments(means, variances, weights, cumulate)
    if cumulate == "assessors":
        for t in np.flatnonzero(made.judged_topics).tolist():
            sd[t] = sd_over_assessors(made, t, alignment.topics[t].rows, weights)
    return mean, sd


def sd_over_assessors(made: GainDistributions, topic: int, rows: NDArray[np.int32], weights: Floats) -> Floats:
    """(lists,) s.d. over the topic's assessors of their own DCG; an unjudged document gains its mean.

    rows : (lists, depth) places in the topic's pool, -1 outside.

    Raises
    ------
    ArgumentError
        Intervals, which do not say whose gain is whose.
    """
    if made.shape == "interval":
        raise ArgumentError("cumulate='assessors' needs everybody's own gains: use shape='sample'")
    pairs = made.pool.rows(topic)
    said = slice(int(made.starts[pairs.start]), int(made.starts[pairs.stop]))
    present, column = np.unique(made.assessor[said], return_inverse=True)
    own = np.repeat(made.mean[pairs, None], present.size, axis=1)
    own[np.repeat(np.arange(own.shape[0]), made.n[pairs]), column] = made.gain[said]
    dcg = np.empty((rows.shape[0], present.size))
    weighted_sum(rows, weights[None], own, dcg)
    share = made.weights[present, topic] / made.weights[present, topic].sum()
    variance = ((dcg - (dcg @ share)[:, None]) ** 2) @ share
    if made.single == "pooled":
        doubt = np.empty((rows.shape[0], 1))
        weighted_sum(rows, weights[None] ** 2, np.where(made.widened(), made.variance, 0.0)[pairs, None], doubt)
        variance += doubt[:, 0]
    return np.asarray(np.sqrt(variance))


def with_missing(table: Floats, alignment: Alignment, missing: Missing) -> Floats:
    """(topics, systems) with missing lists as the convention says; topics that nobody judged stay nan."""
    if missing == "zero" or not alignment.missing.any():
        return table
    known = np.where(alignment.missing, np.nan, table)
    if missing == "skip":
        return known
    return np.where(np.isnan(table), np.nan, np.where(alignment.missing, interpolated(known), table))


def cells(topics: tuple[str, ...], systems: tuple[str, ...], columns: dict[str, Floats], backend: str) -> Any:
    """One row per topic and system."""
    labels: dict[str, NDArray[Any]] = {
        "topic": np.repeat(np.array(topics, object), len(systems)),
        "system": np.tile(np.array(systems, object), len(topics)),
    }
    return make_frame({**labels, **{name: table.ravel() for name, table in columns.items()}}, backend)

"""Distributions of gain cumulated down ranked lists: DCG as an interval, and as a distribution.

    DCG@k = sum_{r <= k} w_r G_r,   C@k = sum_{r <= k} w_r

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, section 6.1. The
text cumulates distributions as sums and then builds mixtures of them with weights w_r / C. Their means agree, their
standard deviations do not: with unanimous assessors that of a sum is 0, while that of the mixture is as large as gains
differ within the list. Both treat documents as independent, so that a strict assessor is not strict throughout;
"assessors" keeps the gains of each assessor together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from qrowd.errors import ArgumentError, check_choice
from qrowd.gain_distributions.distributions import GainDistributions, gain_distributions
from qrowd.kernels.arrays import Codes, Floats
from qrowd.kernels.gains import discounts, weighted_ranks
from qrowd.model.alignment import Alignment, align
from qrowd.model.conventions import Conventions, Missing
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.model.scores import interpolated

Cumulate = Literal["sum", "mixture", "assessors"]
Discount = Literal["log2", "original", "zipf"]


@dataclass(frozen=True, eq=False)
class Cells(Result):
    """A result with one row per topic and system."""

    topics: tuple[str, ...]
    systems: tuple[str, ...]

    _CELLS: ClassVar[tuple[str, ...]] = ("mean", "sd")

    def _columns(self) -> dict[str, Any]:
        return {
            "topic": np.repeat(np.array(self.topics, object), len(self.systems)),
            "system": np.tile(np.array(self.systems, object), len(self.topics)),
            **{name: getattr(self, name).ravel() for name in self._CELLS},
        }


@dataclass(frozen=True, eq=False)
class IntervalDCG(Cells):
    """The smallest and the largest DCG that each list can have; arrays are (topics, systems).

    cutoff, dcg : the last rank and the discount.
    """

    lower: Floats
    upper: Floats
    cutoff: int
    dcg: Discount

    _CELLS = ("lower", "upper")

    @property
    def mean(self) -> Floats:
        """The middle of the interval."""
        return self.lower + (self.upper - self.lower) / 2

    @property
    def sd(self) -> Floats:
        """Standard deviation of a uniform distribution on the interval: width / sqrt(12)."""
        return np.asarray((self.upper - self.lower) / np.sqrt(12))


@dataclass(frozen=True, eq=False)
class UncertainDCG(Cells):
    """Mean and standard deviation of the DCG of each list; arrays are (topics, systems).

    cumulate : "sum" or "assessors": of DCG; "mixture": of the mixture, on the scale of DCG / C.
    cutoff, dcg : the last rank and the discount. constant : C@cutoff.
    """

    mean: Floats
    sd: Floats
    cumulate: Cumulate
    cutoff: int
    dcg: Discount
    constant: float


def interval_dcg(
    runs: Runs,
    judgments: Judgments | GainDistributions,
    *,
    cutoff: int = 10,
    dcg: Discount = "log2",
    conventions: Conventions = Conventions(),
) -> IntervalDCG:
    """DCG by interval arithmetic: if every document gains its least, and if every document gains its most (6.1.1).

    Arguments and errors as in `uncertain_dcg`. The ends of gains are `lower` and `upper` of the distributions.
    """
    gains, alignment, weights = aligned(runs, judgments, cutoff, dcg, conventions)
    ends = (at_ranks(alignment, cutoff, column) @ weights for column in (gains.lower, gains.upper))
    lower, upper = (with_missing(end, alignment, conventions.missing) for end in ends)
    return IntervalDCG(gains.pool.topics, runs.systems, lower, upper, cutoff, dcg)


def uncertain_dcg(
    runs: Runs,
    judgments: Judgments | GainDistributions,
    *,
    cutoff: int = 10,
    cumulate: Cumulate = "sum",
    dcg: Discount = "log2",
    conventions: Conventions = Conventions(),
) -> UncertainDCG:
    """Mean and standard deviation of the discounted cumulated gain of each list (section 6.1).

        sum        mean = sum_r w_r m_r            sd^2 = sum_r w_r^2 v_r
        mixture    mean = sum_r w_r m_r / C        sd^2 = sum_r w_r (v_r + m_r^2) / C - mean^2
        assessors  mean = sum_r w_r m_r            sd^2 = sum_a s_a (DCG of a - mean)^2

    Parameters
    ----------
    judgments : Judgments, or the result of `gain_distributions` where its options are not the default ones.
    cutoff : last rank that counts.
    cumulate : "sum" adds gains of independent documents, so that the s.d. is disagreement alone. "mixture" is the
        paper's: the gain at a rank drawn with probability w_r / C, so that the s.d. also contains the differences
        between ranks. "assessors" is over the assessors' own DCG, so that a strict assessor is strict throughout; a
        document that an assessor has not judged gains its mean, which suits panels who judged most documents.
    dcg : discount "log2", log2(r + 1); "original", none at rank 1 and log2(r) from rank 2 (the paper's); or "zipf", r.
    conventions : of these, score_dtype and missing ("interpolate": section 3.3); repeats and grades where judgments are
        given. Documents without a judgment, and ranks beyond the end of a list, gain 0. Other conventions are refused.

    Raises
    ------
    ArgumentError
        A cut-off below 1, an unknown option, or a convention that distributions of gains cannot honour.
    NoOverlapError
        Runs and judgments share no topic.
    """
    check_choice("cumulate", cumulate, Cumulate)
    gains, alignment, weights = aligned(runs, judgments, cutoff, dcg, conventions)
    mean, sd = list_moments(gains, alignment, weights, cumulate)
    if cumulate == "mixture":
        mean = mean / weights.sum()
    mean, sd = (with_missing(table, alignment, conventions.missing) for table in (mean, sd))
    return UncertainDCG(gains.pool.topics, runs.systems, mean, sd, cumulate, cutoff, dcg, float(weights.sum()))


# ------------------------------------------------------------------ shared by this package


def aligned(
    runs: Runs,
    judgments: Judgments | GainDistributions,
    cutoff: int,
    dcg: Discount,
    conventions: Conventions,
    *,
    empty: bool = False,
) -> tuple[GainDistributions, Alignment, Floats]:
    """The distributions, the runs aligned with their pool, and (cutoff,) the weight of each rank; options checked.

    empty : whether the convention of that name can be honoured.
    """
    weights = rank_weights(cutoff, dcg)
    gains = distributions_of(judgments, conventions, empty=empty)
    return gains, align(runs, gains.pool, conventions.score_dtype), weights


def distributions_of(
    judgments: Judgments | GainDistributions, conventions: Conventions, *, empty: bool = False
) -> GainDistributions:
    """The distributions of judgments by these conventions, or those that are given; refused are other conventions."""
    refused = {
        "ties": "gains are not averaged over ties",
        "unjudged": "condensed lists need one assessor's rankings",
        "min_coverage": "assessors share one distribution; leave out assessors by weights=",
        "duplicates": "a distribution belongs to one document",
    }
    if not empty:
        refused["empty"] = "a topic where no document gains anything scores 0"
    if isinstance(judgments, GainDistributions):
        refused |= dict.fromkeys(("repeats", "grades"), "an option of gain_distributions, which was called before")
    for name, reason in refused.items():
        value = getattr(conventions, name)
        default = getattr(Conventions, name)
        if value != default:
            shown = str(value) if name == "duplicates" else repr(value)
            raise ArgumentError(f"{name}={shown}: distributions of gains allow {default!r} alone; {reason}")
    if isinstance(judgments, GainDistributions):
        return judgments
    return gain_distributions(judgments, gains=conventions.grades, repeats=conventions.repeats)


def rank_weights(cutoff: object, dcg: Discount) -> Floats:
    """(cutoff,) the weight of each rank."""
    if isinstance(cutoff, bool) or not isinstance(cutoff, int | np.integer) or cutoff < 1:
        raise ArgumentError("a whole number from 1 was expected", "cutoff", cutoff)
    if str(dcg).startswith("exp-"):
        raise ArgumentError("choose one of log2, original, zipf; 2^g - 1 is gains={1: 1, 2: 3, 3: 7}", "dcg", dcg)
    check_choice("dcg", dcg, Discount)
    return discounts(int(cutoff), dcg)


def at_ranks(alignment: Alignment, cutoff: int, column: Floats) -> Floats:
    """(topics, systems, cutoff) values of a column (pairs,) at each rank of each list; 0 where unjudged."""
    table = np.zeros((len(alignment.topics), alignment.missing.shape[1], cutoff))
    for t, topic in enumerate(alignment.topics):
        values = np.append(column[alignment.pool.rows(t)], 0.0)  # row -1, unjudged, is the last
        rows = topic.rows[:, :cutoff]
        table[t, :, : rows.shape[1]] = values[rows]
    table[np.diff(alignment.pool.starts) == 0] = np.nan
    return table


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
    gains: GainDistributions, alignment: Alignment, weights: Floats, cumulate: Cumulate
) -> tuple[Floats, Floats]:
    """(topics, systems) `moments` of every list, or, for cumulate="assessors", with the s.d. over assessors."""
    means, variances = (at_ranks(alignment, weights.size, column) for column in (gains.mean, gains.variance))
    mean, sd = moments(means, variances, weights, cumulate)
    if cumulate == "assessors":
        for t in np.flatnonzero(gains.judged_topics).tolist():
            sd[t] = sd_over_assessors(gains, t, alignment.topics[t].rows, weights)
    return mean, sd


def sd_over_assessors(gains: GainDistributions, topic: int, rows: Codes, weights: Floats) -> Floats:
    """(lists,) s.d. over the topic's assessors of their own DCG; an unjudged document gains its mean.

    rows : (lists, depth) places in the topic's pool, -1 outside.
    """
    if gains.shape == "interval":
        raise ArgumentError("cumulate='assessors' needs the gains of each assessor: use shape='sample'")
    pairs = gains.pool.rows(topic)
    judged = slice(int(gains.starts[pairs.start]), int(gains.starts[pairs.stop]))
    present, column = np.unique(gains.assessor[judged], return_inverse=True)
    own = np.repeat(gains.mean[pairs, None], present.size, axis=1)
    own[np.repeat(np.arange(own.shape[0]), gains.n[pairs]), column] = gains.gain[judged]
    dcg = weighted_ranks(rows, weights, own)
    share = gains.weights[present, topic] / gains.weights[present, topic].sum()
    variance = ((dcg - (dcg @ share)[:, None]) ** 2) @ share
    if gains.single == "pooled":
        variances = np.where(gains.widened(), gains.variance, 0.0)[pairs, None]
        variance += weighted_ranks(rows, weights**2, variances)[:, 0]
    return np.asarray(np.sqrt(variance))


def with_missing(table: Floats, alignment: Alignment, missing: Missing) -> Floats:
    """(topics, systems) with missing lists treated by the convention; topics that nobody judged stay nan."""
    if missing == "zero" or not alignment.missing.any():
        return table
    present = np.where(alignment.missing, np.nan, table)
    if missing == "skip":
        return present
    return np.where(np.isnan(table), np.nan, np.where(alignment.missing, interpolated(present), table))

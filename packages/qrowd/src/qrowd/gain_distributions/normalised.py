"""Agreement-aware nDCG: the effectiveness of a list, and how far assessors disagree about it.

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, section 6.1.2,
where it is called AANDCG.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from qrowd.errors import ArgumentError, check_choice
from qrowd.gain_distributions.cumulated import (
    Cells,
    Cumulate,
    Discount,
    IntervalDCG,
    aligned,
    list_moments,
    moments,
    sd_over_assessors,
    with_missing,
)
from qrowd.gain_distributions.distributions import GainDistributions
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores, known_mean

Normalise = Literal["subtract", "divide"]

PANEL = "panel"


@dataclass(frozen=True, eq=False)
class AgreementAware(Cells):
    """Agreement-aware nDCG of every system on every topic, with its standard deviation.

    `to_frame` has one row per topic and system; what="systems" gives means over topics, what="topics" over systems.

    mean, sd : (topics, systems); nan where there is no score.
    measure, sd_measure : their names, AANDCG@k and AANDCG(value='sd')@k, with other options that are not default.
    ideal, ideal_sd : (topics,) mean and s.d. of the ideal ranking's gain, over C.
    constant : C@k, the sum of the weights of the ranks.
    n_gaining : (topics,) number of documents whose mean gain is above 0. coverage : (topics,) 1 where there is a
        judgment, else 0.
    attributes : the conventions in force and the facts behind them.
    """

    mean: Floats
    sd: Floats
    measure: str
    sd_measure: str
    ideal: Floats
    ideal_sd: Floats
    constant: float
    n_gaining: Floats
    coverage: Floats
    attributes: Mapping[str, Any]

    def _tables(self) -> dict[str, Callable[[], Mapping[str, Any]]]:
        return {"cells": self._columns, "systems": self._of_systems, "topics": self._of_topics}

    def _of_systems(self) -> dict[str, Any]:
        means = {"mean": known_mean(self.mean, axis=0), "sd": known_mean(self.sd, axis=0)}
        return {"system": self.systems, **means}

    def by_system(self, interval: IntervalDCG) -> dict[str, Any]:
        """{column: (systems,)} means over topics: the score, its s.d., and the ends of interval arithmetic.

        interval : `interval_dcg` of the same lists, distributions, cut-off and discount, which is divided by the ideal
            as the score is, under normalise="divide" (section 6.1.1).
        """
        ideal = self.constant * self.ideal[:, None]
        by = np.where(ideal > 0, ideal, np.where(np.isnan(ideal), np.nan, np.inf))
        low, high = (known_mean(end / by, axis=0) for end in (interval.lower, interval.upper))
        return {**self._of_systems(), "low": low, "high": high}

    def _of_topics(self) -> dict[str, Any]:
        means = {"mean": known_mean(self.mean, axis=1), "sd": known_mean(self.sd, axis=1)}
        return {"topic": self.topics, **means, "ideal": self.ideal, "ideal_sd": self.ideal_sd}

    def scores(self) -> Scores:
        """Means and standard deviations as two measures of one assessor called panel, as `evaluate` gives scores."""
        values = np.stack([self.mean, self.sd])[:, None]
        relevant = np.broadcast_to(self.n_gaining, (2, 1, self.n_gaining.size)).copy()
        return Scores(
            (self.measure, self.sd_measure),
            (PANEL,),
            self.topics,
            self.systems,
            values,
            relevant,
            self.coverage[None],
            self.attributes,
        )


def agreement_aware_ndcg(
    runs: Runs,
    judgments: Judgments | GainDistributions,
    *,
    cutoff: int = 10,
    normalise: Normalise = "subtract",
    cumulate: Cumulate = "sum",
    dcg: Discount = "log2",
    conventions: Conventions = Conventions(),
) -> AgreementAware:
    """Agreement-aware nDCG: the distribution of a list's gain against the ideal ranking's mean (section 6.1.2).

        subtract   mean = (DCG - ideal) / C        s.d. over C
        divide     mean = DCG / ideal              s.d. over ideal

    DCG and its s.d. as in `uncertain_dcg`; ideal is the DCG of the topic's documents by decreasing mean gain.

    Parameters
    ----------
    normalise : "subtract" (the paper's): 0 is the ideal, and lower is worse, if no gain is below 0; "divide" (its
        future work): from 0 to 1, like nDCG.
    conventions : as in `uncertain_dcg`, and `empty`, for a topic where no document gains anything. With missing="zero"
        a missing list scores 0 under "divide", but minus the ideal under "subtract", where 0 is perfect.
    judgments, cutoff, cumulate, dcg : as in `uncertain_dcg`.

    Raises
    ------
    ArgumentError
        As of `uncertain_dcg`, or normalise="divide" where an ideal is below 0.
    NoOverlapError
        Runs and judgments share no topic.
    """
    check_choice("normalise", normalise, Normalise)
    check_choice("cumulate", cumulate, Cumulate)
    gains, alignment, weights = aligned(runs, judgments, cutoff, dcg, conventions, empty=True)
    constant = float(weights.sum())
    ideal, ideal_sd = _ideal(gains, weights, cumulate)
    mean, sd = list_moments(gains, alignment, weights, cumulate)
    mean = mean / constant
    if cumulate != "mixture":
        sd, ideal_sd = sd / constant, ideal_sd / constant
    # At rounding distance from the ideal a list is ideal.
    at = ideal[:, None]
    mean = np.where(np.abs(mean - at) <= 1e-14 * np.abs(at), at, mean)
    if normalise == "subtract":
        mean = mean - at
    else:
        low = np.flatnonzero(ideal < 0)
        if low.size:
            raise ArgumentError(
                f"normalise='divide': on topic {gains.pool.topics[low[0]]} even the ideal ranking gains less than 0, "
                "as log gains may; use normalise='subtract'"
            )
        by = np.where(at > 0, at, np.where(np.isnan(at), np.nan, np.inf))
        mean, sd = mean / by, sd / by
    mean, sd = (with_missing(table, alignment, conventions.missing) for table in (mean, sd))
    if conventions.empty == "nan":
        empty = _without_gains(gains)
        mean[empty], sd[empty] = np.nan, np.nan
    options = {"normalise": normalise, "cumulate": cumulate, "dcg": dcg}
    defaults = {"normalise": "subtract", "cumulate": "sum", "dcg": "log2"}
    named = [f"{name}={value!r}" for name, value in options.items() if value != defaults[name]]
    judged = gains.judged_topics
    n_gaining = np.bincount(gains.topic[gains.mean > 0], minlength=judged.size).astype(np.float64)
    attributes = {
        "conventions": {
            **options,
            **conventions.as_dict(),
            "min_coverage": 0.0,
            "repeats": gains.repeats,
            "grades": "rescaled" if gains.gains == "rescaled" else "as-is",
            "gains": gains.gains,
            "shape": gains.shape,
            "interval": gains.interval,
            "single": gains.single,
            "weighted": gains.weighted,
        },
        "scales": {PANEL: gains.scale},
        "repeated_judgments": gains.n_repeats,
        **alignment.facts(runs, [cutoff]).attributes(),
    }
    return AgreementAware(
        gains.pool.topics,
        runs.systems,
        mean,
        sd,
        _name(named, cutoff),
        _name([*named, "value='sd'"], cutoff),
        ideal,
        ideal_sd,
        constant,
        n_gaining,
        judged.astype(np.float64),
        attributes,
    )


def ideal_order(gains: GainDistributions, topic: int) -> Any:
    """(documents,) places in the topic's pool by decreasing mean gain; of equal ones, the smaller variance first."""
    rows = gains.pool.rows(topic)
    return np.lexsort((gains.variance[rows], -gains.mean[rows]))


def _ideal(gains: GainDistributions, weights: Floats, cumulate: Cumulate) -> tuple[Floats, Floats]:
    """(topics,) mean of the ideal ranking's DCG over C, and its s.d. as `moments` gives it; nan where nobody judged."""
    means, variances = np.zeros((2, len(gains.pool.topics), weights.size))
    for t in range(means.shape[0]):
        rows = gains.pool.rows(t)
        best = ideal_order(gains, t)[: weights.size]
        means[t, : best.size], variances[t, : best.size] = gains.mean[rows][best], gains.variance[rows][best]
    mean, sd = moments(means, variances, weights, cumulate)
    if cumulate == "assessors":
        for t in np.flatnonzero(gains.judged_topics).tolist():
            best = ideal_order(gains, t).astype(np.int32)
            sd[t] = sd_over_assessors(gains, t, best[None], weights)[0]
    unknown = ~gains.judged_topics
    mean[unknown], sd[unknown] = np.nan, np.nan
    return mean / weights.sum(), sd


def _without_gains(gains: GainDistributions) -> Any:
    """(topics,) whether the gain of every document of the topic is surely 0."""
    gaining = (gains.mean != 0) | (gains.variance > 0)
    return np.bincount(gains.topic[gaining], minlength=len(gains.pool.topics)) == 0


def _name(options: list[str], cutoff: int) -> str:
    return f"AANDCG{'(' + ','.join(options) + ')' if options else ''}@{cutoff}"

"""Agreement-aware nDCG: how good a list is, and how far assessors disagree about that.

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, section 6.1.2,
where it is called AANDCG.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.gain_distributions.cumulated import (
    Cumulate,
    Discount,
    Missing,
    Unjudged,
    cells,
    choose,
    laid_over,
    list_moments,
    moments,
    sd_over_assessors,
    with_missing,
)
from qrowd.gain_distributions.distributions import GainDistributions
from qrowd.gain_distributions.weights import Floats
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs, ScoreDtype
from qrowd.model.scores import Scores, known_mean

Normalise = Literal["subtract", "divide"]
Empty = Literal["zero", "nan"]

PANEL = "panel"


@dataclass(frozen=True, eq=False)
class AgreementAware:
    """Agreement-aware nDCG of every system on every topic, with its spread.

    measure, spread : their names, AANDCG@k and AANDCG(value='sd')@k, with what is not default in parentheses.
    mean, sd : (topics, systems); nan where there is no score.
    ideal, ideal_sd : (topics,) mean and s.d. of the ideal ranking's gain, over C.
    constant : C@k, the sum of the weights of the ranks.
    n_gaining : (topics,) documents whose mean gain is above 0. coverage : (topics,) 1 where somebody judged, else 0.
    attributes : the conventions in force and the facts behind them.
    """

    measure: str
    spread: str
    topics: tuple[str, ...]
    systems: tuple[str, ...]
    mean: Floats
    sd: Floats
    ideal: Floats
    ideal_sd: Floats
    constant: float
    n_gaining: Floats
    coverage: Floats
    attributes: Mapping[str, Any]

    def by_system(self, backend: str = "pandas") -> Any:
        """One row per system, means over topics: mean; spread, of the s.d.; and sd_of_mean, that of the mean itself.

        sd_of_mean = sqrt(sum of sd^2) / topics: how sure the mean over these topics is, given who disagrees; it takes
        topics for independent of each other, as cumulate="sum" takes documents.
        """
        n = (~np.isnan(self.sd)).sum(axis=0)
        of_mean = np.where(n > 0, np.sqrt(np.nansum(self.sd**2, axis=0)) / np.maximum(n, 1), np.nan)
        means = {"mean": known_mean(self.mean, axis=0), "spread": known_mean(self.sd, axis=0), "sd_of_mean": of_mean}
        return make_frame({"system": np.array(self.systems, object), **means}, backend)

    def by_topic(self, backend: str = "pandas") -> Any:
        """One row per topic, means over systems: mean (its ease) and spread; and the ideal ranking's."""
        return make_frame(
            {
                "topic": np.array(self.topics, object),
                "mean": known_mean(self.mean, axis=1),
                "spread": known_mean(self.sd, axis=1),
                "ideal": self.ideal,
                "ideal_sd": self.ideal_sd,
            },
            backend,
        )

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per topic and system: mean and sd."""
        return cells(self.topics, self.systems, {"mean": self.mean, "sd": self.sd}, backend)

    def scores(self) -> Scores:
        """Means and spreads as two measures of one assessor called panel, as `evaluate` gives scores."""
        values = np.stack([self.mean, self.sd])[:, None]
        relevant = np.broadcast_to(self.n_gaining, (2, 1, self.n_gaining.size)).copy()
        return Scores(
            (self.measure, self.spread),
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
    cutoff: int = 10,
    *,
    normalise: Normalise = "subtract",
    cumulate: Cumulate = "sum",
    dcg: Discount = "log2",
    missing: Missing = "zero",
    empty: Empty = "zero",
    unjudged: Unjudged = "nonrelevant",
    score_dtype: ScoreDtype = "float64",
) -> AgreementAware:
    """Agreement-aware nDCG: the distribution of a list's gain against the ideal ranking's mean (section 6.1.2).

        subtract   mean = (DCG - ideal) / C        s.d. over C
        divide     mean = DCG / ideal              s.d. over ideal

    DCG and its s.d. as in `uncertain_dcg`; ideal is the DCG of the topic's documents from the highest mean gain.

    Parameters
    ----------
    judgments : Judgments, with the default options of `gain_distributions`, or what that made of them.
    normalise : "subtract" (the paper's): 0 is as good as possible, and worse is below, if no gain is below 0; "divide"
        (its future work): from 0 to 1, like nDCG.
    missing : a judged topic that a run lacks counts as an empty list ("zero"): 0 under "divide", but under "subtract"
        the ideal's distance to nothing, since 0 is perfect there. "skip" and "interpolate" as in `uncertain_dcg`.
    empty : a topic where no document gains anything scores 0 ("zero") or nothing ("nan").
    cumulate, dcg, unjudged, score_dtype : as in `uncertain_dcg`.

    Raises
    ------
    ArgumentError
        A cut-off below 1, an option that there is not, or normalise="divide" where an ideal is below 0.
    NoOverlapError
        Runs and judgments share no topic.
    """
    for name, given, choices in (("normalise", normalise, Normalise), ("cumulate", cumulate, Cumulate)):
        choose(name, given, choices)
    choose("empty", empty, Empty)
    made, alignment, weights = laid_over(runs, judgments, cutoff, dcg, missing, unjudged, score_dtype)
    constant = float(weights.sum())
    ideal, ideal_sd = _ideal(made, weights, cumulate)
    mean, sd = list_moments(made, alignment, weights, cumulate)
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
                f"normalise='divide': on topic {made.pool.topics[low[0]]} even the ideal ranking gains less than 0, as "
                "log gains may; use normalise='subtract'"
            )
        by = np.where(at > 0, at, np.where(np.isnan(at), np.nan, np.inf))
        mean, sd = mean / by, sd / by
    mean, sd = with_missing(mean, alignment, missing), with_missing(sd, alignment, missing)
    nothing = _nothing(made)
    if empty == "nan":
        mean[nothing], sd[nothing] = np.nan, np.nan
    here = [("normalise", normalise, "subtract"), ("cumulate", cumulate, "sum"), ("dcg", dcg, "log2")]
    options = [f"{name}={given!r}" for name, given, default in here if given != default]
    judged = made.judged_topics
    gaining = np.bincount(made.topic[made.mean > 0], minlength=judged.size).astype(np.float64)
    attributes = {
        "conventions": {
            **{name: given for name, given, _ in here},
            "ties": "document",
            "score_dtype": score_dtype,
            "unjudged": unjudged,
            "missing": missing,
            "empty": empty,
            "min_coverage": 0.0,
            "repeats": made.repeats,
            "grades": "rescaled" if made.gains == "rescaled" else "as-is",
            "gains": made.gains,
            "shape": made.shape,
            "interval": made.interval,
            "single": made.single,
            "weighted": made.weighted,
        },
        "scales": {PANEL: made.scale},
        "repeated_judgments": made.n_repeats,
        "unjudged_shares": alignment.unjudged_shares([cutoff]),
        "lists": alignment.n_lists,
        "tied_lists": alignment.n_tied_lists,
        "missing_lists": int(alignment.missing.sum()),
        "unjudged_topics": alignment.n_unjudged_topics,
        "rank_contradictions": runs.rank_contradictions,
    }
    return AgreementAware(
        _named(options, cutoff),
        _named([*options, "value='sd'"], cutoff),
        made.pool.topics,
        runs.systems,
        mean,
        sd,
        ideal,
        ideal_sd,
        constant,
        gaining,
        judged.astype(np.float64),
        attributes,
    )


def ideal_order(made: GainDistributions, topic: int) -> Any:
    """(documents,) places in the topic's pool from the highest mean gain; equal ones by less disagreement."""
    rows = made.pool.rows(topic)
    return np.lexsort((made.variance[rows], -made.mean[rows]))


def _ideal(made: GainDistributions, weights: Floats, cumulate: Cumulate) -> tuple[Floats, Floats]:
    """(topics,) mean of the ideal ranking's DCG over C, and its s.d. as `moments` gives it; nan where nobody judged."""
    means, variances = np.zeros((2, len(made.pool.topics), weights.size))
    for t in range(means.shape[0]):
        rows = made.pool.rows(t)
        best = ideal_order(made, t)[: weights.size]
        means[t, : best.size], variances[t, : best.size] = made.mean[rows][best], made.variance[rows][best]
    mean, sd = moments(means, variances, weights, cumulate)
    if cumulate == "assessors":
        for t in np.flatnonzero(made.judged_topics).tolist():
            best = ideal_order(made, t).astype(np.int32)
            sd[t] = sd_over_assessors(made, t, best[None], weights)[0]
    unknown = ~made.judged_topics
    mean[unknown], sd[unknown] = np.nan, np.nan
    return mean / weights.sum(), sd


def _nothing(made: GainDistributions) -> Any:
    """(topics,) whether no document of the topic gains, or might gain, anything."""
    something = (made.mean != 0) | (made.variance > 0)
    return np.bincount(made.topic[something], minlength=len(made.pool.topics)) == 0


def _named(options: list[str], cutoff: int) -> str:
    return f"AANDCG{'(' + ','.join(options) + ')' if options else ''}@{cutoff}"

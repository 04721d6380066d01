"""Numbers of relevant results: as assessors count them, and as a random user expects them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.alignment import align
from qrowd.model.conventions import Duplicates
from qrowd.model.judgments import Judgments
from qrowd.model.panel import Pool
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.predicted_relevance.doubles import Repeated, graded, observed
from qrowd.predicted_relevance.estimation import PredictedRelevance


@dataclass(frozen=True, eq=False)
class RelevantResults(Result):
    """Numbers of relevant results; every array is (topics, systems), a mean over the assessors who are evaluated.

    predicted : expected by a random user, equation 2, N = sum over grades i of n_i p(R|i).
    binary : counted by the assessor, equation 1, N = number of results with a relevant grade.
    cutoff : last rank counted.
    """

    topics: tuple[str, ...]
    systems: tuple[str, ...]
    predicted: Floats
    binary: Floats
    cutoff: int

    def _columns(self) -> dict[str, Any]:
        """One row per system, as Table 5: the means over topics, and their standard errors."""
        columns: dict[str, Any] = {"system": self.systems}
        for name, values in (("predicted", self.predicted), ("binary", self.binary)):
            columns[name] = values.mean(axis=0)
            columns[f"{name}_standard_error"] = standard_error(values)
        return {**columns, "n_topics": len(self.topics)}


def relevant_results(
    model: PredictedRelevance,
    judgments: Judgments,
    *,
    runs: Runs,
    cutoff: int = 10,
    duplicates: Duplicates | None = None,
    repeats: Repeated = "first",
) -> RelevantResults:
    """Numbers of relevant results among the first `cutoff` of every run, by the judgments `model.evaluated` names.

    Unjudged documents count as not relevant, and a topic that a run lacks has none (section 3.2).

    duplicates : groups of documents that count once, as of `qrowd.Conventions`.

    Raises
    ------
    ScaleError
        A grade whose p(R|i) is not known.
    NoOverlapError
        Runs and judgments share no topic.
    """
    if cutoff < 1:
        raise ArgumentError("a rank from 1 was expected", "cutoff", cutoff)
    panel = model.evaluated(judgments).panel(repeats=repeats)
    panel = panel if duplicates is None else panel.merged(*panel.pool.merged(duplicates))
    judged = ~np.isnan(panel.values)
    gains = np.zeros((2, *judged.shape))
    for gain, of_grades in zip(gains, (model.probability, model.relevant.astype(np.float64)), strict=True):
        gain[judged] = model.gains_of(panel.values[judged], of_grades)
    counts = _in_first_ranks(runs, panel.pool, gains.sum(axis=2) / judged.sum(axis=1), cutoff)
    return RelevantResults(panel.pool.topics, runs.systems, counts[0], counts[1], cutoff)


def found_by_others(
    model: PredictedRelevance, judgments: Judgments, results: RelevantResults, *, runs: Runs
) -> tuple[int, Floats, Floats]:
    """Among results judged twice, the relevant ones expected, and those that the other assessors found.

    Of the quarter of systems with the highest expected numbers: how many they are, and their (topics,) means. Over all
    documents judged twice the two sums are equal; of results that many systems find early, others find more relevant
    than the grade alone implies (section 6.1).

    judgments : those that the model was estimated from. results : of `relevant_results`.
    """
    doubles = graded(model.on_scale(judgments)).doubles()
    counts = observed(doubles, model.relevant, model.options.method, model.options.first)
    expected = (counts.weight * np.nan_to_num(model.probability)).sum(axis=1)
    gains = np.stack([expected, counts.relevant.sum(axis=1)]) / counts.weight.sum(axis=1)
    best = np.argsort(-results.predicted.mean(axis=0), kind="stable")[: -(-len(runs.systems) // 4)]
    by_system = _in_first_ranks(runs, doubles.part(counts.included).pool, gains, results.cutoff)
    expected, found = by_system[:, :, best].mean(axis=2)
    return best.size, expected, found


def _in_first_ranks(runs: Runs, pool: Pool, gains: Floats, cutoff: int) -> Floats:
    """(kinds, topics, systems) the sums over the first ranks of (kinds, pairs) gains."""
    counts = np.zeros((len(gains), len(pool.topics), len(runs.systems)))
    for t, alignment in enumerate(align(runs, pool).topics):
        # A column of 0 at the end, to which unjudged documents (-1) point.
        gain = np.pad(gains[:, pool.rows(t)], ((0, 0), (0, 1)))
        counts[:, t] = gain[:, alignment.rows[:, :cutoff]].sum(axis=2)
    return counts


def standard_error(values: Floats) -> Floats:
    """(systems,) of the mean over topics; nan for a single topic."""
    n = values.shape[0]
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(values.shape[1], np.nan))

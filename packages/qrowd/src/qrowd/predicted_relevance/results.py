"""Numbers of relevant results: as one assessor counts them, and as a random user expects them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.model.alignment import align
from qrowd.model.conventions import Duplicates
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.predicted_relevance.doubles import Pairs, Repeated
from qrowd.predicted_relevance.estimation import PredictedRelevance

JUDGED = "all judged"


@dataclass(frozen=True, eq=False)
class RelevantResults(Result):
    """Numbers of relevant results; every array is (topics, systems), a mean over the assessors of the topic.

    predicted : expected by a random user, equation 2, N = sum over grades i of n_i p(R|i).
    binary : counted by the assessor, equation 1, N = number of results with a relevant grade.
    cutoff : last rank counted; None for all judged documents, as one "system".
    """

    topics: tuple[str, ...]
    systems: tuple[str, ...]
    predicted: Floats
    binary: Floats
    cutoff: int | None

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
    runs: Runs | None = None,
    cutoff: int = 10,
    duplicates: Duplicates | None = None,
    repeats: Repeated = "first",
) -> RelevantResults:
    """Numbers of relevant results among the first `cutoff` of every run; without runs, among all judged documents.

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
    panel = model.on_scale(judgments).panel(repeats=repeats)
    panel = panel if duplicates is None else panel.merged(*panel.pool.merged(duplicates))
    values = panel.values
    judged = ~np.isnan(values)
    pool, topics = panel.pool, panel.pool.topics
    row = np.nonzero(judged)[0]
    topic = np.repeat(np.arange(len(topics)), np.diff(pool.starts))[row]
    gains = np.zeros((2, *values.shape))
    pairs = Pairs(topics, topic, pool.documents, pool.document[row])
    gains[0][judged] = model.probabilities(values[judged], pairs)
    gains[1][judged] = model.gains_of(values[judged], model.relevant.astype(np.float64))
    alignments = None if runs is None else align(runs, pool).topics
    systems = (JUDGED,) if runs is None else runs.systems
    counts = np.zeros((2, len(topics), len(systems)))
    for t in range(len(topics)):
        rows = pool.rows(t)
        there = judged[rows].any(axis=0)
        # A row of 0 at the end, to which unjudged documents (-1) point.
        gain = np.concatenate([gains[:, rows], np.zeros((2, 1, values.shape[1]))], axis=1)[:, :, there].mean(axis=2)
        counts[:, t] = (
            gain.sum(axis=1)[:, None] if alignments is None else gain[:, alignments[t].rows[:, :cutoff]].sum(axis=2)
        )
    return RelevantResults(topics, systems, counts[0], counts[1], None if runs is None else cutoff)


def standard_error(values: Floats) -> Floats:
    """(systems,) of the mean over topics; nan for a single topic."""
    n = values.shape[0]
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(values.shape[1], np.nan))

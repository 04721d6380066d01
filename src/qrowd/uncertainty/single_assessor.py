"""The ranking of systems if a single assessor had judged each document, compared with a reference ranking.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 7.3 and Figure 12.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.correlation import row_correlations
from qrowd.comparison.system_ranking import settled
from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.evaluation import DEFAULT_MEASURES, evaluate
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng, Seed, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.model.scores import known_mean
from qrowd.uncertainty.label_samples import Draw, sampled_scores

CONVENTIONS = Conventions()
KINDS = ("tau_b", "ap")


@dataclass(frozen=True, eq=False)
class SingleAssessorSimulation(Result):
    """Correlations of system rankings from one judgment per document with a reference ranking.

    tau_b, ap : (measures, n_resamples) of the systems' means, over the topics that the draw and the reference both have
        a score in. For AP correlation the draw's list is walked and the reference decides. nan where one of them ties
        all.
    all_tau_b, all_ap : (measures,) the same for the panel's mean scores instead of a draw; nan where the panel is the
        reference.
    reference : "panel", or the name of the one assessor.
    n_topics : (measures,) topics in which the reference has a score. n_systems : systems compared, those with a score
        in all of them.
    n_resamples, seed, draw, conventions : as given; `seed` as `rng` reproduces the result.
    """

    measures: tuple[str, ...]
    tau_b: Floats
    ap: Floats
    all_tau_b: Floats
    all_ap: Floats
    reference: str
    n_topics: NDArray[np.int64]
    n_systems: NDArray[np.int64]
    n_resamples: int
    seed: Seed
    draw: Draw
    conventions: dict[str, Any]

    def quantiles(self, shares: Sequence[float] = (0.025, 0.25, 0.5, 0.75, 0.975), *, kind: str = "tau_b") -> Floats:
        """(measures, shares) quantiles of a correlation ("tau_b" or "ap") over the draws that have one.

        Raises
        ------
        ArgumentError
            Another kind; a share outside 0 to 1.
        """
        check_choice("kind", kind, KINDS)
        levels = np.asarray(shares, np.float64)
        if not ((levels >= 0) & (levels <= 1)).all():
            raise ArgumentError(f"shares={shares!r}: from 0 to 1 each")
        quantiles = np.full((len(self.measures), levels.size), np.nan)
        for m, row in enumerate(getattr(self, kind)):
            if (known := row[~np.isnan(row)]).size:
                quantiles[m] = np.quantile(known, levels)
        return quantiles

    def _columns(self) -> dict[str, Any]:
        return {
            "measure": np.repeat(np.array(self.measures, object), self.n_resamples),
            "draw": np.tile(np.arange(1, self.n_resamples + 1), len(self.measures)),
            **{kind: getattr(self, kind).ravel() for kind in KINDS},
        }


def simulate_single_assessor(
    runs: Runs,
    judgments: Judgments,
    measures: object | Sequence[object] = DEFAULT_MEASURES,
    *,
    gold: Judgments | None = None,
    n_resamples: int = 1000,
    draw: Draw = "document",
    conventions: Conventions = CONVENTIONS,
    rng: Rng = None,
    block: int = 512,
    threads: int | None = None,
) -> SingleAssessorSimulation:
    """Draw one judgment per document, rank the systems and compare with a reference ranking, `n_resamples` times.

    Parameters
    ----------
    gold : judgments of one assessor whose ranking is the reference: gold judgments, or an aggregate of all
        (`median(judgments).judgments`, for crowds in which no assessor judged a whole topic). Default: the panel, the
        mean over assessors topic by topic.
    draw : "document": every document takes one of its judgments, all equally likely, as in the paper; "topic": every
        topic takes one of its assessors who has a score there, with all their judgments.
    block : draws scored at once.

    Raises
    ------
    ArgumentError Gold of several assessors, a panel without scores, fewer than two systems,
    n_resamples below 1. NoOverlapError No topic shared by runs, judgments and gold.
    """
    if gold is not None and len(gold.assessors) != 1:
        raise ArgumentError(
            f"gold: {len(gold.assessors)} assessors, and one was expected; merge them "
            "(median(judgments).judgments) or choose one with select"
        )
    shared = set(judgments.topics) & set(judgments.topics if gold is None else gold.topics)
    if not shared & set(runs.topics):
        raise NoOverlapError("runs, judgments and gold share no topic; check that all are of the same collection")
    seed = seed_of(rng)
    judgments = judgments.select(topics=shared.__contains__)
    crowd, gold_values = evaluate(runs, judgments, measures, conventions=conventions, threads=threads), None
    everyone = known_mean(crowd.values, axis=1)  # (measures, topics, systems)
    if gold is not None:
        gold_scores = evaluate(
            runs, gold.select(topics=shared.__contains__), measures, conventions=conventions, threads=threads
        )
        gold_values = gold_scores.values[:, 0][:, [gold_scores.topics.index(topic) for topic in crowd.topics]]
    decides = everyone if gold_values is None else gold_values
    topics = np.asarray(~np.isnan(decides).all(axis=2))
    systems = np.array([(~np.isnan(table[known])).all(axis=0) for table, known in zip(decides, topics, strict=True)])
    for name, known, in_ranking in zip(crowd.measures, topics, systems, strict=True):
        if not known.any():
            raise ArgumentError(
                f"{name}: the reference has no score in any topic; give gold=median(judgments).judgments where "
                "no assessor judged enough of a topic, or lower min_coverage"
            )
        if in_ranking.sum() < 2:
            raise ArgumentError(
                f"{name}: {in_ranking.sum()} system(s) with a score in every topic; two are needed to rank"
            )
    correlations = []
    for scores in sampled_scores(
        runs, judgments, measures, n_resamples, draw, conventions, seed, block=block, threads=threads
    ):
        order = [scores.topics.index(topic) for topic in crowd.topics]
        correlations.append(
            [
                _correlations(values[:, order][..., in_ranking], table[:, in_ranking])
                for values, table, in_ranking in zip(scores.values, decides, systems, strict=True)
            ]
        )
    tau_b, ap = np.concatenate([np.array(part) for part in correlations], axis=2).transpose(1, 0, 2)
    all_of_them = np.full((2, len(crowd.measures)), np.nan)
    if gold_values is not None:
        for m, in_ranking in enumerate(systems):
            all_of_them[:, m] = _correlations(everyone[m][None][..., in_ranking], gold_values[m][:, in_ranking])[:, 0]
    return SingleAssessorSimulation(
        crowd.measures,
        tau_b,
        ap,
        all_of_them[0],
        all_of_them[1],
        "panel" if gold is None else gold.assessors[0],
        topics.sum(axis=1),
        systems.sum(axis=1),
        int(n_resamples),
        seed,
        draw,
        conventions.as_dict(),
    )


def _correlations(values: Floats, reference: Floats) -> Floats:
    """(2, samples) tau-b and AP correlation of (samples, topics, systems) with (topics, systems)."""
    both = np.asarray((~np.isnan(values)).all(axis=2) & (~np.isnan(reference)).all(axis=1))
    mine = topic_means(np.where(both[..., None], values, np.nan))
    theirs = topic_means(np.where(both[..., None], reference, np.nan))
    rows, against = (np.array([settled(row) for row in side]) for side in (mine, theirs))
    return np.array([row_correlations(rows, against, kind=kind) for kind in ("tau_b", "ap")])


def topic_means(values: Floats) -> Floats:
    """(..., systems) mean over the topics with a score of (..., topics, systems); nan without any.

    Topics are added one after the other, so that a draw's mean does not depend on the block it stood in.
    """
    total, count = np.zeros((*values.shape[:-2], values.shape[-1])), np.zeros((*values.shape[:-2], values.shape[-1]))
    for t in range(values.shape[-2]):
        scores = values[..., t, :]
        known = ~np.isnan(scores)
        total += np.where(known, scores, 0.0)
        count += known
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))

"""The ranking of systems if a single assessor had judged each document, compared with that by gold grades.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 7.3 and Figure 12. What is drawn belongs to the labels of topic, document and assessor and to
the number of the sample: the order of judgments and the number of samples do not matter to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.comparison.rankings import row_correlations
from qrowd.comparison.system_ranking import settled
from qrowd.errors import NoOverlapError
from qrowd.evaluation import evaluate, evaluate_blocks
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.judgments import Judgments
from qrowd.model.panel import Panel, Pool
from qrowd.model.result import Result
from qrowd.model.runs import Runs

STRAND = 64  # samples that share a stream of chance, topic by topic
BLOCK = 512  # samples that are scored at once


class JudgmentSamples:
    """n virtual assessors who take over, document by document, one random judgment; a `Blocks` (qrowd.model.panel).

    Each document of each topic draws for itself, all its judgments being equally likely. Iterating yields panels over
    the pool of the judgments, again and again the same, and keeps none.
    """

    def __init__(self, judgments: Judgments, n: int, *, rng: Rng) -> None:
        self.assessors = tuple(f"sample {i}" for i in range(1, n + 1))
        judgments = judgments.single(repeats="first")
        self.scale = judgments.shared_scale()
        self._chance = Chance.of(rng)
        self.pool, pair = pool_of(judgments)
        judged = np.flatnonzero(judgments.value >= 0)
        rows = judged[np.lexsort((_places(judgments.assessors)[judgments.assessor[judged]], pair[judged]))]
        self._value = judgments.value[rows]
        self._count = np.bincount(pair[rows], minlength=self.pool.document.size)
        self._start = np.cumsum(self._count) - self._count
        place = _places(self.pool.documents)[self.pool.document]
        # By topic, the place of each pooled document among the topic's, in the order of labels.
        self._lot = [np.argsort(np.argsort(place[self.pool.rows(t)])) for t in range(len(self.pool.topics))]

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.assessors)

    def __iter__(self) -> Iterator[Panel]:
        for begin in range(0, len(self), BLOCK):
            assessors = self.assessors[begin : begin + BLOCK]
            strands = range(begin // STRAND, -(-(begin + len(assessors)) // STRAND))
            values = np.concatenate([self._values(strand) for strand in strands], axis=1)[:, : len(assessors)]
            yield Panel(self.pool, assessors, (self.scale,) * len(assessors), np.ascontiguousarray(values))

    def _values(self, strand: int) -> Floats:
        """(pairs, STRAND) the judgments drawn; nan where there is none."""
        values = np.empty((self.pool.document.size, STRAND))
        for t, topic in enumerate(self.pool.topics):
            here = self.pool.rows(t)
            lots = self._chance.stream(f"judgment {topic}", strand).random((self._lot[t].size, STRAND))
            nth = (lots[self._lot[t]] * self._count[here, None]).astype(np.int64)
            values[here] = self._value[np.minimum(self._start[here, None] + nth, self._value.size - 1)]
        values[self._count == 0] = np.nan
        return values


def pool_of(judgments: Judgments) -> tuple[Pool, NDArray[np.int64]]:
    """The pooled documents, and (judgments,) the place of each judgment's among them."""
    width = len(judgments.documents)
    pairs, row = np.unique(judgments.topic.astype(np.int64) * width + judgments.document, return_inverse=True)
    starts = np.searchsorted(pairs, np.arange(len(judgments.topics) + 1, dtype=np.int64) * width)
    pool = Pool(judgments.topics, judgments.documents, starts.astype(np.int64), (pairs % width).astype(np.int32))
    return pool, row.astype(np.int64)


def _places(labels: Sequence[str]) -> NDArray[np.int64]:
    """(labels,) the place of each in alphabetical order."""
    places = np.empty(len(labels), np.int64)
    places[sorted(range(len(labels)), key=labels.__getitem__)] = np.arange(len(labels))
    return places


@dataclass(frozen=True, eq=False)
class SingleAssessorSimulation(Result):
    """Kendall's tau-b of system rankings from one judgment per document with the ranking by gold.

    tau_b : (measures, n_resamples) of the systems' means over the topics; nan where one of the rankings ties all.
    seed : as `rng` it reproduces the result.
    """

    measures: tuple[str, ...]
    tau_b: Floats
    n_resamples: int
    seed: Seed

    def quantiles(self, shares: Sequence[float] = (0.05, 0.5, 0.95)) -> Floats:
        """(measures, shares) quantiles of tau over the draws that have one."""
        return np.array([np.nanquantile(row, shares) for row in self.tau_b])

    def _columns(self) -> dict[str, Any]:
        return {
            "measure": np.repeat(np.array(self.measures, object), self.n_resamples),
            "draw": np.tile(np.arange(1, self.n_resamples + 1), len(self.measures)),
            "tau_b": self.tau_b.ravel(),
        }


def simulate_single_assessor(
    runs: Runs, judgments: Judgments, measures: Sequence[str], gold: Judgments, *, n_resamples: int = 1000, rng: Rng
) -> SingleAssessorSimulation:
    """Draw one judgment per document, rank the systems and compare with the ranking by gold, `n_resamples` times.

    gold : judgments of one assessor. Topics count that runs, judgments and gold share.

    Raises
    ------
    NoOverlapError
        No topic shared by runs, judgments and gold.
    """
    shared = set(judgments.topics) & set(gold.topics) & set(runs.topics)
    if not shared:
        raise NoOverlapError("runs, judgments and gold share no topic; check that all are of the same collection")
    seed = seed_of(rng)
    reference = evaluate(runs, gold.select(topics=shared.__contains__), list(measures))
    gold_values = reference.values[:, 0]  # (measures, topics, systems)
    samples = JudgmentSamples(judgments.select(topics=shared.__contains__), n_resamples, rng=seed)
    blocks = []
    for scores in evaluate_blocks(runs, samples, list(measures)):
        order = [scores.topics.index(topic) for topic in reference.topics]
        tables = zip(scores.values[:, :, order], gold_values, strict=True)
        blocks.append(np.array([_tau(values, table) for values, table in tables]))
    return SingleAssessorSimulation(reference.measures, np.concatenate(blocks, axis=1), int(n_resamples), seed)


def _tau(values: Floats, reference: Floats) -> Floats:
    """(samples,) tau-b of (samples, topics, systems) with (topics, systems), over topics that both score."""
    both = np.asarray((~np.isnan(values)).all(axis=2) & (~np.isnan(reference)).all(axis=1))[..., None]
    n = both.sum(axis=1)
    means = [np.where(both, side, 0.0).sum(axis=1) / n for side in (values, np.broadcast_to(reference, values.shape))]
    rows, against = (np.array([settled(row) for row in side]) for side in means)
    return np.asarray(row_correlations(rows, against, kind="tau_b"))

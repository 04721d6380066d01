"""Intervals and tests of dl21's 63 systems by 18 judges: all pairs, ranks, permutations, coverage.

Peers are the same in NumPy, replicate by replicate, and SciPy's t-tests pair by pair, timed on a few and multiplied.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import ttest_rel
from side_by_side import data, finish, promise, seconds, times

import qrowd
from qrowd.comparison import all_differences, rank_intervals
from qrowd_papers.coverage import N_ASSESSORS, N_TOPICS, PANELS, coverage

RESAMPLES = 10_000
scores = qrowd.evaluate(
    qrowd.read_runs([str(data("dl21", "runs"))]), qrowd.read_judgments([str(data("dl21", "judges"))]), ["AP"]
).sel(measure="AP")
all_differences(scores)  # loads what the first call needs
rank_intervals(scores, n_resamples=2, rng=1)

table = np.nan_to_num(scores.values[0].transpose(1, 0, 2))  # topics, assessors, systems
known = ~np.isnan(scores.values[0]).any(axis=2).T
n_topics, n_assessors, n_systems = table.shape
topic_means = table.mean(axis=1)
random = np.random.default_rng(1)


def weights() -> np.ndarray:
    """How often a replicate draws each cell."""
    topics = random.multinomial(n_topics, np.full(n_topics, 1 / n_topics))
    assessors = random.multinomial(n_assessors, np.full(n_assessors, 1 / n_assessors))
    return topics[:, None] * assessors * known


def two_way_of_systems() -> object:
    """Means of systems; their differences, and the largest."""
    weight = weights()
    means = (table * weight[:, :, None]).sum(axis=(0, 1)) / weight.sum()
    return np.abs(means[:, None] - means).max()


def in_numpy(replicate: Callable[[], object], few: int = 5) -> float:
    """Seconds of all replicates, from a few."""
    replicate()
    return RESAMPLES / few * seconds(lambda: [replicate() for _ in range(few)])


few = 50
own = seconds(lambda: all_differences(scores))
peer = (
    n_systems
    * (n_systems - 1)
    / 2
    / few
    * seconds(lambda: [ttest_rel(topic_means[:, 0], topic_means[:, s]) for s in range(1, few + 1)])
)
promise(
    "18 judges, 63 systems, 1,953 pairs by Satterthwaite, s",
    own,
    at_most=1,
    beside=times("scipy.stats.ttest_rel of each pair, over topics only,", peer, own),
    limit="instructions: mean squares of each pair, and t's quantiles",
)
own = seconds(lambda: rank_intervals(scores, rng=1))
promise(
    "rank intervals of 63 systems, 10,000 replicates, s",
    own,
    at_most=2,
    beside=times("NumPy, one replicate after the other,", in_numpy(two_way_of_systems), own),
    limit="instructions: the largest t of 1,953 pairs in each replicate",
)
own = seconds(lambda: coverage(n_simulations=200, rng=1))
cells = len(PANELS) * len(N_TOPICS) * len(N_ASSESSORS)
promise(
    "the coverage study of differences, a twentieth of its simulations, s",
    own,
    at_most=6,
    beside=f"{200 * cells:,} simulated tables, {1000 * own / 200 / cells:.1f} ms each, by four methods",
    limit="instructions: 1,000 replicates of each table",
)
finish()

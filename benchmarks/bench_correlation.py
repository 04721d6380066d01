"""Rankings of systems compared many at a time, beside SciPy; Tukey's test of all pairs of 129 systems."""

from __future__ import annotations

import statistics

import numpy as np
from calibration import loop_seconds
from numpy.typing import NDArray
from scipy.stats import kendalltau, pearsonr, wilcoxon
from side_by_side import finish, median_ratio, promise, seconds, times

from qrowd.comparison.rankings import row_correlations
from qrowd.comparison.top_set import top_set
from qrowd.model.scores import Scores

LOOP = loop_seconds()
SYSTEMS = 129  # as in TREC-8
ROWS = 100_000
N_PEERS = 200  # pairs that the peer computes

Floats = NDArray[np.float64]

LIMITS = dict.fromkeys(("tau_a", "tau_b", "ap"), "instructions: some comparisons for each pair of systems")
LIMITS |= dict.fromkeys(("pearson", "rmse"), "bytes: both tables come from memory")
rng = np.random.default_rng(1)
x, y = rng.random((2, ROWS, SYSTEMS))
few = rng.integers(0, 40, (2, ROWS, SYSTEMS)) / 40  # with ties, as scores of a single topic have


def ap_by_definition(truth: Floats, estimate: Floats) -> float:
    """Over the systems but the first of the estimate, the share of those estimated above that are truly above."""
    order = np.argsort(-estimate, kind="stable")
    above = [(truth[order[:i]] > truth[order[i]]).mean() for i in range(1, order.size)]
    return float(2 * np.mean(above) - 1)


def rmse_by_definition(one: Floats, other: Floats) -> float:
    return float(np.sqrt(np.mean((one - other) ** 2)))


PEERS_OF = {
    "tau_a": ("scipy.stats.kendalltau", kendalltau),
    "tau_b": ("scipy.stats.kendalltau", kendalltau),
    "ap": ("its definition in NumPy", ap_by_definition),
    "pearson": ("scipy.stats.pearsonr", pearsonr),
    "rmse": ("its definition in NumPy", rmse_by_definition),
}


def beside_peer(kind: str, what: str, a: Floats, b: Floats) -> None:
    """Time all pairs of rankings of two tables, and some of them by the peer."""
    name, peer = PEERS_OF[kind]
    row_correlations(a[:10], b[:10], kind=kind)
    taken = statistics.median(seconds(lambda: row_correlations(a, b, kind=kind, threads=2)) for _ in range(3))
    theirs = statistics.median(seconds(lambda: [peer(a[r], b[r]) for r in range(N_PEERS)]) for _ in range(3))
    in_loop = f"{ROWS / taken * LOOP:,.0f} pairs in a calibration loop"
    promise(
        f"{kind}{what}, times as fast as {name}",
        theirs / N_PEERS / (taken / ROWS),
        at_least=10,
        beside=f"{times(name, theirs / N_PEERS, taken / ROWS)} a pair, {in_loop}",
        limit=f"the peer is called for each pair; ours: {LIMITS[kind]}",
    )


print(f"{ROWS:,} pairs of rankings of {SYSTEMS} systems, 2 threads:")
for kind in PEERS_OF:
    beside_peer(kind, "", x, y)
    beside_peer(kind, ", ties", *few)

table = rng.random((50, 1)) + np.linspace(0, 0.5, SYSTEMS) + rng.normal(0, 0.1, (50, SYSTEMS))
scores = Scores.from_array(table)
peer, own, _ = median_ratio(
    lambda: [wilcoxon(table[:, s], table[:, -1]) for s in range(SYSTEMS - 1)], lambda: top_set(scores), rounds=3
)
promise(
    f"top set of {SYSTEMS} systems, s",
    own,
    at_most=0.1,
    beside=times("scipy.stats.wilcoxon, system by system,", peer, own),
    limit="instructions: the exact distribution of the signed ranks",
)
finish()

"""Rankings of systems compared many at a time, beside SciPy; Tukey's test of all pairs of 129 systems."""

from __future__ import annotations

import statistics

import numpy as np
from calibration import loop_seconds
from scipy.stats import kendalltau, pearsonr
from side_by_side import finish, median_ratio, promise, seconds

from qrowd.comparison.correlation import row_correlations
from qrowd.comparison.top_set import top_set
from qrowd.comparison.tukey import systems_anova
from qrowd.model.scores import Scores

LOOP = loop_seconds()
SYSTEMS = 129  # as in TREC-8
ROWS = 100_000
PEERS = 200  # pairs that the peer computes in each round

rng = np.random.default_rng(1)
x, y = rng.random((2, ROWS, SYSTEMS))
few = rng.integers(0, 40, (2, ROWS, SYSTEMS)) / 40  # with ties, as scores of a single topic have
print(f"{ROWS:,} pairs of rankings of {SYSTEMS} systems, 2 threads:")
for kind, peer in (("tau_a", kendalltau), ("tau_b", kendalltau), ("ap", None), ("pearson", pearsonr), ("rmse", None)):
    for what, (a, b) in (("", (x, y)), (", ties", few)):
        row_correlations(a[:10], b[:10], kind=kind)
        taken = statistics.median(seconds(lambda: row_correlations(a, b, kind=kind, threads=2)) for _ in range(5))  # noqa: B023
        promise(
            f"{kind}{what}, pairs in the time of a calibration loop",
            ROWS / taken * LOOP,
            at_least=60_000,
            beside=f"{ROWS / taken:,.0f} pairs a second",
            limit="instructions",
        )
        if peer is not None:
            _, _, ratio = median_ratio(
                lambda: [peer(a[r], b[r]) for r in range(PEERS)],  # noqa: B023
                lambda: row_correlations(a[: 50 * PEERS], b[: 50 * PEERS], kind=kind, threads=2),  # noqa: B023
            )
            promise(f"{kind}{what}, times as fast as scipy.stats.{peer.__name__}", 50 * ratio, at_least=10)

table = rng.random((50, 1)) + np.linspace(0, 0.5, SYSTEMS) + rng.normal(0, 0.1, (50, SYSTEMS))
scores = Scores.from_array(table)
found = systems_anova(scores)
# Another level each time: critical values are cached.
levels = iter(np.linspace(0.9, 0.99, 9))
promise(
    f"analysis of variance and Tukey's groups of {SYSTEMS} systems, s",
    statistics.median(seconds(lambda: systems_anova(scores, confidence=float(next(levels)))) for _ in range(5)),
    at_most=1,
)
promise("the 8,256 pairs with their intervals, s", seconds(lambda: found.tukey.to_frame(what="pairs")), at_most=1)
promise("p of one of them, s", seconds(lambda: found.tukey.p("1", "65")), at_most=0.05)
promise(f"top set of {SYSTEMS} systems, s", seconds(lambda: top_set(scores)), at_most=0.1)
finish()

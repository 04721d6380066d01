"""Certainty of comparisons: two-way bootstrap of all pairs of dl21's systems, ranks, permutations, and the study.

The peer of the first is the same in NumPy, replicate by replicate and pair by pair, timed on a few replicates.
"""

from __future__ import annotations

import time
from typing import get_args

import numpy as np
from side_by_side import data, finish, promise, seconds

import qrowd
from qrowd.comparison import all_differences, randomised_tukey, rank_intervals
from qrowd.comparison.resampling import Over
from qrowd_papers.coverage import coverage
from qrowd_papers.rank_coverage import Collection, power

scores = qrowd.evaluate(
    qrowd.read_runs([str(data("dl21", "runs"))]), qrowd.read_judgments([str(data("dl21", "judges"))]), ["AP"]
).sel(measure="AP")
all_differences(scores, method="pigeonhole", n_resamples=2, rng=1)  # loads what the first call needs
rank_intervals(scores, n_resamples=2, rng=1)
randomised_tukey(scores, n_resamples=2, rng=1)

took = seconds(lambda: all_differences(scores, method="pigeonhole", n_resamples=10_000, rng=1, threads=2))
promise("dl21, 18 judges, 63 systems, 1,953 pairs, 10,000 two-way replicates, seconds", took, at_most=5)
table = np.nan_to_num(scores.values[0].transpose(1, 0, 2))
known = ~np.isnan(scores.values[0]).any(axis=2).T
pairs = table[:, :, :, None] - table[:, :, None, :]
random = np.random.default_rng(1)
started = time.perf_counter()
for _ in range(5):
    t = random.multinomial(known.shape[0], np.full(known.shape[0], 1 / known.shape[0]))
    a = random.multinomial(known.shape[1], np.full(known.shape[1], 1 / known.shape[1]))
    weight = t[:, None] * a * known
    (pairs * weight[:, :, None, None]).sum(axis=(0, 1)) / weight.sum()
each = (time.perf_counter() - started) / 5
print(f"a peer in NumPy, pair by pair: {1e3 * each:.1f} ms per replicate, ours {1e3 * took / 10_000:.3f} ms")
promise("the same by Satterthwaite, seconds", seconds(lambda: all_differences(scores)), at_most=1)
promise(
    "rank intervals of 63 systems, 10,000 replicates, seconds",
    seconds(lambda: rank_intervals(scores, rng=1)),
    at_most=2,
)
took = seconds(lambda: randomised_tukey(scores, rng=1))
promise("randomised Tukey, 10,000 permutations, seconds", took, at_most=3)
promise("the coverage study of differences in full, seconds", seconds(lambda: coverage(rng=1)), at_most=120)

# The set of the best beside Tukey's at equal level, with the means and covariances of dl21's distinct systems.
measured = qrowd.evaluate(
    qrowd.read_runs([str(data("dl21", "runs"))]), qrowd.read_judgments([str(data("dl21", "judges"))]), ["nDCG@10"]
).values[0]
measured = measured[:, ~np.isnan(measured).any(axis=(0, 2))]
_, distinct = np.unique(measured.reshape(-1, measured.shape[2]), axis=1, return_index=True)
dl21 = Collection.like(measured[:, :, np.sort(distinct)])
for over in get_args(Over):
    for assessors in (5, 18):
        found = power(dl21, assessors, 53, over, n_simulations=200, rng=1)
        size = found.set_size / found.tukey_at_level
        promise(f"size of the set over {over}, {assessors} assessors, to Tukey's at equal level", size, at_most=1)
finish()

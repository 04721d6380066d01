"""How often intervals of log-worths and ranks from battles miss the truth, where topics and assessors are random.

    python benchmarks/battles.py [N]    N simulations of each line (default 1,000): about 10 minutes

A topic and an assessor each favour systems by normal effects with standard deviation .7 and .35, an assessor favours
the first of two answers by .3 +- .3 in log-odds, and ties are Davidson's with nu .6. The truth is the fit to the
outcomes of many topics and assessors. Columns: share of intervals of differences that miss it, by `all_differences`;
share of simulations in which any simultaneous interval of a difference to the first system misses it; in which any true
rank lies outside its interval. The binomial standard error of a share of .05 in 1,000 simulations is .007.
"""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np

from qrowd.comparison import all_differences, rank_intervals
from qrowd.model.preferences import Preferences
from qrowd.preferences import system_worths

TOPIC_SD, ASSESSOR_SD, NU = 0.7, 0.35, 0.6


def outcome_probabilities(gap):
    """P(first), P(second), P(tie) of log-odds."""
    weights = np.array([np.exp(gap / 2), np.exp(-gap / 2), np.full_like(gap, NU)])
    return weights / weights.sum(axis=0)


def drawn(random, worths, topics, assessors, share):
    """Columns of battles: each pair, topic and assessor with probability `share`, in random order."""
    n = worths.size
    of_topic = random.normal(0, TOPIC_SD, (topics, n))
    of_assessor = random.normal(0, ASSESSOR_SD, (assessors, n))
    lean = random.normal(0.3, 0.3, assessors)
    pairs = np.array(list(combinations(range(n), 2)))
    t, a, p = (index.ravel() for index in np.indices((topics, assessors, len(pairs))))
    kept = random.random(t.size) < share
    t, a, p = t[kept], a[kept], p[kept]
    flip = random.random(t.size) < 0.5
    one, two = np.where(flip, pairs[p, 1], pairs[p, 0]), np.where(flip, pairs[p, 0], pairs[p, 1])
    value = worths + of_topic[t] + of_assessor[a]
    rows = np.arange(t.size)
    chances = outcome_probabilities(value[rows, one] - value[rows, two] + lean[a])
    result = (random.random(t.size) > np.cumsum(chances, axis=0)[:2]).sum(axis=0)
    names = np.array([f"s{i}" for i in range(n)], object)
    return {
        "topic": [f"t{i}" for i in t], "model_a": names[one], "model_b": names[two],
        "winner": np.array(["model_a", "model_b", "tie"], object)[result], "judge": [f"j{i}" for i in a],
    }  # fmt: skip


def truth_of(worths):
    """The log-worths that battles of very many topics and assessors would have."""
    share = 600 / (worths.size * (worths.size - 1)) / 100
    found = system_worths(Preferences.from_frame(drawn(np.random.default_rng(0), worths, 1500, 120, share)))
    return found.log_worth[in_order(found.systems)]


def in_order(systems):
    return np.argsort([int(name[1:]) for name in systems])


def simulate(systems, topics, assessors, share, apart, n):
    """Errors: of differences, of simultaneous differences to the first, of ranks."""
    random = np.random.default_rng([systems, topics, assessors])
    worths = np.linspace(0, apart, systems)
    truth = truth_of(worths) if apart else worths
    first, second = np.triu_indices(systems, 1)
    missed = []
    for i in range(n):
        scores = system_worths(Preferences.from_frame(drawn(random, worths, topics, assessors, share))).scores
        scores = scores.sel(system=[f"s{i}" for i in range(systems)])
        pairs = all_differences(scores)
        gaps = truth[first] - truth[second]
        ranks = rank_intervals(scores, n_resamples=1000, rng=i)
        against, others = ranks.against(scores.systems[0]), slice(1, None)
        to_first = (truth - truth[0])[others]
        ahead = truth[:, None] > truth + 1e-9
        missed.append([
            ((pairs.low > gaps) | (pairs.high < gaps)).mean(),
            ((against.low[others] > to_first) | (against.high[others] < to_first)).any(),
            (ranks.better & ~ahead).any(),
        ])  # fmt: skip
    return np.mean(missed, axis=0)


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print("systems  topics  assessors  share of battles  apart   differences  to the first  ranks")
    for setting in (
        (5, 50, 10, 1.0, 1.5), (5, 50, 10, 1.0, 0.0), (10, 50, 20, 0.1, 0.0), (10, 100, 10, 0.1, 2.0),
        (5, 25, 5, 1.0, 0.0), (5, 50, 3, 1.0, 0.0), (3, 200, 50, 0.02, 0.5),
    ):  # fmt: skip
        print("{:7}  {:6}  {:9}  {:16}  {:5}".format(*setting), *(f"{x:12.3f}" for x in simulate(*setting, n)))

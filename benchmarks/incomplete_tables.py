"""How often do intervals and sets of the best hold the truth where scores are missing? Simulated, with the truth known.

A score is topic + assessor + system + (assessor, system) + (topic, system) + error. Scores are missing at random, more
often on hard topics for half of the systems, or for whole topics of a few systems, the same for all assessors; or each
assessor has 40 % of all, drawn by itself. An argument chooses a design by a part of its name; `SIMULATIONS` in the
environment makes fewer.
"""

from __future__ import annotations

import os
import sys
from itertools import product

import numpy as np

from qrowd import Scores
from qrowd.comparison import rank_intervals
from qrowd.errors import NoOverlapError
from qrowd.reports.system_tables import mean_intervals

N = int(os.environ.get("SIMULATIONS", 1000))
DESIGNS = {"12 systems, 25 topics, 1 assessor": (12, 25, 1), "20 systems, 40 topics, 1 assessor": (20, 40, 1),
           "10 systems, 30 topics, 10 assessors": (10, 30, 10)}  # fmt: skip
NESTED = "60 % at random, by assessor"
HOLES = ("none", "7 % at random", "30 % at random", "hard topics", "few topics", NESTED)


def missing(kind: str, difficulty: np.ndarray, n_systems: int, random: np.random.Generator) -> np.ndarray:
    """(topics, systems) where a system lacks the topic."""
    n_topics = difficulty.size
    if kind == "none":
        return np.zeros((n_topics, n_systems), bool)
    if kind.endswith("random"):
        return random.random((n_topics, n_systems)) < float(kind.split()[0]) / 100
    place = np.argsort(np.argsort(difficulty)) / n_topics  # 0: the hardest topic
    chance = np.where(place < 0.4, 0.6, 0.05)[:, None] * (np.arange(n_systems) % 2 == 0)
    if kind == "hard topics":
        return random.random((n_topics, n_systems)) < chance
    lacks = np.zeros((n_topics, n_systems), bool)  # every fourth system has 6 topics
    for s in range(0, n_systems, 4):
        lacks[random.permutation(n_topics)[6:], s] = True
    return lacks


def table(design: tuple[int, int, int], kind: str, effects: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """(assessors, topics, systems) scores."""
    n_systems, n_topics, n_assessors = design
    difficulty = random.normal(0, 0.2, n_topics)
    values = effects + difficulty[:, None] + random.normal(0, 0.1, (n_topics, n_systems))
    if n_assessors > 1:  # the intervals of one assessor are about that assessor
        taste = random.normal(0, 0.02, (n_assessors, 1, n_systems))
        values = values + random.normal(0, 0.05, (n_assessors, 1, 1)) + taste
    values = values + random.normal(0, 0.07, (n_assessors, n_topics, n_systems))
    if kind == NESTED:
        values[random.random(values.shape) > 0.4] = np.nan
    else:
        values[:, missing(kind, difficulty, n_systems, random)] = np.nan
    return values


def cell(design: tuple[int, int, int], kind: str, spread: float) -> list[float]:
    """Shares of simulations: a false difference, the best not in the set, a difference and means outside, no answer."""
    random = np.random.default_rng(sum(design) * 100 + HOLES.index(kind) * 10 + round(spread * 10))
    counts = np.zeros(5)
    for i in range(N):
        effects = spread * np.linspace(0.1, -0.1, design[0])
        scores = Scores.from_array(table(design, kind, effects, random))
        try:
            ranks = rank_intervals(scores, n_resamples=400, rng=i)
        except NoOverlapError:
            counts[4] += 1
            continue
        truth = effects[:, None] - effects
        wrong = ranks.better & (truth <= 0)
        against = [ranks.against(system) for system in ranks.systems]
        lows, highs = (np.array([getattr(pair, end) for pair in against]).T for end in ("low", "high"))
        outside = (lows > truth + 1e-9) | (highs < truth - 1e-9)
        low, high = mean_intervals(scores, 0.95)
        counts += [wrong.any(), ranks.rank_low[0] != 1, outside.any(), np.mean((low > effects) | (high < effects)), 0]
    return list(counts / N)


if __name__ == "__main__":
    print(
        "| table | missing | spread | false difference | best not in set | difference outside | means outside | none |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for (name, design), kind, spread in product(DESIGNS.items(), HOLES, (0.0, 1.0)):
        if (len(sys.argv) > 1 and sys.argv[1] not in name) or (kind == NESTED and design[2] == 1):
            continue
        shares = cell(design, kind, spread)
        print(f"| {name} | {kind} | {spread:g} | " + " | ".join(f"{share:.3f}" for share in shares) + " |", flush=True)

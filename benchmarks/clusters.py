"""How often do intervals and ranks err where topics are in clusters? Simulated, with equal systems.

The score of a system on a topic is cluster + topic + assessor + (assessor, topic), all of them the system's own. A
cluster has 8 topics in the mean, and the numbers differ (a standard deviation of .6 of their logarithms). `intra` is
the correlation of two topics of a cluster. Assessors judge all topics, or each topic has 3 of 7 of them. An argument is
the number of simulations.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np

from qrowd import Scores
from qrowd.comparison import difference, rank_intervals

N_SYSTEMS = 4
PANELS = {"one assessor": (1, 1), "6 assessors": (6, 6), "3 of 7 assessors": (7, 3)}


def sizes(n_clusters: int) -> np.ndarray:
    """Topics of each cluster, 1 or more."""
    random = np.random.default_rng(n_clusters)
    return np.maximum(np.round(8 * np.exp(0.6 * random.standard_normal(n_clusters))), 1).astype(int)


def table(cluster: np.ndarray, panel: tuple[int, int], intra: float, random: np.random.Generator) -> np.ndarray:
    """(assessors, topics, systems) scores; nan where the assessor did not judge the topic."""
    n_topics, (n_assessors, n_each) = cluster.size, panel
    of_clusters = random.normal(0, np.sqrt(intra), (cluster.max() + 1, N_SYSTEMS))[cluster]
    values = of_clusters + random.normal(0, np.sqrt(1 - intra), (n_topics, N_SYSTEMS))
    values = values + random.normal(0, 1.0, (n_assessors, n_topics, N_SYSTEMS))
    if n_assessors > 1:  # the intervals of one assessor are about that assessor
        values += random.normal(0, 0.2, (n_assessors, 1, N_SYSTEMS))
    judges = np.argsort(random.random((n_assessors, n_topics)), axis=0) < n_each
    return np.where(judges[:, :, None], values, np.nan)


def errors(n_clusters: int, panel: tuple[int, int], intra: float, n: int) -> np.ndarray:
    """Shares of simulations: a difference outside its interval, with clusters and without; a rank outside its own."""
    random = np.random.default_rng([n_clusters, *panel, round(100 * intra)])
    cluster = np.repeat(np.arange(n_clusters), sizes(n_clusters))
    names = [f"c{number}" for number in cluster]
    wrong = np.zeros(3)
    for seed in range(n):
        plain = Scores.from_array(table(cluster, panel, intra, random))
        scores = plain.with_clusters(names)
        outside = [difference(one, "1", "2").excludes_zero for one in (scores, plain)]
        wrong += [*outside, rank_intervals(scores, n_resamples=400, rng=seed).better.any()]
    return wrong / n


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print("| clusters | topics | assessors | intra | difference | without clusters | ranks |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for n_clusters, (name, panel), intra in product((8, 20, 50), PANELS.items(), (0.1, 0.3, 0.5)):
        shares = " | ".join(f"{share:.3f}" for share in errors(n_clusters, panel, intra, n))
        print(f"| {n_clusters} | {sizes(n_clusters).sum()} | {name} | {intra} | {shares} |", flush=True)

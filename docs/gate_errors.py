"""How often a condition of `compare --fail-if` errs for two equal systems: `python docs/gate_errors.py 50 5 2000`.

The assessors see noise, and each has a taste of their own, of which one system has more than the other: on the average
over assessors the systems are equal. The numbers on docs/howto/fail_a_test.md are of 50 topics and 5 assessors, and of
25 topics and 3 assessors.
"""

from __future__ import annotations

import sys

import numpy as np

from qrowd import Judgments, Runs, evaluate
from qrowd.comparison import difference
from qrowd.simulation import Lenient, simulate_judgments, simulate_pool, simulate_runs

MEASURES = ("nDCG@10", "AP", "P@10")


def simulated(n_topics: int, n_assessors: int, rng: int) -> tuple[Runs, Judgments]:
    """Runs of two equal systems, `old` and `new`, and judgments."""
    truth = simulate_pool(n_topics, 40, rng=rng)
    runs = simulate_runs(truth, 2, quality=[0.8, 0.8], appeal=[0.4, -0.4], names=["old", "new"], rng=rng)
    tastes = np.random.default_rng(rng).normal(0, 0.4, n_assessors)
    assessors = {f"a{i}": Lenient(noise=0.5, appeal=float(taste)) for i, taste in enumerate(tastes)}
    return runs, simulate_judgments(truth, assessors, rng=rng)


def shown(n_topics: int, n_assessors: int, rng: int) -> tuple[list[bool], list[bool]]:
    """Whether `new` is shown to be worse, and to be better, by each measure."""
    scores = evaluate(*simulated(n_topics, n_assessors, rng), MEASURES)
    differences = [difference(scores.sel(measure=name), "new", "old") for name in MEASURES]
    return [one.high < 0 for one in differences], [one.low > 0 for one in differences]


def main() -> None:
    n_topics, n_assessors, n = map(int, sys.argv[1:])
    worse, better = np.array([shown(n_topics, n_assessors, rng) for rng in range(n)]).swapaxes(0, 1)
    print(f"new<old fails by each of {', '.join(MEASURES)}: {worse.mean(axis=0)}, by any: {worse.any(axis=1).mean()}")
    print(f"new<=old passes by each: {better.mean(axis=0)}, by all: {better.all(axis=1).mean()}")


if __name__ == "__main__":
    main()

"""How often the test of all pairs errs where equal systems have differences that are not symmetric, and what it finds.

    python benchmarks/skewness.py [FOLDER]    about 5 minutes; FOLDER holds dl19 and dl21, for shapes of real scores

Each line: any error (of equal systems) or the share of pairs found (of systems that differ), by random signs alone and
by the test of `qrowd.comparison.rank_intervals`, with the binomial standard error; the median of the root mean square
skewness, and the share of simulations that warn of it. Last, coverage of the recommended interval of a difference by
assessors of unlike kinds. The figures stand in docs/papers/coverage.md.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

import qrowd
from qrowd.comparison.interval_widths import half_widths, recommended
from qrowd.comparison.mean_squares import Panel
from qrowd.comparison.rank_intervals import VERY_SKEWED, critical_t, pair_statistics
from qrowd.kernels.two_way import two_way

ALPHA, N_REPLICATES, AT_ONCE = 0.05, 400, 40


def normal(random, topics, systems):
    return random.normal(size=(topics, systems))


def heavy(random, topics, systems):
    """t with 3 degrees of freedom."""
    return random.standard_t(3, (topics, systems))


def reflected(values):
    """Each second system has the opposite shape."""
    values[:, 1::2] *= -1
    return values


def exponential(random, topics, systems):
    return reflected(random.exponential(1, (topics, systems)) - 1)


def lognormal(random, topics, systems):
    return reflected(np.exp(random.normal(0, 0.8, (topics, systems))) - np.exp(0.32))


def rare(random, topics, systems):
    """Half of the systems fail in a sixth of the topics (0, else .6), half excel in a sixth (1, else .4)."""
    event = random.random((topics, systems)) < 1 / 6
    odd = np.arange(systems) % 2 == 1
    return np.where(odd, np.where(event, 1, 0.4), np.where(event, 0, 0.6)) + random.normal(0, 0.08, (topics, systems))


def one_topic_effect(random, topics, systems):
    """An exponential effect of the topic helps half of the systems and harms the others."""
    of_topic = random.exponential(1, (topics, 1)) - 1
    return reflected(np.repeat(0.7 * of_topic, systems, axis=1)) + random.normal(0, 0.7, (topics, systems))


def resampled(folder, measure):
    """Topics drawn from real scores, centred, of systems that rarely tie and whose scores correlate below .85."""
    runs, judgments = qrowd.read_runs([str(folder / "runs")]), qrowd.read_judgments([str(folder / "qrels.nist.txt")])
    scores = qrowd.evaluate(runs, judgments, [measure]).values[0, 0]
    kept = []
    for s in np.random.default_rng(0).permutation(scores.shape[1]):
        ties = [np.isclose(scores[:, s], scores[:, k]).mean() for k in kept]
        if max(ties, default=0) < 0.1 and all(np.corrcoef(scores[:, s], scores[:, k])[0, 1] < 0.85 for k in kept):
            kept.append(s)
    centred = scores[:, kept] - scores[:, kept].mean(axis=0)
    return lambda random, topics, systems: centred[random.integers(len(centred), size=topics)][:, :systems]


def simulate(draw, topics, systems, assessors, n, apart=0.0):
    """Any error, or the share found, by signs alone and by both; and the skewness in each of n simulations."""
    random = np.random.default_rng([topics, systems, assessors])
    found, skewness = [], []
    for _ in range(n):
        by_topic = draw(random, topics, systems)
        spread = by_topic.std()
        values = np.repeat(by_topic[:, None], assessors, axis=1)
        if assessors > 1:
            values = values + random.normal(0, 0.2 * spread, (1, assessors, values.shape[2]))
            values = values + random.normal(0, 0.7 * spread, values.shape)
        values = values + apart * spread * np.linspace(0, 1, values.shape[2])
        names = [tuple(map(str, range(size))) for size in values.shape]
        panel = Panel(*names, values, np.ones(values.shape[:2], bool), 0)
        pairs = pair_statistics(panel, "both" if assessors > 1 else "topics")
        n_pairs = values.shape[2] * (values.shape[2] - 1)
        skewness.append(np.sqrt((pairs.skewness**2).sum() / n_pairs))
        found.append(significant(pairs, random, give_up=not apart))
    share = np.array(
        [[of.any() if not apart else of.sum() / of.shape[0] / (of.shape[0] - 1) for of in one] for one in found]
    )
    return share.mean(axis=0), np.array(skewness)


def significant(pairs, random, give_up):
    """(2, systems, systems) by signs alone, and by both."""
    parts = []
    for _ in range(0, N_REPLICATES, AT_ONCE):
        parts.append(pairs.replicates(random, AT_ONCE))
        reached = sum((part[0] >= pairs.t[0].max()).sum() for part in parts)
        if give_up and 1 + reached >= ALPHA * (1 + N_REPLICATES):
            return np.zeros(pairs.t.shape, bool)
    limits = [critical_t(largest, ALPHA) for largest in np.sort(np.concatenate(parts, axis=1))]
    alone = pairs.t[0] > limits[0]
    return np.array([alone, alone & (pairs.t[1] > limits[1])])


EFFECTS = {
    "normal": lambda random, shape: random.normal(size=shape),
    "exponential": lambda random, shape: random.exponential(1, shape) - 1,
    "two kinds": lambda random, shape: 0.98 * random.choice([-1.0, 1.0], shape) + 0.2 * random.normal(size=shape),
    "one in five differs": lambda random, shape: ((random.random(shape) < 0.2) - 0.2) / 0.4,
}  # of assessors, with variance 1


def coverage(effect, share, assessors, n=4000):
    """Of the recommended 95 % interval, 50 topics; variances 1 : share : 1.44 of topics, assessors and the rest."""
    random, held = np.random.default_rng([assessors, int(4 * share)]), []
    for _ in range(n // 500):
        values = random.normal(0, 1, (50, 1, 500)) + np.sqrt(share) * effect(random, (1, assessors, 500))
        squares = two_way(values + random.normal(0, 1.2, (50, assessors, 500)))
        held.append(np.abs(squares.mean) <= half_widths(squares, recommended(assessors), 0.95))
    return np.mean(held)


def main():
    designs = {f.__name__: f for f in (normal, heavy, exponential, lognormal, rare, one_topic_effect)}
    cells = [(name, t, 12, 1, 0.0) for name in designs for t in (25, 54)]
    cells += [(name, t, 40, 1, 0.0) for name in ("normal", "exponential", "lognormal", "rare") for t in (25, 54)]
    cells += [(name, t, 12, 5, 0.0) for name in ("normal", "exponential", "rare") for t in (25, 54)]
    cells += [(name, t, 20, a, 2.0) for name in ("normal", "heavy") for t in (25, 54) for a in (1, 5)]
    for folder in map(Path, sys.argv[1:]):
        for collection in ("dl19", "dl21"):
            for measure in ("nDCG@10", "AP(rel=2)"):
                designs[f"{collection} {measure}"] = resampled(folder / collection, measure)
                cells += [(f"{collection} {measure}", t, 40, 1, 0.0) for t in (25, 54)]
    for name, topics, systems, assessors, apart in cells:
        n = 200 if apart else 1000
        start = time.process_time()
        (alone, both), skewness = simulate(designs[name], topics, systems, assessors, n, apart)
        error = np.sqrt(both * (1 - both) / n)
        print(
            f"{name:20} topics {topics} systems {systems} assessors {assessors} {'found' if apart else 'error'} "
            f"signs {alone:.3f} both {both:.3f} +-{error:.3f} skewness {np.median(skewness):.2f} "
            f"warned {(skewness > VERY_SKEWED).mean():.3f} ({time.process_time() - start:.0f} s)",
            flush=True,
        )
    for name, effect in EFFECTS.items():
        for share in (0.25, 1.0):
            print(
                f"coverage, {name}, variance {share:g}:",
                *(f"{a}: {coverage(effect, share, a):.3f}" for a in (3, 4, 5, 8, 18)),
            )


if __name__ == "__main__":
    main()

"""Assessors who say which of two documents is better.

After Carterette, Bennett, Chickering, Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR 2008.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance, Rng
from qrowd.model.preferences import Preferences
from qrowd.simulation.truth import Truth, count, numbered, share


def simulate_preferences(
    truth: Truth,
    n_assessors: int,
    *,
    coverage: float = 1.0,
    taste: float = 0.2,
    noise: float = 0.2,
    strong_margin: float = 1.0,
    bad_share: float = 0.0,
    assessor_weights: Sequence[float] | None = None,
    rng: Rng,
) -> Preferences:
    """Preferences between all pairs of every topic's documents (n (n - 1) / 2 of n) by every assessor.

    An assessor values a document at its relevance + taste, and of two documents prefers the first with the margin
    assessor weight x (first value - second value) + noise, the sign of which decides.

    Parameters
    ----------
    coverage : share of a topic's pairs that an assessor judges, drawn at random, in random order.
    taste : standard deviation of what an assessor always sees in a document; leaves preferences transitive.
    noise : standard deviation of what decides one comparison only; makes cycles.
    strong_margin : the margin from which a preference is strong (strength 2).
    bad_share : share of every topic's documents, those of least value to the assessor, that each marks as Bad and
        puts in no preference.
    assessor_weights : one per assessor (default 1): 0 answers by chance, below 0 is an adversary.
    """
    count("n_assessors", n_assessors)
    share("coverage", coverage)
    share("bad_share", bad_share)
    if assessor_weights is not None and len(assessor_weights) != n_assessors:
        raise ArgumentError(f"one for each of {n_assessors} assessors", "assessor_weights", assessor_weights)
    weights = np.ones(n_assessors) if assessor_weights is None else np.array(assessor_weights, np.float64)
    chance = Chance.of(rng)
    pool = truth.pool
    rows = []
    marks = []
    for a in range(n_assessors):
        random = chance.stream("preferences", a)
        worth = truth.relevance + taste * random.standard_normal(truth.relevance.size)
        for t in range(len(pool.topics)):
            begin = pool.starts[t]
            end = pool.starts[t + 1]
            best_first = begin + np.argsort(-worth[begin:end])
            n_good = best_first.size - round(bad_share * best_first.size)
            worst = best_first[n_good:]
            marks.append((np.full(worst.size, t), worst, np.full(worst.size, a)))
            first, second = random.permutation(best_first[:n_good])[np.array(np.triu_indices(n_good, 1))]
            sample = random.permutation(first.size)[: round(coverage * first.size)]
            first, second = first[sample], second[sample]
            margin = weights[a] * (worth[first] - worth[second]) + noise * random.standard_normal(first.size)
            better = margin >= 0
            chosen_first = np.where(better, first, second)
            chosen_other = np.where(better, second, first)
            strength = 1 + (np.abs(margin) >= strong_margin).astype(np.int64)
            rows.append((np.full(first.size, t), chosen_first, chosen_other, np.full(first.size, a), strength, better))
    topic, preferred, other, who, strength, better = (np.concatenate(column) for column in zip(*rows, strict=True))
    bad_topic, bad_document, bad_who = (np.concatenate(column) for column in zip(*marks, strict=True))
    return Preferences(
        pool.topics,
        pool.documents,
        numbered("assessor-", n_assessors),
        topic.astype(np.int32),
        pool.document[preferred],
        pool.document[other],
        who.astype(np.int32),
        strength,
        bad_topic.astype(np.int32),
        pool.document[bad_document],
        bad_who.astype(np.int32),
        first=better.astype(np.float64),
    )

"""Assessors who say which of two documents is better.

After Carterette, Bennett, Chickering, Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance, Rng
from qrowd.simulation.arguments import count, numbered, share
from qrowd.simulation.truth import Truth


@dataclass(frozen=True, eq=False)
class SimulatedPreferences:
    """What was said, one row per preference, in label arrays of equal length.

    topic, preferred, other, assessor : (n,) labels.
    strength : (n,) 1, or 2 for "definitely better".
    bad : (topic, document, assessor) of every document someone marked as Bad; it is in no preference of theirs.
    """

    topic: NDArray[np.object_]
    preferred: NDArray[np.object_]
    other: NDArray[np.object_]
    assessor: NDArray[np.object_]
    strength: NDArray[np.int64]
    bad: tuple[tuple[str, str, str], ...]

    def __len__(self) -> int:
        return int(self.strength.size)

    def to_rows(self) -> list[tuple[str, str, str, str, int]]:
        """(topic, preferred, other, assessor, strength) of every preference."""
        columns = (self.topic, self.preferred, self.other, self.assessor, self.strength)
        return list(zip(*(column.tolist() for column in columns), strict=True))


def simulate_preferences(
    truth: Truth,
    n_assessors: int,
    *,
    coverage: float = 1.0,
    taste: float = 0.2,
    noise: float = 0.2,
    definite: float = 1.0,
    bad: float = 0.0,
    reliability: Sequence[float] | None = None,
    rng: Rng,
) -> SimulatedPreferences:
    """Preferences between all pairs of every topic's documents (n (n - 1) / 2 of n) by every assessor.

    An assessor values a document at its relevance + taste, and of two documents prefers the first with the margin
    reliability x (first value - second value) + noise, the sign of which decides.

    Parameters
    ----------
    coverage : share of a topic's pairs that an assessor judges, drawn at random, in random order.
    taste : standard deviation of what an assessor always sees in a document; leaves preferences transitive.
    noise : standard deviation of what decides one comparison only; makes cycles.
    definite : the margin from which a preference has strength 2.
    bad : share of every topic's documents, those of least value to the assessor, that each marks as Bad.
    reliability : one per assessor (default 1): 0 answers by chance, below 0 is an adversary.
    """
    count("n_assessors", n_assessors)
    share("coverage", coverage)
    share("bad", bad)
    if reliability is not None and len(reliability) != n_assessors:
        raise ArgumentError(f"reliability={reliability!r}: one for each of {n_assessors} assessors")
    trust = np.ones(n_assessors) if reliability is None else np.array(reliability, np.float64)
    chance, pool = Chance.of(rng), truth.pool
    documents = np.array(pool.documents, object)[pool.document]
    rows: list[tuple[NDArray[Any], ...]] = []
    marked: list[tuple[str, str, str]] = []
    for a, assessor in enumerate(numbered("assessor-", n_assessors)):
        random = chance.stream("preferences", a)
        worth = truth.relevance + taste * random.standard_normal(truth.relevance.size)
        for t, topic in enumerate(pool.topics):
            begin, end = pool.starts[t], pool.starts[t + 1]
            best_first = begin + np.argsort(-worth[begin:end])
            n_good = best_first.size - round(bad * best_first.size)
            marked += [(topic, label, assessor) for label in documents[best_first[n_good:]].tolist()]
            first, second = random.permutation(best_first[:n_good])[np.array(np.triu_indices(n_good, 1))]
            chosen = random.permutation(first.size)[: round(coverage * first.size)]
            first, second = first[chosen], second[chosen]
            margin = trust[a] * (worth[first] - worth[second]) + noise * random.standard_normal(first.size)
            rows.append(
                (
                    np.full(first.size, topic, object),
                    documents[np.where(margin >= 0, first, second)],
                    documents[np.where(margin >= 0, second, first)],
                    np.full(first.size, assessor, object),
                    1 + (np.abs(margin) >= definite).astype(np.int64),
                )
            )
    columns = [np.concatenate(parts) for parts in zip(*rows, strict=True)]
    return SimulatedPreferences(columns[0], columns[1], columns[2], columns[3], columns[4], tuple(marked))

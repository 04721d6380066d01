"""Weights of topics in bootstrap replicates, from random numbers that the seed and the name of a topic decide.

A topic has the same weights in whatever part of a collection it is. Weights are independent and Poisson with mean 1:
the number of times that a topic is drawn in a sample with replacement, without the condition that these numbers sum to
the number of topics.

Owen, Eckles (2012), Bootstrapping Data Arrays of Arbitrary Order. Annals of Applied Statistics 6(3).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from math import exp, factorial

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Seed

LEVELS = 1 << 16  # of a random number: probabilities of weights are multiples of 2^-16
MOST = 8  # the highest weight; higher ones have a probability of 1.1e-6


def topic_weights(topics: Sequence[str], n: int, seed: Seed) -> Floats:
    """(topics, n) weights: whole numbers from 0 to 8.

    >>> topic_weights(["q1", "q2"], 6, 1).tolist() == topic_weights(["q2", "q1"], 6, 1)[::-1].tolist()
    True
    """
    table = _table()
    weights = np.empty((len(topics), n))
    for row, topic in zip(weights, topics, strict=True):
        key = np.frombuffer(sha256(repr((seed, topic)).encode()).digest()[:16], "<u8").astype(np.uint64)
        numbers: NDArray[np.uint64] = np.random.Philox(key=key).random_raw(-(-n // 4))
        row[:] = table[numbers.astype("<u8").view("<u2")[:n]]
    return weights


@cache
def _table() -> NDArray[np.uint8]:
    """The weight that each of 2^16 random numbers stands for."""
    probabilities = [exp(-1) / factorial(weight) for weight in range(MOST)]
    bounds = np.round(np.cumsum(probabilities) * LEVELS)
    return np.searchsorted(bounds, np.arange(LEVELS), side="right").astype(np.uint8)

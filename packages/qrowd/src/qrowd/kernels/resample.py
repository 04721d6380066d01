"""Drawing with replacement: how often each thing comes up in each replicate of a bootstrap."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qrowd.kernels.arrays import Floats, Ints

BLOCK = 1 << 16  # random numbers at once


def resampled(multiplicity: Ints, replicates: int, at_once: int, rng: np.random.Generator) -> Iterator[Floats]:
    """(up to at_once, kinds) how often each kind of thing is drawn, block by block, `replicates` rows in all.

    multiplicity : (kinds,) how many things there are of each kind; as many things are drawn as there are.
    """
    n = int(multiplicity.sum())
    kind = np.repeat(np.arange(multiplicity.size), multiplicity)
    for done in range(0, replicates, at_once):
        rows = min(at_once, replicates - done)
        if 8 * multiplicity.size < n:
            yield rng.multinomial(n, multiplicity / n, size=rows).astype(np.float64)
        else:
            counts = np.zeros((rows, multiplicity.size))
            per_block = max(BLOCK // max(n, 1), 1)
            for first in range(0, rows, per_block):
                some = counts[first : first + per_block]
                column = kind[(rng.random((some.shape[0], n)) * n).astype(np.int64)]
                cell = column + multiplicity.size * np.arange(some.shape[0])[:, None]
                some[:] = np.bincount(cell.ravel(), minlength=some.size).reshape(some.shape)
            yield counts


def tail(confidence: float, n: int | None = None) -> float:
    """The share of replicates beyond each end of an interval.

    n : how many things were drawn, where they are few: replicates then vary too little, by sqrt((n - 1) / n) and as a
        normal does beside Student's t, and the ends are moved outwards by as much (Hesterberg 2015, What Teachers
        Should Know About the Bootstrap, The American Statistician 69(4), section 5.3).

    >>> [round(tail(0.95, n), 4) for n in (None, 1000, 10)]
    [0.025, 0.0248, 0.0086]
    """
    if n is None or n < 2:
        return (1 - confidence) / 2
    from scipy.special import ndtr, stdtrit

    return float(ndtr(-np.sqrt(n / (n - 1)) * stdtrit(n - 1, (1 + confidence) / 2)))

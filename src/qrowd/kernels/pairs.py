"""Two orders of the same things, compared pair by pair.

Order agreement: Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information
Retrieval Evaluation. ACM TOIS 35(3), section 6.1.2.
"""

from __future__ import annotations

import numpy as np

from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.compiled import kernel


@kernel("int64[:], float64[:], float64[:]")
def order_counts(starts: Ints, value: Floats, grade: Floats) -> Ints:
    """How often values follow the order that grades give, in each group of documents.

    starts : (groups + 1,); group g is the rows starts[g]:starts[g + 1] of `value` and `grade`, both (rows,).

    Returns (groups, 3): pairs of documents whose grades differ and whose values stand in the same order; are equal;
    stand in the opposite order. Pairs of equal grade say nothing and are not counted.
    """
    counts = np.zeros((starts.size - 1, 3), np.int64)
    for g in range(starts.size - 1):
        same, equal, opposite = 0, 0, 0
        for i in range(starts[g], starts[g + 1]):
            for j in range(starts[g], i):
                if grade[i] != grade[j]:
                    if value[i] == value[j]:
                        equal += 1
                    elif (value[i] > value[j]) == (grade[i] > grade[j]):
                        same += 1
                    else:
                        opposite += 1
        counts[g, 0], counts[g, 1], counts[g, 2] = same, equal, opposite
    return counts


@kernel("int64[:], float64[:], int64[:], int")
def order_counts_by_level(starts: Ints, value: Floats, level: Ints, n_levels: int) -> Ints:
    """`order_counts` for every pair of levels by itself.

    level : (rows,) whole numbers from 0 to n_levels - 1, in the order of the grades they stand for.

    Returns (groups, n_levels, n_levels, 3); [g, low, high] counts pairs of a document of level `low` and one of level
    `high`, low < high; cells with low >= high stay 0.
    """
    counts = np.zeros((starts.size - 1, n_levels, n_levels, 3), np.int64)
    for g in range(starts.size - 1):
        for i in range(starts[g], starts[g + 1]):
            for j in range(starts[g], starts[g + 1]):
                if level[i] < level[j]:
                    which = 0 if value[i] < value[j] else (1 if value[i] == value[j] else 2)
                    counts[g, level[i], level[j], which] += 1
    return counts

"""Two orders of the same things, compared pair by pair.

Order agreement: Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information
Retrieval Evaluation. ACM TOIS 35(3), section 6.1.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.compiled import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
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


@kernel
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


@kernel
def tau_b(reference: Floats, rows: Floats) -> Floats:
    """(rows,) Kendall's tau-b of each row of `rows` (rows, things) with `reference` (things,).

    (concordant - discordant) / sqrt(pairs untied in one * pairs untied in the other), over the things that are nan in
    neither; nan where one of the two ties them all.
    """
    n = reference.size
    out = np.empty(rows.shape[0])
    for r in range(rows.shape[0]):
        row = rows[r]
        score, untied_row, untied_reference = 0, 0, 0
        for i in range(n):
            for j in range(i):
                a = int(reference[i] > reference[j]) - int(reference[i] < reference[j])
                b = int(row[i] > row[j]) - int(row[i] < row[j])
                known = int(
                    reference[i] == reference[i]
                    and reference[j] == reference[j]
                    and row[i] == row[i]
                    and row[j] == row[j]
                )
                score += known * a * b
                untied_row += known * b * b
                untied_reference += known * a * a
        both = float(untied_row) * float(untied_reference)
        out[r] = score / np.sqrt(both) if both > 0.0 else np.nan
    return out

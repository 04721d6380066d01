"""Two assessors of one table who say the same in other numbers: they cannot have been on one scale.

Assessors of one table share an inferred scale, and one who never used its top is only reported. But where two of them
agree on what is relevant and hardly ever on the grade, the table mixes scales, and its grades cannot be compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qrowd.model.judgments import Judgments

DOCUMENTS = 20  # that show it, at least
SHARE = 0.95  # of the documents that show it


@dataclass(frozen=True)
class OtherNumbers:
    """Two assessors who agree on what is relevant, and not on the grade.

    short gave `top`, the highest grade they ever use, to n documents that long judged too; long gave more to n_more.
    """

    short: str
    long: str
    top: float
    n: int
    n_more: int


def other_numbers(judgments: Judgments) -> OtherNumbers | None:
    """The clearest pair of assessors on one inferred scale who say the same in other numbers; None without one.

    One of them never uses the top of the scale, and of the documents to which they give the highest grade they use the
    other gives more to at least 95 % (of 20 or more); and on at least 95 % of all documents that both judged, 20 or
    more of them relevant to neither, both or neither find the document relevant.
    """
    from scipy.sparse import csr_array

    short = judgments.stopping_short()
    if not short:
        return None
    judged = np.flatnonzero(judgments.value >= 0)
    pair = judgments.pair_numbers[judged]
    _, document = np.unique(pair, return_inverse=True)
    who, value = judgments.assessor[judged], judgments.value[judged]
    shape = (len(judgments.assessors), int(document.max()) + 1)

    def where(mask: NDArray[np.bool_]) -> csr_array:
        """(assessors, documents) 1 where some judgment is one of these."""
        marked = csr_array((np.ones(int(mask.sum())), (who[mask], document[mask])), shape=shape)
        marked.data[:] = 1
        return marked

    top = np.array([short[name].maximum if name in short else np.nan for name in judgments.assessors])
    anything, relevant = where(value >= 0), where(value >= 1)
    candidates: list[OtherNumbers] = []
    for highest in np.unique(top[top >= 1]):
        mine = where((top[who] == highest) & (value == highest))
        n, n_more = mine @ anything.T, (mine @ where(value > highest).T).tocoo()
        for a, b, more in zip(n_more.row.tolist(), n_more.col.tolist(), n_more.data.tolist(), strict=True):
            if n[a, b] < DOCUMENTS or more < SHARE * n[a, b]:
                continue
            both = (anything[[a]].multiply(anything[[b]])).sum()
            of_a, of_b = (relevant[[x]].multiply(anything[[y]]).sum() for x, y in ((a, b), (b, a)))
            of_both = relevant[[a]].multiply(relevant[[b]]).sum()
            neither = both - of_a - of_b + of_both
            if neither >= DOCUMENTS and of_both + neither >= SHARE * both:
                names = judgments.assessors[a], judgments.assessors[b]
                candidates.append(OtherNumbers(*names, float(highest), int(n[a, b]), int(more)))
    return max(candidates, key=lambda one: one.n_more, default=None)

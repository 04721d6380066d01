"""Two assessors of one table who say the same in other numbers: they cannot have been on one scale.

Assessors of one table share an inferred scale, and one who never used its top is only reported. But where two of them
agree on what is relevant and hardly ever on the grade, the table mixes scales, and its grades cannot be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.model.judgments import Judgments
from qrowd.model.scales import Scale

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
    return other_numbers_of_parts(lambda: [judgments], judgments.assessors, judgments.stopping_short())


def other_numbers_of_parts(
    parts: Callable[[], Iterable[Judgments]], assessors: Sequence[str], short: Mapping[str, Scale]
) -> OtherNumbers | None:
    """As `other_numbers`, for judgments in parts of some topics each: counts of documents are added.

    parts : called for each pass over them; all have these assessors. short : `stopping_short` of all judgments.
    """
    if not short:
        return None
    from scipy.sparse import coo_array, csr_array

    top = np.array([short[name].maximum if name in short else np.nan for name in assessors])
    levels = np.unique(top[top >= 1]).tolist()
    shape = (len(assessors), len(assessors))
    n_of, more_of = ([csr_array(shape) for _ in levels] for _ in range(2))
    for part in parts():
        marks = _Marks(part)
        for i, highest in enumerate(levels):
            mine = marks.where((top[marks.who] == highest) & (marks.value == highest))
            n_of[i] = n_of[i] + mine @ marks.anything.T
            more_of[i] = more_of[i] + mine @ marks.where(marks.value > highest).T
    pairs = [
        (highest, a, b, int(n[a, b]), int(count))
        for highest, n, more in zip(levels, n_of, map(coo_array, more_of), strict=True)
        for a, b, count in zip(more.row.tolist(), more.col.tolist(), more.data.tolist(), strict=True)
        if n[a, b] >= DOCUMENTS and count >= SHARE * n[a, b]
    ]
    if not pairs:
        return None
    sums = np.zeros((len(pairs), 4))
    for part in parts():
        marks = _Marks(part)
        sums += [marks.both_judged(a, b) for _, a, b, _, _ in pairs]
    candidates = []
    for (highest, a, b, n_judged, n_more), (both, of_a, of_b, of_both) in zip(pairs, sums, strict=True):
        neither = both - of_a - of_b + of_both
        if neither >= DOCUMENTS and of_both + neither >= SHARE * both:
            candidates.append(OtherNumbers(assessors[a], assessors[b], highest, n_judged, n_more))
    return max(candidates, key=lambda one: one.n_more, default=None)


class _Marks:
    """Matrices (assessors, documents) of the documents that each judged, and found relevant."""

    def __init__(self, judgments: Judgments) -> None:
        judged = np.flatnonzero(judgments.value >= 0)
        pairs, self.document = np.unique(judgments.pair_numbers[judged], return_inverse=True)
        self.who, self.value = judgments.assessor[judged], judgments.value[judged]
        self.shape = (len(judgments.assessors), pairs.size)

    def where(self, mask: NDArray[np.bool_]) -> Any:
        """1 where some judgment is one of these."""
        from scipy.sparse import csr_array

        marked = csr_array((np.ones(int(mask.sum())), (self.who[mask], self.document[mask])), shape=self.shape)
        marked.data[:] = 1
        return marked

    @cached_property
    def anything(self) -> Any:
        return self.where(self.value >= 0)

    @cached_property
    def relevant(self) -> Any:
        return self.where(self.value >= 1)

    def both_judged(self, a: int, b: int) -> tuple[float, float, float, float]:
        """Documents that both judged: all, relevant to the first, to the second, to both."""
        anything, relevant = self.anything, self.relevant
        both = anything[[a]].multiply(anything[[b]]).sum()
        of_a, of_b = (relevant[[x]].multiply(anything[[y]]).sum() for x, y in ((a, b), (b, a)))
        return both, of_a, of_b, relevant[[a]].multiply(relevant[[b]]).sum()

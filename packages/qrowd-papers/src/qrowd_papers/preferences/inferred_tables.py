"""Tables of agreement for the preferences that grades imply, and whether two tables agree equally.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result
from qrowd.preferences.preference_agreement import (
    BOTH_BAD,
    LESS,
    MORE,
    TIED,
    Held,
    PreferenceTable,
    by_name,
    pair_key,
    pairs_within,
)


def inferred_table(judgments: Judgments, *, bad: float | None = 0.0) -> PreferenceTable:
    """The same table for the preferences that grades imply, equal grades apart as "A = B".

    `redistributed` then deals the equal ones out, by a coin as in Table 2(b) or at any rate.

    bad : documents with this grade or a lower one count as marked; None: two of those are equal like others.
    """
    one = judgments.single()
    rows = np.flatnonzero(one.value >= 0)
    n, n_assessors = max(len(one.documents), 1), max(len(one.assessors), 1)
    rank = by_name(one.documents)
    cell = one.topic[rows].astype(np.int64) * n_assessors + one.assessor[rows]
    order = np.lexsort((rank[one.document[rows]], cell))
    cell, place, value = cell[order], rank[one.document[rows][order]], one.value[rows][order]
    first, second = pairs_within(cell)
    gap = value[first] - value[second]
    marked = value <= (-np.inf if bad is None else bad)
    state = np.where(gap > 0, MORE, np.where(gap < 0, LESS, TIED))
    state = np.where(marked[first] & marked[second], BOTH_BAD, state)
    pair = pair_key(cell[first] // n_assessors, place[first], place[second], n)
    return Held(pair, cell[first] % n_assessors, state).table()


def redistributed(table: PreferenceTable, *, rate: float = 0.5) -> PreferenceTable:
    """Equal grades taken for a preference that agrees with the other assessor's at this rate.

    At .5 it is decided by the toss of a coin, in expectation: the paper's Table 2(b). Two equal grades become two
    preferences that agree at the same rate. A pair of Bad documents stays one.
    """
    if not 0 <= rate <= 1:
        raise ArgumentError("expected a share, from 0 to 1", "rate", rate)
    if "A = B" not in table.states:
        return table
    if "A < B" not in table.states or "A > B" not in table.states:
        raise ArgumentError("redistributed() needs the states 'A < B' and 'A > B'; take pooled() first")
    tie, less, more = (table.states.index(state) for state in ("A = B", "A < B", "A > B"))
    counts = table.counts.copy()
    both = counts[tie, tie]
    for one, other in ((less, more), (more, less)):
        for i, j in ((one, tie), (tie, one)):
            n = counts[i, j]
            counts[one, one] += rate * n
            counts[(one, other) if j == tie else (other, one)] += (1 - rate) * n
        counts[one, one] += rate * both / 2
        counts[one, other] += (1 - rate) * both / 2
    for state in range(len(table.states)):
        if state not in (tie, less, more):  # neither way can agree
            for way in (less, more):
                counts[state, way] += table.counts[state, tie] / 2
                counts[way, state] += table.counts[tie, state] / 2
    others = [i for i in range(len(table.states)) if i != tie]
    return PreferenceTable(tuple(table.states[i] for i in others), counts[np.ix_(others, others)], table.n_pairs)


@dataclass(frozen=True)
class AgreementDifference(Result):
    """Do two tables agree equally? chi-square of agreed and disagreed judgments, with one degree of freedom."""

    chi_square: float
    p: float
    agreement: tuple[float, float]
    n: tuple[float, float]

    def _columns(self) -> dict[str, Any]:
        """One row per table."""
        return {"agreement": self.agreement, "n": self.n, "chi_square": self.chi_square, "p": self.p}


def agreement_difference(first: PreferenceTable, second: PreferenceTable) -> AgreementDifference:
    """Test whether the shares of agreeing judgments in two tables differ (section 3.2).

    chi-square = sum (observed - expected)^2 / expected over the four counts, without continuity correction. Each pair
    of assessors counts once; the paper's tables count it in both directions, which doubles chi-square. Judgments of
    pairs that share a document are not independent, so p is too small.
    """
    from scipy.special import chdtrc

    observed = np.array([[t.counts.trace(), t.counts.sum() - t.counts.trace()] for t in (first, second)]) / 2
    n = observed.sum(axis=1)
    expected = np.outer(n, observed.sum(axis=0)) / n.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        chi_square = float(np.nansum((observed - expected) ** 2 / expected))  # where none is expected, none counts
    return AgreementDifference(
        chi_square, float(chdtrc(1, chi_square)), (first.agreement, second.agreement), (float(n[0]), float(n[1]))
    )

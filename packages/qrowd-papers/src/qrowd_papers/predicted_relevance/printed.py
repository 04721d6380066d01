"""What the predicted relevance paper printed, and what its numbers imply of each other.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19. Its judgments are not public, but its tables say more than they show: the coincidences behind Table 3, the standard
errors of Table 2, counts of grades behind Table 5, and whether its taus allow for ties.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from qrowd.kernels.arrays import Floats
from qrowd_papers.claims import printed_numbers

# ------------------------------------------------------------------ Table 1: twenty results, two assessors

FIRST = (2, 2, 1, 0, 1, 1, 0, 1, 2, 1, 1, 1, 2, 0, 1, 0, 1, 1, 0, 0)
SECOND = (1, 2, 1, 1, 2, 0, 0, 1, 2, 2, 0, 2, 1, 0, 1, 2, 0, 1, 0, 0)
TABLE_1 = {"one-sided": ((2, 4), (3, 10), (1, 6)), "symmetric": ((4, 10), (5, 17), (1, 13))}
"""Numerators and denominators of p(2|2), p(2|1), p(2|0), by equations 4 and 5."""

# ------------------------------------------------------------------ Tables 2 to 4: p(R|i), highest grade first

GRADES = ("Key", "HRel", "Rel", "Non")
N_DOUBLE, ABOVE_NON = {"pages": 7027, "snippets": 6253}, {"pages": 0.19, "snippets": 0.23}
"""Section 4.1: results judged twice. Section 5.2.2: the share of them that the one-sided estimate needs."""

nan = float("nan")
PRINTED = printed_numbers("predicted_relevance")
Rows = dict[str, list[float]]
TABLE_2: dict[str, list[list[float]]] = PRINTED["table_2"]
TABLE_3: Rows = PRINTED["table_3"]
TABLE_4: dict[str, dict[str, list[list[float]]]] = PRINTED["table_4"]

# ------------------------------------------------------------------ Tables 5 to 7: systems

TABLE_5: Rows = PRINTED["table_5"]
ORACLE = "oracle"  # no system: it picks the best engines
TABLE_5_TAU = (0.93, 0.89)  # section 7.1: expected with counted, from Key and from Rel on
TABLE_6: Rows = PRINTED["table_6"]
TABLE_7: Rows = PRINTED["table_7"]
SYSTEMS = {"Japanese": 8, "Chinese": 12, "merging": 15}
"""Sections 4.1 and 4.2: runs of Table 6's languages, and of Table 7."""
ROUNDING = 0.005


# ------------------------------------------------------------------ what they imply


def confusion() -> Floats:
    """(grades, grades) Table 3 taken apart: a random user's grade (column) where the assessor gave the row's."""
    at_least = np.array([TABLE_3[grade] for grade in GRADES[:-1]]).T
    return np.diff(at_least, axis=1, prepend=0.0, append=1.0)


def shares() -> Floats:
    """(grades,) share of each grade among the judgments of pages judged twice, highest first.

    Coincidences are symmetric, so that shares s solve s = s P, P being the `confusion`.
    """
    matrix = confusion()
    n = len(matrix)
    equations = np.vstack([matrix.T - np.eye(n), np.ones(n)])
    solved, *_ = np.linalg.lstsq(equations, np.append(np.zeros(n), 1.0), rcond=None)
    return np.asarray(solved)


def standard_errors() -> dict[str, Floats]:
    """{column of Table 2: (grades,)} binomial errors (section 5.2.2), denominators being the `shares` of all judgments.

    One-sided, one judgment of a page predicts; the printed 19 % of pages are those that it put above Non.
    """
    share, n = shares(), N_DOUBLE["pages"]
    above = np.append(share[:3] / share[:3].sum() * ABOVE_NON["pages"] * n, nan)
    results = {}
    for name, given in (("pages (5)", 2 * n * share), ("pages (4)", above)):
        p = np.array(TABLE_2[name][0])
        results[name] = np.sqrt(p * (1 - p) / given)
    return results


def nearest_tau(printed: float, n: int, ties: int = 0) -> float:
    """The tau-b closest to `printed` that two rankings of n systems can have, each with up to `ties` tied pairs.

    tau = S / sqrt((N - a) (N - b)), N = n (n - 1) / 2; S runs in steps of two from the number of untied pairs.
    """
    pairs = n * (n - 1) // 2
    reachable = set()
    for a in range(ties + 1):
        for b in range(ties + 1):
            for both in range(min(a, b) + 1):
                untied = pairs - a - b + both
                scale = sqrt((pairs - a) * (pairs - b))
                reachable |= {s / scale for s in range(-untied, untied + 1, 2)}
    return min(reachable, key=lambda tau: abs(tau - printed))

"""What the predicted relevance paper printed, and what its numbers imply of each other.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19. Its judgments are not public, but its tables say more than they show: the coincidences behind Table 3, the standard
errors of Table 2, counts of grades behind Table 5, and whether its taus allow for ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from qrowd.kernels.arrays import Floats

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
TABLE_2 = {
    "pages (5)": ((0.53, 0.27, 0.04, 0.01), (0.02, 0.01, 0.01, 0.00)),
    "pages (4)": ((0.52, 0.28, 0.05, nan), (0.02, 0.02, 0.01, nan)),
    "snippets (5)": ((0.47, 0.25, 0.08, 0.01), (0.02, 0.01, 0.01, 0.00)),
    "snippets (4)": ((0.49, 0.26, 0.09, nan), (0.03, 0.02, 0.01, nan)),
}
"""p(Key|i) and its standard error, by equation 5 or 4."""
TABLE_3 = {
    "Key": (0.53, 0.27, 0.04, 0.01),
    "HRel": (0.87, 0.65, 0.22, 0.02),
    "Rel": (0.93, 0.88, 0.46, 0.08),
}
"""By the lowest grade that satisfies."""
TABLE_4 = {
    "Japanese": {
        "all": ((0.51, 0.19, 0.03), (0.01, 0.00, 0.00)),
        "nav.": ((0.77, 0.17, 0.03), (0.02, 0.02, 0.00)),
        "inf., all intents": ((0.49, 0.20, 0.03), (0.01, 0.01, 0.00)),
        "inf., top intent": ((0.54, 0.24, 0.05), (0.01, 0.01, 0.00)),
    },
    "Chinese": {
        "all": ((0.37, 0.03, 0.00), (0.01, 0.00, 0.00)),
        "nav.": ((0.07, 0.04, 0.01), (0.02, 0.00, 0.00)),
        "inf., all intents": ((0.41, 0.04, 0.00), (0.02, 0.00, 0.00)),
        "inf., top intent": ((0.29, 0.04, 0.00), (0.03, 0.00, 0.00)),
    },
}
"""p(2|2), p(2|1), p(2|0) and standard errors."""

# ------------------------------------------------------------------ Tables 5 to 7: systems

TABLE_5 = {
    "oracle": (9.02, 0.40, 12.98, 0.93, 21.40, 0.61, 25.92, 0.63),
    "RS_clueweb": (2.51, 0.27, 2.66, 0.46, 8.52, 0.54, 9.26, 0.74),
    "UiSSP": (2.41, 0.36, 2.58, 0.57, 7.78, 0.82, 8.76, 1.20),
    "UiSP": (2.27, 0.38, 2.52, 0.63, 7.22, 0.84, 8.00, 1.17),
    "utTailyNormM400": (2.05, 0.37, 2.20, 0.54, 6.65, 0.86, 7.24, 1.14),
    "utTailyM400": (1.94, 0.37, 2.06, 0.54, 6.32, 0.86, 6.74, 1.13),
    "UiSS": (1.66, 0.25, 1.64, 0.35, 5.84, 0.65, 5.98, 0.92),
    "udelODRA": (1.63, 0.30, 1.68, 0.48, 5.64, 0.73, 6.00, 1.01),
    "udelFAVE": (1.63, 0.29, 1.62, 0.43, 5.78, 0.73, 6.14, 1.01),
    "UPDFW13mu": (1.54, 0.32, 1.52, 0.44, 5.18, 0.79, 5.36, 1.06),
    "iiitnaive01": (1.46, 0.28, 1.52, 0.45, 5.24, 0.65, 5.76, 0.88),
    "cwi13SniTI": (1.46, 0.29, 1.46, 0.44, 5.17, 0.70, 5.48, 0.96),
    "UPDFW13sh": (1.43, 0.27, 1.12, 0.32, 5.28, 0.71, 5.38, 0.98),
    "RS_querypools": (1.25, 0.19, 1.06, 0.34, 5.33, 0.44, 6.18, 0.80),
    "cwi13ODPTI": (1.17, 0.21, 0.92, 0.27, 4.48, 0.56, 4.52, 0.77),
    "ECNUM25": (0.91, 0.22, 1.16, 0.38, 3.04, 0.64, 2.62, 0.56),
    "cwi13ODPJac": (0.66, 0.16, 0.42, 0.16, 2.88, 0.51, 2.94, 0.72),
    "udelRSMIN": (0.61, 0.21, 0.78, 0.33, 2.28, 0.48, 1.94, 0.62),
    "incgqdv2": (0.55, 0.13, 0.48, 0.21, 2.17, 0.35, 2.08, 0.46),
    "incgqd": (0.35, 0.12, 0.30, 0.19, 1.46, 0.29, 1.38, 0.40),
    "StanfordEIG10": (0.19, 0.07, 0.14, 0.08, 0.85, 0.20, 0.66, 0.27),
}
"""Relevant results among 30: expected and counted from Key on, then from Rel on, each with its standard error."""
ORACLE = "oracle"  # no system: it picks the best engines
TABLE_5_TAU = (0.93, 0.89)  # section 7.1: expected with counted, from Key and from Rel on
TABLE_6 = {
    "Japanese nav.": (0.86, 0.86, 0.64),
    "Japanese inf.": (0.84, 0.93, 1.00),
    "Chinese nav.": (0.12, 0.43, 0.47),
    "Chinese inf.": (0.06, 0.27, 0.72),
}
"""tau of the systems' rankings by U1 and by U2: binary, predicted and linear gains, nDCG@10."""
TABLE_7 = {"binary": (0.75, 0.94), "linear": (0.96, 0.92), "exponential": (0.99, 0.93)}
"""tau of the ranking by predicted gains with that by others, nDCG@20: from Key and from Rel on."""
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


@dataclass(frozen=True)
class Balance:
    """How often one grade is given for another: as printed for the two, and by way of a third."""

    first: str
    second: str
    low: float
    high: float
    through: str
    through_low: float
    through_high: float

    @property
    def holds(self) -> bool:
        return self.low <= self.through_high and self.through_low <= self.high


def balances() -> tuple[Balance, ...]:
    """Whether one set of symmetric coincidences lies behind Table 3, within rounding.

    n_i p(j|i) = n_j p(i|j), so that n_i / n_j = (n_i / n_k) (n_k / n_j) = p(i|j) / p(j|i) for every k.
    """
    matrix = confusion()
    # The first and the last grade's share stands in the table, or next to 1; the others are differences of two numbers.
    slack = np.full(matrix.shape, 2 * ROUNDING)
    slack[:, [0, -1]] = ROUNDING
    low, high = np.maximum(matrix - slack, 0.0), matrix + slack
    with np.errstate(divide="ignore"):
        least, most = low.T / high, high.T / low
    results = []
    for i in range(4):
        for j in range(i + 1, 4):
            for k in set(range(4)) - {i, j}:
                ends = (least[i, j], most[i, j], least[i, k] * least[k, j], most[i, k] * most[k, j])
                results.append(Balance(GRADES[i], GRADES[j], ends[0], ends[1], GRADES[k], ends[2], ends[3]))
    return tuple(results)


def results_behind(system: str, most: int = 30) -> tuple[float, float]:
    """Fewest and most results whose counts of grades give a row of Table 5 by equations 1 and 2; nan where none do.

    Counts of Key, HRel, Rel and Non from 0, at most `most` together; Table 3's p(R|i) and Table 5's numbers may all lie
    anywhere within their rounding.
    """
    from scipy.optimize import linprog

    top, _, counted, _, any_, _, counted_any, _ = TABLE_5[system]
    e = ROUNDING + 1e-9
    rows, limits = [[1.0] * 4], [float(most)]
    for weights, total in (([1.0, 0, 0, 0], counted), ([1.0, 1, 1, 0], counted_any)):
        rows += [weights, [-w for w in weights]]
        limits += [total + e, e - total]
    for p, total in ((TABLE_3["Key"], top), (TABLE_3["Rel"], any_)):
        rows += [[x - e for x in p], [-x - e for x in p]]
        limits += [total + e, e - total]
    ends = [linprog([sign] * 4, rows, limits) for sign in (1, -1)]
    if any(end.status for end in ends):
        return nan, nan
    return float(ends[0].fun), float(-ends[1].fun)


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

"""Other models of users: at least m of n, the older user disagreement model, and fractional utilities.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19, sections 2.2, 3.1.7, 3.4 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.predicted_relevance import PredictedRelevance


def relevance_to_users(model: PredictedRelevance, m: int, n: int) -> Floats:
    """(grades,) probability that at least m of n random users find the result relevant (section 3.1.7).

    sum over k >= m of C(n, k) p^k (1 - p)^(n - k), which takes users for independent given the grade.
    """
    return _at_least(model.probability, m, n)


def _at_least(probability: Floats, m: int, n: int) -> Floats:
    """P(Binomial(n, p) >= m); nan where p is."""
    from scipy.special import bdtrc

    _check_numbers(m, n)
    return np.asarray(bdtrc(m - 1, n, probability) if m else np.where(np.isnan(probability), np.nan, 1.0))


def user_disagreement(model: PredictedRelevance, *, m: int = 1, n: int = 2, zero: bool = True) -> Floats:
    """(grades,) weights of the older user disagreement model, for comparison (section 3.4).

    The probability that at least m of n, the assessor among them, find the result relevant. So with m = 1 the weight
    is 1 where the assessor finds it relevant, and with n = 2 it is p(R|i) elsewhere.

    zero : the lowest grade has weight 0, whatever its p(R|i).
    """
    _check_numbers(m, n)
    if n < 2 or m < 1:
        raise ArgumentError(f"m={m}, n={n}: n counts the assessor and at least one user (n=2), and m is 1 or more")
    p = model.probability
    beside = _at_least(p, m, n - 1) if m < n else np.where(np.isnan(p), np.nan, 0.0)
    weights = np.where(model.relevant, _at_least(p, m - 1, n - 1), beside)
    return np.where(model.grades == model.grades.min(), 0.0, weights) if zero else weights


def fractional_utility(model: PredictedRelevance, *, grade_utility: Mapping[float, float] | None = None) -> Floats:
    """(grades,) expected utility to a random user whose utility is a fraction, not 0 or 1 (sections 2.2 and 8).

    E[u | i] = sum over grades j of u(j) p(j|i), where p(j|i) is the share of the other assessors' judgments that are j,
    by `coincidences`; nan for a grade without a pair of judgments. With u = 1 for relevant grades and 0 for others it
    is p(R|i).

    grade_utility : {grade: utility from 0 to 1} of each grade; default: the grade over the highest one.

    Raises
    ------
    ArgumentError
        A grade without a utility, or a utility that is no fraction.
    """
    grades = model.grades
    if grade_utility is None:
        utility = grades / grades.max() if grades.max() > 0 else np.zeros(grades.size)
    else:
        missing = [grade for grade in grades.tolist() if grade not in grade_utility]
        if missing:
            raise ArgumentError(
                f"grade_utility: grade {missing[0]:g} has no utility; name every grade, as in 0=0,1=0.5"
            )
        utility = np.array([float(grade_utility[grade]) for grade in grades.tolist()])
    if not ((utility >= 0) & (utility <= 1)).all():
        raise ArgumentError("grade_utility: utilities from 0 to 1 were expected, which are shares of the best result's")
    total = model.coincidences.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(model.coincidences @ utility / total)


def _check_numbers(m: int, n: int) -> None:
    if n < 1 or not 0 <= m <= n:
        raise ArgumentError(f"m={m}, n={n}: n must be 1 or more, and m from 0 to n")

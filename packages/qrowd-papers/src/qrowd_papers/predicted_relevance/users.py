"""Other models of users: at least m of n, the older user disagreement model, and fractional utilities.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19, sections 2.2, 3.1.7, 3.4 and 8.
"""

from __future__ import annotations

import numpy as np
from scipy.special import bdtrc

from qrowd.kernels.arrays import Floats
from qrowd.predicted_relevance import PredictedRelevance


def relevance_to_users(model: PredictedRelevance, m: int, n: int) -> Floats:
    """(grades,) probability that at least m of n random users find the result relevant (section 3.1.7), m from 1.

    sum over k >= m of C(n, k) p^k (1 - p)^(n - k), which takes users for independent given the grade.
    """
    return np.asarray(bdtrc(m - 1, n, model.probability))


def user_disagreement(model: PredictedRelevance) -> Floats:
    """(grades,) weights of the older user disagreement model, for comparison (section 3.4).

    The probability that the assessor or another user finds the result relevant: 1 where the assessor does, and p(R|i)
    elsewhere; but 0 for the lowest grade.
    """
    weights = np.where(model.relevant, 1.0, model.probability)
    return np.where(model.grades == model.grades.min(), 0.0, weights)


def fractional_utility(model: PredictedRelevance) -> Floats:
    """(grades,) expected utility to a random user whose utility is a fraction, not 0 or 1 (sections 2.2 and 8).

    E[u | i] = sum over grades j of u(j) p(j|i), where u(j) is the grade over the highest one, and p(j|i) is the share
    of the other assessors' judgments that are j, by `coincidences`; nan for a grade without a pair of judgments.
    """
    grades = model.grades
    utility = grades / grades.max() if grades.max() > 0 else np.zeros(grades.size)
    total = model.coincidences.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(model.coincidences @ utility / total)

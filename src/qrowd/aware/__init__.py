"""AWARE: evaluation measures averaged over assessors, weighted by how far each is from judging at random.

Instead of merging labels and scoring the result, every assessor's judgments are scored, and the scores are merged
(Ferrante, Ferro & Maistro 2017). `random_gaps` compares assessors with random ones, `gold_gaps` with a gold assessor;
both give `Gaps`, from which each of thirty estimators takes its accuracies. `doubtful_weights` names assessors with
more than an equal share of the weight who stand out otherwise.
"""

from qrowd.aware.averages import aware
from qrowd.aware.estimators import DEFAULT, ESTIMATORS, GAPS, NAMES, Estimator, estimator
from qrowd.aware.gaps import Gaps
from qrowd.aware.random_gaps import LEVELS, even_grades, random_gaps
from qrowd.aware.supervised import LeftOut, gold_gaps, leave_topics_out
from qrowd.aware.weights import (
    AssessorWeights,
    DoubtfulWeight,
    assessor_weights,
    doubtful_weights,
    reasons_to_doubt,
)

__all__ = [
    "DEFAULT",
    "ESTIMATORS",
    "GAPS",
    "LEVELS",
    "NAMES",
    "AssessorWeights",
    "DoubtfulWeight",
    "Estimator",
    "Gaps",
    "LeftOut",
    "assessor_weights",
    "aware",
    "doubtful_weights",
    "estimator",
    "even_grades",
    "gold_gaps",
    "leave_topics_out",
    "random_gaps",
    "reasons_to_doubt",
]

"""AWARE: evaluation measures averaged over assessors, weighted by how far each is from judging at random.

Instead of merging labels and scoring the result, every assessor's judgments are scored, and the scores are merged
(Ferrante, Ferro & Maistro 2017). `similarity_to_random` compares assessors with random ones, `similarity_to_gold` with
a gold assessor, and `assessor_similarities` does either as `qrowd aware` does; each gives `Similarities`, from which
thirty estimators take their accuracies. `doubtful_weights` names assessors with more than an equal share of the weight
who stand out otherwise.
"""

from qrowd.aware.averages import aware
from qrowd.aware.estimators import NAMES, estimator
from qrowd.aware.random_assessors import similarity_to_random
from qrowd.aware.supervised import assessor_similarities, similarity_to_gold
from qrowd.aware.weights import assessor_weights, doubtful_weights, reasons_to_doubt

__all__ = [
    "NAMES",
    "assessor_similarities",
    "assessor_weights",
    "aware",
    "doubtful_weights",
    "estimator",
    "reasons_to_doubt",
    "similarity_to_gold",
    "similarity_to_random",
]

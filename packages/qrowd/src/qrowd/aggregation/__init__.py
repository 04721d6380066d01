"""Aggregation: judgments of several assessors merged into those of one assessor.

    majority_vote, dawid_skene, mace      whole grades; a probability of every grade
    mean, total, median, geometric_mean   any values; magnitudes with the geometric mean

All aggregators return an `Aggregate`: judgments of one merged assessor, ready for `evaluate`, with their fit.
"""

from qrowd.aggregation.aggregate import Aggregate
from qrowd.aggregation.dawid_skene import dawid_skene
from qrowd.aggregation.mace import mace
from qrowd.aggregation.vote import geometric_mean, majority_vote, mean, median, total

__all__ = [
    "Aggregate",
    "dawid_skene",
    "geometric_mean",
    "mace",
    "majority_vote",
    "mean",
    "median",
    "total",
]

"""Many labels to one: what assessors say together, and how sure that is.

    majority_vote, dawid_skene, mace      whole grades; a probability for every grade
    mean, median, geometric_mean          any values; magnitudes with the geometric mean
    to_crowdkit, from_crowdkit            every other aggregator, by way of crowd-kit

All give an `Aggregate`: judgments of one merged assessor, ready for evaluate, and how they came about.
"""

from qrowd.aggregation.aggregate import Aggregate, PosteriorSamples, TopicFit
from qrowd.aggregation.crowdkit import from_crowdkit, to_crowdkit
from qrowd.aggregation.dawid_skene import dawid_skene
from qrowd.aggregation.mace import mace
from qrowd.aggregation.vote import geometric_mean, majority_vote, mean, median

__all__ = [
    "Aggregate",
    "PosteriorSamples",
    "TopicFit",
    "dawid_skene",
    "from_crowdkit",
    "geometric_mean",
    "mace",
    "majority_vote",
    "mean",
    "median",
    "to_crowdkit",
]

"""Predicted relevance: the probability that a random user finds relevant what an assessor graded i.

    predicted_relevance, predicted_relevance_by_type   p(R|i) with standard errors, by bands of ranks, by type of topic
    relevant_results                                   relevant results, counted by the assessor and expected by a user
    posterior_relevance                                the probability after several judgments of one result
    relevance_to_at_least                              at least m of n users, counted
    sensitivity_to_rank, _to_topics, _to_sample_size   what p(R|i) depends on
    judgments_by_intent                                topics with several intents

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf.
Retr. J. 19.
"""

from qrowd.predicted_relevance.estimation import predicted_relevance, predicted_relevance_by_type
from qrowd.predicted_relevance.intents import judgments_by_intent
from qrowd.predicted_relevance.model import (
    ByBand,
    DoubleJudgments,
    EstimationOptions,
    PredictedRelevance,
    PredictedRelevanceByType,
)
from qrowd.predicted_relevance.posterior import PosteriorRelevance, posterior_relevance
from qrowd.predicted_relevance.results import RelevantResults, relevant_results
from qrowd.predicted_relevance.sensitivity import (
    SensitivityToRank,
    SensitivityToSampleSize,
    SensitivityToTopics,
    sensitivity_to_rank,
    sensitivity_to_sample_size,
    sensitivity_to_topics,
)
from qrowd.predicted_relevance.users import RelevanceToAtLeast, SampledUsers, relevance_to_at_least

__all__ = [
    "ByBand",
    "DoubleJudgments",
    "EstimationOptions",
    "PosteriorRelevance",
    "PredictedRelevance",
    "PredictedRelevanceByType",
    "RelevanceToAtLeast",
    "RelevantResults",
    "SampledUsers",
    "SensitivityToRank",
    "SensitivityToSampleSize",
    "SensitivityToTopics",
    "judgments_by_intent",
    "posterior_relevance",
    "predicted_relevance",
    "predicted_relevance_by_type",
    "relevance_to_at_least",
    "relevant_results",
    "sensitivity_to_rank",
    "sensitivity_to_sample_size",
    "sensitivity_to_topics",
]

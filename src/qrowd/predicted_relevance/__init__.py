"""Predicted relevance: the chance that a random user finds relevant what an assessor graded i.

    predicted_relevance                     p(R|i) with standard errors, by bands of ranks; as gains, as sampled users
    relevant_results                        how many results are relevant, to the assessor and to a random user
    posterior_relevance                     the same chance after several judgments of one result
    observed_at_least                       at least m of n users, counted
    by_quality, by_topics_drawn, by_number  what p(R|i) depends on
    judgments_by_intent                     topics with several intents

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf.
Retr. J. 19.
"""

from qrowd.predicted_relevance.estimation import predicted_relevance
from qrowd.predicted_relevance.intents import judgments_by_intent
from qrowd.predicted_relevance.model import ByBand, PredictedRelevance, PredictedRelevanceBy
from qrowd.predicted_relevance.posterior import PosteriorRelevance, posterior_relevance
from qrowd.predicted_relevance.results import RelevantResults, relevant_results
from qrowd.predicted_relevance.sensitivity import ByNumber, ByQuality, ByTopics, by_number, by_quality, by_topics_drawn
from qrowd.predicted_relevance.users import AtLeast, SampledUsers, observed_at_least

__all__ = [
    "AtLeast",
    "ByBand",
    "ByNumber",
    "ByQuality",
    "ByTopics",
    "PosteriorRelevance",
    "PredictedRelevance",
    "PredictedRelevanceBy",
    "RelevantResults",
    "SampledUsers",
    "by_number",
    "by_quality",
    "by_topics_drawn",
    "judgments_by_intent",
    "observed_at_least",
    "posterior_relevance",
    "predicted_relevance",
    "relevant_results",
]

"""Predicted relevance: the probability that a random user finds relevant what an assessor graded i.

    predicted_relevance    p(R|i) with standard errors (equations 4 and 5)
    relevant_results       relevant results, counted by the assessor and expected by a user (equations 1 and 2)
    posterior_relevance    the probability after several judgments of one result

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf.
Retr. J. 19. The other analyses of the paper: `qrowd study predicted-relevance`, of qrowd-papers.
"""

from qrowd.predicted_relevance.estimation import (
    DoubleJudgments,
    EstimationOptions,
    PredictedRelevance,
    predicted_relevance,
)
from qrowd.predicted_relevance.posterior import PosteriorRelevance, posterior_relevance
from qrowd.predicted_relevance.results import RelevantResults, relevant_results

__all__ = [
    "DoubleJudgments",
    "EstimationOptions",
    "PosteriorRelevance",
    "PredictedRelevance",
    "RelevantResults",
    "posterior_relevance",
    "predicted_relevance",
    "relevant_results",
]

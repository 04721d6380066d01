"""How sure are we? What needs judgments and scores together.

prediction_powered, prediction_powered_means, prediction_powered_difference     few topics of people, many of a model
prediction_powered_documents    a model judged every document, people a sample of them
topics_needed                   how many topics people must judge for an interval of a wanted width

alternative_annotator_test, people_tested   may a model stand in for people; the same asked of each person
human_ceiling                   what people's grades, taken for a ranking, score by a reference
favours                         whether a judge favours a group of systems, more than people's tastes differ
expected_scores                 what judges would be expected to score systems at their own severity
under_label_uncertainty         spread of scores and ranks over draws of the labels, from assessors or a posterior
relevance_given_ranks           draws of who is relevant from labels and ranks, for intervals of the true score
one_judgment_each               how far the ranking by one judgment per document strays from a reference
merged_runs, complete_lists     simulated runs of lists that were judged without a gap
"""

from qrowd.uncertainty.annotator_test import AnnotatorTest, PeopleTested, alternative_annotator_test, people_tested
from qrowd.uncertainty.ceiling import Ceiling, human_ceiling
from qrowd.uncertainty.favour import Favour, favours
from qrowd.uncertainty.label_samples import JudgmentSamples
from qrowd.uncertainty.label_uncertainty import LabelUncertainty, under_label_uncertainty
from qrowd.uncertainty.merged_runs import CompleteLists, complete_lists, merged_runs
from qrowd.uncertainty.one_judgment import OneJudgmentEach, one_judgment_each
from qrowd.uncertainty.prediction_powered import (
    PredictionPowered,
    PredictionPoweredMeans,
    prediction_powered,
    prediction_powered_difference,
    prediction_powered_means,
)
from qrowd.uncertainty.prediction_powered_documents import PredictionPoweredDocuments, prediction_powered_documents
from qrowd.uncertainty.prediction_powered_planning import TopicsNeeded, topics_needed
from qrowd.uncertainty.relevance_given_ranks import RelevanceGivenRanks, relevance_given_ranks
from qrowd.uncertainty.severity import expected_scores

__all__ = [
    "AnnotatorTest",
    "Ceiling",
    "CompleteLists",
    "Favour",
    "JudgmentSamples",
    "LabelUncertainty",
    "OneJudgmentEach",
    "PeopleTested",
    "PredictionPowered",
    "PredictionPoweredDocuments",
    "PredictionPoweredMeans",
    "RelevanceGivenRanks",
    "TopicsNeeded",
    "alternative_annotator_test",
    "complete_lists",
    "expected_scores",
    "favours",
    "human_ceiling",
    "merged_runs",
    "one_judgment_each",
    "people_tested",
    "prediction_powered",
    "prediction_powered_difference",
    "prediction_powered_documents",
    "prediction_powered_means",
    "relevance_given_ranks",
    "topics_needed",
    "under_label_uncertainty",
]

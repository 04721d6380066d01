"""How sure are we? What needs judgments and scores together.

prediction_powered, prediction_powered_means, prediction_powered_difference     few topics of people, many of a model
prediction_powered_documents    a model judged every document, people a sample of them
topics_needed                   how many topics people must judge for an interval of a wanted width

alternative_annotator_test, leave_one_out_annotator_tests   may a model stand in for people; the same asked of each
person human_ceiling                   what people's grades, taken for a ranking, score by a reference assessor_bias
whether a judge favours a group of systems, more than people's tastes differ expected_scores                 what judges
would be expected to score systems at their own severity under_label_uncertainty         spread of scores and ranks over
draws of the labels, from assessors or a posterior relevance_given_ranks           draws of who is relevant from labels
and ranks, for intervals of the true score simulate_single_assessor               how far the ranking by one judgment
per document strays from a reference merged_runs, complete_lists     simulated runs of lists that were judged without a
gap
"""

from qrowd.uncertainty.annotator_test import (
    AnnotatorTest,
    LeaveOneOutAnnotatorTests,
    alternative_annotator_test,
    leave_one_out_annotator_tests,
)
from qrowd.uncertainty.assessor_bias import AssessorBias, assessor_bias
from qrowd.uncertainty.ceiling import Ceiling, human_ceiling
from qrowd.uncertainty.label_samples import JudgmentSamples
from qrowd.uncertainty.label_uncertainty import LabelUncertainty, under_label_uncertainty
from qrowd.uncertainty.merged_runs import CompleteLists, complete_lists, merged_runs
from qrowd.uncertainty.prediction_powered import (
    PredictionPowered,
    PredictionPoweredMeans,
    prediction_powered,
    prediction_powered_difference,
    prediction_powered_means,
)
from qrowd.uncertainty.prediction_powered_documents import PredictionPoweredDocuments, prediction_powered_documents
from qrowd.uncertainty.prediction_powered_planning import AssessorTopicsNeeded, assessor_topics_needed
from qrowd.uncertainty.relevance_given_ranks import RelevanceGivenRanks, relevance_given_ranks
from qrowd.uncertainty.severity import expected_scores
from qrowd.uncertainty.single_assessor import SingleAssessorSimulation, simulate_single_assessor

__all__ = [
    "AnnotatorTest",
    "AssessorBias",
    "AssessorTopicsNeeded",
    "Ceiling",
    "CompleteLists",
    "JudgmentSamples",
    "LabelUncertainty",
    "LeaveOneOutAnnotatorTests",
    "PredictionPowered",
    "PredictionPoweredDocuments",
    "PredictionPoweredMeans",
    "RelevanceGivenRanks",
    "SingleAssessorSimulation",
    "alternative_annotator_test",
    "assessor_bias",
    "assessor_topics_needed",
    "complete_lists",
    "expected_scores",
    "human_ceiling",
    "leave_one_out_annotator_tests",
    "merged_runs",
    "prediction_powered",
    "prediction_powered_difference",
    "prediction_powered_documents",
    "prediction_powered_means",
    "relevance_given_ranks",
    "simulate_single_assessor",
    "under_label_uncertainty",
]

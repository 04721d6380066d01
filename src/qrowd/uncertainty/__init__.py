"""Uncertainty that needs judgments and scores together: models that judge, and assessors' biases.

prediction_powered, prediction_powered_means, prediction_powered_difference     few judged topics, many of a model
prediction_powered_documents    a model judged all documents, assessors a sample of them
assessor_topics_needed          the number of topics to judge for an interval of a given width
topics_gained           what a model would be worth beside an assessor who judges some of the topics

alternative_annotator_test      whether a model may replace assessors
leave_one_out_annotator_tests   the same test for each assessor in place of the model
calibration, calibrated_judgments       what a model's grades mean in the assessors' grades, and recoding them
pairwise_intervals      agreement of pairs of assessors with intervals over topics
tau_interval            tau-b of two assessors' rankings of systems with an interval over topics
human_ceiling           the score of rankings by the assessors' grades
assessor_bias           the bias of a model towards groups of systems, compared with assessors
expected_scores         the scores that are expected from an assessor's severity alone

simulate_single_assessor        the ranking by one judgment per document, compared with a reference
merged_runs, complete_lists     simulated runs from lists that were judged completely
"""

from qrowd.uncertainty.annotator_test import (
    AnnotatorTest,
    LeaveOneOutAnnotatorTests,
    alternative_annotator_test,
    leave_one_out_annotator_tests,
)
from qrowd.uncertainty.assessor_bias import AssessorBias, assessor_bias
from qrowd.uncertainty.calibration import Calibration, calibrated_judgments, calibration
from qrowd.uncertainty.ceiling import Ceiling, human_ceiling
from qrowd.uncertainty.merged_runs import CompleteLists, complete_lists, merged_runs
from qrowd.uncertainty.pairwise_intervals import PairwiseIntervals, pairwise_intervals
from qrowd.uncertainty.prediction_powered import (
    PredictionPowered,
    PredictionPoweredMeans,
    prediction_powered,
    prediction_powered_difference,
    prediction_powered_means,
)
from qrowd.uncertainty.prediction_powered_documents import PredictionPoweredDocuments, prediction_powered_documents
from qrowd.uncertainty.prediction_powered_planning import (
    AssessorTopicsNeeded,
    TopicsGained,
    assessor_topics_needed,
    topics_gained,
)
from qrowd.uncertainty.severity import expected_scores
from qrowd.uncertainty.single_assessor import SingleAssessorSimulation, simulate_single_assessor
from qrowd.uncertainty.tau_interval import TauInterval, tau_interval

__all__ = [
    "AnnotatorTest",
    "AssessorBias",
    "AssessorTopicsNeeded",
    "Calibration",
    "Ceiling",
    "CompleteLists",
    "LeaveOneOutAnnotatorTests",
    "PairwiseIntervals",
    "PredictionPowered",
    "PredictionPoweredDocuments",
    "PredictionPoweredMeans",
    "SingleAssessorSimulation",
    "TauInterval",
    "TopicsGained",
    "alternative_annotator_test",
    "assessor_bias",
    "assessor_topics_needed",
    "calibrated_judgments",
    "calibration",
    "complete_lists",
    "expected_scores",
    "human_ceiling",
    "leave_one_out_annotator_tests",
    "merged_runs",
    "pairwise_intervals",
    "prediction_powered",
    "prediction_powered_difference",
    "prediction_powered_documents",
    "prediction_powered_means",
    "simulate_single_assessor",
    "tau_interval",
    "topics_gained",
]

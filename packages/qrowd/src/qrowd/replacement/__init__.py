"""A model in place of human assessors, or beside them.

compare_model                   test, agreement, rankings, bias and calibration of a model, together
alternative_annotator_test      whether a model may replace assessors
calibration, calibrated_judgments       what a model's grades mean in the assessors' grades, and recoding them
assessor_bias                   the bias of a model towards groups of systems, compared with assessors
expected_scores                 the scores that are expected from an assessor's severity alone
model_rankings                  whether systems rank alike by the model and by each assessor

prediction_powered, prediction_powered_means, prediction_powered_difference     few judged topics, many of a model
"""

from qrowd.replacement.alternative_annotator import alternative_annotator_test
from qrowd.replacement.assessor_bias import assessor_bias, expected_scores
from qrowd.replacement.calibration import calibrated_judgments, calibration
from qrowd.replacement.model_comparison import compare_model, model_rankings
from qrowd.replacement.prediction_powered import (
    prediction_powered,
    prediction_powered_difference,
    prediction_powered_means,
)

__all__ = [
    "alternative_annotator_test",
    "assessor_bias",
    "calibrated_judgments",
    "calibration",
    "compare_model",
    "expected_scores",
    "model_rankings",
    "prediction_powered",
    "prediction_powered_difference",
    "prediction_powered_means",
]

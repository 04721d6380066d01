"""Scores of runs by judgments: `evaluate`, and the measures that texts stand for."""

from qrowd.evaluation.named_measures import DEFAULT_MEASURES as DEFAULT_MEASURES
from qrowd.evaluation.named_measures import DEFAULT_PREFERENCE_MEASURES as DEFAULT_PREFERENCE_MEASURES
from qrowd.evaluation.named_measures import added_measures as added_measures
from qrowd.evaluation.named_measures import bounds_of as bounds_of
from qrowd.evaluation.named_measures import coefficients as coefficients
from qrowd.evaluation.named_measures import definitions as definitions
from qrowd.evaluation.named_measures import measure as measure
from qrowd.evaluation.named_measures import with_probabilities as with_probabilities
from qrowd.evaluation.scoring import evaluate as evaluate
from qrowd.evaluation.scoring import evaluate_blocks as evaluate_blocks

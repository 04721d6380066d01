"""Do systems stand in the same order for other assessors? With binary, predicted, linear and exponential gains.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19, sections 7.2 (Table 6: one half of the assessors against the other) and 7.3 (Table 7: predicted gains against
others).
"""

from __future__ import annotations

import numpy as np

from qrowd.comparison.rankings import kendall_tau_b
from qrowd.evaluation import evaluate, with_probabilities
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scores import known_mean
from qrowd.predicted_relevance import PredictedRelevance, predicted_relevance

GAINS = ("binary", "predicted", "linear", "exponential")
MIN_COVERAGE = 0.1  # share of its first documents that an assessor must have judged for a list to be scored


def tau_between_assessors(runs: Runs, judgments: Judgments, measure: str, *, rel: float) -> dict[str, float]:
    """{gains: Kendall's tau-b of the rankings of systems by the two assessors}, over topics that both judged (Table 6).

    gains : binary (1 for grades that satisfy), predicted (p(R|i)), linear (g / max), exponential
    ((2^g - 1) / (2^max - 1)). p(R|i) is learnt from both assessors, as in the paper. A crowd where nobody judged a
    whole pool: `judgments.slots(2)`.
    """
    model = predicted_relevance(judgments, rel=rel, n_resamples=0)
    conventions = Conventions(min_coverage=MIN_COVERAGE)
    taus = {}
    for name, gain in gains_of_grades(model).items():
        with_gains = model.with_gains(judgments, grade_gains=gain)
        one, other = evaluate(runs, with_gains, (with_probabilities(measure),), conventions=conventions).values[0]
        both = ~np.isnan(one).any(axis=1) & ~np.isnan(other).any(axis=1)
        taus[name] = kendall_tau_b(one[both].mean(axis=0), other[both].mean(axis=0))
    return taus


def gains_of_grades(model: PredictedRelevance) -> dict[str, Floats]:
    """{gains: (grades,)}, those of `GAINS`."""
    top = float(model.grades.max()) or 1.0
    given = (
        model.relevant.astype(np.float64),
        model.probability,
        model.grades / top,
        (2**model.grades - 1) / (2**top - 1),
    )
    return dict(zip(GAINS, given, strict=True))


def means_by_gains(runs: Runs, judgments: Judgments, model: PredictedRelevance, measure: object) -> dict[str, Floats]:
    """{gains: (systems,)} mean over topics of the mean over assessors, as the rankings of Table 7."""
    text = with_probabilities(measure)
    results = {}
    for name, gain in gains_of_grades(model).items():
        (values,) = evaluate(runs, model.with_gains(judgments, grade_gains=gain), (text,)).values
        results[name] = known_mean(known_mean(values, axis=0), axis=0)
    return results

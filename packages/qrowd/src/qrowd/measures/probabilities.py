"""Measures of probabilities: what each reads where a value is the chance that a user finds the document relevant.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Information
Retrieval Journal 19(3).
"""

from __future__ import annotations

from qrowd.errors import MeasureError
from qrowd.model.measure import Measure

GIVEN = {"P": "relevance", "R": "relevance", "GAP": "relevance", "ERR": "stop", "DCG": "", "nDCG": "", "RBP": ""}
"""Measures that take probabilities of relevance, and the parameter that tells them so; "" where none is needed."""


def reading_probabilities(measure: Measure) -> Measure:
    """The measure as it reads probabilities of relevance: P(relevance='given')@10 for P@10.

    Of relevance 0 or 1 it is the ordinary binary measure (ERR: R = 1 for what is relevant). A measure that is not made
    of probabilities, or that sets relevance by itself, is an error.
    """
    name = measure.definition.name
    if name not in GIVEN:
        raise MeasureError(
            f"{measure}: it has no form for probabilities of relevance, and {', '.join(GIVEN)} have; its mean over "
            "sampled users is its expected value (PredictedRelevance.sample)"
        )
    for parameter in ("rel", "max_rel", "gains", "residual"):
        if measure.values.get(parameter) not in (None, False):
            raise MeasureError(
                f"{measure}: leave {parameter} out; the rel of the model says what is relevant, and p(R|i) is the gain"
            )
    if str(measure.values.get("dcg", "")).startswith("exp"):
        raise MeasureError(f"{measure}: 2^g - 1 is for grades, and the gains are probabilities; leave dcg out")
    parameters = {GIVEN[name]: "given"} if GIVEN[name] else {}
    return Measure(measure.definition, {**measure.values, **parameters}, measure.cutoff)

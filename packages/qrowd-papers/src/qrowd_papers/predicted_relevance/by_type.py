"""p(R|i) by type of topic.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19, section 5.1, step 2, and Table 4.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.chance import Rng
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.predicted_relevance import EstimationOptions, PredictedRelevance
from qrowd.predicted_relevance.doubles import graded, is_relevant
from qrowd.predicted_relevance.estimation import Resample, fitted


def predicted_relevance_by_type(
    judgments: Judgments,
    types: Mapping[str, object],
    *,
    rel: float,
    resample: Resample = "topics",
    n_resamples: int = 1000,
    rng: Rng = None,
) -> dict[str, PredictedRelevance]:
    """{type: its model}, symmetric (equation 5).

    types : {topic: type}. Topics not named are left out. Other options : as of `predicted_relevance`.

    Raises
    ------
    NoOverlapError
        A type without a document judged by two assessors.
    ArgumentError
        No topic, or an unknown one.
    """
    judged = graded(judgments)
    relevant, rule = is_relevant(judged.grades, judged.scale, rel, None)
    options = EstimationOptions("symmetric", None, 0.0, str(judged.scale), resample, n_resamples, 0.95)
    type_of = {str(topic): str(kind) for topic, kind in types.items()}
    if not type_of:
        raise ArgumentError("types: no topic is named; expected {topic: type}")
    unknown = next((topic for topic in type_of if topic not in judged.topics), None)
    if unknown is not None:
        raise ArgumentError(f"types: no topic is called {unknown!r}; {closest(unknown, judged.topics, 'topic')}")
    models = {}
    for label in dict.fromkeys(type_of[topic] for topic in judged.topics if topic in type_of):
        of_type = np.array([type_of.get(topic) == label for topic in judged.topics])[judged.topic]
        if not (judged.size[of_type] > 1).any():
            raise NoOverlapError(f"types: no topic of type {label!r} has a document judged twice; judge some again")
        models[label] = fitted(judged.part(of_type).doubles(), relevant, rule, options, rng, label)
    return models

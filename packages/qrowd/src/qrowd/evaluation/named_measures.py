"""The measures that texts such as "nDCG@10" stand for: those of qrowd, and those that other distributions add."""

from __future__ import annotations

from functools import cache
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from qrowd.errors import MeasureError
from qrowd.kernels.arrays import Floats
from qrowd.measures import DEFINITIONS as JUDGMENT_MEASURES
from qrowd.measures.probabilities import reading_probabilities
from qrowd.measures.scoring import Linear, Scored
from qrowd.model.measure import Measure, parse_measure
from qrowd.plugins import instances

if TYPE_CHECKING:
    from qrowd.preferences import PreferenceMeasure

DEFAULT_MEASURES = ("nDCG@10", "AP", "P@10", "RR")
DEFAULT_PREFERENCE_MEASURES = ("ppref@10", "wpref", "compatibility")
LINEAR_NAMES = ", ".join(definition.name for definition in JUDGMENT_MEASURES if definition.linear)


def measure(text: object) -> Measure:
    """The measure a text such as "nDCG@10", "AP(rel=2)" or "ndcg_cut_10" stands for.

    Raises
    ------
    MeasureError
        Saying what is wrong, and the nearest name.
    """
    n = len(JUDGMENT_MEASURES)
    return parse_measure(text, JUDGMENT_MEASURES, added=lambda: (*definitions()[n:], *added_measures()))


def definitions() -> tuple[Scored | PreferenceMeasure, ...]:
    """Every measure of qrowd, of judgments and of preferences, in the order tables list them."""
    from qrowd.preferences import DEFINITIONS  # slow to import, and most evaluations do without

    return *JUDGMENT_MEASURES, *DEFINITIONS


@cache
def added_measures() -> tuple[Scored, ...]:
    """The measures that other distributions declare as entry points of the group "qrowd.measures".

    Raises
    ------
    ArgumentError
        An entry point that cannot be imported or is no measure.
    """
    return instances("qrowd.measures", Scored)


def bounds_of(text: object) -> tuple[float, float]:
    """The lowest and the highest score of a measure; none where scores are of a measure that qrowd does not know."""
    try:
        return measure(text).bounds
    except MeasureError:
        return -inf, inf


def with_probabilities(text: object) -> Measure:
    """The measure as it reads values that are probabilities of relevance: P(relevance='given')@10 for P@10.

    Raises
    ------
    MeasureError
        A measure that is not made of probabilities, or that sets relevance by itself.
    """
    return reading_probabilities(measure(text))


def coefficients(linear: object, depth: int) -> Floats:
    """(depth,) what one unit of gain at each rank adds to a linear measure, before its normaliser.

    >>> coefficients("P@2", 3)
    array([0.5, 0.5, 0. ])
    """
    parsed = measure(linear)
    if not isinstance(parsed.definition, Linear):
        raise MeasureError(f"{parsed} is not linear in gains; {LINEAR_NAMES} are")
    weights = parsed.definition.coefficients(parsed, depth)
    return np.append(weights, np.zeros(depth - weights.size))

"""The measures that texts such as "nDCG@10" stand for: those of qrowd, and those that other distributions add."""

from __future__ import annotations

from functools import cache
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from qrowd.errors import MeasureError
from qrowd.kernels.arrays import Floats
from qrowd.measures import DEFINITIONS as JUDGMENT_MEASURES
from qrowd.measures.measure_kinds import Linear, Scored
from qrowd.model.measure import Measure, parse_measure
from qrowd.plugins import instances

if TYPE_CHECKING:
    from qrowd.preferences import PreferenceMeasure

DEFAULT_MEASURES = ("nDCG@10", "AP", "P@10", "RR")
DEFAULT_PREFERENCE_MEASURES = ("ppref@10", "wpref", "compatibility")
LINEAR_NAMES = ", ".join(definition.name for definition in JUDGMENT_MEASURES if definition.linear)
GIVEN = {"P": "relevance", "R": "relevance", "GAP": "relevance", "ERR": "stop", "DCG": "", "nDCG": "", "RBP": ""}
"""Measures that take probabilities of relevance, and the parameter that tells them so; "" where none is needed."""


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

    Of relevance 0 or 1 it is the ordinary binary measure (ERR: R = 1 for what is relevant). Demeester, Aly, Hiemstra,
    Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Information Retrieval Journal 19(3).

    Raises
    ------
    MeasureError
        A measure that is not made of probabilities, or that sets relevance by itself.
    """
    parsed = measure(text)
    name = parsed.definition.name
    if name not in GIVEN:
        raise MeasureError(f"{parsed}: it has no form for probabilities of relevance, and {', '.join(GIVEN)} have")
    for parameter in ("rel", "max_rel", "gains", "residual"):
        if parsed.values.get(parameter) not in (None, False):
            raise MeasureError(
                f"{parsed}: leave {parameter} out; the rel of the model says what is relevant, and p(R|i) is the gain"
            )
    if str(parsed.values.get("dcg", "")).startswith("exp"):
        raise MeasureError(f"{parsed}: 2^g - 1 is for grades, and the gains are probabilities; leave dcg out")
    parameters = {GIVEN[name]: "given"} if GIVEN[name] else {}
    return Measure(parsed.definition, {**parsed.values, **parameters}, parsed.cutoff)


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

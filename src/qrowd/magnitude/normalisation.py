"""Everyone's free numbers brought onto one scale, unit by unit.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 4.3 and 6.1.2; geometric averaging is Moskowitz's (1977), Magnitude Estimation. J. Food Quality
1(3).
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Literal, get_args

import numpy as np

from qrowd.errors import ArgumentError, InputError
from qrowd.magnitude.gold import Checks, check_magnitudes
from qrowd.magnitude.units import By, Floats, Units, medians, units_of
from qrowd.model.judgments import Judgments
from qrowd.model.scales import Scale

Scheme = Literal["geometric_mean", "median", "extremes", "checks"]
Spread = Literal["keep", "standardise"]
SAME = 1e-9  # logs that differ by less differ by rounding, and to standardise them would blow that up


def normalise(
    judgments: Judgments,
    scheme: Scheme = "geometric_mean",
    *,
    checks: Checks | None = None,
    spread: Spread = "keep",
    by: By = "unit",
) -> Judgments:
    """Magnitudes moved so that the units of a topic share one centre; ratios within a unit stay.

        s' = exp(log s - c(unit) + C(topic)),   natural logarithms

    Parameters
    ----------
    scheme : what the centre is. C runs over all scores of the topic, those of the check documents included.

        - "geometric_mean": c and C are means of logs (equations 1 to 3);
        - "median": c and C are medians of logs (equation 4);
        - "extremes": c is halfway between the logs of the unit's highest and lowest score, C the mean (equation 5);
        - "checks": c is halfway between the logs of the check documents H and N, C the mean (equation 6).
    checks : for scheme "checks", {topic: (H, N)}, or gold judgments; see `check_documents`.
    spread : "keep" moves units and leaves their ratios alone. "standardise" also gives the logs of every unit the same
        standard deviation, the root mean square of the topic's deviations from unit means: ratios become powers of
        themselves. A unit whose scores are all equal is only moved. How far the scores of a unit spread also depends
        on which documents it happened to hold, so with few documents a unit this can do more harm than good.
    by : "unit", or "assessor" where each assessor judged a topic in one go and there is no unit column.

    Returns the same judgments in the same order with new values, on scale `magnitude`.

    The geometric mean of a topic is kept by "geometric_mean" and the median (of logs) by "median", so that normalising
    again changes nothing. "extremes" and "checks" set another centre than they measure: normalising again multiplies
    each topic by a constant of its own.

    Raises
    ------
    ArgumentError
        No unit column; no check documents for a topic.
    InputError
        A magnitude of 0 or below; a unit without its check documents; scores too far apart for double precision.

    >>> both = [("q", f"d{i}", who, i * by) for who, by in (("ann", 1), ("bob", 10)) for i in (1, 2, 3, 4)]
    >>> normalise(Judgments.from_rows(both), by="assessor").value.round(3)
    array([ 3.162,  6.325,  9.487, 12.649,  3.162,  6.325,  9.487, 12.649])
    """
    if scheme not in get_args(Scheme):
        raise ArgumentError(f"scheme={scheme!r}: choose one of {', '.join(get_args(Scheme))}")
    if spread not in get_args(Spread):
        raise ArgumentError(f"spread={spread!r}: choose one of {', '.join(get_args(Spread))}")
    if checks is not None and scheme != "checks":
        raise ArgumentError(f"checks: scheme={scheme!r} does not use them; leave them out, or use scheme='checks'")
    units = units_of(judgments, by)
    centre, target = _centre(units, scheme, checks), _topic_centre(units, scheme)[units.topic]
    with np.errstate(over="ignore", under="ignore"):
        if spread == "keep":
            # A product instead of exp(log): it never turns the order of two scores.
            value = judgments.value * np.exp(target - centre)[units.number]
        else:
            stretch = _stretch(units)
            value = np.exp((units.logs - centre[units.number]) * stretch[units.number] + target[units.number])
    wrong = np.flatnonzero((value == 0) | np.isinf(value))
    if wrong.size:
        unit = int(units.number[wrong[0]])
        raise InputError(f"{units.describe(unit)}: its scores are too far from the others for double precision")
    return replace(judgments, value=value, scales=(Scale("magnitude", inf),) * len(judgments.assessors))


def _centre(units: Units, scheme: Scheme, checks: Checks | None) -> Floats:
    """(units,) where each unit has its centre, in logs."""
    if scheme == "median":
        return medians(units.logs, units.number, len(units))
    if scheme == "extremes":
        return (units.highest(units.logs) + units.lowest(units.logs)) / 2
    if scheme == "checks":
        high, low = check_magnitudes(units, checks)
        return np.asarray((np.log(high) + np.log(low)) / 2)
    return units.means(units.logs)


def _topic_centre(units: Units, scheme: Scheme) -> Floats:
    """(topics,) where the units of each topic shall have it."""
    topic, n = units.judgments.topic, len(units.judgments.topics)
    if scheme == "median":
        return medians(units.logs, topic, n)
    # Not all topics of a label list need have judgments; the quotient of none is never used.
    return np.asarray(np.bincount(topic, units.logs, minlength=n) / np.maximum(np.bincount(topic, minlength=n), 1))


def _stretch(units: Units) -> Floats:
    """(units,) factor that brings the standard deviation of each unit's logs to its topic's."""
    squares = units.means((units.logs - units.means(units.logs)[units.number]) ** 2)
    varies = units.highest(units.logs) - units.lowest(units.logs) > SAME
    weight = np.where(varies, units.sizes, 0)
    n = len(units.judgments.topics)
    total = np.bincount(units.topic, weight * squares, minlength=n)
    shared = np.sqrt(total / np.maximum(np.bincount(units.topic, weight, minlength=n), 1))
    return np.divide(shared[units.topic], np.sqrt(squares), out=np.ones(len(units)), where=varies)

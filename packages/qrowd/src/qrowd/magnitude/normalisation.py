"""Normalisation: magnitudes of all assessors brought onto one scale, unit by unit.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 4.3 and 6.1.2; geometric averaging is Moskowitz's (1977), Magnitude Estimation. J. Food Quality
1(3).
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Literal

import numpy as np

from qrowd.errors import ArgumentError, InputError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.magnitude.checks import Checks, check_magnitudes
from qrowd.magnitude.units import By, Units, default_by, medians, rows_of, units_of
from qrowd.model.judgments import Judgments
from qrowd.model.scales import Scale

Scheme = Literal["geometric_mean", "median", "extremes", "checks"]


def normalise(
    judgments: Judgments, *, scheme: Scheme = "geometric_mean", checks: Checks | None = None, by: By = "unit"
) -> Judgments:
    """Shift the logarithms of magnitudes so that all units of a topic have one centre; ratios within a unit stay.

        s' = exp(log s - c(unit) + C(topic)),   natural logarithms

    Parameters
    ----------
    scheme : the centre. C is computed over all magnitudes of the topic, those of the check documents included.

        - "geometric_mean": c and C are means of logs (equations 1 to 3);
        - "median": c and C are medians of logs (equation 4);
        - "extremes": c is halfway between the logs of the unit's highest and lowest magnitude, C the mean (equation 5);
        - "checks": c is halfway between the logs of the check documents H and N, C the mean (equation 6).
    checks : for scheme "checks", {topic: (H, N)}, or gold judgments; see `check_documents`.
    by : "unit", or "assessor" if each assessor judged a topic in one go and there is no unit column.

    Returns
    -------
    Judgments
        The same judgments in the same order with new values, on scale `magnitude normalised by ...`, which names the
        scheme.

    Notes
    -----
    "geometric_mean" keeps the geometric mean of a topic and "median" its median (of logs), so normalising twice changes
    nothing more. With "extremes" and "checks", c and C are different centres: normalising again multiplies each topic
    by a constant.

    Raises
    ------
    ArgumentError
        No unit column; no check documents for a topic.
    InputError
        A magnitude of 0 or below; a unit without its check documents; magnitudes too large or small for double
        precision.

    >>> both = [("q", f"d{i}", who, i * by) for who, by in (("ann", 1), ("bob", 10)) for i in (1, 2, 3, 4)]
    >>> normalise(Judgments.from_rows(both), by="assessor").value.round(3)
    array([ 3.162,  6.325,  9.487, 12.649,  3.162,  6.325,  9.487, 12.649])
    """
    check_choice("scheme", scheme, Scheme)
    if checks is not None and scheme != "checks":
        raise ArgumentError(f"checks: scheme={scheme!r} does not use them; omit them, or use scheme='checks'")
    units = units_of(judgments, by=by)
    centre = _centre(units, scheme, checks)
    target = _topic_centre(units, scheme)[units.topic]
    with np.errstate(over="ignore", under="ignore"):
        # A product instead of exp(log) never reverses the order of two magnitudes.
        value = judgments.value * np.exp(target - centre)[units.number]
    wrong = np.flatnonzero((value == 0) | np.isinf(value))
    if wrong.size:
        unit = int(units.number[wrong[0]])
        raise InputError(f"{units.describe(unit)}: its magnitudes are too far from the others for double precision")
    how = f"normalised by {scheme.replace('_', '-')}"
    return replace(judgments, value=value, scales=(Scale("magnitude", inf, normalised=how),) * len(judgments.assessors))


def normalise_magnitudes(
    judgments: Judgments, *, scheme: Scheme = "geometric_mean", checks: Checks | None = None, by: By | None = None
) -> Judgments:
    """Normalise the judgments of the assessors whose scale is `magnitude`; those of the others stay as they are.

    by : as in `normalise` (default: "unit" if there is a unit column, else "assessor").

    Raises
    ------
    ArgumentError
        No assessor gives magnitudes; what `normalise` refuses.
    """
    is_magnitude = np.array([scale.kind == "magnitude" for scale in judgments.scales], bool)
    if not is_magnitude.any():
        raise ArgumentError(
            "no assessor's scale is magnitude; declare it by --scale", "normalise", scheme.replace("_", "-")
        )
    rows = np.flatnonzero(is_magnitude[judgments.assessor] & (judgments.value >= 0))
    part = rows_of(judgments, rows)
    one_scale = normalise(part, scheme=scheme, checks=checks, by=by or default_by(part))
    value = judgments.value.copy()
    value[rows] = one_scale.value
    scales = tuple(
        one_scale.scales[0] if magnitude else scale
        for scale, magnitude in zip(judgments.scales, is_magnitude, strict=True)
    )
    return replace(judgments, value=value, scales=scales)


def _centre(units: Units, scheme: Scheme, checks: Checks | None) -> Floats:
    """(units,) centre of each unit, in logs."""
    if scheme == "median":
        return medians(units.logs, units.number, len(units))
    if scheme == "extremes":
        return (units.highest(units.logs) + units.lowest(units.logs)) / 2
    if scheme == "checks":
        high, low = check_magnitudes(units, checks)
        return np.asarray((np.log(high) + np.log(low)) / 2)
    return units.means(units.logs)


def _topic_centre(units: Units, scheme: Scheme) -> Floats:
    """(topics,) common centre of the units of each topic, in logs."""
    topic = units.judgments.topic
    n = len(units.judgments.topics)
    if scheme == "median":
        return medians(units.logs, topic, n)
    # A topic without judgments has a quotient that is never used.
    return np.asarray(np.bincount(topic, units.logs, minlength=n) / np.maximum(np.bincount(topic, minlength=n), 1))

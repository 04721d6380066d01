"""Judgments on unlike scales, brought onto one where values of several assessors are compared or merged.

What compares distances takes every value divided by its scale's maximum; what compares or counts categories takes
relevant or not, by each assessor's own scale. Where all are on one scale nothing is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from qrowd.errors import ScaleError, check_choice
from qrowd.model.inferred_scales import alike, common_scale, two_unlike
from qrowd.model.judgments import Judgments
from qrowd.model.scales import Scale

CombineScales = Literal["auto", "as-is", "rescaled", "relevant"]
"""What becomes of values on unlike scales: "auto" leaves it to the function, "as-is" compares them as if they were on
one scale, "rescaled" divides each by its scale's maximum, "relevant" makes them relevant or not. Where all scales are
alike "auto" and "as-is" change nothing."""
Combined = Literal["as-is", "rescaled", "relevant"]


def combined_how(scales: Sequence[Scale], combine_scales: CombineScales, unlike: Combined) -> Combined:
    """What is done with values on these scales; `unlike` is what "auto" does where they differ.

    Raises
    ------
    ArgumentError
        A word that is no choice.
    """
    check_choice("combine_scales", combine_scales, CombineScales)
    if combine_scales != "auto":
        return combine_scales
    return "as-is" if alike(scales) else unlike


def on_one_scale(judgments: Judgments, combine_scales: CombineScales, unlike: Combined) -> Judgments:
    """The judgments, all on one scale.

    Raises
    ------
    ScaleError
        Magnitudes beside another scale; "as-is" of scales that cannot be parts of one.
    """
    how = combined_how(judgments.scales, combine_scales, unlike)
    if how == "rescaled":
        _refuse_magnitudes(judgments)
        rescaled = judgments.rescaled()
        lowest = {scale.rel for scale in rescaled.scales}
        rel = lowest.pop() if len(lowest) == 1 else None
        declared = all(scale.declared for scale in rescaled.scales)
        return replace(rescaled, scales=(Scale("fractions", 1.0, declared, rel),) * len(rescaled.scales))
    if how == "relevant":
        _refuse_magnitudes(judgments)
        return judgments.relevant_or_not()
    if alike(judgments.scales):
        return judgments
    shared = common_scale(judgments.values_by_assessor(), judgments.scales)
    if shared is None:
        raise ScaleError(
            f"assessors {two_unlike(judgments.assessors, judgments.scales)} cannot be on one scale, so their values "
            "cannot be compared as they are; recode them, or "
            "combine the scales by rescaled or by relevant"
        )
    return replace(judgments, scales=(shared,) * len(judgments.scales))


def _refuse_magnitudes(judgments: Judgments) -> None:
    if not alike(judgments.scales) and any(scale.kind == "magnitude" for scale in judgments.scales):
        raise ScaleError(
            f"assessors {two_unlike(judgments.assessors, judgments.scales)} judge on different scales, and magnitudes "
            "have neither a maximum nor a grade that is relevant; recode or normalise them, or declare the scale they "
            "share (--scale '*=magnitude')"
        )

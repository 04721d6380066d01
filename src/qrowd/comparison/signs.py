"""Do two assessors see the same system ahead, topic by topic?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.kernels.correlation import pair_counts
from qrowd.model.scores import one_table

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

Ties = Literal["ignore", "half", "agree"]


@dataclass(frozen=True)
class SignAgreement:
    """Of all (topic, pair of systems), on how many two assessors see the same system ahead.

    value : the share; nan where nothing is counted.
    same, opposite, tied : how many: the same system ahead, the other one, no difference for one assessor or for both.
    """

    value: float
    same: int
    opposite: int
    tied: int
    ties: Ties


def sign_agreement(x: AnyScores, y: AnyScores, *, ties: Ties = "ignore") -> SignAgreement:
    """The share of differences between two systems on a topic on whose sign two assessors agree.

    x, y : (topic, system) scores of the two, in the same order; a system that is nan for one of them is left out there.
    ties : a difference of 0 for either "ignore"s the pair (the default: same / (same + opposite)), counts "half", as if
        a coin were thrown, or counts as agreement ("agree"), since it contradicts nobody.

    Raises
    ------
    ArgumentError
        An unknown option; sides that do not fit each other.

    >>> sign_agreement(np.array([[0.9, 0.5, 0.1]]), np.array([[0.9, 0.1, 0.1]]))
    SignAgreement(value=1.0, same=2, opposite=0, tied=1, ties='ignore')
    """
    if ties not in get_args(Ties):
        raise ArgumentError(f"ties={ties!r}: choose from {', '.join(get_args(Ties))}")
    (first, labels), (second, others) = (one_table(side) for side in (x, y))
    if labels != others:
        raise ArgumentError(
            f"scores of shapes {first.shape} and {second.shape}: both sides must have the same topics and systems, in "
            "the same order; xarray.align(x, y) sees to that"
        )
    counts = pair_counts(np.ascontiguousarray(first), np.ascontiguousarray(second)).sum(axis=0)
    same, opposite, pairs = int(counts[0]), int(counts[1]), int(counts[5])
    tied = pairs - same - opposite
    agreeing = same + {"ignore": 0.0, "half": tied / 2, "agree": tied}[ties]
    counted = pairs - (tied if ties == "ignore" else 0)
    return SignAgreement(agreeing / counted if counted else np.nan, same, opposite, tied, ties)

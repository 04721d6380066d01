"""How people write numbers: which ones they like, and whether they give them by ratio, as they were asked to.

Whoever finds a document twice as relevant as an earlier one gives a number whose ratio to the earlier one is short to
write; 76 after 54 says 1.407... times as relevant. Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing
Relevance Magnitudes for Information Retrieval Evaluation. ACM TOIS 35(3), sections 4.2 and 9.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.magnitude.units import By, Floats, Rows, Units, positive, units_of
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments

MOST = 9  # figures told apart; what takes more counts as one more
TINY = 1e-300
ROUNDING = 1e-12  # what double precision may have done to a decimal number, relative

Direction = Literal["forward", "either"]


@dataclass(frozen=True, eq=False)
class RoundNumbers:
    """Which values people write down and how often; the arrays are (values,), the most frequent value first.

    value : distinct magnitudes.
    n, share : how many answers are that value, and which part of all.
    n_assessors : how many assessors wrote it.
    figures : how many significant figures it takes; see `significant_figures`.
    one_figure : share of answers with one significant figure (1 ... 9 times a power of ten).
    one_two_five : share of answers that are 1, 2 or 5 times a power of ten.
    whole : share of whole numbers.
    """

    value: Floats
    n: Rows
    share: Floats
    n_assessors: Rows
    figures: Rows
    one_figure: float
    one_two_five: float
    whole: float

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per value."""
        return make_frame(
            {name: getattr(self, name) for name in ("value", "n", "share", "n_assessors", "figures")}, backend
        )


def round_numbers(judgments: Judgments) -> RoundNumbers:
    """The round-number tendency: which values people write down, and how often (section 4.2).

    Ask it of magnitudes as they were written; normalised ones are no longer round.

    Raises
    ------
    ArgumentError
        No judgments.
    InputError
        A magnitude of 0 or below.
    """
    value, of_row, n = np.unique(positive(judgments), return_inverse=True, return_counts=True)
    who = np.unique(of_row * len(judgments.assessors) + judgments.assessor)
    n_assessors = np.bincount(who // len(judgments.assessors), minlength=value.size)
    figures = significant_figures(value)
    order = np.lexsort((value, -n))
    one_two_five = (figures == 1) & np.isin(np.rint(_mantissa(value)), [1, 2, 5, 10])
    total = int(n.sum())
    return RoundNumbers(
        value[order],
        n[order],
        n[order] / total,
        n_assessors[order],
        figures[order],
        *(float(n[some].sum() / total) for some in (figures == 1, one_two_five, value % 1 == 0)),
    )


@dataclass(frozen=True, eq=False)
class RatioFigures:
    """How finely each unit's ratios are cut.

    figures : (units,) every score of the unit has a ratio of at most so many significant figures with some earlier one;
        10 means more than 9, and 0 a single score, which has no ratio.
    of_score : (n,) the same for each judgment; 0 for the first of its unit.
    """

    units: Units
    figures: Rows
    of_score: Rows
    direction: Direction

    def n_within(self, figures: int) -> int:
        """How many units keep to so many significant figures."""
        return int((self.figures <= figures).sum())

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per unit."""
        return make_frame({**self.units.columns(), "figures": self.figures}, backend)

    def counts(self, backend: str = "pandas") -> Any:
        """One row per number of figures: how many units need that many, and which share so many at most."""
        n = np.bincount(self.figures, minlength=MOST + 2)
        return make_frame(
            {"figures": np.arange(n.size), "n_units": n, "share_within": np.cumsum(n) / len(self.units)}, backend
        )


def ratio_figures(judgments: Judgments, *, direction: Direction = "forward", by: By = "unit") -> RatioFigures:
    """How many significant figures the ratios within each unit take (section 9.2).

    Each score is compared with every earlier one of its unit and keeps the shortest ratio; the unit has the longest of
    its scores'. The order of judging matters: it is the order column, else the order of the rows. Ask it of magnitudes
    as they were written.

    direction : "forward" divides a score by the earlier one; "either" also takes the inverse, so that a third (1 after
        3) is as short as three times.

    >>> after = Judgments.from_rows([("q", "d1", "ann", 54), ("q", "d2", "ann", 76), ("q", "d3", "ann", 38)])
    >>> ratio_figures(after, by="assessor").of_score  # the last one is half of the second
    array([ 0, 10,  1])
    """
    if direction not in get_args(Direction):
        raise ArgumentError(f"direction={direction!r}: choose one of {', '.join(get_args(Direction))}")
    units = units_of(judgments, by)
    earlier, later = units.pairs
    with np.errstate(over="ignore", under="ignore"):
        ratio = np.clip(judgments.value[later] / judgments.value[earlier], TINY, 1 / TINY)
    figures = significant_figures(ratio)
    if direction == "either":
        figures = np.minimum(figures, significant_figures(1 / ratio))
    of_score = np.full(len(judgments), MOST + 1, np.int64)
    np.minimum.at(of_score, later, figures)
    of_score[units.rows[units.starts[:-1]]] = 0
    return RatioFigures(units, np.maximum.reduceat(of_score[units.rows], units.starts[:-1]), of_score, direction)


def significant_figures(numbers: Floats) -> NDArray[np.int64]:
    """How many significant figures each number takes, 1 to 9; 10 for more. Numbers are above 0.

    >>> significant_figures(np.array([2.0, 300.0, 0.25, 140.0, 76 / 54]))
    array([ 1,  1,  2,  2, 10])
    """
    mantissa = _mantissa(numbers)
    figures = np.full(numbers.shape, MOST + 1, np.int64)
    for count in range(MOST, 0, -1):
        scaled = mantissa * 10.0 ** (count - 1)
        figures[np.abs(scaled - np.rint(scaled)) <= ROUNDING * scaled] = count
    return figures


def _mantissa(numbers: Floats) -> Floats:
    """The numbers without their power of ten, from 1 to 10 (rounding may give either end)."""
    power = np.floor(np.log10(numbers))
    half = np.floor(power / 2)  # in two steps, because the power itself may be too small for a double
    return np.asarray(numbers / 10.0**half / 10.0 ** (power - half))

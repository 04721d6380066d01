"""Which numbers assessors write, and whether they judge by ratio.

An assessor who judges by ratio, "twice as relevant as an earlier document", gives a number whose ratio to the earlier
one has few significant digits; 76 after 54 has the ratio 1.407...

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 4.2 and 9.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.magnitude.units import By, Rows, Units, positive, units_of
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result

MOST = 9  # significant digits that are counted; numbers with more have MOST + 1
TINY = 1e-300
ROUNDING = 1e-12  # relative rounding error of a decimal number in double precision


@dataclass(frozen=True, eq=False)
class RoundNumbers(Result):
    """Frequencies of the values that assessors write; the arrays are (values,), the most frequent value first.

    value : distinct magnitudes.
    n, share : number and share of the judgments with that value.
    n_assessors : number of assessors who gave it.
    digits : its significant digits; see `significant_digits`.
    one_two_five : share of judgments that are 1, 2 or 5 times a power of ten.
    """

    value: Floats
    n: Rows
    share: Floats
    n_assessors: Rows
    digits: Rows
    one_two_five: float

    _COLUMNS = ("value", "n", "share", "n_assessors", "digits")


def round_numbers(judgments: Judgments) -> RoundNumbers:
    """The round-number tendency: which values assessors write, and how often (section 4.2).

    Use magnitudes as they were written; normalised ones are no longer round.

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
    digits = significant_digits(value)
    order = np.lexsort((value, -n))
    one_two_five = (digits == 1) & np.isin(np.rint(_mantissa(value)), [1, 2, 5, 10])
    total = int(n.sum())
    return RoundNumbers(
        value[order],
        n[order],
        n[order] / total,
        n_assessors[order],
        digits[order],
        float(n[one_two_five].sum() / total),
    )


@dataclass(frozen=True, eq=False)
class RatioDigits(Result):
    """Significant digits of the ratios within each unit.

    digits : (units,) the largest `of_judgment` of the unit; 0 for a unit with a single judgment.
    of_judgment : (n,) fewest significant digits of the ratio of the judgment to an earlier one of its unit; 10 means
        more than 9, and 0 is the first judgment of its unit.
    """

    units: Units
    digits: Rows
    of_judgment: Rows

    def n_within(self, digits: int) -> int:
        """Number of units whose ratios have at most so many significant digits."""
        return int((self.digits <= digits).sum())

    def _columns(self) -> dict[str, Any]:
        return {**self.units.columns(), "digits": self.digits}


def ratio_digits(judgments: Judgments, *, by: By = "unit") -> RatioDigits:
    """Significant digits of the ratios within each unit (section 9.2).

    Each magnitude is compared with every earlier one of its unit; the ratio with the fewest digits counts. A unit has
    the largest number of its judgments. The order of judging is the order column, or else the order of the rows. Use
    magnitudes as they were written.

    Parameters
    ----------
    by : "unit", or "assessor" if each assessor judged a topic in one go and there is no unit column.

    >>> magnitudes = Judgments.from_rows([("q", "d1", "ann", 54), ("q", "d2", "ann", 76), ("q", "d3", "ann", 38)])
    >>> ratio_digits(magnitudes, by="assessor").of_judgment  # the last one is half of the second
    array([ 0, 10,  1])
    """
    units = units_of(judgments, by=by)
    earlier, later = units.pairs
    with np.errstate(over="ignore", under="ignore"):
        ratio = np.clip(judgments.value[later] / judgments.value[earlier], TINY, 1 / TINY)
    digits = significant_digits(ratio)
    of_judgment = np.full(len(judgments), MOST + 1, np.int64)
    np.minimum.at(of_judgment, later, digits)
    of_judgment[units.rows[units.starts[:-1]]] = 0
    return RatioDigits(units, np.maximum.reduceat(of_judgment[units.rows], units.starts[:-1]), of_judgment)


def significant_digits(numbers: Floats) -> NDArray[np.int64]:
    """Number of significant digits of each number, 1 to 9; 10 for more. Numbers are above 0.

    >>> significant_digits(np.array([2.0, 300.0, 0.25, 140.0, 76 / 54]))
    array([ 1,  1,  2,  2, 10])
    """
    mantissa = _mantissa(numbers)
    digits = np.full(numbers.shape, MOST + 1, np.int64)
    for count in range(MOST, 0, -1):
        scaled = mantissa * 10.0 ** (count - 1)
        digits[np.abs(scaled - np.rint(scaled)) <= ROUNDING * scaled] = count
    return digits


def _mantissa(numbers: Floats) -> Floats:
    """The numbers without their power of ten, from 1 to 10 (either end can result from rounding)."""
    power = np.floor(np.log10(numbers))
    half = np.floor(power / 2)  # in two steps, because the power itself may be too small for a double
    return np.asarray(numbers / 10.0**half / 10.0 ** (power - half))

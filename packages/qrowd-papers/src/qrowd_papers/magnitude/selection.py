"""Select, for every document, the units whose magnitudes agree best with the order of gold grades.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 7.2; order agreement as in section 6.1.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.magnitude.checks import with_grades
from qrowd.magnitude.units import By, Rows, Units, rows_of, units_of
from qrowd.model.gold import Gold
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result

N_UNITS = 3  # per document


@dataclass(frozen=True, eq=False)
class UnitSelection(Result):
    """For every document, the judgments of the units with the highest order agreement with gold.

    judgments : the selected ones; merge them (the paper takes the median) for one magnitude per document.
    units : all units.
    agreement : (units,) share of a unit's document pairs with different gold grades that it orders as gold does; nan
        without such a pair.
    n_pairs : (units,) number of such pairs.
    n_outside : documents that no preferred unit judged, for which other units were selected.
    """

    judgments: Judgments
    units: Units
    agreement: Floats
    n_pairs: Rows
    n_outside: int

    def _columns(self) -> dict[str, Any]:
        return {**self.units.columns(), "agreement": self.agreement, "n_pairs": self.n_pairs}


def select_units_by_agreement(
    judgments: Judgments,
    gold: Gold,
    *,
    preferred: NDArray[np.bool_] | None = None,
    by: By = "unit",
) -> UnitSelection:
    """For every document, the judgments of the three units that agree best with gold (section 7.2).

    Units of equal agreement are sorted by fewest documents without gold, then by first appearance.

    Parameters
    ----------
    gold : the name of an assessor of the judgments (who is then left out), the judgments of one assessor, or
        {(topic, document): grade}.
    preferred : (units,) mask of the units to choose from if a document has any of them, such as `unit_widths(...).wide`
        (section 7.3); for other documents all units are candidates.
    by : "unit", or "assessor" if each assessor judged a topic in one go and there is no unit column.

    Raises
    ------
    ArgumentError
        A mask of another length than there are units; no unit column.
    NoOverlapError
        No judged document has a gold grade.
    """
    with_gold = with_grades(judgments, gold)
    judgments, grades = with_gold.judgments, with_gold.grades()
    units = units_of(judgments, by=by)
    if preferred is not None and np.shape(preferred) != (len(units),):
        raise ArgumentError(f"preferred: expected one True or False for each of {len(units)} units")
    agreement, n_pairs = _order_agreement(units, grades)
    n_without_gold = np.bincount(units.number[np.isnan(grades)], minlength=len(units))
    # The best unit first; units without pairs last.
    rank = np.empty(len(units), np.int64)
    rank[np.lexsort((n_without_gold, -np.nan_to_num(agreement, nan=-1.0)))] = np.arange(len(units))

    pair = judgments.pair_numbers
    pairs, of_row = np.unique(pair, return_inverse=True)
    mask = np.ones(len(units), bool) if preferred is None else np.asarray(preferred, bool)
    has_preferred = np.bincount(of_row, mask[units.number], minlength=pairs.size) > 0
    candidates = np.flatnonzero(mask[units.number] | ~has_preferred[of_row])
    rows = candidates[np.lexsort((rank[units.number[candidates]], of_row[candidates]))]
    document, unit = of_row[rows], units.number[rows]
    new_unit = np.ones(rows.size, bool)
    new_unit[1:] = (document[1:] != document[:-1]) | (unit[1:] != unit[:-1])
    count = np.cumsum(new_unit)
    place = count - count[np.searchsorted(document, document)]  # 0 for a document's best unit
    return UnitSelection(
        rows_of(judgments, np.sort(rows[place < N_UNITS])),
        units,
        agreement,
        n_pairs,
        n_outside=int((~has_preferred).sum()),
    )


def _order_agreement(units: Units, grades: Floats) -> tuple[Floats, Rows]:
    """(units,) share of pairs with different gold grades whose magnitudes are in their order, and number of pairs."""
    value = units.judgments.value
    earlier, later = units.pairs
    change = np.sign(grades[later] - grades[earlier])  # nan without a grade
    graded = np.abs(change) == 1
    unit = units.number[earlier[graded]]
    agrees = change[graded] * np.sign(value[later] - value[earlier])[graded]
    n_pairs = np.bincount(unit, minlength=len(units))
    n_agree = np.bincount(unit[agrees >= 0], minlength=len(units))
    return np.divide(n_agree, n_pairs, out=np.full(len(units), np.nan), where=n_pairs > 0), n_pairs

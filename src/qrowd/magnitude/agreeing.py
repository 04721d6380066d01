"""The units that agree most with gold: magnitudes whose order is known to be sound, so that only their scale matters.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 7.2; order agreement as in section 6.1.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.pairs import order_counts
from qrowd.magnitude.gold import Gold, apart, gold_grades
from qrowd.magnitude.units import By, Floats, Rows, Units, rows_of, units_of
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments


@dataclass(frozen=True, eq=False)
class AgreeingUnits:
    """For every document, the judgments of those units that order their documents most as gold does.

    judgments : the chosen ones; merge them (the paper takes the median) for one magnitude per document.
    agreement : (units,) share of a unit's document pairs with different gold grades that it orders alike; nan without
        such a pair.
    n_pairs : (units,) how many such pairs.
    n_unjudged : (units,) judgments of documents without a gold grade.
    n_documents : (topic, document) pairs judged.
    n_short : those of them with fewer units to choose from than were asked for.
    n_outside : those that no preferred unit judged, so that the others were taken.
    strict : the option in force.
    """

    judgments: Judgments
    units: Units
    agreement: Floats
    n_pairs: Rows
    n_unjudged: Rows
    n_documents: int
    n_short: int
    n_outside: int
    strict: bool

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per unit."""
        columns = {name: getattr(self, name) for name in ("agreement", "n_pairs", "n_unjudged")}
        return make_frame({**self.units.columns(), **columns}, backend)


def agreeing_units(
    judgments: Judgments,
    gold: Gold,
    n: int = 3,
    *,
    strict: bool = False,
    preferred: NDArray[np.bool_] | None = None,
    by: By = "unit",
) -> AgreeingUnits:
    """For every document, the judgments of the n units that agree most with gold (section 7.2).

    Units of equal agreement go by fewest documents without gold, then by which came first.

    Parameters
    ----------
    gold : grades: of the assessor of that name, who then counts for nothing else, as the judgments of one assessor, or
        as {(topic, document): grade}.
    strict : False counts equal magnitudes of documents with different grades as agreement (section 6.1.2), True as
        disagreement.
    preferred : (units,) units to choose from wherever a document has one of them, as `unit_widths(...).wide` or its
        inverse (section 7.3); the other documents take their best units of any kind.

    Raises
    ------
    ArgumentError
        n below 1; a mask of another length than there are units; no unit column.
    NoOverlapError
        No judged document has a gold grade.
    """
    if n < 1:
        raise ArgumentError(f"n={n!r}: at least 1 unit needed")
    judgments, gold = apart(judgments, gold)
    units = units_of(judgments, by)
    if preferred is not None and np.shape(preferred) != (len(units),):
        raise ArgumentError(f"preferred: one True or False for each of {len(units)} units needed")
    grades = gold_grades(judgments, gold)
    agreement, n_pairs = _order_agreement(units, grades, strict)
    n_unjudged = np.bincount(units.number[np.isnan(grades)], minlength=len(units))
    # The best unit first; those without any pair to agree on last.
    standing = np.empty(len(units), np.int64)
    standing[np.lexsort((n_unjudged, -np.nan_to_num(agreement, nan=-1.0)))] = np.arange(len(units))

    pair = judgments.topic.astype(np.int64) * len(judgments.documents) + judgments.document
    pairs, of_row = np.unique(pair, return_inverse=True)
    wished = np.ones(len(units), bool) if preferred is None else np.asarray(preferred, bool)
    has_wished = np.bincount(of_row, wished[units.number], minlength=pairs.size) > 0
    open_to = np.flatnonzero(wished[units.number] | ~has_wished[of_row])
    rows = open_to[np.lexsort((standing[units.number[open_to]], of_row[open_to]))]
    document, unit = of_row[rows], units.number[rows]
    new_unit = np.ones(rows.size, bool)
    new_unit[1:] = (document[1:] != document[:-1]) | (unit[1:] != unit[:-1])
    count = np.cumsum(new_unit)
    place = count - count[np.searchsorted(document, document)]  # 0 for a document's best unit
    n_units = np.bincount(document[new_unit], minlength=pairs.size)
    return AgreeingUnits(
        rows_of(judgments, np.sort(rows[place < n])),
        units,
        agreement,
        n_pairs,
        n_unjudged,
        n_documents=int(pairs.size),
        n_short=int((n_units < n).sum()),
        n_outside=int((~has_wished).sum()),
        strict=strict,
    )


def _order_agreement(units: Units, grades: Floats, strict: bool) -> tuple[Floats, Rows]:
    """(units,) share of pairs with different gold grades whose magnitudes are in that order, and how many pairs."""
    graded = units.rows[~np.isnan(grades[units.rows])]
    sizes = np.bincount(units.number[graded], minlength=len(units))
    counts = order_counts(np.append(0, np.cumsum(sizes)), units.judgments.value[graded], grades[graded])
    n_pairs = counts.sum(axis=1)
    n_agree = counts[:, 0] + (0 if strict else counts[:, 1])
    return np.divide(n_agree, n_pairs, out=np.full(len(units), np.nan), where=n_pairs > 0), n_pairs

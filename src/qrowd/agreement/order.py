"""Order agreement: share of document pairs that an assessor's values order as another scale does.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 6.1.2, Figures 6 and 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.pairs import order_counts, order_counts_by_level
from qrowd.model.gold import Gold, against
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.result import Result

BY = ("assessor", "unit", "topic", "levels")
MOST_LEVELS = 50


@dataclass(frozen=True, eq=False)
class OrderAgreement(Result):
    """How often values follow the order of a reference; every array is (groups,).

    by : what the groups are. columns : their labels, one column each ("levels" has two, `low` and `high`).
    same, equal, opposite : pairs of documents of one topic with different reference grades whose values are in the
        order of the grades, equal, in the opposite order.
    strict : whether equal values count as disagreement. reference : its name.
    """

    summary = "How often values follow the order of a reference"

    by: tuple[str, ...]
    columns: dict[str, NDArray[Any]]
    same: Ints
    equal: Ints
    opposite: Ints
    strict: bool
    reference: str

    @property
    def n_pairs(self) -> Ints:
        return self.same + self.equal + self.opposite

    @property
    def value(self) -> Floats:
        """Share of pairs that agree; nan without pairs."""
        agree = self.same if self.strict else self.same + self.equal
        return np.where(self.n_pairs > 0, agree / np.maximum(self.n_pairs, 1), np.nan)

    @property
    def overall(self) -> float:
        """Share of all pairs that agree."""
        agree = self.same.sum() + (0 if self.strict else self.equal.sum())
        return float(agree / self.n_pairs.sum()) if self.n_pairs.any() else np.nan

    @property
    def mean(self) -> float:
        """Mean over groups with pairs; each has the same weight."""
        defined = self.value[~np.isnan(self.value)]
        return float(defined.mean()) if defined.size else np.nan

    def _columns(self) -> dict[str, Any]:
        counts = {"n_pairs": self.n_pairs, "same": self.same, "equal": self.equal, "opposite": self.opposite}
        return {**self.columns, **counts, "agreement": self.value}


def order_agreement(
    judgments: Judgments,
    reference: Gold,
    *,
    by: str | Sequence[str] | None = "assessor",
    strict: bool = False,
    repeats: Repeats = "first",
) -> OrderAgreement:
    """Share of document pairs with different reference grades in which the higher grade has the higher value.

    The scales may differ: grades against magnitudes, yes/no against fractions. Only documents of one topic judged by
    one assessor (in one unit, if groups are units) are compared.

    Parameters
    ----------
    reference : the name of an assessor of the judgments (left out of the groups), the judgments of one assessor, or
        {(topic, document): grade}.
    by : "assessor", "unit", "topic", "levels" (each pair of the reference's levels), several of these, or None for one
        group. For one value per topic and pair of levels, as in Figure 7, merge the assessors first.
    strict : False counts equal values as agreement ("not lower", as the paper does), True as disagreement. Between two
        binary scales many values are equal, and both numbers should be read.
    repeats : which of an assessor's judgments of the same document counts.

    Raises
    ------
    ArgumentError
        by="unit" without a unit column; a reference with too many levels for by="levels".
    NoOverlapError
        The reference graded no document that the others judged.
    """
    groups = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    for name in groups:
        if name not in BY:
            raise ArgumentError(f"by={name!r}: choose from {', '.join(BY)}, several of them, or None")
    with_reference = against(judgments, reference, noun="reference", repeats=repeats)
    if "unit" in groups:
        split, who, assessors, units = _by_unit(with_reference.judgments)
    else:
        split, assessors, units = with_reference.judgments, with_reference.judgments.assessors, ("",)
        who = np.stack([np.arange(len(assessors)), np.zeros(len(assessors), np.int64)])
    one = split.single(repeats=repeats)
    number = np.array([split.assessors.index(name) for name in one.assessors])
    grade = with_reference.grades_of(one.topics, one.documents)(one.pair_numbers)
    rows = np.flatnonzero(~np.isnan(grade) & (one.value >= 0))
    assessor, unit = who[:, number[one.assessor[rows]]]
    cells, cell = np.unique(np.stack([assessor, unit, one.topic[rows]]).astype(np.int64), axis=1, return_inverse=True)
    cell = cell.ravel()
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], np.arange(cells.shape[1] + 1))
    value, grade = one.value[rows][order], grade[rows][order]
    codes = {"assessor": cells[0], "unit": cells[1], "topic": cells[2]}
    labels = {"assessor": assessors, "unit": units, "topic": one.topics}
    if "levels" in groups:
        levels, level = np.unique(grade, return_inverse=True)
        if levels.size > MOST_LEVELS:
            raise ArgumentError(
                f"by='levels': the reference has {levels.size} levels; recode it to {MOST_LEVELS} or fewer"
            )
        by_level = order_counts_by_level(starts, value, level.astype(np.int64), levels.size)
        low, high = np.triu_indices(levels.size, 1)
        counts = by_level[:, low, high].reshape(-1, 3)
        codes = {name: np.repeat(code, low.size) for name, code in codes.items()}
        codes |= {"low": np.tile(low, cells.shape[1]), "high": np.tile(high, cells.shape[1])}
    else:
        counts = order_counts(starts, value, grade)
    names = [part for name in groups for part in (("low", "high") if name == "levels" else (name,))]
    keys = np.stack([codes[name] for name in names]) if names else np.zeros((1, counts.shape[0]), np.int64)
    distinct, at = np.unique(keys, axis=1, return_inverse=True)
    totals = np.zeros((distinct.shape[1], 3), np.int64)
    np.add.at(totals, at.ravel(), counts)
    columns: dict[str, NDArray[Any]] = {
        name: levels[code] if name in ("low", "high") else np.array(labels[name], object)[code]
        for name, code in zip(names, distinct, strict=False)
    }
    return OrderAgreement(groups, columns, totals[:, 0], totals[:, 1], totals[:, 2], strict, with_reference.name)


def _by_unit(judgments: Judgments) -> tuple[Judgments, Ints, tuple[str, ...], tuple[str, ...]]:
    """Judgments with each unit as an assessor of its own; (2, those) numbers of assessor and unit; assessors; units."""
    if judgments.unit is None:
        raise ArgumentError("by='unit': the judgments have no unit column; add one, or use by='assessor'")
    units, unit = np.unique(
        np.array(["" if name is None else str(name) for name in judgments.unit], object), return_inverse=True
    )
    who, code = np.unique(np.stack([judgments.assessor.astype(np.int64), unit]), axis=1, return_inverse=True)
    names = tuple(f"{judgments.assessors[a]} in {units[u]}" for a, u in who.T)
    scales = tuple(judgments.scales[a] for a in who[0])
    sources = None if judgments.sources is None else tuple(judgments.sources[a] for a in who[0])
    codes = code.ravel().astype(np.int32)
    split = replace(judgments, assessors=names, assessor=codes, scales=scales, sources=sources)
    return split, who, judgments.assessors, tuple(units.tolist())

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
from qrowd.magnitude.units import pairs_within
from qrowd.model.gold import Gold, against
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result

BY = ("assessor", "unit", "topic", "levels")


@dataclass(frozen=True, eq=False)
class OrderAgreement(Result):
    """How often values follow the order of a reference; every array is (groups,).

    columns : the labels of the groups, one column each ("levels" has two, `low` and `high`).
    same, equal, opposite : pairs of documents of one topic with different reference grades whose values are in the
        order of the grades, equal, in the opposite order.
    strict : whether equal values count as disagreement.
    """

    summary = "How often values follow the order of a reference"

    columns: dict[str, NDArray[Any]]
    same: Ints
    equal: Ints
    opposite: Ints
    strict: bool

    @property
    def n_pairs(self) -> Ints:
        return self.same + self.equal + self.opposite

    @property
    def value(self) -> Floats:
        """Share of pairs that agree; nan without pairs."""
        agree = self.same if self.strict else self.same + self.equal
        return np.where(self.n_pairs > 0, agree / np.maximum(self.n_pairs, 1), np.nan)

    def _columns(self) -> dict[str, Any]:
        counts = {"n_pairs": self.n_pairs, "same": self.same, "equal": self.equal, "opposite": self.opposite}
        return {**self.columns, **counts, "agreement": self.value}


def order_agreement(
    judgments: Judgments,
    reference: Gold,
    *,
    by: str | Sequence[str] | None = "assessor",
    strict: bool = False,
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

    Of an assessor's judgments of the same document the first counts.

    Raises
    ------
    ArgumentError
        by="unit" without a unit column.
    NoOverlapError
        The reference graded no document that the others judged.
    """
    groups = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    for name in groups:
        if name not in BY:
            raise ArgumentError(f"choose from {', '.join(BY)}, several of them, or None", "by", name)
    with_reference = against(judgments, reference, noun="reference", repeats="first")
    if "unit" in groups:
        split, who, assessors, units = _by_unit(with_reference.judgments)
    else:
        split, assessors, units = with_reference.judgments, with_reference.judgments.assessors, ("",)
        who = np.stack([np.arange(len(assessors)), np.zeros(len(assessors), np.int64)])
    single = split.single(repeats="first")
    number = np.array([split.assessors.index(name) for name in single.assessors])
    grade = with_reference.grades_of(single.topics, single.documents)(single.pair_numbers)
    rows = np.flatnonzero(~np.isnan(grade) & (single.value >= 0))
    cell = single.assessor[rows].astype(np.int64) * len(single.topics) + single.topic[rows]
    rows, cell = rows[np.argsort(cell, kind="stable")], np.sort(cell)
    first, second = (rows[place] for place in pairs_within(np.flatnonzero(np.diff(cell, prepend=-1)), rows.size))
    lower = np.where(grade[first] < grade[second], first, second)
    higher = first + second - lower
    differ = grade[first] != grade[second]
    lower, higher = lower[differ], higher[differ]
    levels = np.unique(grade[rows])
    assessor, unit = who[:, number[single.assessor]]
    codes = {"assessor": assessor, "unit": unit, "topic": single.topic.astype(np.int64)}
    labels = {"assessor": assessors, "unit": units, "topic": single.topics}
    names = [name for name in groups if name != "levels"]
    column = np.stack([codes[name] for name in names] or [np.zeros(len(single), np.int64)])
    keys, of_pair = np.unique(column[:, rows], axis=1), column[:, lower]
    if "levels" in groups:  # each pair of levels for each of the other groups
        low, high = np.triu_indices(levels.size, 1)
        keys = np.vstack([np.repeat(keys, low.size, axis=1), np.tile([low, high], keys.shape[1])])
        of_pair = np.vstack([of_pair, *(np.searchsorted(levels, grade[side]) for side in (lower, higher))])
        names = [*names, "low", "high"]
    direction = 1 - np.sign(single.value[higher] - single.value[lower]).astype(np.int64)
    distinct, group = np.unique(np.hstack([keys, of_pair]), axis=1, return_inverse=True)
    group = group.ravel()[keys.shape[1] :]
    counts = np.bincount(3 * group + direction, minlength=3 * distinct.shape[1]).reshape(-1, 3)
    columns: dict[str, NDArray[Any]] = {
        name: levels[code] if name in ("low", "high") else np.array(labels[name], object)[code]
        for name, code in zip(names, distinct[len(distinct) - len(names) :], strict=True)
    }
    return OrderAgreement(columns, counts[:, 0], counts[:, 1], counts[:, 2], strict)


def _by_unit(judgments: Judgments) -> tuple[Judgments, Ints, tuple[str, ...], tuple[str, ...]]:
    """Judgments with each unit as an assessor of its own; (2, those) numbers of assessor and unit; assessors; units."""
    if judgments.unit is None:
        raise ArgumentError("the judgments have no unit column; add one, or use by='assessor'", "by", "unit")
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

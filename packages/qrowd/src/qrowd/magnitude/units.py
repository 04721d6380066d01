"""Units: the few documents of a topic that an assessor judges in one go (HITs), with their magnitudes.

A magnitude can be interpreted only relative to the others of its unit, so every analysis starts from units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, InputError, ScaleError, check_choice
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.model.judgments import Judgments
from qrowd.model.labels import factorize
from qrowd.model.result import Result

Rows = Ints  # numbers of judgments, or one number for each
By = Literal["unit", "assessor"]


@dataclass(frozen=True, eq=False)
class Units(Result):
    """Judgments sorted into units, which are numbered in the order in which they first appear.

    judgments : magnitudes, all above 0.
    by : "unit" if the unit column defines the units, "assessor" if an assessor's judgments of a topic are one unit.
    labels : (units,) names from the unit column, or of the assessors.
    topic, assessor : (units,) int32, numbers into the labels of the judgments.
    number : (n,) the unit of each judgment.
    rows : (n,) judgments unit by unit, within a unit in the order of judging (the order column, else the row order).
    starts : (units + 1,); the judgments of unit u are rows[starts[u]:starts[u + 1]].
    """

    judgments: Judgments
    by: By
    labels: tuple[str, ...]
    topic: Codes
    assessor: Codes
    number: Rows
    rows: Rows
    starts: Rows

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def sizes(self) -> Rows:
        """(units,) number of judgments."""
        return np.diff(self.starts)

    @cached_property
    def logs(self) -> Floats:
        """(n,) natural logarithm of every magnitude."""
        return np.log(self.judgments.value)

    def means(self, values: Floats) -> Floats:
        """(units,) mean of an (n,) column in each unit."""
        return np.asarray(np.add.reduceat(values[self.rows], self.starts[:-1]) / self.sizes)

    def lowest(self, values: Floats) -> Floats:
        """(units,) least of an (n,) column in each unit."""
        return np.asarray(np.minimum.reduceat(values[self.rows], self.starts[:-1]))

    def highest(self, values: Floats) -> Floats:
        """(units,) greatest of an (n,) column in each unit."""
        return np.asarray(np.maximum.reduceat(values[self.rows], self.starts[:-1]))

    @cached_property
    def pairs(self) -> tuple[Rows, Rows]:
        """(pairs,) the earlier and the later judgment of each pair of judgments of a unit."""
        earlier, later = pairs_within(self.starts[:-1], self.rows.size)
        return self.rows[earlier], self.rows[later]

    def describe(self, unit: int) -> str:
        """Description of a unit, for messages."""
        who = self.judgments.assessors[self.assessor[unit]]
        topic = self.judgments.topics[self.topic[unit]]
        name = f"unit {self.labels[unit]} of " if self.by == "unit" else ""
        return f"{name}assessor {who}, topic {topic}"

    def select(self, mask: Bools) -> Judgments:
        """The judgments of the units where mask (units,) is True."""
        return rows_of(self.judgments, np.flatnonzero(mask[self.number]))

    def _columns(self) -> dict[str, Any]:
        return {**self.columns(), "n_judgments": self.sizes}

    def columns(self) -> dict[str, NDArray[np.object_]]:
        """(units,) labels of topic, assessor and unit, for frames."""
        return {
            "topic": np.array(self.judgments.topics, object)[self.topic],
            "assessor": np.array(self.judgments.assessors, object)[self.assessor],
            "unit": np.array(self.labels, object),
        }


def pairs_within(begins: Ints, n: int) -> tuple[Ints, Ints]:
    """(pairs,) places of the earlier and the later member of each pair within a group. begins : of n rows, by group."""
    sizes = np.diff(np.append(begins, n))
    earlier = [np.empty(0, np.int64)]
    later = [np.empty(0, np.int64)]
    for size in np.unique(sizes).tolist():
        first, second = np.triu_indices(size, 1)
        of_size = begins[sizes == size, None]
        earlier.append((of_size + first).ravel())
        later.append((of_size + second).ravel())
    return np.concatenate(earlier), np.concatenate(later)


def units_of(judgments: Judgments, *, by: By = "unit") -> Units:
    """The units of judgments: rows that share topic, assessor and, for by="unit", the name in the unit column.

    The same name with another topic or assessor is another unit. A document that an assessor judged twice within a unit
    counts twice.

    Parameters
    ----------
    by : "unit", or "assessor" if each assessor judged a topic in one go and there is no unit column.

    Raises
    ------
    ArgumentError
        No judgments; no unit column.
    InputError
        A judgment without a unit; a magnitude of 0 or below.
    ScaleError
        An assessor whose declared scale is not `magnitude`.
    """
    check_choice("by", by, By)
    if not len(judgments):
        raise ArgumentError("judgments: there are none")
    for name, scale in zip(judgments.assessors, judgments.scales, strict=True):
        if scale.declared and scale.kind != "magnitude":
            raise ScaleError(f"assessor {name}: scale {scale}; select the assessors who gave magnitudes")
    codes, names = (judgments.assessor, judgments.assessors) if by == "assessor" else _unit_column(judgments)
    key = judgments.topic.astype(np.int64) * len(judgments.assessors) + judgments.assessor
    _, first, number = np.unique(key * len(names) + codes, return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    place = np.empty(first.size, np.int64)
    place[appearance] = np.arange(first.size)
    number, first = place[number], first[appearance]
    rows = np.lexsort((number,) if judgments.order is None else (judgments.order, number))
    units = Units(
        judgments,
        by,
        tuple(names[code] for code in codes[first].tolist()),
        judgments.topic[first],
        judgments.assessor[first],
        number,
        rows,
        np.append(0, np.cumsum(np.bincount(number))),
    )
    wrong = np.flatnonzero(judgments.value <= 0)
    if wrong.size:
        row = int(wrong[0])
        raise InputError(
            f"{units.describe(int(number[row]))}, document {judgments.documents[judgments.document[row]]}: magnitude "
            f"{judgments.value[row]:g}{and_more(wrong.size)}; a magnitude is above 0; leave out unjudged documents"
        )
    return units


def default_by(judgments: Judgments) -> By:
    """What a unit is where nobody says: "unit" if there is a column of units, else "assessor"."""
    return "assessor" if judgments.unit is None else "unit"


def positive(judgments: Judgments) -> Floats:
    """(n,) the magnitudes, checked to be above 0."""
    if not len(judgments):
        raise ArgumentError("judgments: there are none")
    wrong = np.flatnonzero(judgments.value <= 0)
    if wrong.size:
        row = int(wrong[0])
        raise InputError(
            f"{judgments.describe(row)}: magnitude {judgments.value[row]:g}{and_more(wrong.size)}; "
            "a magnitude is above 0; leave out unjudged documents"
        )
    return judgments.value


def rows_of(judgments: Judgments, rows: Rows) -> Judgments:
    """Some of the judgments, without labels that they do not use."""
    names = ("topic", "document", "assessor", "value", *Judgments.OPTIONAL)
    columns = {name: getattr(judgments, name) for name in names}
    selected: dict[str, Any] = {name: None if column is None else column[rows] for name, column in columns.items()}
    return replace(judgments, **selected).select()


def medians(values: Floats, group: Rows | Codes, n: int) -> Floats:
    """(n,) median of each group 0 ... n - 1; nan for an empty group."""
    ordered = values[np.lexsort((values, group))]
    counts = np.bincount(group, minlength=n)
    begins = np.cumsum(counts) - counts
    used = np.flatnonzero(counts)
    middle = np.full(n, np.nan)
    low = (begins + (counts - 1) // 2)[used]
    high = (begins + counts // 2)[used]
    middle[used] = (ordered[low] + ordered[high]) / 2
    return middle


def and_more(count: int) -> str:
    """The end of a message that stands for several errors."""
    return f" (and {count - 1} more)" if count > 1 else ""


def _unit_column(judgments: Judgments) -> tuple[Codes, tuple[str, ...]]:
    if judgments.unit is None:
        raise ArgumentError(
            "judgments: there is no unit column; add one, or use by='assessor' if assessors judged a topic in one go"
        )
    missing = [i for i, name in enumerate(judgments.unit.tolist()) if name is None or name == "" or name != name]
    if missing:
        raise InputError(f"{judgments.describe(missing[0])}: the unit is missing{and_more(len(missing))}")
    return factorize(judgments.unit.tolist())

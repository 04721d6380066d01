"""The column of scales in a table of judgments: each assessor's own, in the notation of `qrowd.model.scales`.

An assessor whose cells are empty declares none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ScaleError
from qrowd.kernels.arrays import Floats
from qrowd.model.cells import NO_VALUE, Encoded, Mistakes, Rows, is_missing
from qrowd.model.encoding import Cells
from qrowd.model.labels import distinct_numbers
from qrowd.model.scales import Scale, parse_scale

Numbers = NDArray[np.int64]


def scale_column(assessor: NDArray[np.int32], scales: tuple[Scale, ...]) -> NDArray[np.object_]:
    """(n,) the declared scale of each row's assessor as text; None where it was inferred."""
    return np.array([str(scale) if scale.declared else None for scale in scales], object)[assessor]


def declared_scales(
    column: Cells, assessor: Encoded, value: Floats, rows: Rows, mistakes: Mistakes
) -> dict[str, Scale]:
    """{assessor: scale} of a column. A second scale of an assessor is a mistake, and so is a value that is not on it.

    rows : the number of each one's row.
    """
    scales, number = _distinct_scales(column, rows, mistakes)
    if not scales:
        return {}
    who, names = assessor
    if len(scales) == 1 and number.min() == 0:  # every row has it
        if scales[0].problem(value):
            _check_values(scales[0], np.arange(value.size), value, assessor, rows, mistakes)
        return dict.fromkeys(names, scales[0])
    of_row = number[column.codes]
    pairs = who * np.int64(len(scales)) + of_row
    pairs[of_row < 0] = len(names) * len(scales)
    declared: dict[str, Scale] = {}
    for pair in distinct_numbers(pairs, len(names) * len(scales) + 1)[0].tolist():
        a, k = divmod(pair, len(scales))
        if a < len(names) and declared.setdefault(names[a], scales[k]) is not scales[k]:
            _refuse_second(np.flatnonzero((who == a) & (of_row >= 0)), of_row, scales, names[a], rows, mistakes)
    for k, scale in enumerate(scales):
        _check_values(scale, np.flatnonzero(of_row == k), value, assessor, rows, mistakes)
    return declared


def _distinct_scales(column: Cells, rows: Rows, mistakes: Mistakes) -> tuple[list[Scale], Numbers]:
    """The scales in a column, and the number of each of its distinct cells: -1 where it is empty or no scale."""
    scales: list[Scale] = []
    number = np.full(len(column.distinct), -1)
    for place, cell in enumerate(column.distinct):
        if is_missing(cell) or str(cell).strip().lower() in NO_VALUE:
            continue
        try:
            scale = parse_scale(str(cell))
        except ScaleError as error:
            mistakes.add(int(rows[int((column.codes == place).argmax())]), str(error))
            continue
        if scale not in scales:
            scales.append(scale)
        number[place] = scales.index(scale)
    return scales, number


def _refuse_second(
    places: Numbers, of_row: Numbers, scales: list[Scale], name: str, rows: Rows, mistakes: Mistakes
) -> None:
    """Note the first row where an assessor's scale is another than before. places : of the rows that state one."""
    first = of_row[places[0]]
    second = int(places[np.flatnonzero(of_row[places] != first)[0]])
    problem = f"assessor {name} is on scale {scales[of_row[second]]} here and on {scales[first]} in an earlier row"
    mistakes.add(int(rows[second]), f"{problem}; give every assessor one scale, or two names")


def _check_values(
    scale: Scale, places: Numbers, value: Floats, assessor: Encoded, rows: Rows, mistakes: Mistakes
) -> None:
    """Note the first value that is not on the scale. places : of the rows that state it."""
    if scale.problem(value[places]) is None:
        return
    who, names = assessor
    for place in places.tolist():
        if problem := scale.problem(value[place : place + 1]):
            mistakes.add(int(rows[place]), f"assessor {names[who[place]]}: {problem} (scale {scale})")
            return

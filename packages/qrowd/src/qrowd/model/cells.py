"""Cells of a table become labels and numbers, or mistakes: one for each row that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, RowError
from qrowd.kernels.arrays import Codes, Floats
from qrowd.model.encoding import Cells, encoded
from qrowd.model.labels import factorize, first_of, number_in, plural, repeated_rows

Encoded = tuple[Codes, tuple[str, ...]]
"""The number of each row's label, and the labels in order of appearance."""
Rows = range | NDArray[np.int64]
"""The number of each row in its table, from 1."""
IncompleteRows = Literal["refuse", "drop"]
IdenticalRows = Literal["keep", "drop", "refuse"]
WordLabels = str | Sequence[object]
"""Word labels from the lowest to the highest: a sequence, or text such as `Irrelevant<Complement<Exact`."""

NO_VALUE = frozenset(("nan", "na", "n/a", "<na>", "null"))


@dataclass
class Mistakes:
    """The mistakes of a table, by row (from 1), and those of them that an option settles."""

    rows: list[tuple[int, str]] = field(default_factory=list)
    settled_by_option: list[str] = field(default_factory=list)

    def add(self, row: int, problem: str, *, option: bool = False) -> None:
        self.rows.append((row, problem))
        if option:
            self.settled_by_option.append(problem)

    def check(self) -> None:
        """Raise the first mistake, which knows the others and says what else an option settles."""
        if self.rows:
            (row, problem), *more = sorted(set(self.rows))
            also = [other for other in self.settled_by_option if other != problem]
            raise RowError(row, "; also ".join([problem, *also]), more=tuple(more))


def is_missing(cell: object) -> bool:
    """Whether a cell holds nothing: None, an empty text, or a number that is none (`nan`, pandas' NA and NaT)."""
    if isinstance(cell, str):
        return not cell.strip()
    is_nan = isinstance(cell, float | np.floating) and isnan(cell)
    return cell is None or is_nan or type(cell).__name__ in ("NAType", "NaTType")


def missing_cells(column: Cells | Floats, *, value: bool = False) -> NDArray[np.bool_] | None:
    """(n,) where a cell is missing, None where none is; a value is also missing where text says so (`NaN`, `null`)."""
    if not isinstance(column, Cells):
        missing = np.isnan(column)
        return missing if missing.any() else None
    cells = column.distinct
    kinds = set(map(type, cells))
    if kinds <= {int, bool} or (kinds == {str} and not value and all(map(str.strip, cells))):
        return None
    missing = np.fromiter(map(is_missing, cells), bool, len(cells))
    if value:
        missing |= np.array([isinstance(cell, str) and cell.strip().lower() in NO_VALUE for cell in cells], bool)
    return missing[column.codes] if missing.any() else None


def labels_in(column: Cells, name: str, rows: Rows, mistakes: Mistakes) -> Encoded:
    """Cells as labels: the number of each row's label, and the labels. Whole numbers become text, 1.0 as 1.

    rows : the number of each one's row.
    """
    cells = column.distinct
    labels: list[Any]
    if set(map(type, cells)) == {str}:
        labels = list(cells)
    elif set(map(type, cells)) == {int}:
        labels = list(map(str, cells))
    else:
        labels = [_label(cell) for cell in cells]
        wrong = np.array([label is None for label in labels], bool)
        for row, cell in column.rows_with(wrong):
            mistakes.add(int(rows[row]), f"{name} is {cell!r}; give labels as text or whole numbers")
    if len(set(labels)) == len(labels):
        return column.codes, tuple(labels)
    new, distinct = factorize(labels)
    return new[column.codes], distinct


def _label(cell: object) -> str | None:
    """A cell as a label; None where it may be written in several ways."""
    if isinstance(cell, bytes):
        return None
    if isinstance(cell, float | np.floating):
        whole = float(cell).is_integer() and abs(float(cell)) < 2**53
        return str(int(cell)) if whole else None
    return str(cell)


def numbers_in(column: Cells | Floats, name: str, rows: Rows, mistakes: Mistakes, *, required: bool = True) -> Floats:
    """Cells as doubles, nan where one may be missing."""
    if not isinstance(column, Cells):
        allowed = np.isfinite(column) if required else ~np.isinf(column)
        for row in np.flatnonzero(~allowed).tolist() if not allowed.all() else ():
            cell = float(column[row])
            mistakes.add(int(rows[row]), f"expected a finite number as {name}, found {cell!r}")
        return column
    cells = column.distinct
    numbers = _parsed(cells)
    wrong = ~np.isfinite(numbers)
    if wrong.any() and not required:
        wrong &= ~np.fromiter(map(is_missing, cells), bool, len(cells))
    for row, cell in column.rows_with(wrong):
        point = " (decimals stand after a point)" if isinstance(cell, str) and "," in cell else ""
        mistakes.add(int(rows[row]), f"expected a finite number as {name}, found {cell!r}{point}")
    return numbers[column.codes]


def _parsed(cells: Sequence[Any]) -> Floats:
    """(n,) cells as numbers, nan where one is none. Plain numbers in text are read without a look at each."""
    if set(map(type, cells)) == {str}:
        text = "".join(cells)
        if text.isascii() and "_" not in text:  # which Python reads as numbers, too
            try:
                return np.fromiter(map(float, cells), np.float64, len(cells))
            except ValueError:
                pass
    return np.array([nan if is_missing(cell) else number_in(cell) for cell in cells], np.float64)


# ---------------------------------------------------------------------- word labels


def ordered_labels(labels: WordLabels) -> tuple[str, ...]:
    """Word labels from the lowest to the highest.

    >>> ordered_labels("Irrelevant < Partially relevant < Relevant")
    ('Irrelevant', 'Partially relevant', 'Relevant')

    Raises
    ------
    ArgumentError
        Fewer than two words, or a word twice (letter case aside).
    """
    words = tuple(str(word).strip() for word in (labels.split("<") if isinstance(labels, str) else labels))
    text = "<".join(words)
    if len(words) < 2 or not all(words):
        raise ArgumentError("two words or more were expected, from the lowest, as in 'low<high'", "labels", text)
    if len({word.casefold() for word in words}) < len(words):
        raise ArgumentError("a word stands twice", "labels", text)
    return words


def grades_in(column: Cells | Floats, order: tuple[str, ...] | None, rows: Rows, mistakes: Mistakes) -> Floats | None:
    """The grades 0, 1, ... of word labels, None where the cells are numbers. order : the words, lowest first, if known.

    Words without an order are a mistake that lists them; so is a word outside the order.
    """
    if not isinstance(column, Cells) or (order is None and str not in set(map(type, column.distinct))):
        return None
    texts = [cell.strip() if isinstance(cell, str) else str(cell) for cell in column.distinct]
    distinct = dict.fromkeys(texts)
    words = [word for word in distinct if isnan(number_in(word)) and any(map(str.isalpha, word))]
    if order is None:
        if len(words) < len(distinct) or not words:
            return None  # numbers, or numbers and what is not among them
        listed = first_of(words, 12)
        like = "<".join(words[:12]) if len(words) > 1 else f"low<{words[0]}"
        mistakes.add(
            int(rows[0]),
            f"values are words ({listed}), not numbers; give their order from the lowest to the highest, as in "
            f"labels={like!r} (which is the order in the file, to be corrected)",
            option=True,
        )
        return np.zeros(len(column))
    grade_of = {word.casefold(): grade for grade, word in enumerate(order)}
    if not words and not grade_of.keys() >= {text.casefold() for text in distinct}:
        return None
    grades = np.array([grade_of.get(text.casefold(), -1) for text in texts], np.float64)
    for row, cell in column.rows_with(grades < 0):
        word = cell.strip() if isinstance(cell, str) else str(cell)
        mistakes.add(int(rows[row]), f"value {word!r} is not among the labels {'<'.join(order)}")
    return grades[column.codes]


# ---------------------------------------------------------------------- rows


def complete_rows(
    columns: Mapping[str, Cells | Floats], incomplete: IncompleteRows, mistakes: Mistakes
) -> tuple[NDArray[np.int64] | None, list[str]]:
    """Numbers (from 0) of the rows that have all cells, None where all do, and a note about the others."""
    by_name = {name: missing_cells(column, value=name == "value") for name, column in columns.items()}
    missing = {name: rows for name, rows in by_name.items() if rows is not None}
    if not missing:
        return None, []
    some = np.logical_or.reduce(list(missing.values()))
    n = int(some.sum())
    if incomplete == "refuse":
        hint = f" ({plural(n, 'such row')}); incomplete_rows='drop' leaves rows with a missing cell out"
        for row in np.flatnonzero(some).tolist():
            name = next(name for name in missing if missing[name][row])
            mistakes.add(row + 1, f"{name} is missing{hint}", option=bool(hint))
            hint = ""
    if n == some.size and incomplete == "drop":
        raise ArgumentError(f"no row is complete: {next(iter(missing))} is missing")
    were = "was" if n == 1 else "were"
    return np.flatnonzero(~some), [f"{plural(n, 'row')} with a missing cell ({', '.join(missing)}) {were} left out"]


def distinct_rows(
    labels: Sequence[Encoded], others: Sequence[NDArray[Any]], identical: IdenticalRows, rows: Rows
) -> tuple[NDArray[np.int64] | None, list[str]]:
    """Places of the rows that stay, None where all do, and a note, where rows repeat an earlier one in all columns.

    labels : three columns; rows : the number of each row in its table, for messages. Only rows that agree in the labels
    are compared in the other columns.
    """
    (one, _), (two, in_two), (three, in_three) = labels
    alike = np.sort(repeated_rows(one, two, three, len(in_two), len(in_three))[0])
    if not alike.size:
        return None, []
    group = np.zeros(alike.size, np.int64)
    for column in (one, two, three, *others):
        number = _equal_cells(column[alike])
        _, group = np.unique(group * (int(number.max()) + 1) + number, return_inverse=True)
    _, firsts, group = np.unique(group, return_index=True, return_inverse=True)
    earlier = firsts[group]
    again = np.flatnonzero(earlier != np.arange(alike.size))
    if not again.size:
        return None, []
    many = f"{plural(again.size, 'row')} {'is' if again.size == 1 else 'are'} identical to an earlier row"
    if identical == "refuse":
        raise RowError(
            int(rows[alike[again[0]]]),
            f"this row is identical to row {int(rows[alike[earlier[again[0]]]])} ({many}); identical_rows='drop' reads "
            "each once, 'keep' counts repeated judgments",
        )
    if identical == "drop":
        were = "was" if again.size == 1 else "were"
        stays = np.ones(one.size, bool)
        stays[alike[again]] = False
        return np.flatnonzero(stays), [f"{many} and {were} left out"]
    count = "counts as a repeated judgment" if again.size == 1 else "count as repeated judgments"
    return None, [f"{many} and {count}; if a join or a copy made them, use identical_rows='drop'"]


def _equal_cells(column: NDArray[Any]) -> NDArray[np.int64]:
    """(n,) one number for each distinct cell; all missing cells are one."""
    if column.dtype == object:
        cells = encoded(column.tolist())
        missing = missing_cells(Cells(np.arange(len(cells.distinct), dtype=np.int32), cells.distinct))
        column = cells.codes if missing is None else np.where(missing, -1, np.arange(missing.size))[cells.codes]
    return np.unique(column, return_inverse=True)[1]

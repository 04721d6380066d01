"""Cells of a table become labels and numbers, or mistakes: one for each row that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan, nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, RowError
from qrowd.model.labels import first_of, number_in, plural

Cells = list[Any]  # a column; None where a cell is missing
IncompleteRows = Literal["refuse", "drop"]
IdenticalRows = Literal["keep", "drop", "refuse"]
WordLabels = str | Sequence[object]
"""Word labels from the lowest to the highest: a sequence, or text such as `Irrelevant<Complement<Exact`."""

NO_VALUE = frozenset(("nan", "na", "n/a", "<na>", "null"))
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
WHOLE = re.compile(r"-?\d+\.0")


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
    """Whether a cell holds nothing: None, an empty text, or a float that is no number."""
    return cell is None or (isinstance(cell, str) and not cell.strip()) or (isinstance(cell, float) and isnan(cell))


def missing_cells(cells: Cells, *, value: bool = False) -> NDArray[np.bool_]:
    """(n,) where a cell is missing; a value is also missing where the text says so (`NaN`, `null`)."""
    kinds = set(map(type, cells))
    if kinds <= {int, bool} or (kinds == {str} and not value and all(map(str.strip, set(cells)))):
        return np.zeros(len(cells), bool)
    missing = np.fromiter(map(is_missing, cells), bool, len(cells))
    if value and str in kinds:
        missing |= np.fromiter((isinstance(c, str) and c.strip().lower() in NO_VALUE for c in cells), bool, len(cells))
    return missing


def labels_in(cells: Cells, name: str, rows: Sequence[int], mistakes: Mistakes, notes: list[str]) -> list[str]:
    """Cells as labels; rows : the number of each one's row. Whole numbers become text, 1.0 as 1.

    A column of text in which every label ends in ".0" was written by a program that had missing cells among its
    numbers: it holds whole numbers.
    """
    kinds = set(map(type, cells))
    if kinds == {str}:
        if cells[0].endswith(".0") and all(map(WHOLE.fullmatch, cells)):
            notes.append(f"{name}: whole numbers written as {cells[0]} are read as {cells[0][:-2]}")
            return [cell[:-2] for cell in cells]
        return cells
    labels = []
    for row, cell in zip(rows, cells, strict=True):
        label = cell if isinstance(cell, str) else str(cell)
        if isinstance(cell, float | np.floating):
            if float(cell).is_integer() and abs(float(cell)) < 2**53:
                label = str(int(cell))
            else:
                mistakes.add(row, f"{name} is {cell!r}; give labels as text or whole numbers")
        elif isinstance(cell, bytes):
            mistakes.add(row, f"{name} is {cell!r}; give labels as text or whole numbers")
        labels.append(label)
    return labels


def numbers_in(
    cells: Cells, name: str, rows: Sequence[int], mistakes: Mistakes, *, required: bool = True
) -> NDArray[np.float64]:
    """Cells as doubles, nan where one may be missing; a comma may separate the decimals of a whole column."""
    cells = with_points(cells, name, rows, mistakes)
    numbers = np.empty(len(cells))
    for i, cell in enumerate(cells):
        missing = is_missing(cell)
        numbers[i] = nan if missing else number_in(cell)
        if not isfinite(numbers[i]) and (required or not missing):
            mistakes.add(rows[i], f"expected a finite number as {name}, found {cell!r}")
    return numbers


def with_points(cells: Cells, name: str, rows: Sequence[int], mistakes: Mistakes) -> Cells:
    """Cells in which a decimal point stands for the decimal comma.

    A comma that may as well separate thousands (1,234) and a column with both commas and points are mistakes.
    """
    places = [i for i, cell in enumerate(cells) if isinstance(cell, str) and DECIMAL_COMMA.fullmatch(cell.strip())]
    if not places:
        return cells
    points = next((i for i, cell in enumerate(cells) if isinstance(cell, str) and "." in cell), None)
    thousands = all(THOUSANDS.fullmatch(cells[i].strip()) for i in places)
    if points is not None or thousands:
        first = places[0]
        also = "thousands or decimals" if thousands else f"decimals here and a point does in {cells[points or 0]!r}"
        mistakes.add(
            rows[first], f"{name} is {cells[first]!r}: a comma may separate {also}; write numbers with a decimal point"
        )
    with_comma = set(places)
    return [cell.replace(",", ".") if i in with_comma else cell for i, cell in enumerate(cells)]


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
        raise ArgumentError(f"labels={text!r}: two words or more were expected, from the lowest, as in 'low<high'")
    if len({word.casefold() for word in words}) < len(words):
        raise ArgumentError(f"labels={text!r}: a word stands twice")
    return words


def grades_in(
    cells: Cells, order: tuple[str, ...] | None, rows: Sequence[int], mistakes: Mistakes
) -> NDArray[np.float64] | None:
    """The grades 0, 1, ... of word labels, None where the cells are numbers. order : the words, lowest first, if known.

    Words without an order are a mistake that lists them; so is a word outside the order.
    """
    if order is None and str not in set(map(type, cells)):
        return None
    texts = [cell.strip() if isinstance(cell, str) else str(cell) for cell in cells]
    distinct = dict.fromkeys(texts)
    words = [word for word in distinct if isnan(number_in(word)) and any(map(str.isalpha, word))]
    if order is None:
        if len(words) < len(distinct) or not words:
            return None  # numbers, or numbers and what is not among them
        listed = first_of(words, 12)
        like = "<".join(words[:12]) if len(words) > 1 else f"low<{words[0]}"
        mistakes.add(
            rows[next(i for i, text in enumerate(texts) if text in words)],
            f"values are words ({listed}), not numbers; give their order from the lowest to the highest, as in "
            f"labels={like!r} (which is the order in the file, to be corrected)",
            option=True,
        )
        return np.zeros(len(cells))
    grade_of = {word.casefold(): grade for grade, word in enumerate(order)}
    if not words and not grade_of.keys() >= {text.casefold() for text in distinct}:
        return None
    grades = np.array([grade_of.get(text.casefold(), -1) for text in texts], np.float64)
    for i in np.flatnonzero(grades < 0).tolist():
        mistakes.add(rows[i], f"value {texts[i]!r} is not among the labels {'<'.join(order)}")
    return grades


# ---------------------------------------------------------------------- rows


def complete_rows(
    cells_of: Mapping[str, Cells], required: Sequence[str], incomplete: IncompleteRows, mistakes: Mistakes
) -> tuple[NDArray[np.int64], list[str]]:
    """Numbers (from 0) of the rows that have all required cells, and a note about the others."""
    missing = {name: missing_cells(cells_of[name], value=name == "value") for name in required}
    some = np.logical_or.reduce(list(missing.values()))
    n = int(some.sum())
    if incomplete == "refuse":
        hint = f" ({plural(n, 'such row')}); incomplete_rows='drop' leaves rows with a missing cell out"
        for row in np.flatnonzero(some).tolist():
            name = next(name for name in required if missing[name][row])
            mistakes.add(row + 1, f"{name} is missing{hint}", option=bool(hint))
            hint = ""
    if n == some.size and incomplete == "drop":
        raise ArgumentError(f"no row is complete: {next(name for name in required if missing[name].any())} is missing")
    what = ", ".join(name for name in required if missing[name].any())
    were = "was" if n == 1 else "were"
    return np.flatnonzero(~some), [f"{plural(n, 'row')} with a missing cell ({what}) {were} left out"] if n else []


def distinct_rows(
    columns: Sequence[Sequence[object] | NDArray[Any]], identical: IdenticalRows, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[str]]:
    """Places of the rows that stay, and a note, where rows repeat an earlier one in all columns.

    rows : the number (from 0) of each row in its table, for messages.
    """
    n = len(rows)
    first: dict[tuple[object, ...], int] = {}
    lists = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns]
    plain = [
        column if set(map(type, column)) <= {str, int} else [None if is_missing(cell) else cell for cell in column]
        for column in lists
    ]
    firsts = [first.setdefault(row, i) for i, row in enumerate(zip(*plain, strict=True))]
    again = [i for i, earlier in enumerate(firsts) if earlier != i]
    if not again:
        return np.arange(n), []
    many = f"{plural(len(again), 'row')} {'is' if len(again) == 1 else 'are'} identical to an earlier row"
    if identical == "refuse":
        of = int(rows[firsts[again[0]]]) + 1
        raise RowError(
            int(rows[again[0]]) + 1,
            f"this row is identical to row {of} ({many}); identical_rows='drop' reads each once, 'keep' counts "
            "repeated judgments",
        )
    if identical == "drop":
        were = "was" if len(again) == 1 else "were"
        return np.array(sorted(first.values()), np.int64), [f"{many} and {were} left out"]
    count = "counts as a repeated judgment" if len(again) == 1 else "count as repeated judgments"
    return np.arange(n), [f"{many} and {count}; if a join or a copy made them, use identical_rows='drop'"]

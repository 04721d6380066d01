"""Tables become columns of the model: any data frame that narwhals knows, and plain {column: cells}."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, check_choice
from qrowd.model.cells import (
    Cells,
    IdenticalRows,
    IncompleteRows,
    Mistakes,
    WordLabels,
    complete_rows,
    distinct_rows,
    grades_in,
    is_missing,
    labels_in,
    numbers_in,
    ordered_labels,
)
from qrowd.model.headers import (
    DOCUMENT,
    JUDGMENT_COLUMNS,
    PREFERENCE_COLUMNS,
    RUN_COLUMNS,
    TOPIC,
    Names,
    header_key,
    roles_of,
)
from qrowd.model.labels import number_in
from qrowd.model.scales import BINARY, Scale
from qrowd.model.tabular import as_frame

if TYPE_CHECKING:
    from qrowd.model.tabular import Frame as Frame


@dataclass(frozen=True)
class TableOptions:
    """How a table is read.

    columns : {role: header}, such as {"assessor": "rated by"}; other columns are found by their usual names.
    labels : word labels from the lowest to the highest; ordered categories bring theirs.
    incomplete_rows : rows with a missing cell are refused, or left out.
    identical_rows : rows that repeat an earlier one in every column that is read are kept as repeated judgments, left
        out, or refused.
    """

    columns: Names | None = None
    labels: WordLabels | None = None
    incomplete_rows: IncompleteRows = "refuse"
    identical_rows: IdenticalRows = "keep"

    def __post_init__(self) -> None:
        check_choice("incomplete_rows", self.incomplete_rows, IncompleteRows)
        check_choice("identical_rows", self.identical_rows, IdenticalRows)
        if self.labels is not None:
            object.__setattr__(self, "labels", ordered_labels(self.labels))


@dataclass(frozen=True)
class Columns:
    """The content of a table: label columns, number columns, optional columns, and notes about the reading.

    rows : the number of each row in the table, from 1; scale : that of word labels.
    """

    labels: dict[str, list[str]]
    numbers: dict[str, NDArray[np.float64]]
    rows: list[int]
    optional: dict[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    scale: Scale | None = None

    def scales(self, scales: Mapping[str, Scale | str] | None) -> Mapping[str, Scale | str]:
        """The declared scales, and that of word labels for every other assessor."""
        of_words: dict[str, Scale | str] = {} if self.scale is None else {"*": self.scale}
        return {**(scales or {}), **{name: scale for name, scale in of_words.items() if name not in (scales or {})}}


def judgment_columns(frame: Frame, options: TableOptions, assessor: str | None) -> Columns:
    """The columns of judgments; `assessor` stands in for a missing assessor column."""
    table = _Table.of(frame, JUDGMENT_COLUMNS, options, ("assessor", assessor))
    table.need("topic", "document", "value", "assessor")
    order = table.order_of("value") if options.labels is None else tuple(map(str, options.labels))
    read = table.complete("topic", "document", "assessor", "value")
    labels = {name: read.labels(name) for name in ("topic", "document", "assessor")}
    grades = grades_in(read.cells_of["value"], order, read.rows, read.mistakes)
    scale = None
    if grades is not None and order is not None:
        scale = BINARY if len(order) == 2 else Scale("graded", float(len(order) - 1))
        words = ", ".join(f"{word} = {grade}" for grade, word in enumerate(order))
        read.notes.append(f"labels are read as grades: {words}")
    value = read.numbers("value") if grades is None else grades
    optional: dict[str, NDArray[Any]] = {
        name: read.numbers(name, required=False) for name in ("order", "seconds") if name in read.cells_of
    }
    optional |= {name: read.objects(name) for name in ("unit", "time", "comment") if name in read.cells_of}
    read.mistakes.check()
    columns = Columns(labels, {"value": value}, read.rows, optional, tuple(read.notes), scale)
    # Judgments of nobody in particular may well agree; those of one assessor may be one judgment, copied.
    return columns if "assessor" not in table.role_of else read.distinct(columns, options.identical_rows)


@dataclass(frozen=True)
class PreferenceColumns:
    """The content of a table of preferences: labels, None where a cell may be missing, and optional columns.

    marks : rows that mark `other` as Bad; of those only topic, other, assessor and group are looked at.
    """

    labels: dict[str, list[Any]]
    marks: NDArray[np.bool_]
    rows: list[int]
    optional: dict[str, NDArray[Any]]
    notes: tuple[str, ...] = ()


def preference_columns(frame: Frame, options: TableOptions, assessor: str | None) -> PreferenceColumns:
    """The columns of preferences: preferred and other, or the two documents a and b and which of them is preferred.

    A row without a preferred document marks the other one as Bad.
    """
    table = _Table.of(frame, PREFERENCE_COLUMNS, options, ("assessor", assessor))
    table.need("topic", "preferred", "assessor")
    labels: dict[str, list[Any]]
    optional: dict[str, NDArray[Any]] = {}
    if {"a", "b"} <= table.role_of.keys() and "other" not in table.role_of:
        read = table.complete("topic", "assessor", "preferred", "a", "b")
        labels = {name: read.labels(name) for name in ("topic", "assessor", "preferred")}
        pairs = list(zip(labels["preferred"], read.labels("a"), read.labels("b"), strict=True))
        for row, (winner, one, two) in zip(read.rows, pairs, strict=True):
            if winner not in (one, two):
                read.mistakes.add(row, f"the preferred document {winner!r} is neither {one!r} nor {two!r}")
        labels["other"] = [two if winner == one else one for winner, one, two in pairs]
        optional["first"] = np.array([winner == one for winner, one, _ in pairs], np.float64)
    elif "other" in table.role_of:
        read = table.complete("topic", "assessor", "other")
        labels = {name: read.labels(name) for name in ("topic", "assessor", "other")}
        labels["preferred"] = [
            None if is_missing(cell) else labels_in([cell], "preferred", [row], read.mistakes, [])[0]
            for cell, row in zip(read.cells_of["preferred"], read.rows, strict=True)
        ]
    else:
        raise ArgumentError(
            f"no other column (one of {', '.join(PREFERENCE_COLUMNS['other'])}), nor the two documents as a and b; "
            "name them with columns={'other': 'HEADER'}"
        )
    for name in ("strength", "weight", "first", "order", "seconds"):
        if name in read.cells_of and name not in optional:
            optional[name] = read.numbers(name, required=False)
    optional |= {name: read.objects(name) for name in ("group", "time") if name in read.cells_of}
    read.mistakes.check()
    marks = np.array([preferred is None for preferred in labels["preferred"]], bool)
    return PreferenceColumns(labels, marks, read.rows, optional, tuple(read.notes))


def run_columns(frame: Frame, options: TableOptions, system: str | None) -> Columns:
    """The columns of runs; `system` stands in for a missing system column, and the rank for a missing score."""
    table = _Table.of(frame, RUN_COLUMNS, options, ("system", system))
    order = "rank" if "score" not in table.role_of and "rank" in table.role_of else "score"
    table.need("topic", "document", order, "system")
    read = table.complete("topic", "document", "system", order)
    labels = {name: read.labels(name) for name in ("topic", "document", "system")}
    if order == "rank":
        rank = read.numbers("rank")
        numbers = {"score": -rank, "rank": rank}
        read.notes.append("there is no score column, so the rank gives the order")
    else:
        numbers = {"score": read.numbers("score")}
        if "rank" in read.cells_of:
            numbers["rank"] = read.numbers("rank", required=False)
    read.mistakes.check()
    columns = Columns(labels, numbers, read.rows, notes=tuple(read.notes))
    return columns if options.identical_rows == "keep" else read.distinct(columns, options.identical_rows)


def label_columns(frame: Frame, *names: str) -> list[list[str]]:
    """The labels in the columns of these names; the topic and the document may have any of their usual names."""
    usual = {name: {"topic": TOPIC, "document": DOCUMENT}.get(name, (name,)) for name in names}
    table = _Table.of(frame, usual, TableOptions(), (names[0], None))
    table.need(*names)
    read = table.complete(*names)
    labels = [read.labels(name) for name in names]
    read.mistakes.check()
    return labels


def roles_in(headers: Sequence[str], usual_names: Mapping[str, tuple[str, ...]], columns: Names) -> dict[str, str]:
    """{role: header} of a table; crowd-kit knows no topics, so its tasks are the documents of a single one."""
    role_of = roles_of(headers, usual_names, columns)
    task = next((header for header in headers if header_key(header) == "task"), None)
    if task is not None and "document" in usual_names:
        role_of.setdefault("document", task)
    return role_of


def make_frame(columns: Mapping[str, NDArray[Any]], backend: str) -> Any:
    """A data frame of the named library: "pandas", "polars" or "pyarrow"."""
    import narwhals as nw

    plain = {name: column.tolist() if column.dtype == object else column for name, column in columns.items()}
    try:
        return nw.from_dict(plain, backend=backend).to_native()  # type: ignore[arg-type]
    except ModuleNotFoundError as error:
        raise ArgumentError(f"backend={backend!r} is not installed here: {error}") from None
    except ValueError:
        raise ArgumentError(f"backend={backend!r}: choose pandas, polars or pyarrow") from None


# ---------------------------------------------------------------------- reading a table


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of a table that are read.

    cells_of : {role: cells}; rows : the number of each row in the table, from 1.
    """

    cells_of: dict[str, Cells]
    rows: list[int]
    mistakes: Mistakes
    notes: list[str]

    def labels(self, name: str) -> list[str]:
        return labels_in(self.cells_of[name], name, self.rows, self.mistakes, self.notes)

    def numbers(self, name: str, *, required: bool = True) -> NDArray[np.float64]:
        return numbers_in(self.cells_of[name], name, self.rows, self.mistakes, required=required)

    def objects(self, name: str) -> NDArray[np.object_]:
        return np.fromiter(self.cells_of[name], object, len(self.rows))

    def distinct(self, columns: Columns, identical: IdenticalRows) -> Columns:
        """The columns with identical rows treated as asked."""
        everything: list[Any] = [*columns.labels.values(), *columns.numbers.values(), *columns.optional.values()]
        places, notes = distinct_rows(everything, identical, np.array(self.rows) - 1)
        noted = replace(columns, notes=(*columns.notes, *notes))
        if len(places) == len(self.rows):
            return noted
        return replace(
            noted,
            labels={name: [labels[i] for i in places] for name, labels in columns.labels.items()},
            numbers={name: column[places] for name, column in columns.numbers.items()},
            rows=[self.rows[i] for i in places],
            optional={name: column[places] for name, column in columns.optional.items()},
        )


@dataclass(frozen=True, eq=False)
class _Table:
    """A table whose columns have roles.

    role_of : {role: header}; stand_in : (role, label) of a column that may be missing if every row has one label.
    """

    headers: list[str]
    role_of: dict[str, str]
    cells: Callable[[str], Cells]
    order: Callable[[str], tuple[str, ...] | None]
    options: TableOptions
    stand_in: tuple[str, str | None]
    usual_names: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(
        cls,
        frame: Frame,
        usual_names: Mapping[str, tuple[str, ...]],
        options: TableOptions,
        stand_in: tuple[str, str | None],
    ) -> _Table:
        headers, cells, order = _opened(frame)
        role_of = roles_in(headers, usual_names, options.columns or {})
        return cls(headers, role_of, cells, order, options, stand_in, usual_names)

    def need(self, *roles: str) -> None:
        """Refuse a table without a column of each role, naming all that are missing."""
        who, label = self.stand_in
        missing = [
            role
            for role in roles
            if role not in self.role_of and not (role == who and label is not None)
            if role != "topic" or not self._is_tasks
        ]
        if not missing:
            return
        wanted = " and no ".join(f"{role} column (one of {', '.join(self.usual_names[role])})" for role in missing)
        arguments = " ".join(f"columns={{{role!r}: 'HEADER'}}" for role in missing)
        raise ArgumentError(
            f"no {wanted} among {', '.join(self.headers)}; rename {'one' if len(missing) == 1 else 'them'}, or say "
            f"which {'it is' if len(missing) == 1 else 'they are'} with {arguments}"
            + (", or columns={'rank': 'HEADER'}" if "score" in missing and "rank" in self.usual_names else "")
        )

    @property
    def _is_tasks(self) -> bool:
        return header_key(self.role_of.get("document", "")) == "task"

    def order_of(self, role: str) -> tuple[str, ...] | None:
        """The categories of a column from the lowest, where they are words in an order."""
        return self.order(self.role_of[role])

    def complete(self, *required: str) -> _Rows:
        """The rows with a cell in each of these columns."""
        cells_of = {role: self.cells(header) for role, header in self.role_of.items()}
        n = len(next(iter(cells_of.values())))
        if n == 0:
            raise ArgumentError("the table names columns but holds no row")
        if "topic" not in cells_of and self._is_tasks:
            cells_of["topic"] = ["tasks"] * n
        who, label = self.stand_in
        if who not in cells_of and label is not None:
            cells_of[who] = [label] * n
        mistakes = Mistakes()
        places, notes = complete_rows(cells_of, required, self.options.incomplete_rows, mistakes)
        if len(places) < n:
            cells_of = {role: [cells[i] for i in places] for role, cells in cells_of.items()}
        if not len(places):
            mistakes.check()
        return _Rows(cells_of, (places + 1).tolist(), mistakes, notes)


def _opened(frame: Frame) -> tuple[list[str], Callable[[str], Cells], Callable[[str], tuple[str, ...] | None]]:
    """The headers of a frame, the cells of a column, and the words of one of ordered categories."""
    frame = as_frame(frame)
    if isinstance(frame, Mapping):
        plain = frame
        return list(plain), lambda name: list(plain[name]), lambda name: None
    import narwhals as nw

    opened = nw.from_native(frame, eager_only=True)

    def cells(name: str) -> Cells:
        column = opened[name]
        missing = column.is_null()
        return [None if m else cell for cell, m in zip(column.to_list(), missing.to_list(), strict=True)]

    def order(name: str) -> tuple[str, ...] | None:
        dtype, native = opened[name].dtype, opened[name].to_native()
        if isinstance(dtype, nw.Enum):
            words = tuple(map(str, dtype.categories))
        elif len(native) and getattr(getattr(native, "type", None), "ordered", False):  # a dictionary of Arrow
            words = tuple(map(str, native.unify_dictionaries().chunk(0).dictionary.to_pylist()))
        else:
            return None
        return None if len(words) < 2 or all(isfinite(number_in(word)) for word in words) else words

    return list(opened.columns), cells, order

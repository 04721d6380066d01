"""Tables become columns of the model: any data frame that narwhals knows, and plain {column: cells}."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, RowError, ScaleError, check_choice
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.cells import (
    NO_VALUE,
    Cells,
    Column,
    Encoded,
    IdenticalRows,
    IncompleteRows,
    Mistakes,
    Rows,
    WordLabels,
    columns_of,
    complete_rows,
    constant,
    grades_in,
    is_missing,
    label_cells,
    labels_in,
    missing_cells,
    number_cells,
    numbers_in,
    objects,
    ordered_categories,
    ordered_labels,
)
from qrowd.model.headers import (
    ANSWER_COLUMNS,
    JUDGMENT_COLUMNS,
    PREFERENCE_COLUMNS,
    RUN_COLUMNS,
    Names,
    kind_of,
    refuse_other_kind,
    roles_of,
    verdict_of,
)
from qrowd.model.labels import described, distinct_pairs, merge_codes, number_in, plural
from qrowd.model.scales import BINARY, Scale, parse_scale

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

    Frame: TypeAlias = IntoDataFrame | Mapping[str, Sequence[object]]


class HowRead(str):
    """How something was read of which nothing is left out; commands print other notes, `qrowd check` these, too."""

    __slots__ = ()


@dataclass(frozen=True)
class TableOptions:
    """How a table is read.

    columns : {role: header}, such as {"assessor": "rated by"}; other columns are found by their usual names.
    labels : word labels from the lowest to the highest; ordered categories bring theirs.
    incomplete_rows : rows with a missing cell are refused, or left out.
    identical_rows : judgments that repeat an earlier row in every column that is read are kept as repeated judgments,
        or left out.
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

    rows : the number of each row in the table, from 1; scale : that of word labels; declared : {assessor: scale} of a
    column of scales; has_assessors : whether the table has a column of them.
    """

    labels: dict[str, Encoded]
    numbers: dict[str, Floats]
    rows: Rows
    optional: dict[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    scale: Scale | None = None
    declared: Mapping[str, Scale] = field(default_factory=dict)
    has_assessors: bool = True
    clusters: Mapping[str, str] | None = None

    def scales(self, scales: Mapping[str, Scale | str] | None) -> Mapping[str, Scale | str]:
        """The declared scales by name or pattern, first those of `scales`, last that of word labels for the others."""
        of_words: dict[str, Scale | str] = {} if self.scale is None else {"*": self.scale}
        first = dict(scales or {})
        return first | {name: scale for name, scale in {**self.declared, **of_words}.items() if name not in first}


def judgment_columns(frame: Frame, options: TableOptions, assessor: str | None) -> Columns:
    """The columns of judgments; `assessor` stands in for a missing assessor column."""
    table = _Table.of(frame, JUDGMENT_COLUMNS, options, ("assessor", assessor))
    parts = table.parts
    if kind_of(list(table.columns)) == "preferences" and not {"document", "value"} & table.role_of.keys():
        raise ArgumentError("holds preferences, no judgments; qrowd check says what can be asked of them")
    table.need("topic", *(parts or ("document",)), "value", "assessor")
    order = table.order_of("value") if options.labels is None else tuple(map(str, options.labels))
    numbers = ("order", "seconds") if order is not None else ("value", "order", "seconds")
    read = table.complete("topic", *(parts or ("document",)), "assessor", "value", numbers=numbers)
    labels = {"topic": read.labels("topic"), "document": read.joined(parts or ("document",))}
    labels["assessor"] = read.labels("assessor")
    grades = grades_in(read.columns["value"], order, read.rows, read.mistakes)
    scale = None
    if grades is not None and order is not None:
        scale = BINARY if len(order) == 2 else Scale("graded", float(len(order) - 1))
        words = ", ".join(f"{word} = {grade}" for grade, word in enumerate(order))
        read.notes.append(HowRead(f"labels are read as grades: {words}"))
    value = read.numbers("value") if grades is None else grades
    optional: dict[str, NDArray[Any]] = {
        name: read.numbers(name, required=False) for name in ("order", "seconds") if name in read.columns
    }
    optional |= {name: read.objects[name] for name in ("unit", "time", "comment") if name in read.objects}
    if parts:
        codes, names = read.labels("criterion") if "criterion" in parts else (np.zeros(len(read.rows), np.int32), ("",))
        optional["criterion"] = np.array(names, object)[codes]
        highest = np.zeros(len(names))
        np.maximum.at(highest, codes, value)
        above = highest[highest > 0]
        if above.size and above.max() > 2 * above.min():
            ends = f"the highest values of criteria are from {above.min():g} to {above.max():g}"
            name = names[int(highest.argmax())]
            read.notes.append(f"{ends}, so that Mean is mostly of {name}; name the criterion: Mean(criterion={name})")
    declared: dict[str, Scale] = {}
    if "scale" in read.columns:
        column: Any = read.columns["scale"]
        declared = _declared_scales(column, labels["assessor"], value, read.rows, read.mistakes)
    clusters = _clusters(labels["topic"], read) if "cluster" in read.columns else None
    read.mistakes.check()
    of_assessors = declared, "assessor" in table.role_of
    return Columns(labels, {"value": value}, read.rows, optional, tuple(read.notes), scale, *of_assessors, clusters)


def _clusters(topic: Encoded, read: _Rows) -> dict[str, str]:
    """{topic: cluster} of a column of clusters; a second cluster of a topic is a mistake."""
    cluster = read.labels("cluster")
    clusters: dict[str, str] = {}
    for row, t, c in zip(read.rows, topic[0].tolist(), cluster[0].tolist(), strict=True):
        name, other = topic[1][t], cluster[1][c]
        if (first := clusters.setdefault(name, other)) != other:
            read.mistakes.add(int(row), f"topic {name} is in cluster {other} here and in {first} in an earlier row")
    return clusters


def _declared_scales(
    column: Cells, assessor: Encoded, value: Floats, rows: Rows, mistakes: Mistakes
) -> dict[str, Scale]:
    """{assessor: scale} of a column of scales, in the notation of `qrowd.model.scales`; empty cells declare none.

    A second scale of an assessor is a mistake, and so is a value that is not on the scale.
    """
    who, names = assessor
    number = np.full(len(column.distinct), -1)
    scales: list[Scale] = []
    for place, cell in enumerate(column.distinct):
        if is_missing(cell) or str(cell).strip().lower() in NO_VALUE:
            continue
        try:
            scale = parse_scale(str(cell))
        except ScaleError as error:
            mistakes.add(int(rows[int((column.codes == place).argmax())]), str(error))
            continue
        scales += [] if scale in scales else [scale]
        number[place] = scales.index(scale)
    of_row = number[column.codes]
    stated = np.flatnonzero(of_row >= 0)
    pairs, pair = distinct_pairs(who[stated], of_row[stated], len(scales))
    declared: dict[str, Scale] = {}
    for i, each in enumerate(pairs.tolist()):
        name = names[each // len(scales)]
        scale = scales[each % len(scales)]
        places = stated[pair == i] if len(scales) > 1 or scale.problem(value) else stated[:0]
        first = declared.setdefault(name, scale)
        if first is not scale:
            problem = f"assessor {name} is on scale {scale} here and on {first} in an earlier row"
            mistakes.add(int(rows[int(places[0])]), f"{problem}; give every assessor one scale, or two names")
        wrong = next((place for place in places.tolist() if scale.problem(value[place : place + 1])), None)
        if wrong is not None:
            not_on_it = scale.problem(value[wrong : wrong + 1])
            mistakes.add(int(rows[wrong]), f"assessor {name}: {not_on_it} (scale {scale})")
    return declared


def preference_columns(frame: Frame, options: TableOptions, assessor: str | None) -> Columns:
    """The columns of preferences: preferred and other, or the two documents a and b and which of them is preferred.

    The labels of preferred and other are those of one vocabulary. A row without a preferred document marks the other
    one as Bad: its number is -1. Of a and b, the preferred one is named, or said in a word (`VERDICTS`): a tie becomes
    half a preference each way, "both bad" that and two marks. Without a topic, each row of a and b is a topic.
    """
    table = _Table.of(frame, PREFERENCE_COLUMNS, options, ("assessor", assessor))
    shown = {"a", "b"} <= table.role_of.keys() and "other" not in table.role_of
    as_numbers = ("strength", "weight", "first", "order", "seconds")
    if not shown and "other" not in table.role_of:
        raise ArgumentError(
            f"no other column (one of {', '.join(PREFERENCE_COLUMNS['other'])}), nor the two documents as a and b; "
            "name the column by --column, where it is an option: other=HEADER"
        )
    if shown and "topic" not in table.role_of:
        table.need("preferred")
        numbered = list(range(1, 1 + len(next(iter(table.columns.values())))))
        table = replace(table, columns={**table.columns, "": numbered}, role_of={**table.role_of, "topic": ""})
    table.need("topic", "preferred", "assessor")
    required = ("preferred", "a", "b") if shown else ("other",)
    read = table.complete("topic", "assessor", *required, numbers=as_numbers)
    if "" in table.columns:
        read.notes.append(HowRead("there is no topic column, so each row is a topic of its own"))
    labels = {name: read.labels(name) for name in ("topic", "assessor")}
    optional: dict[str, NDArray[Any]] = {
        name: read.numbers(name, required=False) for name in as_numbers if name in read.columns
    }
    if "time" in read.objects:
        optional["time"] = read.objects["time"]
    missing = missing_cells(read.columns["preferred"])
    is_mark = np.zeros(len(read.rows), bool) if missing is None else missing
    rows = np.flatnonzero(~is_mark)
    columns = [read.labels("preferred", rows), *(read.labels(name) for name in required if name != "preferred")]
    documents, codes = merge_codes([words for _, words in columns], [numbers for numbers, _ in columns])
    preferred = np.full(is_mark.size, -1, np.int32)
    preferred[rows] = codes[: rows.size]
    other = codes[rows.size :]
    number = np.asarray(read.rows)
    if shown:
        a, b = np.split(other, 2)
        verdict = np.array([verdict_of(word) for word in documents])[preferred]
        verdict = np.where(preferred == a, 0, np.where(preferred == b, 1, verdict))
        for row in np.flatnonzero(verdict < 0).tolist():
            winner, one, two = (documents[column[row]] for column in (preferred, a, b))
            problem = f"the preferred document {winner!r} is neither {one!r} nor {two!r}, nor a, b, tie or both bad"
            read.mistakes.add(int(number[row]), problem)
        tied, bad = np.flatnonzero(verdict >= 2), np.flatnonzero(verdict == 3)
        places = np.concatenate([np.arange(a.size), tied, bad, bad])
        preferred = np.concatenate([np.where(verdict == 1, b, a), b[tied], np.full(2 * bad.size, -1, np.int32)])
        other = np.concatenate([np.where(verdict == 1, a, b), a[tied], a[bad], b[bad]])
        if tied.size:
            optional["weight"] = np.where(verdict >= 2, 0.5, 1.0) * optional.get("weight", 1.0)
        optional = {name: column[places] for name, column in optional.items()}
        optional["first"] = (preferred == a[places]).astype(np.float64)
        labels = {name: (codes[places], words) for name, (codes, words) in labels.items()}
        number = number[places]
    read.mistakes.check()
    numbers = {"strength": optional.pop("strength")} if "strength" in optional else {}
    labels |= {"preferred": (preferred, documents), "other": (other, documents)}
    return Columns(labels, numbers, number, optional, tuple(read.notes))


def run_columns(frame: Frame, options: TableOptions, system: str | None) -> Columns:
    """The columns of runs; `system` stands in for a missing system column, and the rank for a missing score."""
    table = _Table.of(frame, RUN_COLUMNS, options, ("system", system))
    if table.parts:
        return _answer_columns(table)
    order = "rank" if "score" not in table.role_of and "rank" in table.role_of else "score"
    table.need("topic", "document", order, "system")
    read = table.complete("topic", "document", "system", order, numbers=("score", "rank"))
    labels = {name: read.labels(name) for name in ("topic", "document", "system")}
    if order == "rank":
        rank = read.numbers("rank")
        numbers = {"score": -rank, "rank": rank}
        read.notes.append(HowRead("there is no score column, so the rank gives the order"))
    else:
        numbers = {"score": read.numbers("score")}
        if "rank" in read.columns:
            numbers["rank"] = read.numbers("rank", required=False)
    read.mistakes.check()
    return Columns(labels, numbers, read.rows, notes=tuple(read.notes))


def _answer_columns(table: _Table) -> Columns:
    """One row per judgment of a unit of an answer; the score is the unit's weight."""
    table.need("topic", "system")
    names = [name for name in ("weight",) if name in table.role_of]
    read = table.complete("topic", *table.parts, *names, numbers=("weight",))
    labels = {name: read.labels(name) for name in ("topic", *table.parts) if name != "unit"}
    labels["document"] = read.joined(table.parts)
    labels.setdefault("criterion", (np.zeros(len(read.rows), np.int32), ("",)))
    weight = read.numbers("weight") if names else np.ones(len(read.rows))
    read.mistakes.check()
    return Columns(labels, {"score": weight}, read.rows, notes=tuple(read.notes))


def score_columns(frame: Frame, columns: Names | None, assessor: str) -> Columns:
    """One row per score: labels criterion (the measure), assessor, topic and system; `assessor` stands in for one."""
    table = _Table.of(frame, ANSWER_COLUMNS, TableOptions(columns), ("assessor", assessor))
    table.need("topic", "system", "value")
    if "unit" in table.role_of:
        raise ArgumentError("holds units of answers, not scores; evaluate it by the measure Mean")
    read = table.complete("topic", *table.parts, "assessor", "value", numbers=("value",))
    roles = ("criterion", "assessor", "topic", "system")
    names: list[str] = [name for name in roles if name in read.columns]
    labels, value = {name: read.labels(name) for name in names}, read.numbers("value")
    read.mistakes.check()
    return Columns(labels, {"value": value}, read.rows)


def as_frame(data: object) -> Frame:
    """The data as something with columns: a frame that is computed, or {column: cells}.

    Frames of any library, lazy ones too, and rows: dictionaries, named tuples or dataclasses.

    Raises
    ------
    ArgumentError
        What holds no rows, or rows without names.
    """
    if isinstance(data, Mapping):
        return _checked_columns(data)
    import narwhals as nw

    opened: Any = nw.from_native(data, pass_through=True)
    if isinstance(opened, nw.LazyFrame):
        return opened.collect().to_native()  # type: ignore[no-any-return]
    if isinstance(opened, nw.DataFrame):
        return data  # type: ignore[return-value]
    if isinstance(data, str | bytes) or not isinstance(data, Iterable):
        raise ArgumentError(f"expected a data frame, rows or a dictionary, found {described(data)}")
    return _frame_of_rows(list(data))


def _checked_columns(columns: Mapping[Any, Any]) -> Frame:
    lengths: dict[str, int] = {}
    for name, cells in columns.items():
        if isinstance(cells, Mapping) or not hasattr(cells, "__len__"):
            raise ArgumentError(f"expected {{column: cells}}, but {name!r} is {described(cells)}")
        lengths[str(name)] = len(cells)
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ArgumentError(f"columns must be of one length, but they hold different numbers of cells: {sizes}")
    return columns


def _frame_of_rows(rows: list[Any]) -> Frame:
    """A frame of pandas; a cell that a dictionary does not have is missing."""
    import pandas as pd

    if not rows:
        raise ArgumentError("there are none")
    kind = type(rows[0])
    for number, row in enumerate(rows, start=1):
        if type(row) is not kind:
            raise RowError(number, f"expected {kind.__name__}, as the first row is, found {described(row)}")
    if not (issubclass(kind, Mapping) or hasattr(kind, "_fields") or is_dataclass(kind)):
        raise ArgumentError(f"expected rows as dictionaries or named tuples, found {described(rows[0])}")
    return pd.DataFrame(rows, dtype=object)


def make_frame(columns: Mapping[str, NDArray[Any]], backend: str) -> Any:
    """A data frame of the named library: "pandas", "polars" or "pyarrow"."""
    import narwhals as nw

    plain = {name: column.tolist() if column.dtype == object else column for name, column in columns.items()}
    try:
        return nw.from_dict(plain, backend=backend).to_native()  # type: ignore[arg-type]
    except ModuleNotFoundError as error:
        raise ArgumentError(f"backend={backend!r} is not installed here: {error}") from None
    except ValueError:
        raise ArgumentError("choose pandas, polars or pyarrow", "backend", backend) from None


# ---------------------------------------------------------------------- reading a table


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of a table that are read.

    columns, objects : {role: column}, the latter of what may be anything; rows : the number of each row in the table,
    from 1.
    """

    columns: dict[str, Cells | Floats]
    objects: dict[str, NDArray[np.object_]]
    rows: Rows
    mistakes: Mistakes
    notes: list[str]

    def labels(self, name: str, places: Ints | None = None) -> Encoded:
        """The labels of a column, of some places only where there are places."""
        column: Any = self.columns[name]
        if places is None or places.size == len(self.rows):
            return labels_in(column, name, self.rows, self.mistakes)
        return labels_in(column.take(places), name, np.array(self.rows)[places], self.mistakes)

    def joined(self, names: Sequence[str]) -> Encoded:
        """The labels of several columns as one, with slashes between them."""
        codes, labels = self.labels(names[0])
        for name in names[1:]:
            more, words = self.labels(name)
            pairs, codes = distinct_pairs(codes, more, len(words))
            labels = tuple(f"{labels[pair // len(words)]}/{words[pair % len(words)]}" for pair in pairs.tolist())
        return codes, labels

    def numbers(self, name: str, *, required: bool = True) -> Floats:
        return numbers_in(self.columns[name], name, self.rows, self.mistakes, required=required)


OBJECTS = ("unit", "time", "comment")  # columns whose cells may be anything, if the table has more than labels


@dataclass(frozen=True, eq=False)
class _Table:
    """A table whose columns have roles.

    role_of : {role: header}; stand_in : (role, label) of a column that may be missing if every row has one label.
    """

    columns: Mapping[str, Column]
    role_of: dict[str, str]
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
        columns = columns_of(as_frame(frame))
        named = options.columns or {}
        if not named:
            refuse_other_kind(list(columns), usual_names)
        if usual_names is not PREFERENCE_COLUMNS and kind_of([*columns, *named]) == "answers":
            usual_names = ANSWER_COLUMNS
        elif usual_names is not ANSWER_COLUMNS:
            named = {
                role: header for role, header in named.items() if role in usual_names or role not in ANSWER_COLUMNS
            }
        role_of = roles_of(list(columns), usual_names, named)
        return cls(columns, role_of, options, stand_in, usual_names)

    @property
    def parts(self) -> tuple[str, ...]:
        """The roles of the columns that together name a unit of an answer; none where documents were judged."""
        of_units = ("system", "criterion", "unit") if self.usual_names is ANSWER_COLUMNS else ()
        return tuple(role for role in of_units if role == "system" or role in self.role_of)

    def need(self, *roles: str) -> None:
        """Refuse a table without a column of each role, naming all that are missing."""
        who, label = self.stand_in
        missing = [role for role in roles if role not in self.role_of and not (role == who and label is not None)]
        if not missing:
            return
        wanted = " and no ".join(f"{role} column (one of {', '.join(self.usual_names[role])})" for role in missing)
        columns = " ".join(f"{role}=HEADER" for role in missing)
        raise ArgumentError(
            f"no {wanted} among {', '.join(self.columns)}; rename {'it' if len(missing) == 1 else 'them'}, or "
            f"name the column{'' if len(missing) == 1 else 's'} by --column, where it is an option: {columns}"
            + (", or rank=HEADER" if "score" in missing else "")
        )

    def order_of(self, role: str) -> tuple[str, ...] | None:
        """The categories of a column from the lowest, where they are words in an order."""
        words = ordered_categories(self.columns[self.role_of[role]])
        return None if len(words) < 2 or all(isfinite(number_in(word)) for word in words) else words

    def complete(self, *required: str, numbers: Sequence[str] = ()) -> _Rows:
        """The rows with a cell in each of these columns. numbers : roles of columns that hold numbers."""
        columns: dict[str, Cells | Floats] = {}
        anything: dict[str, NDArray[np.object_]] = {}
        n = len(next(iter(self.columns.values())))
        if n == 0:
            raise ArgumentError("the table names columns but holds no row")
        for role, header in self.role_of.items():
            column = self.columns[header]
            if role in OBJECTS and role not in required:
                anything[role] = objects(column)
            else:
                columns[role] = number_cells(column) if role in numbers else label_cells(column)
        who, label = self.stand_in
        if who not in columns and label is not None:
            columns[who] = constant(label, n)
        mistakes = Mistakes()
        places, notes = complete_rows(
            {role: columns[role] for role in required}, self.options.incomplete_rows, mistakes
        )
        out = [row for row, cell in enumerate(self.columns.get("counted", ())) if str(cell).casefold() == "false"]
        if out:
            places = np.setdiff1d(np.arange(n) if places is None else places, out)
            notes.append(f"{plural(len(out), 'row')} that the column counted says do not count were left out")
        if places is None:
            return _Rows(columns, anything, range(1, n + 1), mistakes, notes)
        if not places.size:
            mistakes.check()
        columns = {
            role: column.take(places) if isinstance(column, Cells) else column[places]
            for role, column in columns.items()
        }
        anything = {role: cells[places] for role, cells in anything.items()}
        return _Rows(columns, anything, places + 1, mistakes, notes)

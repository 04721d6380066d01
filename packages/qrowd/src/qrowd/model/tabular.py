"""Whatever holds rows, as a data frame; and nested dictionaries, as rows.

Rows come as data frames of any library (lazy ones are computed), lists of dictionaries, named tuples (those of
ir_datasets and ir_measures) or dataclasses, data sets of Hugging Face, and Qrels and Run of ranx.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qrowd.errors import ArgumentError, InputError, RowError
from qrowd.kernels.arrays import Floats
from qrowd.model.labels import Codes, number_in

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

    Frame: TypeAlias = IntoDataFrame | Mapping[str, Sequence[object]]

Nested = Mapping[str, Mapping[str, Mapping[str, float]]]


# ---------------------------------------------------------------------- rows


def as_frame(data: object) -> Frame:
    """The data as something with columns: a frame that is computed, or {column: cells}.

    Raises
    ------
    ArgumentError
        What holds no rows, or rows without names.
    """
    library = library_of(data)
    if library == "datasets":
        return _from_hugging_face(data)
    if library == "ranx":
        return data.to_dataframe()  # type: ignore[attr-defined, no-any-return]
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
    return _columns_of_rows(list(data))


def library_of(data: object) -> str:
    """The name of the package that a type comes from."""
    return type(data).__module__.partition(".")[0]


def is_row(data: object) -> bool:
    """Whether this is one row: a dictionary, a tuple or a dataclass."""
    return isinstance(data, Mapping | tuple) or (is_dataclass(data) and not isinstance(data, type))


def _from_hugging_face(data: Any) -> Frame:
    if isinstance(data, Mapping):  # a DatasetDict
        raise ArgumentError(
            f"a {type(data).__name__} holds several splits; choose one, as in data[{next(iter(data))!r}]"
        )
    if hasattr(data, "with_format") and hasattr(data, "num_rows"):
        return data.with_format("arrow")[:]  # type: ignore[no-any-return]
    return _columns_of_rows(list(data))


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


def _columns_of_rows(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """{column: cells} of rows; a cell that a dictionary does not have is None."""
    if not rows:
        raise ArgumentError("there are none")
    kind = type(rows[0])
    for number, row in enumerate(rows, start=1):
        if type(row) is not kind:
            raise RowError(number, f"expected {kind.__name__}, as the first row is, found {described(row)}")
    if issubclass(kind, Mapping):
        names = dict.fromkeys(name for row in rows for name in row)
        return {str(name): [row.get(name) for row in rows] for name in names}
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return dict(zip(kind._fields, map(list, zip(*rows, strict=True)), strict=True))
    if is_dataclass(kind):
        return {field.name: [getattr(row, field.name) for row in rows] for field in fields(kind)}
    if issubclass(kind, tuple | list):
        raise ArgumentError("rows must name their cells; give dictionaries or named tuples, or use from_rows")
    raise ArgumentError(f"expected rows as dictionaries or named tuples, found {described(rows[0])}")


def described(value: object) -> str:
    """A value in few words, for a message."""
    if value is None:
        return "None"
    if isinstance(value, str | int | float | bool):
        return f"{type(value).__name__} {value!r:.60}"
    return f"{'an' if type(value).__name__[0] in 'aeiouAEIOU' else 'a'} {type(value).__name__}"


# ---------------------------------------------------------------------- nested dictionaries


def depth_of(nested: object) -> int:
    """How many dictionaries stand above the first number; 0 where there is none."""
    if not isinstance(nested, Mapping):
        return 0
    for inner in nested.values():
        if not isinstance(inner, Mapping):
            return 1
        if depth := depth_of(inner):
            return depth + 1
    return 0


def nested_rows(nested: object, outer: str, name: str) -> Iterator[tuple[str, str, str, float]]:
    """(topic, document, name, number) of {name: {topic: {document: number}}}, or of the two inner levels alone.

    outer : what the names are of, for messages. name : that of two levels.

    Raises
    ------
    ArgumentError
        Other dictionaries, or a value that is no finite number.
    """
    if isinstance(nested, Mapping) and depth_of(nested) == 2:
        nested = {name: nested}
    if not isinstance(nested, Mapping) or (nested and depth_of(nested) not in (0, 3)):
        raise ArgumentError(
            f"expected {{{outer}: {{topic: {{document: number}}}}}} or {{topic: {{document: number}}}}, "
            f"found {_outline(nested)}"
        )
    for who, topics in nested.items():
        for topic, documents in _inside(topics, f"{outer} {who!r}"):
            for document, value in _inside(documents, f"{outer} {who!r}, topic {topic!r}"):
                number = float(value) if type(value) in (int, float) else number_in(value)
                if not isfinite(number):
                    where = f"{outer} {who!r}, topic {topic!r}, document {document!r}"
                    raise InputError(f"{where}: expected a finite number, found {described(value)}")
                yield topic, document, who, number


def _inside(level: object, where: str) -> Iterable[tuple[Any, Any]]:
    if not isinstance(level, Mapping):
        raise ArgumentError(f"{where}: expected a dictionary, found {described(level)}")
    return level.items()


def _outline(nested: object) -> str:
    return f"a dictionary of {depth_of(nested)} levels" if isinstance(nested, Mapping) else described(nested)


def nested_of(
    names: Sequence[str], topics: Sequence[str], documents: Sequence[str], codes: Sequence[Codes], numbers: Any
) -> dict[str, Any]:
    """{name: {topic: {document: number}}} of columns. codes : numbers into names, topics and documents."""
    nested: dict[str, Any] = {name: {} for name in names}
    columns = [np.array(labels, object)[code] for labels, code in zip((names, topics, documents), codes, strict=True)]
    for name, topic, document, number in zip(*columns, numbers.tolist(), strict=True):
        nested[name].setdefault(topic, {})[document] = number
    return nested


def as_integers(numbers: Floats) -> Any:
    """The numbers as integers, where all of them are whole: grades of pytrec_eval and ranx must be."""
    return numbers.astype(np.int64) if (numbers == np.round(numbers)).all() else numbers

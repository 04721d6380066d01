"""The field's column names, understood at the door, for any data frame that narwhals knows and for plain columns.

qrowd's own names come first; the others are those of ir_measures (query_id, doc_id, relevance), PyTerrier (qid, docno,
label), ranx (q_id, doc_id, score), trectools (query, docid, rel), BEIR (query-id, corpus-id, score) and crowd-kit
(task, worker, label).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, RowError
from qrowd.model.labels import number_in

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

    Frame: TypeAlias = IntoDataFrame | Mapping[str, Sequence[object]]

Cells = list[Any]  # a column; None where a cell is missing

TOPIC = ("topic", "query_id", "query-id", "qid", "q_id", "query", "topic_id", "topicid", "topicID")
DOCUMENT = ("document", "doc_id", "corpus-id", "docno", "docid", "document_id", "docID", "passage_id", "pid")
JUDGMENT_COLUMNS: dict[str, tuple[str, ...]] = {
    "topic": TOPIC,
    "document": DOCUMENT,
    "assessor": ("assessor", "worker", "worker_id", "workerID", "annotator", "judge", "user", "performer"),
    "value": ("value", "grade", "relevance", "label", "rel", "magnitude", "score", "judgment"),
    "order": ("order", "position"),
    "unit": ("unit", "unit_id", "batch"),
    "seconds": ("seconds", "duration"),
    "time": ("time", "timestamp", "created_at"),
    "comment": ("comment", "justification", "reason", "rationale"),
}
RUN_COLUMNS: dict[str, tuple[str, ...]] = {
    "system": ("system", "run", "tag", "run_id", "runid", "name"),
    "topic": TOPIC,
    "document": DOCUMENT,
    "score": ("score", "sim", "relevance_score"),
    "rank": ("rank",),
}
PREFERENCE_COLUMNS: dict[str, tuple[str, ...]] = {
    "topic": TOPIC,
    "preferred": ("preferred", "winner", "better", "label"),
    "other": ("other", "loser", "worse"),
    "a": ("a", "document_a", "doc_a", "docA", "left"),
    "b": ("b", "document_b", "doc_b", "docB", "right"),
    "assessor": JUDGMENT_COLUMNS["assessor"],
    "strength": ("strength",),
    "weight": ("weight",),
    "first": ("first",),
    "group": ("group", "judgment_group"),
    "order": JUDGMENT_COLUMNS["order"],
    "seconds": JUDGMENT_COLUMNS["seconds"],
    "time": JUDGMENT_COLUMNS["time"],
}


@dataclass(frozen=True)
class Columns:
    """What was found in a frame: label columns, number columns, and optional columns as the model wants them."""

    labels: dict[str, list[str]]
    numbers: dict[str, NDArray[np.float64]]
    optional: dict[str, NDArray[Any]] = field(default_factory=dict)


def judgment_columns(frame: Frame, names: Mapping[str, str], assessor: str | None) -> Columns:
    """The columns of judgments; `assessor` stands in for a missing assessor column."""
    cells_of = _find(frame, JUDGMENT_COLUMNS, names, ("topic", "document", "value"), ("assessor", assessor))
    labels = {name: _labels(cells_of[name], name) for name in ("topic", "document", "assessor")}
    optional: dict[str, NDArray[Any]] = {
        name: _numbers(cells_of[name], name, required=False) for name in ("order", "seconds") if name in cells_of
    }
    for name in ("unit", "time", "comment"):
        if name in cells_of:
            optional[name] = np.fromiter(cells_of[name], object, len(cells_of[name]))
    return Columns(labels, {"value": _numbers(cells_of["value"], "value")}, optional)


@dataclass(frozen=True)
class PreferenceColumns:
    """What was found in a frame of preferences: its labels, None where a cell may be missing, and the columns kept.

    marks : rows that mark `other` as Bad; of those only topic, other, assessor and group are looked at.
    """

    labels: dict[str, list[Any]]
    marks: NDArray[np.bool_]
    optional: dict[str, NDArray[Any]]


def preference_columns(frame: Frame, names: Mapping[str, str], assessor: str | None) -> PreferenceColumns:
    """The columns of preferences: preferred and other, or the two documents a and b and which of them is preferred.

    A row without a preferred document marks the other one as Bad.
    """
    cells_of = _find(frame, PREFERENCE_COLUMNS, names, ("topic", "preferred"), ("assessor", assessor))
    labels: dict[str, list[Any]] = {name: _labels(cells_of[name], name) for name in ("topic", "assessor")}
    optional: dict[str, NDArray[Any]] = {}
    if "a" in cells_of and "b" in cells_of and "other" not in cells_of:
        preferred, a, b = (_labels(cells_of[name], name) for name in ("preferred", "a", "b"))
        for row, (winner, one, two) in enumerate(zip(preferred, a, b, strict=True), start=1):
            if winner not in (one, two):
                raise RowError(row, f"the preferred document {winner!r} is neither {one!r} nor {two!r}")
        labels["preferred"] = list(preferred)
        labels["other"] = [two if winner == one else one for winner, one, two in zip(preferred, a, b, strict=True)]
        optional["first"] = np.array([winner == one for winner, one in zip(preferred, a, strict=True)], np.float64)
    elif "other" in cells_of:
        labels["other"] = _labels(cells_of["other"], "other")
        labels["preferred"] = [
            None if cell is None or cell == "" or cell != cell else _labels([cell], "preferred")[0]
            for cell in cells_of["preferred"]
        ]
    else:
        raise ArgumentError(
            f"no other column (one of {', '.join(PREFERENCE_COLUMNS['other'])}), nor the two documents as a and b; "
            "name them with from_frame(columns={'other': ...})"
        )
    for name in ("strength", "weight", "first", "order", "seconds"):
        if name in cells_of and name not in optional:
            optional[name] = _numbers(cells_of[name], name, required=False)
    for name in ("group", "time"):
        if name in cells_of:
            optional[name] = np.fromiter(cells_of[name], object, len(cells_of[name]))
    marks = np.array([preferred is None for preferred in labels["preferred"]], bool)
    return PreferenceColumns(labels, marks, optional)


def run_columns(frame: Frame, names: Mapping[str, str], system: str | None) -> Columns:
    """The columns of runs; `system` stands in for a missing system column."""
    cells_of = _find(frame, RUN_COLUMNS, names, ("topic", "document", "score"), ("system", system))
    labels = {name: _labels(cells_of[name], name) for name in ("topic", "document", "system")}
    numbers = {"score": _numbers(cells_of["score"], "score")}
    if "rank" in cells_of:
        numbers["rank"] = _numbers(cells_of["rank"], "rank", required=False)
    return Columns(labels, numbers)


def label_columns(frame: Frame, *names: str) -> list[list[str]]:
    """The labels in the columns of these names; the topic and the document may have any of their usual names."""
    usual = {name: {"topic": TOPIC, "document": DOCUMENT}.get(name, (name,)) for name in names}
    cells_of = _find(frame, usual, {}, names, (names[0], None))
    return [_labels(cells_of[name], name) for name in names]


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


def _find(
    frame: Frame,
    usual_names: Mapping[str, tuple[str, ...]],
    names: Mapping[str, str],
    required: tuple[str, ...],
    stand_in: tuple[str, str | None],
) -> dict[str, Cells]:
    """The frame's columns under our names: as the caller named them, else by the first usual name present.

    stand_in : (name, label): the column called `name` may be missing if every row has that one label.
    """
    present, cells = _opened(frame)
    cells_of: dict[str, Cells] = {}
    for ours, theirs in names.items():
        if ours not in usual_names:
            raise ArgumentError(f"columns={{{ours!r}: ...}}: choose from {', '.join(usual_names)}")
        if theirs not in present:
            raise ArgumentError(f"columns={{{ours!r}: {theirs!r}}}: the frame has {', '.join(present)}")
        cells_of[ours] = cells(theirs)
    for ours, usual in usual_names.items():
        match = next((name for name in usual if name in present and name not in names.values()), None)
        if ours not in cells_of and match is not None:
            cells_of[ours] = cells(match)
    # crowd-kit knows no topics: its tasks are the documents of a single one.
    if "document" not in cells_of and "task" in present:
        cells_of["document"] = cells("task")
        cells_of.setdefault("topic", ["tasks"] * len(cells_of["document"]))
    who, label = stand_in
    if who not in cells_of and label is not None and "topic" in cells_of:
        cells_of[who] = [label] * len(cells_of["topic"])
    for ours in (*required, who):
        if ours not in cells_of:
            one = f", or from_frame({who}=...) for the only one" if ours == who else ""
            raise ArgumentError(
                f"no {ours} column (one of {', '.join(usual_names[ours])}) among {', '.join(present)}; rename one, or "
                f"say which it is with from_frame(columns={{{ours!r}: ...}}){one}"
            )
    return cells_of


def _opened(frame: Frame) -> tuple[list[str], Callable[[str], Cells]]:
    """The names of a frame's columns, and how to get the cells of one."""
    if isinstance(frame, Mapping):
        return list(frame), lambda name: list(frame[name])
    import narwhals as nw

    opened = nw.from_native(frame, eager_only=True)

    def cells(name: str) -> Cells:
        column = opened[name]
        missing = column.is_null()
        return [None if m else cell for cell, m in zip(column.to_list(), missing.to_list(), strict=True)]

    return list(opened.columns), cells


def _labels(cells: Cells, name: str) -> list[str]:
    if set(map(type, cells)) == {str} and "" not in cells:  # the usual case, fast
        return cells
    for row, cell in enumerate(cells, start=1):
        if cell is None or cell == "":
            raise RowError(row, f"{name} is missing")
        if isinstance(cell, float | bytes):
            raise RowError(row, f"{name} is {cell!r}; give labels as text or whole numbers")
    return [cell if isinstance(cell, str) else str(cell) for cell in cells]


def _numbers(cells: Cells, name: str, *, required: bool = True) -> NDArray[np.float64]:
    """Cells as doubles, nan where one may be missing."""
    numbers = np.empty(len(cells))
    for row, cell in enumerate(cells):
        missing = cell is None or (isinstance(cell, float) and isnan(cell))
        if missing and not required:
            numbers[row] = nan
            continue
        numbers[row] = number_in(cell)
        if missing or not isfinite(numbers[row]):
            content = "nothing" if cell is None else repr(cell)
            raise RowError(row + 1, f"expected a finite number as {name}, found {content}")
    return numbers

"""Exports of Label Studio as JSON and JSON-MIN: choices, ratings, numbers, comments, and pairwise preferences.

Topic and document are read from the data of a task, which hold the columns that were imported (such as `query_id` and
`doc_id`). https://labelstud.io/guide/task_format
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qrowd.readers.exports import Record, answer_columns, first_record, plain, single, table_of_records

MIN = ("annotation_id", "annotator", "lead_time")
GRADES = {"choices": "choices", "rating": "rating", "number": "number", "taxonomy": "taxonomy"}
OF_A_TASK = ("id", "annotation_id", "updated_at", "project")


def recognises(text: bytes, name: str) -> bool:
    """Whether the first record is a task with annotations."""
    record = first_record(text)
    return (isinstance(record.get("annotations"), list) and "data" in record) or all(key in record for key in MIN)


def read(text: bytes, name: str) -> dict[str, list[Any]]:
    """One row per annotation that is not cancelled; predictions of models are left out.

    Raises
    ------
    FileError
        No such row.
    """
    return table_of_records(text, name, _rows, "no task has an annotation with a choice, a rating or a number")


def _rows(task: Record) -> Iterator[Record]:
    return _annotations(task) if "annotations" in task else _flat(task)


def _annotations(task: Record) -> Iterator[Record]:
    data = plain(task.get("data") or {})
    for annotation in task["annotations"]:
        if annotation.get("was_cancelled"):
            continue
        answers: Record = {}
        texts: dict[str, str] = {}
        cells: Record = {}
        for region in annotation.get("result") or ():
            kind, value = region.get("type"), region.get("value") or {}
            question = str(region.get("from_name", kind))
            if kind in GRADES:
                answers[question] = single(value.get(GRADES[kind]))
            elif kind == "textarea":
                texts[question] = "\n".join(value.get("text") or ())
            elif kind == "pairwise":
                cells |= _pair(data, value.get("selected"))
        if answers or cells:
            yield (
                data
                | {"assessor": _assessor(annotation), "seconds": annotation.get("lead_time")}
                | {"time": annotation.get("created_at")}
                | cells
                | answer_columns(answers, texts)
            )


def _assessor(annotation: Record) -> str | None:
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    return None if who is None else str(who)


def _pair(data: Record, selected: object) -> Record:
    """The two documents of a pairwise comparison; None is preferred where neither was selected."""
    sides = {side: next((data[key] for key in keys if key in data), None) for side, keys in SIDES.items()}
    return {"a": sides["left"], "b": sides["right"], "preferred": sides.get(str(selected))}


SIDES = {
    "left": ("a", "left", "document_a", "doc_a", "left_id"),
    "right": ("b", "right", "document_b", "doc_b", "right_id"),
}


def _flat(task: Record) -> Iterator[Record]:
    """A row of JSON-MIN, which holds data and answers side by side."""
    row = {key: value for key, value in task.items() if key not in OF_A_TASK}
    cells = {"assessor": row.pop("annotator", None), "seconds": row.pop("lead_time", None)}
    cells["time"] = row.pop("created_at", None)
    for key, value in row.items():
        if isinstance(value, dict) and "choices" in value:
            cells[key] = single(value["choices"])
        elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            cells[key] = next((value[0][kind] for kind in GRADES.values() if kind in value[0]), None)
    yield plain(row) | cells

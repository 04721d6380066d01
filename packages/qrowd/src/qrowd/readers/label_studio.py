"""Exports of Label Studio as JSON and JSON-MIN: choices, ratings, numbers, comments, and pairwise preferences.

Topic and document are read from the data of a task, which hold the columns that were imported (such as `query_id` and
`doc_id`). https://labelstud.io/guide/task_format
"""

from __future__ import annotations

from collections.abc import Iterator

from qrowd.readers.exports import Reader, Record, answer_columns, plain, single

GRADES = {"choices": "choices", "rating": "rating", "number": "number", "taxonomy": "taxonomy"}
OF_A_TASK = ("id", "annotation_id", "updated_at", "project")
SIDES = {
    "left": ("a", "left", "document_a", "doc_a", "left_id"),
    "right": ("b", "right", "document_b", "doc_b", "right_id"),
}


def is_task(record: Record) -> bool:
    """Whether it is a task with annotations, or a row of JSON-MIN."""
    nested = isinstance(record.get("annotations"), list) and "data" in record
    return nested or record.keys() >= {"annotation_id", "annotator", "lead_time"}


def rows_of(task: Record) -> Iterator[Record]:
    """One row per annotation that is not cancelled; predictions of models are left out."""
    if "annotations" not in task:
        yield _flat(task)
        return
    data = plain(task.get("data") or {})
    for annotation in task["annotations"]:
        cells = {} if annotation.get("was_cancelled") else _cells(annotation, data)
        if cells:
            about = {"assessor": _assessor(annotation), "seconds": annotation.get("lead_time")}
            yield data | about | {"time": annotation.get("created_at")} | cells


def _cells(annotation: Record, data: Record) -> Record:
    """The answers of an annotation; nothing where there is none."""
    answers: Record = {}
    texts: dict[str, str] = {}
    pair: Record = {}
    for region in annotation.get("result") or ():
        kind, value = region.get("type"), region.get("value") or {}
        question = str(region.get("from_name", kind))
        if kind in GRADES:
            answers[question] = single(value.get(GRADES[kind]))
        elif kind == "textarea":
            texts[question] = "\n".join(value.get("text") or ())
        elif kind == "pairwise":
            sides = {side: next((data[key] for key in keys if key in data), None) for side, keys in SIDES.items()}
            pair = {"a": sides["left"], "b": sides["right"], "preferred": sides.get(str(value.get("selected")))}
    return pair | answer_columns(answers, texts) if answers or pair else {}


def _assessor(annotation: Record) -> str | None:
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    return None if who is None else str(who)


def _flat(task: Record) -> Record:
    """A row of JSON-MIN, which holds data and answers side by side."""
    row = {key: value for key, value in task.items() if key not in OF_A_TASK}
    cells = {"assessor": row.pop("annotator", None), "seconds": row.pop("lead_time", None)}
    cells["time"] = row.pop("created_at", None)
    for key, value in row.items():
        if isinstance(value, dict) and "choices" in value:
            cells[key] = single(value["choices"])
        elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            cells[key] = next((value[0][kind] for kind in GRADES.values() if kind in value[0]), None)
    return plain(row) | cells


LABEL_STUDIO = Reader(is_task, rows_of, "no task has an annotation with a choice, a rating or a number")

"""Exports of annotation tools: Label Studio and Argilla.

Exports of Label Studio as JSON and JSON-MIN: choices, ratings, numbers, comments, and pairwise preferences.

Topic and document are read from the data of a task, which hold the columns that were imported (such as `query_id` and
`doc_id`). https://labelstud.io/guide/task_format

Exports of Argilla: records as JSON, nested or flattened, with the responses of each user.

Topic and document are read from the metadata or the fields of a record (such as `query_id` and `doc_id`). Suggestions
of models are left out, and so are responses that were not submitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qrowd.readers.tool_exports import Reader, Record, answer_columns, plain, single

# ---------------------------------------------------------------------- Label Studio

GRADES = {"choices": "choices", "rating": "rating", "number": "number", "taxonomy": "taxonomy"}
OF_A_TASK = ("id", "annotation_id", "updated_at", "project")
SIDES = {
    "left": ("a", "left", "document_a", "doc_a", "left_id"),
    "right": ("b", "right", "document_b", "doc_b", "right_id"),
}


def is_label_studio(record: Record) -> bool:
    """Whether it is a task with annotations, or a row of JSON-MIN."""
    nested = isinstance(record.get("annotations"), list) and "data" in record
    return nested or record.keys() >= {"annotation_id", "annotator", "lead_time"}


def label_studio_rows(task: Record) -> Iterator[Record]:
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
        kind = region.get("type")
        value = region.get("value") or {}
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


LABEL_STUDIO = Reader(
    is_label_studio, label_studio_rows, "no task has an annotation with a choice, a rating or a number"
)


# ---------------------------------------------------------------------- Argilla

RESPONSES = ".responses"
SUBMITTED = (None, "submitted")


def is_argilla(record: Record) -> bool:
    """Whether it has responses of users."""
    nested = "responses" in record and "fields" in record
    return nested or any(key.endswith(RESPONSES) and f"{key}.users" in record for key in record)


def argilla_rows(record: Record) -> Iterator[Record]:
    """One row per user."""
    data = plain(record) | plain(record.get("fields") or {}) | plain(record.get("metadata") or {})
    data = {key: value for key, value in data.items() if ".response" not in key and ".suggestion" not in key}
    by_user: dict[str, Record] = {}
    for question, response in _responses(record):
        if response.get("status") in SUBMITTED and response.get("value") is not None:
            value = response["value"]
            grade = value.get("value") if isinstance(value, dict) else value
            by_user.setdefault(str(response.get("user_id")), {})[question] = single(grade)
    for user, answers in by_user.items():
        texts = {question: value for question, value in answers.items() if _is_comment(value)}
        grades = {question: value for question, value in answers.items() if question not in texts}
        cells = answer_columns(grades, texts) if grades else answer_columns(answers, {})
        yield data | {"assessor": user} | cells


def _responses(record: Record) -> Iterator[tuple[str, Record]]:
    """(question, response) of a record, nested or flattened."""
    for question, responses in (record.get("responses") or {}).items():
        yield from ((question, response) for response in responses)
    for key, values in record.items():
        if key.endswith(RESPONSES) and isinstance(values, list):
            users = record.get(f"{key}.users") or []
            status = record.get(f"{key}.status") or [None] * len(values)
            for value, user, state in zip(values, users, status, strict=False):
                yield key.removesuffix(RESPONSES), {"value": value, "user_id": user, "status": state}


def _is_comment(value: Any) -> bool:
    """Free text, which no label is: of several words and longer than labels are."""
    return isinstance(value, str) and len(value) > 40 and " " in value


ARGILLA = Reader(is_argilla, argilla_rows, "no record has a submitted response")

"""Exports of Argilla: records as JSON, nested or flattened, with the responses of each user.

Topic and document are read from the metadata or the fields of a record (such as `query_id` and `doc_id`). Suggestions
of models are left out, and so are responses that were not submitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qrowd.readers.exports import Reader, Record, answer_columns, plain, single

RESPONSES = ".responses"
SUBMITTED = (None, "submitted")


def has_responses(record: Record) -> bool:
    """Whether it has responses of users."""
    nested = "responses" in record and "fields" in record
    return nested or any(key.endswith(RESPONSES) and f"{key}.users" in record for key in record)


def rows_of(record: Record) -> Iterator[Record]:
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
            users, status = record.get(f"{key}.users") or [], record.get(f"{key}.status") or [None] * len(values)
            for value, user, state in zip(values, users, status, strict=False):
                yield key.removesuffix(RESPONSES), {"value": value, "user_id": user, "status": state}


def _is_comment(value: Any) -> bool:
    """Free text, which no label is: of several words and longer than labels are."""
    return isinstance(value, str) and len(value) > 40 and " " in value


ARGILLA = Reader(has_responses, rows_of, "no record has a submitted response")

"""Exports of Prodigy (`prodigy db-out`, JSON Lines): accepted choices, or accept and reject of a single question.

Topic and document are read from the task or its `meta` (such as `query_id` and `doc_id`). The assessor is the
annotator, or the session where there is none. Ignored tasks are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qrowd.readers.exports import Record, first_record, plain, single, table_of_records, time_of

BINARY = {"accept": 1, "reject": 0}


def recognises(text: bytes, name: str) -> bool:
    """Whether the first record is an answer to a task."""
    record = first_record(text)
    return "_task_hash" in record and "answer" in record


def read(text: bytes, name: str) -> dict[str, list[Any]]:
    """One row per answer.

    Raises
    ------
    FileError
        No such row.
    """
    return table_of_records(text, name, _rows, "every task was ignored")


def _rows(record: Record) -> Iterator[Record]:
    answer = record.get("answer")
    has_options = "options" in record
    chosen = record.get("accept") or []
    if answer not in BINARY or (has_options and (answer == "reject" or not chosen)):
        return
    data = plain(record) | plain(record.get("meta") or {})
    data = {key: value for key, value in data.items() if not key.startswith("_") and key not in ("answer", "accept")}
    value = single(chosen) if has_options else BINARY[answer]
    who = record.get("_annotator_id") or record.get("_session_id")
    row = data | {"value": value, "assessor": None if who is None else str(who)}
    if isinstance(stamp := record.get("_timestamp"), int | float):
        row["time"] = time_of(stamp)
    yield row

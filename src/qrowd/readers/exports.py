"""What the readers of annotation tools share: records in JSON, and their answers as rows of one table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from qrowd.errors import FileError

Record = dict[str, Any]
PLAIN = (str, int, float, bool, type(None))


class Export(dict[str, list[Any]]):
    """{column: cells} of an export, and notes about what it holds beside."""

    def __init__(self, columns: Mapping[str, list[Any]], notes: Sequence[str] = ()) -> None:
        super().__init__(columns)
        self.notes = tuple(notes)


def first_record(text: bytes) -> Record:
    """The first record of a JSON array or of JSON Lines, as far as it can be read at once; else an empty one."""
    start = text[:1_000_000].decode("utf-8-sig", "replace").lstrip()
    if not start.startswith(("[", "{")):
        return {}
    try:
        record, _ = json.JSONDecoder().raw_decode(start.removeprefix("[").lstrip())
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def records(text: bytes, name: str) -> list[Record]:
    """The records of a JSON array or of JSON Lines.

    Raises
    ------
    FileError
        What is no JSON, or no record.
    """
    words = text.decode("utf-8-sig", "surrogateescape")
    try:
        if words.lstrip().startswith("["):
            rows = json.loads(words)
        else:
            rows = [json.loads(line) for line in words.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        raise FileError(name, f"not JSON: {error}") from None
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise FileError(name, f"record {number}: expected a JSON object, found {row!r:.60}")
    return list(rows)


def plain(data: Mapping[str, Any]) -> Record:
    """The values of a record that fit into a cell."""
    return {key: value for key, value in data.items() if isinstance(value, PLAIN)}


def as_table(rows: Iterator[Record], name: str, none: str) -> dict[str, list[Any]]:
    """{column: cells} of rows. none : what to say where there is no row."""
    listed = list(rows)
    if not listed:
        raise FileError(name, none)
    names = dict.fromkeys(key for row in listed for key in row)
    return {key: [row.get(key) for row in listed] for key in names}


def table_of_records(
    text: bytes, name: str, rows_of: Callable[[Record], Iterator[Record]], none: str
) -> dict[str, list[Any]]:
    """{column: cells} of the rows of each record of an export as JSON. none : what to say where there is no row."""
    return as_table((row for record in records(text, name) for row in rows_of(record)), name, none)


def answer_columns(answers: Mapping[str, Any], texts: Mapping[str, str]) -> Record:
    """The answers to questions as cells: a single question is the value, a single text is the comment.

    answers : grades by question, words or numbers; texts : free text by question.
    """
    cells = {"value": next(iter(answers.values()))} if len(answers) == 1 else dict(answers)
    return cells | ({"comment": next(iter(texts.values()))} if len(texts) == 1 else dict(texts))


def single(choice: Any) -> Any:
    """The one choice of a list of choices; a list of several stays text."""
    if isinstance(choice, list):
        return choice[0] if len(choice) == 1 else ", ".join(map(str, choice))
    return choice


def time_of(seconds: float) -> str:
    """Seconds since 1970 as a date and time."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def counted(n: int, noun: str) -> str:
    """1 record, 2 records."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"

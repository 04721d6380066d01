"""The reader of exports as JSON: a tool declares how its records are recognised and which rows they hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qrowd.errors import FileError

Record = dict[str, Any]
PLAIN = (str, int, float, bool, type(None))
START = 1_000_000  # characters in which the first record mostly ends


class Export(dict[str, list[Any]]):
    """{column: cells} of an export, and notes about what it holds beside."""

    def __init__(self, columns: Mapping[str, list[Any]], notes: Sequence[str] = ()) -> None:
        super().__init__(columns)
        self.notes = tuple(notes)


class NoRowError(Exception):
    """A record that cannot be read; the text says why."""


def first_record(text: bytes) -> Record:
    """The first record of a JSON array or of JSON Lines; an empty one where there is none."""
    if not text[:100].decode("utf-8-sig", "replace").lstrip().startswith(("[", "{")):
        return {}
    for part in (text[:START], text[START:] and text):
        try:
            words = part.decode("utf-8-sig", "replace").lstrip().removeprefix("[").lstrip()
            record, _ = json.JSONDecoder().raw_decode(words)
        except (ValueError, RecursionError):
            continue
        return record if isinstance(record, dict) else {}
    return {}


def records(text: bytes, name: str) -> list[Record]:
    """The records of a JSON array, of JSON Lines, or of one JSON object.

    Raises
    ------
    FileError
        What is no JSON, or no record.
    """
    words = text.decode("utf-8-sig", "surrogateescape").strip()
    try:
        rows, end = json.JSONDecoder().raw_decode(words)
        if not isinstance(rows, list):
            rows = [rows]
        if end < len(words):
            rows = [json.loads(line) for line in words.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        raise FileError(name, f"not JSON: {error}") from None
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise FileError(name, f"record {number}: expected a JSON object, found {row!r:.60}")
    return list(rows)


@dataclass(frozen=True)
class Reader:
    """How the exports of a tool are read.

    recognises : whether a file with this first record is one of the tool.
    rows : the rows of a record: none where it is something else than an answer, an empty one where the answer failed,
        None for what is passed over.
    nothing : what to say where there is no row.
    records : the records of a file.
    doubtful : whether a row may be no answer; doubt : why.
    named_by_file : a single assessor is called as the file.
    noun : what failed; passed_over : what None stands for.
    """

    recognises: Callable[[Record], bool]
    rows: Callable[[Record], Iterable[Record | None]]
    nothing: str
    records: Callable[[bytes, str], Sequence[Record]] = records
    doubtful: Callable[[Record], bool] = lambda row: False
    doubt: str = ""
    named_by_file: bool = False
    noun: str = "record"
    passed_over: str = ""

    def read(self, text: bytes, name: str) -> Export:
        """The rows of a file as columns.

        A file with answers and comparisons of two documents is read for the answers.

        Raises
        ------
        FileError
            A record that cannot be read; no row.
        """
        all_rows = list(self._rows(text, name))
        everything = [row for row in all_rows if row is not None]
        answers = [row for row in everything if row and "preferred" not in row]
        compared = [row for row in everything if "preferred" in row]
        rows = answers or compared
        if not rows:
            raise FileError(name, self.nothing)
        counts = (
            (len(everything) - len(answers) - len(compared), self.noun, "had no answer and made no judgment"),
            (len(all_rows) - len(everything), "row", f"passed over: {self.passed_over}"),
            (len(compared) if answers else 0, "comparison", "of two documents passed over"),
            (sum(map(self.doubtful, rows)), "judgment", self.doubt),
        )
        names = dict.fromkeys(key for row in rows for key in row)
        columns = {key: [row.get(key) for row in rows] for key in names}
        if self.named_by_file and len(set(columns.get("assessor", ()))) == 1:
            del columns["assessor"]
        return Export(columns, [f"{n:,} {noun}{'' if n == 1 else 's'} {what}" for n, noun, what in counts if n])

    def _rows(self, text: bytes, name: str) -> Iterator[Record | None]:
        for number, record in enumerate(self.records(text, name), start=1):
            try:
                yield from self.rows(record)
            except NoRowError as error:
                raise FileError(name, f"record {number}: {error}") from None


def plain(data: Mapping[str, Any]) -> Record:
    """The values of a record that fit into a cell."""
    return {key: value for key, value in data.items() if isinstance(value, PLAIN)}


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

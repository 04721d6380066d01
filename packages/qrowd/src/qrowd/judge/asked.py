"""The questions behind the requests of a record, so that it can say by itself what became of each.

They stand beside the attempts in the same file, one job after another, and are never changed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from math import nan
from pathlib import Path
from typing import Any

from qrowd.errors import FileError
from qrowd.judge.answers import read_reply
from qrowd.judge.exchange import Reply, Request
from qrowd.judge.outcome import Outcome
from qrowd.judge.prompts import Answer, Prompt
from qrowd.judge.questions import Question
from qrowd.judge.record import Record
from qrowd.paths import PathLike

SEVERAL = ("magnitude", "preference")  # forms that ask about several documents at once

_TABLES = (
    "CREATE TABLE IF NOT EXISTS prompts (sha256 TEXT PRIMARY KEY, content TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS questions (
    job INTEGER NOT NULL,
    key TEXT NOT NULL,       -- of the request; empty where a text was missing
    topic TEXT NOT NULL,
    documents TEXT NOT NULL, -- JSON
    unit TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,
    sample INTEGER NOT NULL,
    n_values INTEGER NOT NULL,
    missing TEXT NOT NULL,
    parameters TEXT NOT NULL -- JSON
)""",
)
_COLUMNS = "key, topic, documents, unit, endpoint, model, prompt, sample, n_values, missing, parameters"


@dataclass(frozen=True)
class Asking:
    """One question as it is put to one model.

    key : of its request; empty where the text that `missing` names is not there, so that nothing is asked.
    request : None where nothing is asked, or where the question comes from a record. n_values : that an answer has.
    parameters : of the request, as JSON.
    """

    question: Question
    prompt: Prompt
    endpoint: str
    model: str
    sample: int
    key: str = ""
    request: Request | None = None
    missing: str = ""
    n_values: int = 1
    parameters: str = "{}"

    def outcome(self, reply: Reply | None) -> Outcome | None:
        """What became of it; None where it has not been asked yet."""
        about = self.question, self.endpoint, self.model, self.prompt.id, self.prompt.sha256, self.sample
        if self.missing:
            detail = f"the text of {self.missing} is missing"
            return Outcome(*about, "text_missing", detail=detail, parameters=self.parameters)
        if reply is None:
            return None
        reading = read_reply(reply, self.prompt, n_values=self.n_values)
        values = reading.values
        if reading.status == "ok" and self.prompt.form not in SEVERAL:
            values = (self.prompt.judgment(values),)
        seconds = reply.seconds or nan  # that of an answer from a batch is not known
        answer = reading.status, values, reading.detail, reply.model, seconds, reading.expected
        return Outcome(*about, *answer, self.parameters)


def write_askings(record: Record, askings: Iterable[Asking]) -> None:
    """Add a job to a record, unless its latest job is the same."""
    prompts, rows = {}, []
    for asking in askings:
        prompts[asking.prompt.sha256] = json.dumps(asdict(asking.prompt))
        documents = json.dumps(asking.question.documents)
        about = asking.endpoint, asking.model, asking.prompt.sha256, asking.sample, asking.n_values, asking.missing
        rows.append((asking.key, asking.question.topic, documents, asking.question.unit, *about, asking.parameters))
    with record.transaction() as database:
        for table in _TABLES:
            database.execute(table)
        job = database.execute("SELECT coalesce(max(job), 0) FROM questions").fetchone()[0]
        last = database.execute(f"SELECT {_COLUMNS} FROM questions WHERE job = ? ORDER BY rowid", (job,))
        if last.fetchall() != rows:
            marks = ", ".join("?" * 12)
            database.executemany("INSERT OR IGNORE INTO prompts VALUES (?, ?)", prompts.items())
            database.executemany(f"INSERT INTO questions VALUES ({marks})", [(job + 1, *row) for row in rows])


def read_askings(path: PathLike) -> list[Asking]:
    """The questions of all jobs of a record; of a question that was asked in two ways, the later one.

    Raises
    ------
    FileError
        A record without questions.
    """
    try:
        with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as database:
            prompts = {name: _prompt(text) for name, text in database.execute("SELECT sha256, content FROM prompts")}
            rows = database.execute(f"SELECT {_COLUMNS} FROM questions ORDER BY rowid").fetchall()
    except sqlite3.Error:
        raise FileError(path, "is no record of questions to models; qrowd judge ask writes one") from None
    askings: dict[tuple[Any, ...], Asking] = {}
    for key, topic, documents, unit, endpoint, model, prompt, sample, *others in rows:
        question = Question(topic, tuple(json.loads(documents)), unit)
        n_values, missing, parameters = others
        asking = Asking(question, prompts[prompt], endpoint, model, sample, key, None, missing, n_values, parameters)
        askings[question, endpoint, model, prompt, sample] = asking
    return list(askings.values())


def outcomes_in(path: PathLike) -> tuple[list[Outcome], list[Asking]]:
    """What became of the questions of a record, and those that have not been asked yet.

    Raises
    ------
    FileError
        A file that is missing or no such record.
    """
    with Record(path, read_only=True) as record:
        askings = read_askings(path)
        outcomes = [asking.outcome(record.latest(asking.key)) for asking in askings]
    unasked = [asking for asking, outcome in zip(askings, outcomes, strict=True) if outcome is None]
    return [outcome for outcome in outcomes if outcome is not None], unasked


def _prompt(text: str) -> Prompt:
    content = json.loads(text)
    answer = content.pop("answer")
    items: Sequence[str] = answer.pop("items")
    return Prompt(**{**content, "scale": tuple(content["scale"]), "answer": Answer(**answer, items=tuple(items))})

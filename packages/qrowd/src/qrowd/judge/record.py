"""Every exchange with a model, in one SQLite file that only grows: nothing paid for is lost, nothing is asked twice.

An attempt is written and committed before `Record.add` returns, so a process may be killed at any moment. Keys and
headers are not part of a request or a reply, and so never in the file.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from qrowd.errors import FileError
from qrowd.judge.exchange import Message, Reply, Request

VERSION = 1
APPLICATION = 0x71726A64  # "qrjd": marks the file as one of these

_TABLES = """
CREATE TABLE IF NOT EXISTS attempts (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,      -- SHA-256 of the request
    request TEXT NOT NULL,  -- JSON
    reply TEXT NOT NULL,    -- JSON
    status TEXT NOT NULL CHECK (status IN ('complete', 'error', 'timeout')),
    time REAL NOT NULL,     -- seconds since 1970, when the reply had come
    cost REAL               -- in the currency of the prices; NULL where no price was stated
);
CREATE INDEX IF NOT EXISTS attempts_by_key ON attempts (key, id);
CREATE TRIGGER IF NOT EXISTS attempts_stay BEFORE UPDATE ON attempts
BEGIN SELECT RAISE(ABORT, 'attempts are never changed'); END;
CREATE TRIGGER IF NOT EXISTS attempts_remain BEFORE DELETE ON attempts
BEGIN SELECT RAISE(ABORT, 'attempts are never deleted'); END;
CREATE TABLE IF NOT EXISTS prompts (sha256 TEXT PRIMARY KEY, content TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS questions (
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
);
CREATE TABLE IF NOT EXISTS batch_requests (key TEXT PRIMARY KEY, request TEXT NOT NULL);
"""


def is_complete(reply: Reply) -> bool:
    """Whether the model ended its answer, also with a refusal or at the limit of tokens: asking again costs again."""
    return reply.error is None and not reply.timed_out


@dataclass(frozen=True)
class Attempt:
    """One line of a record. time : seconds since 1970. cost : None where no price was stated."""

    request: Request
    reply: Reply
    time: float
    cost: float | None


class Record:
    """A file of attempts; created where there is none.

    One process writes at a time. With `read_only`, others read meanwhile.

    Raises
    ------
    FileError
        Another process writes it, or it is no such file.
    """

    def __init__(self, path: str | PathLike[str], *, read_only: bool = False) -> None:
        self.path = Path(path)
        self._lock = None if read_only else _hold(self.path)
        try:
            self._database = _opened(self.path, read_only)
        except BaseException:
            self.close()
            raise

    def add(self, request: Request, reply: Reply, *, cost: float | None = None) -> None:
        """Append an attempt; it is in the file when this returns.

        Raises
        ------
        FileError
            The file cannot be written, such as on a full disk.
        """
        status = "timeout" if reply.timed_out else "complete" if is_complete(reply) else "error"
        row = (request.key, request_text(request), _reply_text(reply), status, time.time(), cost)
        try:
            self._database.execute(
                "INSERT INTO attempts (key, request, reply, status, time, cost) VALUES (?, ?, ?, ?, ?, ?)", row
            )
        except sqlite3.Error as error:
            raise self._unwritable(error) from None

    def has(self, request: Request, reply: Reply) -> bool:
        """Whether an attempt with exactly this reply is there."""
        query = "SELECT 1 FROM attempts WHERE key = ? AND reply = ? LIMIT 1"
        return self._database.execute(query, (request.key, _reply_text(reply))).fetchone() is not None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The database; what is written in the block is there as a whole, or not at all.

        Raises
        ------
        FileError
            The file cannot be written, such as on a full disk.
        """
        try:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._unwritable(error) from None

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self._database.execute(query, values).fetchall()

    def _unwritable(self, error: sqlite3.Error) -> FileError:
        return FileError(self.path, f"the record cannot be written ({error}); make room, then go on")

    def latest(self, key: str) -> Reply | None:
        """The latest complete reply to a request, or else the latest of all; None where it was never sent."""
        query = "SELECT reply FROM attempts WHERE key = ? ORDER BY status = 'complete' DESC, id DESC LIMIT 1"
        row = self._database.execute(query, (key,)).fetchone()
        return None if row is None else _reply(row[0])

    def attempts(self) -> Iterator[Attempt]:
        """All attempts in the order in which they were written."""
        query = "SELECT request, reply, time, cost FROM attempts ORDER BY id"
        for request, reply, at, cost in self._database.execute(query):
            yield Attempt(read_request(request), _reply(reply), at, cost)

    def spent(self) -> float:
        """Cost of all attempts, failed ones included."""
        return float(self._database.execute("SELECT coalesce(sum(cost), 0) FROM attempts").fetchone()[0])

    def __len__(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM attempts").fetchone()[0])

    def close(self) -> None:
        for connection in (getattr(self, "_database", None), self._lock):
            if connection is not None:
                connection.close()

    def __enter__(self) -> Record:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# ---- the file


def _opened(path: Path, read_only: bool) -> sqlite3.Connection:
    if read_only and not path.is_file():
        raise FileError(path, "there is no such record")
    where = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    try:
        database = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise FileError(path, f"cannot be opened ({error})") from None
    try:
        _prepare(database, path, read_only)
    except sqlite3.Error as error:
        database.close()
        raise FileError(path, f"is no record of exchanges with models ({error}); choose another name") from None
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection, path: Path, read_only: bool) -> None:
    """Check whose file this is; write the tables that it lacks in one transaction."""
    application = database.execute("PRAGMA application_id").fetchone()[0]
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and application != APPLICATION:
        raise FileError(path, "is another program's database; choose another name for the record")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise FileError(path, f"is a record of version {version}, this qrowd reads {VERSION}; update qrowd")
    if read_only:
        if not tables:
            raise FileError(path, "is no record of exchanges with models")
        return
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing, a power cut the last moments
    marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
    database.executescript(f"BEGIN IMMEDIATE; {_TABLES} {marks} COMMIT;")


def _hold(path: Path) -> sqlite3.Connection:
    """Hold the lock of a record until the connection is closed; the system releases it when its holder dies.

    The lock is on a file of its own, so that others may read the record.
    """
    try:
        connection = sqlite3.connect(f"{path}.lock", timeout=0, isolation_level=None, check_same_thread=False)
    except sqlite3.Error:
        raise FileError(path, "the record cannot be written here; does the folder exist?") from None
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error:
        connection.close()
        raise FileError(path, "another qrowd process writes this record; wait for it, or use another record") from None
    return connection


# ---- JSON


def request_text(request: Request) -> str:
    """A request as the file holds it."""
    return request.to_json().encode("utf-8", "backslashreplace").decode()  # \ud800 is JSON for a lone surrogate


def read_request(text: str) -> Request:
    """A request of the file."""
    content = json.loads(text)
    return Request(**(content | {"messages": tuple(Message(*message) for message in content["messages"])}))


def _reply_text(reply: Reply) -> str:
    """JSON of what differs from an empty reply."""
    empty = Reply()
    return json.dumps({name: value for name, value in vars(reply).items() if value != getattr(empty, name)})


def _reply(text: str) -> Reply:
    """A reply of the file; records of older versions hold more of it."""
    names = vars(Reply())
    return Reply(**{name: value for name, value in json.loads(text).items() if name in names})

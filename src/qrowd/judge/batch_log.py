"""The batches of a record: which requests stand in files, and which of them a server is working on.

Rows are only added. Events happen to a batch in this order, and the last is its state:

    uploaded (id of the file) -> creating -> created (id of the batch) -> ended (how)

"creating" is written before a server is asked to make a batch, and "created" after it has, so that a process may be
killed in between: from "creating" on, the requests of a batch may be paid for, and nobody else asks them.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from qrowd.judge.exchange import Request
from qrowd.judge.prices import Prices, expected_tokens
from qrowd.judge.record import Record, read_request, request_text

Event = Literal["uploaded", "creating", "created", "ended"]

_TABLES = (
    """CREATE TABLE IF NOT EXISTS batch_requests (
    key TEXT NOT NULL,
    request TEXT NOT NULL,     -- JSON
    last_attempt INTEGER NOT NULL, -- in the record when the file was written
    PRIMARY KEY (key, last_attempt)
)""",
    """CREATE TABLE IF NOT EXISTS batches (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    keys TEXT NOT NULL         -- JSON
)""",
    """CREATE TABLE IF NOT EXISTS batch_events (
    batch INTEGER NOT NULL,
    event TEXT NOT NULL CHECK (event IN ('uploaded', 'creating', 'created', 'ended')),
    detail TEXT NOT NULL,      -- id of the file or batch at the server; how the batch ended
    time REAL NOT NULL
)""",
)


@dataclass(frozen=True)
class Batch:
    """One batch. keys : of its requests. file_id, batch_id : at the server; empty before it has given them."""

    number: int
    file: str
    endpoint: str
    model: str
    keys: tuple[str, ...]
    state: Event
    file_id: str = ""
    batch_id: str = ""
    detail: str = ""


def note_requests(record: Record, requests: Iterable[Request]) -> None:
    """Note that these requests are being written into files."""
    with record.transaction() as database:
        for table in _TABLES:
            database.execute(table)
        last = database.execute("SELECT coalesce(max(id), 0) FROM attempts").fetchone()[0]
        rows = ((request.key, request_text(request), last) for request in requests)
        database.executemany("INSERT OR IGNORE INTO batch_requests VALUES (?, ?, ?)", rows)


def noted_request(record: Record, key: str) -> Request | None:
    """The request of a line in a file; None where no file of this record holds it."""
    rows = record.rows("SELECT request FROM batch_requests WHERE key = ? LIMIT 1", key)
    return read_request(rows[0][0]) if rows else None


def is_answered(record: Record, key: str) -> bool:
    """Whether a complete answer has come since the request was last written into a file."""
    query = (
        "SELECT 1 FROM attempts WHERE key = ? AND status = 'complete' AND id > "
        "(SELECT max(last_attempt) FROM batch_requests WHERE key = ?) LIMIT 1"
    )
    return bool(record.rows(query, key, key))


def add_batch(record: Record, file: str, endpoint: str, model: str, keys: Sequence[str], file_id: str) -> Batch:
    """Note a file that a server has."""
    with record.transaction() as database:
        row = file, endpoint, model, json.dumps(list(keys))
        number = database.execute(
            "INSERT INTO batches (file, endpoint, model, keys) VALUES (?, ?, ?, ?)", row
        ).lastrowid
        assert number is not None
        note(database, number, "uploaded", file_id)
    return Batch(number, file, endpoint, model, tuple(keys), "uploaded", file_id)


def note(database: sqlite3.Connection, number: int, event: Event, detail: str = "") -> None:
    """Add an event, within a transaction of the record."""
    database.execute("INSERT INTO batch_events VALUES (?, ?, ?, ?)", (number, event, detail, time.time()))


def batches(record: Record) -> list[Batch]:
    """All batches, the oldest first."""
    events: dict[int, dict[Event, str]] = {}
    for number, event, detail in record.rows("SELECT batch, event, detail FROM batch_events ORDER BY rowid"):
        events.setdefault(number, {})[event] = detail
    return [
        Batch(
            number,
            file,
            endpoint,
            model,
            tuple(json.loads(keys)),
            list(events[number])[-1],
            events[number].get("uploaded", ""),
            events[number].get("created", ""),
            events[number].get("ended", ""),
        )
        for number, file, endpoint, model, keys in record.rows("SELECT * FROM batches ORDER BY id")
    ]


def pending_keys(record: Record) -> dict[str, Batch]:
    """{key: batch} of the requests that a server may be working on."""
    return {key: batch for batch in batches(record) if batch.state in ("creating", "created") for key in batch.keys}


def cost_of_pending(record: Record, prices: Prices | None) -> float:
    """What batches are expected to cost that have been sent and not been collected; 0 without prices."""
    if prices is None:
        return 0.0
    requests = (noted_request(record, key) for key in pending_keys(record))
    costs = (prices.cost(one, expected_tokens(one), batch=True) for one in requests if one is not None)
    return sum(cost or 0.0 for cost in costs)

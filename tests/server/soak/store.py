"""Rows and answers of a store without a service above it, and a process that writes answers until it is killed.

python -m soak.store URL THREADS PREFIX      prints the key of each answer once it is acknowledged
"""

from __future__ import annotations

import contextlib
import itertools
import os
import resource
import sys
import threading
import time
from collections.abc import Callable

from sqlalchemy import Connection, bindparam, insert, select, update

from qrowd_server.store import event_log as events
from qrowd_server.store import schema
from qrowd_server.store.base import StoreError
from qrowd_server.store.engine import open_store

AT = 1_700_000_000.0
K = 8  # documents of a unit

_ASSIGNMENT = select(schema.assignment).where(schema.assignment.c.id == bindparam("of")).with_for_update()
_ADVANCE = (
    update(schema.assignment)
    .where(schema.assignment.c.id == bindparam("of"))
    .values(
        version=bindparam("number"), state=bindparam("now"), lease_until=bindparam("until"), updated=bindparam("at")
    )
)
_JUDGE = (
    update(schema.judgment)
    .where(schema.judgment.c.assignment_id == bindparam("of"), schema.judgment.c.position == bindparam("at_position"))
    .values(value=bindparam("number"), raw=bindparam("typed"), revisions=bindparam("number"), time=bindparam("at"))
)


def assessor_row(number: int, *, campaign: int = 1, **other: object) -> dict[str, object]:
    row = {
        "id": number, "campaign_id": campaign, "name": f"a{number}", "provider": "link", "external_id": f"x{number}",
        "status": "working", "excluded": None, "seed": number, "state": {}, "created": AT,
        "updated": AT,
    }  # fmt: skip
    return row | other


def assignment_row(number: int, assessor: int, unit: int, slot: int, **other: object) -> dict[str, object]:
    row = {
        "id": number, "campaign_id": 1, "topic_id": 1, "unit_id": unit, "slot": slot, "assessor_id": assessor,
        "status": "completed", "counts": True, "seed": number, "lease_until": AT, "version": 0, "state": {},
        "created": AT, "updated": AT,
    }  # fmt: skip
    return row | other


def judgment_row(assignment: int, position: int, document: int, **other: object) -> dict[str, object]:
    row = {
        "assignment_id": assignment, "position": position, "campaign_id": 1, "document_id": document,
        "value": 10.0 * (position + 1), "raw": str(10 * (position + 1)), "reason": f"it says {document}",
        "seconds": 20.5, "active": 18.25, "visits": 1, "revisions": 0, "time": AT + position,
    }  # fmt: skip
    return row | other


def campaign(connection: Connection, *, topics: int = 1, units: int = 1, documents: int = K) -> None:
    """A campaign with empty units: topics numbered from 1, each with `units` units of the same documents."""
    one = {"id": 1, "name": "c", "title": "C", "settings": {}, "status": "running"}
    connection.execute(insert(schema.campaign), one | {"seed": 1, "created": AT})
    text = {"campaign_id": 1, "title": "", "description": "", "narrative": ""}
    rows = [text | {"id": t + 1, "label": f"{t + 1:03}"} for t in range(topics)]
    connection.execute(insert(schema.topic), rows)
    page = {"campaign_id": 1, "title": "", "text": "words " * 50, "html": False, "language": "en"}
    page |= {"url": "", "image": "", "frame": False}
    connection.execute(insert(schema.document), [page | {"id": d + 1, "label": f"d{d + 1}"} for d in range(documents)])
    shape = [
        {"id": t * units + u + 1, "campaign_id": 1, "topic_id": t + 1, "number": u, "documents": list(range(1, K + 1))}
        for t in range(topics)
        for u in range(units)
    ]
    connection.execute(insert(schema.unit), shape)


def judged(connection: Connection, judgments: int, *, topics: int = 50) -> None:
    """A campaign with so many judgments, 8 to a unit."""
    n = max(1, judgments // K)
    units = -(-n // topics)
    campaign(connection, topics=topics, units=units, documents=K * 1000)
    for start in range(0, n, 5000):
        numbers = range(start + 1, min(start + 5000, n) + 1)
        connection.execute(insert(schema.assessor), [assessor_row(i) for i in numbers])
        rows = [assignment_row(i, i, i, 0, topic_id=(i - 1) // units + 1) for i in numbers]
        connection.execute(insert(schema.assignment), rows)
        said = [judgment_row(i, p, (i * K + p) % (K * 1000) + 1) for i in numbers for p in range(K)]
        connection.execute(insert(schema.judgment), said)


def prepare(connection: Connection, assessors: int) -> None:
    """A campaign in which each of so many assessors (numbered from 1) has begun a unit."""
    campaign(connection, units=assessors)
    connection.execute(insert(schema.assessor), [assessor_row(i + 1) for i in range(assessors)])
    rows = [assignment_row(i + 1, i + 1, i + 1, 0, status="open") for i in range(assessors)]
    connection.execute(insert(schema.assignment), rows)
    said = [judgment_row(i + 1, p, p + 1) for i in range(assessors) for p in range(K)]
    connection.execute(insert(schema.judgment), said)


def answer(assessor: int, key: str, number: int) -> Callable[[Connection], int]:
    """One answer as five statements: look for the key, take the assignment, log, save the state, save the judgment."""

    def work(connection: Connection) -> int:
        if (before := events.by_key(connection, key)) is not None:
            return before.id
        row = connection.execute(_ASSIGNMENT, {"of": assessor}).one()
        said = events.LogEntry(
            AT + number, 1, assessor, row.id, row.unit_id, "assessor", "judged", {"position": number % K, "text": "40"},
            idem_key=key, digest="d",
        )  # fmt: skip
        [event_id] = events.append(connection, [said])
        state = {"position": number % K, "values": [40.0] * K, "visits": list(range(K))}
        values = {"of": row.id, "number": row.version + 1, "now": state, "until": AT + number + 1800, "at": AT}
        connection.execute(_ADVANCE, values)
        place = {"of": row.id, "at_position": number % K, "number": number, "typed": "40", "at": AT + number}
        connection.execute(_JUDGE, place)
        return event_id

    return work


def write(url: str, threads: int, prefix: str) -> None:
    store = open_store(url)

    def run(assessor: int) -> None:
        for number in itertools.count():
            key = f"{prefix}-{assessor}-{number}"
            while True:
                with contextlib.suppress(StoreError):
                    store.write(answer(assessor, key, number))
                    break
                time.sleep(0.01)
            os.write(1, f"{key}\n".encode())  # one system call, so nothing is left in a buffer

    for i in range(threads):
        threading.Thread(target=run, args=(i + 1,), daemon=True).start()
    threading.Event().wait()


def memory() -> float:
    """Most memory this process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), sys.argv[3])

"""Everything that a campaign holds about a person, as one JSON value with keys that people can read."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, select

from qrowd_server.store import materials, persons, state
from qrowd_server.store.answers import answers_of
from qrowd_server.store.schema import (
    bad_mark,
    campaign,
    gold_answer,
    invitation,
    judgment,
    message,
    preference,
    session,
)
from qrowd_server.store.state import AssessorRow

#: What an event of an assessor may show them: what they did and wrote, nothing of how their work is checked.
OWN = frozenset(
    {
        *("text", "reason", "comment", "choice", "strength", "side", "confidence", "understanding", "active"),
        *("position", "option", "line", "agreed", "message", "name", "provider", "external_id"),
        *("about", "number", "answers", "by", "pair", "seconds"),
    }
)
HIDDEN = frozenset({"checked", "offered", "unanswered", "excluded"})  # kinds of events that the assessor does not get


def person_data(connection: Connection, row: AssessorRow, *, for_owner: bool) -> dict[str, Any]:
    """All that is held about a person in their campaign.

    for_owner : also what shows how their work is checked: gold questions, checks, reasons of owners and random seeds.
        The person gets all they gave, and what is kept about them otherwise, without these.
    """
    title = connection.execute(select(campaign.c.name, campaign.c.title).where(campaign.c.id == row.campaign_id)).one()
    assignments = state.assignments_of(connection, row.id)
    places = materials.unit_places(connection, [one.unit_id for one in assignments])
    value: dict[str, Any] = {
        "campaign": title.name,
        "title of the campaign": title.title,
        "person": {
            "name": row.name,
            "name in exports": row.label,
            "came by": row.provider,
            "id given by that platform or link": row.external_id,
            "first came": _when(row.created),
            "last change": _when(row.updated),
            "status": row.status.replace("_", " "),
            "excluded": row.excluded is not None,
        },
        "personal links": _links(connection, row),
        "open sessions": _sessions(connection, row),
        "units": [
            {
                "topic": places[one.unit_id][0],
                "title": places[one.unit_id][1],
                "began": _when(one.created),
                "status": one.status.replace("_", " "),
                "counts in the result": one.counts and row.excluded is None,
                "answers": _answers(connection, one.id, for_owner=for_owner),
            }
            for one in assignments
        ],
        "questions to the organisers": _messages(connection, row),
        "log": _log(connection, row, for_owner=for_owner),
    }
    if for_owner and row.excluded is not None:
        value["person"]["reason for the exclusion"] = row.excluded
    return value


def person_json(connection: Connection, row: AssessorRow, *, for_owner: bool) -> bytes:
    """`person_data` as a file."""
    value = person_data(connection, row, for_owner=for_owner)
    return json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _when(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _links(connection: Connection, row: AssessorRow) -> list[dict[str, Any]]:
    if row.provider != "link":
        return []
    mine = invitation.c.campaign_id == row.campaign_id, invitation.c.name == row.external_id
    query = select(invitation.c.created, invitation.c.revoked).where(*mine).order_by(invitation.c.created)
    return [{"made": _when(at), "revoked": bool(revoked)} for at, revoked in connection.execute(query)]


def _sessions(connection: Connection, row: AssessorRow) -> list[dict[str, Any]]:
    mine = session.c.kind == "assessor", session.c.subject_id == row.id
    query = select(session.c.created, session.c.seen).where(*mine).order_by(session.c.created)
    return [{"began": _when(began), "last used": _when(seen)} for began, seen in connection.execute(query)]


def _answers(connection: Connection, assignment_id: int, *, for_owner: bool) -> list[dict[str, Any]]:
    """Answers in the order of their times. Those to gold questions are told apart for owners only."""
    answers: list[tuple[float, dict[str, Any]]] = []
    for table in (judgment, gold_answer, preference, bad_mark):
        for one in answers_of(connection, table, assignment_id):
            cells = one._mapping
            answer: dict[str, Any] = {"time": _when(cells["time"])}
            if table is preference:
                answer |= {"documents": [cells["left"], cells["right"]], "chosen": cells["choice"]}
                answer["definitely"] = cells["strength"] == 2
            elif table is bad_mark:
                answer |= {"document": cells["label"], "answer": "Bad"}
            else:
                documents = [label for label in (cells["label"], cells.get("other")) if label]
                answer |= {"documents": documents, "answer": cells["raw"] or "cannot tell", "comment": cells["reason"]}
            if table is gold_answer and for_owner:
                answer |= {"gold question": True, "right": cells["is_right"]}
            answer["seconds"] = round(cells["seconds"], 3)
            answer["seconds with the page in front"] = cells.get("active")
            answers.append((cells["time"], answer))
    return [answer for _, answer in sorted(answers, key=lambda one: one[0])]


def _messages(connection: Connection, row: AssessorRow) -> list[dict[str, Any]]:
    query = select(message).where(message.c.assessor_id == row.id).order_by(message.c.number)
    return [
        {"time": _when(one.time), "documents": one.documents, "text": one.text, "reply": one.reply}
        for one in connection.execute(query)
    ]


def _log(connection: Connection, row: AssessorRow, *, for_owner: bool) -> list[dict[str, Any]]:
    log = []
    for one in persons.events_of_assessor(connection, row.id):
        if not for_owner and one.kind in HIDDEN:
            continue
        data = {key: value for key, value in one.data.items() if for_owner or key in OWN}
        if not for_owner and one.late:
            data = {key: value for key, value in data.items() if key in ("text", "reason", "comment")}
        by = {"assessor": "the person", "owner": "the organisers", "server": "the server"}[one.actor]
        entry: dict[str, Any] = {"time": _when(one.time), "what": one.kind.replace("_", " "), "by": by}
        log.append({**entry, "data": data} if data else entry)
    return log

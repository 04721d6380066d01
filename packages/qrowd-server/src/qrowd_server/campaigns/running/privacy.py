"""Personal data of assessors: all that a campaign holds about a person as a file, deletion, and the retention time.

What a deleted person answered stays, under their pseudonym, and counts, or is withdrawn. Names, ids on platforms, what
a platform said of them and all they wrote are removed from the events and from the tables; the tables of answers are
folded again from the events, so that `rebuild` gives the same. An event `person_deleted` says what was done.

Once a campaign was stopped long enough ago, names and platform ids of its people go. A campaign says so by
`retention_days`; a server may have days for campaigns that do not. Answers and what people wrote stay.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

from sqlalchemy import Connection, select

from qrowd_server.campaigns.running.campaign_reader import CampaignReader
from qrowd_server.campaigns.running.campaign_settings import NotFoundError, find
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.campaigns.running.transaction import Transaction
from qrowd_server.protocols.events import Event
from qrowd_server.store import event_log as events
from qrowd_server.store import materials, persons
from qrowd_server.store import state_rows as state
from qrowd_server.store.accounts import COMMAND_LINE
from qrowd_server.store.answer_rows import answers_of
from qrowd_server.store.base import ERASE, Store
from qrowd_server.store.event_log import LogEntry
from qrowd_server.store.materials import CampaignRow
from qrowd_server.store.schema import (
    OPEN,
    bad_mark,
    campaign,
    event,
    gold_answer,
    invitation,
    judgment,
    message,
    preference,
    session,
)
from qrowd_server.store.state_rows import AssessorRow, AssignmentRow

Answers = Literal["keep", "withdraw"]
By = Literal["owner", "assessor", "retention"]
DELETED = "person_deleted"
DAY = 86400.0
#: What an event of an assessor may show them: what they did and wrote, nothing of how their work is checked.
OWN = frozenset(
    {
        *("text", "reason", "comment", "choice", "strength", "side", "confidence", "understanding", "active"),
        *("position", "option", "line", "agreed", "message", "name", "provider", "external_id"),
        *("about", "number", "answers", "by", "pair", "seconds"),
    }
)
HIDDEN = frozenset({"checked", "offered", "unanswered", "excluded"})  # kinds of events that the assessor does not get


# ---- deletion


def delete_person(
    connection: Connection,
    campaign: str,
    assessor_id: int,
    at: float,
    *,
    answers: Answers = "keep",
    by: By = "owner",
    account: str | None = COMMAND_LINE,
    number: Callable[[], int] = lambda: secrets.randbits(62),
) -> None:
    """Remove a person from a campaign; a moment later the files of a SQLite store hold nothing of them.

    answers : keep leaves them in the result, under the pseudonym; withdraw takes them out, as if the person were
        excluded, and others may judge their units. In both cases an open unit goes to others.
    by : who wants it. At the end of the retention time comments and reasons stay; otherwise they are removed.
    account : of an owner, for the log.
    """
    campaign_row = find(connection, campaign)
    found = state.find_assessor(connection, assessor_id)
    if found is None or found[0].campaign_id != campaign_row.id or found[0].is_model:
        raise NotFoundError(f"there is no such person in the campaign {campaign}")
    row = found[0]
    actor = {"owner": "owner", "assessor": "assessor", "retention": "server"}[by]
    own_account = account if by == "owner" else None
    reader = CampaignReader(connection, campaign_row.id, campaign_row.stamp)
    transaction = Transaction(reader, at, number, actor=actor, account=own_account)
    if answers == "withdraw" and row.excluded is None:
        row = transaction.record_assessor(row, Event("excluded", {"reason": persons.WITHDRAWN}))
    transaction.withdraw(row, ("open", "completed") if answers == "withdraw" else ("open",))
    transaction.finish()

    texts, name = by != "retention", persons.free_name(connection, row)
    n_events, n_texts = persons.pseudonymise_events(connection, row, name, texts=texts)
    persons.pseudonymise_rows(connection, row, name, texts=texts)
    data = {
        "answers": "kept" if answers == "keep" else "withdrawn",
        "by": by,
        "n_events": n_events,
        "n_texts": n_texts,
        "texts": "removed" if texts else "kept",
    }
    entry = LogEntry(at, campaign_row.id, row.id, None, None, actor, DELETED, data, account=own_account)
    events.append(connection, [entry])
    rebuild(connection, campaign, only=row.id)
    connection.info[ERASE] = True


def deleted(connection: Connection, campaign_id: int) -> set[int]:
    """The people of a campaign whose names were removed, so that nobody can come back as them; the log says who."""
    done = event.c.campaign_id == campaign_id, event.c.kind == DELETED
    return set(connection.scalars(select(event.c.assessor_id).where(*done)))


# ---- the retention time


def retention_days(row: CampaignRow, default: float | None = None) -> float | None:
    """Days after the end of a campaign for which names are kept; None for ever. default : of the server."""
    days = row.settings.get("retention_days")
    return default if days is None else float(days)


def stopped_since(connection: Connection, row: CampaignRow) -> float | None:
    """Since when a campaign is stopped; None where it is not."""
    if row.status != "stopped":
        return None
    stops = event.c.campaign_id == row.id, event.c.kind == "stopped", event.c.assessor_id.is_(None)
    return connection.scalar(select(event.c.time).where(*stops).order_by(event.c.id.desc()).limit(1))


def due(connection: Connection, at: float, *, default: float | None = None) -> dict[str, list[int]]:
    """{campaign: people whose names are still there} of the campaigns whose retention time is over."""
    people: dict[str, list[int]] = {}
    for row in materials.campaigns(connection):
        days, since = retention_days(row, default), stopped_since(connection, row)
        if days is None or since is None or at - since < days * DAY:
            continue
        gone = deleted(connection, row.id)
        if left := [
            one.id for one in state.assessors_of(connection, row.id) if not one.is_model and one.id not in gone
        ]:
            people[row.name] = left
    return people


def apply_retention(store: Store, at: float, *, default: float | None = None) -> dict[str, int]:
    """Take the names out of all campaigns that are due, also of who was invited and never came: {campaign: people}.

    Each person is a transaction, so that others need not wait, and what was interrupted goes on the next time.
    """
    done: dict[str, int] = {}
    for name, people in store.read(lambda connection: due(connection, at, default=default)).items():
        done[name] = sum(store.write(partial(_pseudonymise, name, person, at)) for person in people)
        store.write(partial(_forget_invited, name))
    return done


def _pseudonymise(campaign: str, person: int, at: float, connection: Connection) -> bool:
    """Take the name of a person, unless that was done meanwhile."""
    if person in deleted(connection, find(connection, campaign).id):
        return False
    delete_person(connection, campaign, person, at, by="retention")
    return True


def _forget_invited(campaign: str, connection: Connection) -> None:
    persons.forget_invited(connection, find(connection, campaign).id)


# ---- what is held about a person


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
                "answers": _answers(connection, one, for_owner=for_owner),
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


def _answers(connection: Connection, unit: AssignmentRow, *, for_owner: bool) -> list[dict[str, Any]]:
    """Answers in the order of their times. Those to gold questions are told apart for owners only.

    Names of documents may tell what is expected, so the person gets none while the unit is open, as on its pages.
    """
    answers: list[tuple[float, dict[str, Any]]] = []
    for table in (judgment, gold_answer, preference, bad_mark):
        for one in answers_of(connection, table, unit.id):
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
            if not for_owner and unit.status == OPEN:
                answer = {key: value for key, value in answer.items() if key not in ("document", "documents")}
            answer["seconds"] = round(cells["seconds"], 3)
            answer["seconds with the page in front"] = cells.get("active")
            answers.append((cells["time"], answer))
    return [answer for _, answer in sorted(answers, key=lambda one: one[0])]


def _messages(connection: Connection, row: AssessorRow) -> list[dict[str, Any]]:
    query = select(message).where(message.c.assessor_id == row.id).order_by(message.c.number)
    return [{"time": _when(one.time), "text": one.text, "reply": one.reply} for one in connection.execute(query)]


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

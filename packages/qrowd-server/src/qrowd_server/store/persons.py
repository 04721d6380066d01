"""What the store holds of a person besides answers: pseudonyms, and how names, platform ids and texts are taken out.

The log is only changed here, and only in what says who somebody is or what they wrote. Who did what when stays. A
pseudonym is "a1" for the first person who came to a campaign, "a2" for the second, and so on. Models keep their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, select, update

from qrowd_server.store.event_log import ALL, LogEntry
from qrowd_server.store.schema import assessor, assignment, draft, event, invitation, invited, message
from qrowd_server.store.sessions import close_sessions
from qrowd_server.store.state_rows import AssessorRow

#: Keys of event data that hold what somebody wrote.
TEXTS = ("reason", "comment", "message")
#: Kinds of events whose `text` is a number or a grade, not prose.
ANSWERS = ("judged", "revised", "line_judged")
REMOVED = "the reason was removed with the person"  # in place of a reason that must not be empty
WITHDRAWN = "answers withdrawn when the person was deleted"  # a reason that the program writes


def events_of_assessor(connection: Connection, assessor_id: int) -> list[LogEntry]:
    """What happened to one assessor, oldest first."""
    mine = ALL.where(event.c.assessor_id == assessor_id)
    own = select(assignment.c.id).where(assignment.c.assessor_id == assessor_id)
    queries = mine.where(event.c.assignment_id.in_(own)), mine.where(event.c.assignment_id.is_(None))
    rows = [LogEntry._make(row) for query in queries for row in connection.execute(query)]
    return sorted(rows, key=lambda one: one.id)


def without_texts(entry: LogEntry, data: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """The data of an event without prose, and how many texts that were."""
    new, n = dict(data), 0
    prose = [key for key in TEXTS if isinstance(data.get(key), str)]
    if entry.late or entry.kind not in ANSWERS:
        prose += [key for key in ("text",) if isinstance(data.get(key), str)]
    for key in prose:
        rule = entry.kind == "excluded" and data.get("gold") is not None  # written by the program
        if data[key] not in ("", WITHDRAWN) and not rule:
            new[key], n = REMOVED if entry.kind == "excluded" else "", n + 1
    return new, n


def pseudonymise_events(connection: Connection, row: AssessorRow, name: str, *, texts: bool) -> tuple[int, int]:
    """Take names and platform ids out of the events of a person; (events changed, texts removed).

    name : in place of theirs. texts : also what they wrote.
    """
    changed = n_texts = 0
    for entry in events_of_assessor(connection, row.id):
        data = pseudonymised(entry.kind, entry.data, name)
        if entry.kind == "arrived":
            data["pseudonym"] = row.label
        if texts:
            data, n = without_texts(entry, data)
            n_texts += n
        # A digest is of what a form held, so that texts could be guessed and compared.
        if data != entry.data or entry.digest:
            changed += data != entry.data
            values = {"data": data, "digest": "" if entry.digest is not None else None}
            connection.execute(update(event).where(event.c.id == entry.id).values(**values))
    return changed, n_texts


def pseudonymise_rows(connection: Connection, row: AssessorRow, name: str, *, texts: bool) -> None:
    """Take names and platform ids out of the tables, and end sessions and invitations; answers are left to the log."""
    of_campaign = row.campaign_id
    connection.execute(update(assessor).where(assessor.c.id == row.id).values(name=name, external_id=name))
    for table in (invitation, invited):  # also of somebody who came by a platform under the same name
        of_name = table.c.campaign_id == of_campaign, table.c.name.in_([row.name, row.external_id])
        connection.execute(delete(table).where(*of_name))
    own = select(assignment.c.id).where(assignment.c.assessor_id == row.id)
    connection.execute(delete(draft).where(draft.c.assignment_id.in_(own)))
    if texts:
        written = {"text": "", "reply": func.substr(message.c.reply, 1, 0)}  # null stays null
        connection.execute(update(message).where(message.c.assessor_id == row.id).values(**written))
    close_sessions(connection, "assessor", row.id)


def forget_invited(connection: Connection, campaign_id: int) -> None:
    """Forget everybody who was invited, also those who never came; no link leads to the campaign any more."""
    for table in (invitation, invited):
        connection.execute(delete(table).where(table.c.campaign_id == campaign_id))


def free_name(connection: Connection, row: AssessorRow) -> str:
    """A name for a person whose own is removed, which nobody else in the campaign has."""
    name = f"deleted-{row.label}"
    others = assessor.c.campaign_id == row.campaign_id, assessor.c.name == name, assessor.c.id != row.id
    return name if connection.scalar(select(assessor.c.id).where(*others)) is None else f"{name}-{row.id:x}"


# ---- pseudonyms


def assessor_label(names: bool = False) -> ColumnElement[str]:
    """The column that names an assessor. names : by name, not by pseudonym."""
    return assessor.c.name if names else func.coalesce(assessor.c.pseudonym, assessor.c.name)


def pseudonymised(kind: str, data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The data of an event without names, platform ids and what a platform said. name : the pseudonym."""
    return {**data, "about": {}, "name": name, "external_id": name} if kind == "arrived" else dict(data)

"""Deleting a person from a campaign, so that the tables, the log and everything exported later hold nothing of them.

What they answered stays, under their pseudonym, and counts, or is withdrawn. Names, ids on platforms, what a platform
said of them and all they wrote are removed from the events and from the tables; the tables of answers are folded again
from the events, so that `rebuild` gives the same. An event `person_deleted` says what was done.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, get_args

from sqlalchemy import Connection

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.running.campaign_reader import CampaignReader
from qrowd_server.campaigns.running.exclusion import withdraw
from qrowd_server.campaigns.running.lookup import NotFoundError, find
from qrowd_server.campaigns.running.rebuild import rebuild
from qrowd_server.campaigns.running.transaction import Transaction
from qrowd_server.protocols.events import Event
from qrowd_server.store import events, persons, state
from qrowd_server.store.accounts import COMMAND_LINE
from qrowd_server.store.base import to_json
from qrowd_server.store.events import LogEntry
from qrowd_server.store.state import AssessorRow

Answers = Literal["keep", "withdraw"]
By = Literal["owner", "assessor", "retention"]
DELETED = "person_deleted"
WITHDRAWN = "answers withdrawn when the person was deleted"


@dataclass(frozen=True)
class Deletion:
    """What a deletion did.

    pseudonym : under which the answers stay. answers : whether they count. n_events : events that were changed.
    n_texts : comments, reasons and questions that were removed. digest : SHA-256 of the events of the person as they
    are since then; see `deletion_digest`.
    """

    pseudonym: str
    answers: Answers
    n_events: int
    n_texts: int
    digest: str


def find_person(connection: Connection, campaign_id: int, name: str) -> AssessorRow:
    """The person of that name or pseudonym; a name goes first.

    Raises
    ------
    NotFoundError
        Nobody is called that, or it is a model.
    """
    everybody = [one for one in state.assessors_of(connection, campaign_id) if not one.is_model]
    by_name = [one for one in everybody if one.name == name] or [one for one in everybody if one.pseudonym == name]
    if not by_name:
        raise NotFoundError(
            f"nobody is called {name[:100]!r} in this campaign; its page of assessors shows who takes part"
        )
    return by_name[0]


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
) -> Deletion:
    """Remove a person from a campaign; the files may hold what was deleted until they are written anew.

    answers : keep leaves them in the result, under the pseudonym; withdraw takes them out, as if the person were
        excluded, and others may judge their units. In both cases an open unit goes to others.
    by : who wants it. At the end of the retention time comments and reasons stay; otherwise they are removed.
    account : of an owner, for the log.

    Raises
    ------
    ArgumentError
        There is no such campaign or person in it, or an option that does not exist.
    """
    if answers not in get_args(Answers):
        raise ArgumentError(f"choose one of {', '.join(get_args(Answers))}", "answers", answers)
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
        row = transaction.record_assessor(row, Event("excluded", {"reason": WITHDRAWN}))
    withdraw(transaction, row, ("open", "completed") if answers == "withdraw" else ("open",))
    transaction.finish()

    texts, name = by != "retention", persons.free_name(connection, row)
    n_events, n_texts = persons.pseudonymise_events(connection, row, name, texts=texts)
    persons.pseudonymise_rows(connection, row, name, texts=texts)
    digest = deletion_digest(connection, row)
    data = {
        "answers": "kept" if answers == "keep" else "withdrawn",
        "by": by,
        "n_events": n_events,
        "n_texts": n_texts,
        "texts": "removed" if texts else "kept",
        "digest": digest,
    }
    entry = LogEntry(at, campaign_row.id, row.id, None, None, actor, DELETED, data, account=own_account)
    events.append(connection, [entry])
    rebuild(connection, campaign, only=row.id)
    return Deletion(row.label, answers, n_events, n_texts, digest)


def deletion_digest(connection: Connection, row: AssessorRow) -> str:
    """SHA-256 of a person's events up to the deletion: time, actor, kind and data, without numbers of this database.

    It is of what is left, never of what was removed, so it tells nothing about the person. It is the same later, and in
    another database, as long as nobody has changed what is left.
    """
    parts = sha256()
    for one in persons.events_of_assessor(connection, row.id):
        if one.kind == DELETED:
            break
        data = {key: one.data[key] for key in sorted(one.data) if key not in ("document", "left", "right", "topic")}
        parts.update(to_json([one.time, one.actor, one.kind, data, one.late]).encode() + b"\n")
    return parts.hexdigest()

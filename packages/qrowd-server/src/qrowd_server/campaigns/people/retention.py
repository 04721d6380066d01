"""The end of the retention time: names and platform ids of people go once a campaign was stopped long enough ago.

A campaign says so by `retention_days`; a server may have days for campaigns that do not. Their answers and what they
wrote stay under the pseudonym.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, select

from qrowd_server.campaigns.people.privacy import DELETED, delete_person
from qrowd_server.campaigns.running.lookup import find
from qrowd_server.store import materials, persons, state
from qrowd_server.store.base import Store
from qrowd_server.store.materials import CampaignRow
from qrowd_server.store.schema import event

DAY = 86400.0


@dataclass(frozen=True)
class Due:
    """A campaign whose retention time is over. days : the time. people : who still has a name in it."""

    campaign: str
    days: float
    people: tuple[int, ...]


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


def due(connection: Connection, at: float, *, default: float | None = None) -> list[Due]:
    """Campaigns whose retention time is over, with the people whose names are still there."""
    found = []
    for row in materials.campaigns(connection):
        days, since = retention_days(row, default), stopped_since(connection, row)
        if days is None or since is None or at - since < days * DAY:
            continue
        done = select(event.c.assessor_id).where(event.c.campaign_id == row.id, event.c.kind == DELETED)
        gone = set(connection.scalars(done))
        people = (one.id for one in state.assessors_of(connection, row.id) if not one.is_model and one.id not in gone)
        if left := tuple(people):
            found.append(Due(row.name, days, left))
    return found


def apply_retention(store: Store, at: float, *, default: float | None = None) -> dict[str, int]:
    """Take the names out of all campaigns that are due: {campaign: people}.

    Each person is a transaction, so that others need not wait, and what was interrupted goes on the next time.
    """
    done: dict[str, int] = {}
    for one in store.read(lambda connection: due(connection, at, default=default)):
        for person in one.people:
            done[one.campaign] = done.get(one.campaign, 0) + store.write(partial(_one, one.campaign, person, at))
        store.write(partial(_forget_invited, one.campaign))
    return done


def _forget_invited(campaign: str, connection: Connection) -> None:
    """Take the names of people who were invited and never came."""
    persons.forget_invited(connection, find(connection, campaign).id)


def _one(campaign: str, person: int, at: float, connection: Connection) -> bool:
    """Take the name of a person, unless that was done meanwhile."""
    if any(one.kind == DELETED for one in persons.events_of_assessor(connection, person)):
        return False
    delete_person(connection, campaign, person, at, by="retention")
    return True

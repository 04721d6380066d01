"""Removing a whole campaign from a database, and replacing one that has no answer yet."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, insert, select

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.campaigns.running.lookup import find
from qrowd_server.store import counts, materials
from qrowd_server.store.schema import (
    api_key,
    assignment,
    campaign,
    event,
    invitation,
    invited,
    member,
    metadata,
    sign_up,
)

ANSWERS = (*counts.ANSWERS, "declined", "line_judged", "replied")
"""Events after which a campaign stays as it is."""


def check_stopped(connection: Connection, name: str) -> None:
    """Refuse a campaign in which somebody may be judging.

    Raises
    ------
    ArgumentError
        It is running or paused.
    """
    status = find(connection, name).status
    if status != "stopped":
        raise ArgumentError(f"{name} is {status}; stop it first: qrowd campaign status {name} --set stopped")


def newest_event(connection: Connection, campaign_id: int) -> int:
    """The number of the newest event of a campaign."""
    return int(connection.execute(select(func.max(event.c.id)).where(event.c.campaign_id == campaign_id)).scalar_one())


def delete_campaign(connection: Connection, name: str, *, newest: int | None = None) -> None:
    """Remove a stopped campaign with all its events, assessors, invitations and keys.

    newest : the newest event when its archive was written; default: whatever is the newest now.

    Raises
    ------
    ArgumentError
        It is running or paused, or something has happened since its archive was written.
    """
    check_stopped(connection, name)
    number = find(connection, name).id
    if newest is not None and newest_event(connection, number) != newest:
        raise ArgumentError(f"{name}: something happened after the archive was written; write it again, then delete")
    _remove(connection, number)


def replace_campaign(connection: Connection, plan: Plan, at: float) -> None:
    """Put a plan in the place of the campaign of its name, whose invitations, members and keys stay.

    Assessors who have opened it begin again at the first page.

    Raises
    ------
    ArgumentError
        There is no such campaign, it has an answer, or the plan cannot be created.
    """
    number = find(connection, plan.name).id
    answers = select(func.count()).where(event.c.campaign_id == number, event.c.kind.in_(ANSWERS))
    if n := connection.execute(answers).scalar_one():
        raise ArgumentError(
            f"{plan.name} has {n} answer{'s' * (n != 1)} already and cannot be replaced; create one of another name"
        )
    kept = {
        table: [dict(row) for row in connection.execute(select(table).where(table.c.campaign_id == number)).mappings()]
        for table in (invitation, invited, sign_up, member, api_key)
    }
    _remove(connection, number)
    new = create_campaign(connection, plan, at)
    for table, rows in kept.items():
        if rows:
            connection.execute(insert(table), [{**row, "campaign_id": new} for row in rows])


def _remove(connection: Connection, number: int) -> None:
    own_assignments = select(assignment.c.id).where(assignment.c.campaign_id == number)
    for table in reversed(metadata.sorted_tables):
        if "campaign_id" in table.c:
            connection.execute(delete(table).where(table.c.campaign_id == number))
        elif "assignment_id" in table.c:
            connection.execute(delete(table).where(table.c.assignment_id.in_(own_assignments)))
    connection.execute(delete(campaign).where(campaign.c.id == number))
    materials.note_deleted(connection, number)

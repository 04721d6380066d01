"""Removing a whole campaign from a database."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select

from qrowd.collect.campaigns.state import find
from qrowd.collect.store.schema import assignment, campaign, metadata
from qrowd.errors import ArgumentError


def check_stopped(connection: Connection, name: str) -> None:
    """Refuse a campaign in which somebody may be judging.

    Raises
    ------
    ArgumentError
        It is running or paused.
    """
    status = find(connection, name).status
    if status != "stopped":
        raise ArgumentError(f"{name} is {status}; stop it first: qrowd campaign set-status {name} stopped")


def delete_campaign(connection: Connection, name: str) -> None:
    """Remove a stopped campaign with all its events, assessors, invitations and keys.

    Raises
    ------
    ArgumentError
        It is running or paused.
    """
    check_stopped(connection, name)
    number = find(connection, name).id
    own_assignments = select(assignment.c.id).where(assignment.c.campaign_id == number)
    for table in reversed(metadata.sorted_tables):
        if "campaign_id" in table.c:
            connection.execute(delete(table).where(table.c.campaign_id == number))
        elif "assignment_id" in table.c:
            connection.execute(delete(table).where(table.c.assignment_id.in_(own_assignments)))
    connection.execute(delete(campaign).where(campaign.c.id == number))

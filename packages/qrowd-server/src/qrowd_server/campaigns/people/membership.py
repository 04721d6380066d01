"""Who may do what in a campaign: every change of a role is an event of the campaign.

An archive keeps these events and gives no role where it is imported: accounts belong to a server.
"""

from __future__ import annotations

from sqlalchemy import Connection

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.running.lookup import find
from qrowd_server.protocols.events import Event
from qrowd_server.store import events
from qrowd_server.store.accounts import CAMPAIGN_ROLES, COMMAND_LINE, campaign_role, find_account, set_member
from qrowd_server.store.events import LogEntry

NONE = "none"  # takes a role away


def give_role(
    connection: Connection, campaign: str, name: str, role: str, at: float, *, account: str = COMMAND_LINE
) -> None:
    """Give an account a role in a campaign: owner, viewer or none. account : who does, for the log.

    Raises
    ------
    ArgumentError
        There is no such account, campaign or role.
    """
    new = next((one for one in CAMPAIGN_ROLES if one == role), None)
    if new is None and role != NONE:
        raise ArgumentError(f"choose one of {', '.join((*CAMPAIGN_ROLES, NONE))}", "role", role[:40])
    row, who = find(connection, campaign), find_account(connection, name)
    if campaign_role(connection, who.id, row.id) == new:
        return
    set_member(connection, row.id, who.id, new)
    record(connection, row.id, Event("member", {"account": who.name, "role": role}), at, account)


def record(connection: Connection, campaign_id: int, event: Event, at: float, account: str) -> None:
    """Write an event of an owner that is about the campaign as a whole."""
    entry = LogEntry(at, campaign_id, None, None, None, "owner", event.kind, event.data, account=account)
    events.append(connection, [entry])

"""Invitations of assessors: links, and the address for a panel.

GET  /owner/c/{campaign}/invitations    the invitations       POST: number, names, another, revoke, open, close
GET  /owner/c/{campaign}/panel          the address to paste
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import Connection
from starlette.responses import Response
from starlette.routing import BaseRoute

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.results.campaign_progress import states_of
from qrowd_server.campaigns.running.campaign_settings import read_settings
from qrowd_server.store import event_log as events
from qrowd_server.store import invitation_links as stored
from qrowd_server.store.invitation_links import add_sign_up, close_sign_up, invite, invite_all, revoke_invitation
from qrowd_server.store.state_rows import assessors_of
from qrowd_server.web.forms import Form
from qrowd_server.web.owner.context import OWNER_OF, OwnerContext, choose_one, form, page
from qrowd_server.web.server import DAY

MOST = 1000  # links at once
NAME = re.compile(r"[^\s\x00-\x1f\x7f]{1,100}")
NUMBERED = re.compile(r"a([0-9]{1,9})")


# ---- links


def invite_new(connection: Connection, campaign_id: int, names: Sequence[str], at: float) -> list[tuple[str, str]]:
    """(name, token) of a new link for each name; a name that has a good link is refused."""
    return invite_all(connection, campaign_id, names, at, remedy="make a further link for them in the table below")


def invite_some(connection: Connection, campaign_id: int, n: int, at: float) -> list[tuple[str, str]]:
    """Links for n further assessors without names, called a1, a2 ..."""
    names = [one.name for one in stored.invitations(connection, campaign_id)]
    names += [one.name for one in assessors_of(connection, campaign_id)]
    numbers = [int(match[1]) for name in names if (match := NUMBERED.fullmatch(name))]
    first = max(numbers, default=0) + 1
    return invite_new(connection, campaign_id, [f"a{number}" for number in range(first, first + n)], at)


def names_in(text: str) -> list[str]:
    """The names in a text, one a line."""
    names = [line.strip() for line in text.split("\n") if line.strip()]
    if not names:
        raise ArgumentError("names: write one a line")
    if len(names) > MOST:
        raise ArgumentError(f"names: {len(names)} are more than {MOST} at once; send them in parts")
    for name in names:
        if not NAME.fullmatch(name):
            raise ArgumentError(f"name {name[:40]!r}: give 1 to 100 characters without blanks")
        if names.count(name) > 1:
            raise ArgumentError(f"name {name!r} is there twice; remove one")
    return names


def number_in(fields: Form, name: str, most: int = MOST) -> int:
    """A whole number from 1, such as how many links."""
    text = fields.get(name, "").strip()
    if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) or not 1 <= int(text) <= most:
        raise ArgumentError(f"{name}: give a whole number from 1 to {most}")
    return int(text)


async def invitations(context: OwnerContext, new: Sequence[tuple[str, str]] = (), opened: str = "") -> Response:
    """The invitations. new : (name, token) of links, opened : token of a sign-up link, just made."""
    number, base = context.campaign.id, context.server.settings.base_url.rstrip("/")
    rows = await context.read(stored.invitations, number)
    states = await context.read(states_of, context.campaign)
    sign_ups = await context.read(stored.sign_ups, number)
    links = [(name, f"{base}/join/{token}") for name, token in new]
    sign_up_link = f"{base}/sign-up/{opened}" if opened else ""
    values = {"rows": rows, "states": states, "links": links, "sign_ups": sign_ups, "sign_up_link": sign_up_link}
    return context.render("invitations", **values)


async def send_invitations(context: OwnerContext, fields: Form) -> Response:
    """Make links, which are shown in the answer and never again; or revoke one."""
    number, at, name = context.campaign.id, context.now, fields.get("name", "")
    write = context.write
    new: list[tuple[str, str]] = []
    match fields.get("do", ""):
        case "number":
            n = number_in(fields, "number")
            new = await write(invite_some, number, n, at)
        case "names":
            names = names_in(fields.get("names", ""))
            new = await write(invite_new, number, names, at)
        case "another":
            new = [(name, await write(another_link, number, name, at))]
        case "revoke":
            await write(revoke_invitation, number, name)
        case "open":
            most, days = number_in(fields, "most"), number_in(fields, "days")
            by = context.owner.name
            opened = await write(open_sign_up, number, most, days, at, by)
            return await invitations(context, opened=opened)
        case "close":
            link, by = number_in(fields, "link", 10**9), context.owner.name
            await write(end_sign_up, number, link, at, by)
        case other:
            raise choose_one("do", other, "number", "names", "another", "revoke", "open", "close")
    if new:
        n, by = len(new), context.owner.name
        await write(events.note, number, "invited", {"n": n}, at, account=by)
    return await invitations(context, new)


def open_sign_up(connection: Connection, campaign_id: int, most: int, days: int, at: float, account: str) -> str:
    """The token of a new sign-up link."""
    expires = at + days * DAY
    token = add_sign_up(connection, campaign_id, most, expires, at)
    events.note(connection, campaign_id, "sign_up_opened", {"most": most, "expires": expires}, at, account=account)
    return token


def end_sign_up(connection: Connection, campaign_id: int, number: int, at: float, account: str) -> None:
    """Close a sign-up link of the campaign; once it is closed, nothing happens."""
    n = next((one.n for one in stored.sign_ups(connection, campaign_id) if one.id == number), 0)
    if close_sign_up(connection, campaign_id, number, at):
        events.note(connection, campaign_id, "sign_up_closed", {"n": n}, at, account=account)


def another_link(connection: Connection, campaign_id: int, name: str, at: float) -> str:
    """A further link for somebody who is invited; the earlier ones stay good until they are revoked."""
    if name not in {one.name for one in stored.invitations(connection, campaign_id)}:
        raise ArgumentError(f"{name[:40]!r} is not invited; write the name above")
    return invite(connection, campaign_id, name, at)


# ---- the panel


async def panel(context: OwnerContext) -> Response:
    """The address to paste into the panel, and the codes and links that lead back to it."""
    table, address = read_settings(context.campaign).panel, ""
    if table is not None:
        base_url = context.server.settings.base_url.rstrip("/")
        address = f"{base_url}/panel/{context.campaign.name}?{table.parameter}=ID"
    return context.render("panel", panel=table, address=address)


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/invitations", invitations, needs=OWNER_OF),
    form("/owner/c/{campaign}/invitations", send_invitations, invitations, needs=OWNER_OF),
    page("/owner/c/{campaign}/panel", panel, needs=OWNER_OF),
]

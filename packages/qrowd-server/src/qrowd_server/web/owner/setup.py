"""Setup of a campaign: what is judged, by whom, and how far; what assessors see; its members, changes and deletion.

GET  /owner/c/{campaign}/setup     the page     POST to it: number, names, another, revoke, open, close, role
GET  /owner/c/{campaign}/preview   the first page of an assessor; ?judging=1: of a unit. Neither takes an answer
POST /owner/change/{campaign}      say what a folder would change, or change it; GET: the page
POST /owner/c/{campaign}/delete    delete the campaign, by its name, once its archive was downloaded
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection
from starlette.datastructures import UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.plan.folder import plan_from_zip
from qrowd_server.campaigns.results.campaign_progress import progress, states_of
from qrowd_server.campaigns.running.admin import give_role
from qrowd_server.campaigns.running.campaign_settings import read_settings
from qrowd_server.campaigns.running.changes import change_campaign, planned_changes
from qrowd_server.campaigns.running.creation import delete_campaign
from qrowd_server.store import accounts, invitation_links
from qrowd_server.store import event_log as events
from qrowd_server.store.accounts import CAMPAIGN_ROLES
from qrowd_server.store.invitation_links import add_sign_up, close_sign_up, invite, invite_all, revoke_invitation
from qrowd_server.store.materials import CampaignRow
from qrowd_server.store.state_rows import assessors_of
from qrowd_server.web.downloads import is_archived
from qrowd_server.web.forms import Form, query_of
from qrowd_server.web.owner.context import OWNER_OF, VIEWER, OwnerContext, choose_one, form, page, upload
from qrowd_server.web.security import CONTENT_POLICY
from qrowd_server.web.server import DAY, language_in

SENT = "/owner/change/"
MOST = 1000  # links at once
NUMBERED = re.compile(r"a([0-9]{1,9})")


async def setup(context: OwnerContext, **made: Any) -> Response:
    """All that a campaign is made of, and the forms that change it.

    made : what a form has just made, to be shown once: links, sign_up_link; lines of a change, and whether it is done.
    """
    row, base_url = context.campaign, context.server.settings.base_url.rstrip("/")
    people = await context.read(_people, row, context.now) if context.may(OWNER_OF) else {}
    p = await context.read(progress, row.name, context.now)
    shown = {"links": (), "sign_up_link": "", "lines": None, "done": False} | made
    created = "created" in query_of(context.request)  # just now, by the form
    about = {"p": p, "current": read_settings(row), "roles": CAMPAIGN_ROLES, "base_url": base_url, "created": created}
    return context.render("setup", **about, **people, **shown)


def _people(connection: Connection, row: CampaignRow, at: float) -> dict[str, Any]:
    """Who was invited and named, and whether the campaign may be deleted."""
    return {
        "rows": invitation_links.invitations(connection, row.id),
        "states": {one.id: state for one, state in states_of(connection, row, at)},
        "sign_ups": invitation_links.sign_ups(connection, row.id),
        "members": accounts.members(connection, row.id),
        "is_kept": is_archived(connection, row.id),
    }


async def preview(context: OwnerContext) -> Response:
    """What an assessor sees; the browser lets nobody send its forms."""
    row, server = context.campaign, context.server
    judging = query_of(context.request).get("judging") == "1"
    shown = server.with_image_addresses(await server.service.preview(row.name, judging=judging))
    shown = replace(shown, name="NAME", named=True)
    tag = language_in(context.request, row)
    content = await server.render(shown, whole=True, csrf="", base=context.base, tag=tag)
    return HTMLResponse(content, headers={"content-security-policy": f"{CONTENT_POLICY}; sandbox allow-same-origin"})


async def change_setup(context: OwnerContext, fields: Form) -> Response:
    """Make links, which are shown in the answer and never again; end them; or give an account a role, or none."""
    number, at, by, name = context.campaign.id, context.now, context.owner.name, fields.get("name", "").strip()
    write, anchor = context.write, "invited"
    new: list[tuple[str, str]] = []
    match fields.get("do", ""):
        case "number":
            new = await write(invite_some, number, number_in(fields, "number"), at)
        case "names":
            new = await write(invite_new, number, names_in(fields.get("names", "")), at)
        case "another":
            new = [(name, await write(another_link, number, name, at))]
        case "revoke":
            await write(revoke_invitation, number, name)
        case "open":
            most, days = number_in(fields, "most"), number_in(fields, "days")
            token = await write(open_sign_up, number, most, days, at, by)
            return await setup(context, sign_up_link=_address(context, "sign-up", token))
        case "close":
            await write(end_sign_up, number, number_in(fields, "link", 10**9), at, by)
            anchor = "invite"
        case "role":
            await write(give_role, context.campaign.name, name, fields.get("role", ""), at, account=by)
            anchor = "members"
        case other:
            raise choose_one("do", other, "number", "names", "another", "revoke", "open", "close", "role")
    if not new:
        return RedirectResponse(f"{context.base}/setup#{anchor}", 303)
    await write(events.note, number, "invited", {"n": len(new)}, at, account=by)
    return await setup(context, links=[(name, _address(context, "join", token)) for name, token in new])


def _address(context: OwnerContext, kind: str, token: str) -> str:
    return f"{context.server.settings.base_url.rstrip('/')}/{kind}/{token}"


# ---- links


def invite_new(connection: Connection, campaign_id: int, names: Sequence[str], at: float) -> list[tuple[str, str]]:
    """(name, token) of a new link for each name; a name that has a good link is refused."""
    return invite_all(connection, campaign_id, names, at, remedy="make a further link for them in the table below")


def invite_some(connection: Connection, campaign_id: int, n: int, at: float) -> list[tuple[str, str]]:
    """Links for n further assessors without names, called a1, a2 ..."""
    names = [one.name for one in invitation_links.invitations(connection, campaign_id)]
    names += [one.name for one in assessors_of(connection, campaign_id)]
    numbers = [int(match[1]) for name in names if (match := NUMBERED.fullmatch(name))]
    first = max(numbers, default=0) + 1
    return invite_new(connection, campaign_id, [f"a{number}" for number in range(first, first + n)], at)


def names_in(text: str) -> list[str]:
    """The names in a text, one a line."""
    names = [invitation_links.normal_name(line.strip()) for line in text.split("\n") if line.strip()]
    if not names:
        raise ArgumentError("names: write one a line")
    if len(names) > MOST:
        raise ArgumentError(f"names: {len(names)} are more than {MOST} at once; send them in parts")
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"name {name!r} is there twice; remove one")
    return names


def number_in(fields: Form, name: str, most: int = MOST) -> int:
    """A whole number from 1, such as how many links."""
    text = fields.get(name, "").strip()
    if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) or not 1 <= int(text) <= most:
        raise ArgumentError(f"{name}: give a whole number from 1 to {most}")
    return int(text)


def open_sign_up(connection: Connection, campaign_id: int, most: int, days: int, at: float, account: str) -> str:
    """The token of a new sign-up link."""
    expires = at + days * DAY
    token = add_sign_up(connection, campaign_id, most, expires, at)
    events.note(connection, campaign_id, "sign_up_opened", {"most": most, "expires": expires}, at, account=account)
    return token


def end_sign_up(connection: Connection, campaign_id: int, number: int, at: float, account: str) -> None:
    """Close a sign-up link of the campaign; once it is closed, nothing happens."""
    n = next((one.n for one in invitation_links.sign_ups(connection, campaign_id) if one.id == number), 0)
    if close_sign_up(connection, campaign_id, number, at):
        events.note(connection, campaign_id, "sign_up_closed", {"n": n}, at, account=account)


def another_link(connection: Connection, campaign_id: int, name: str, at: float) -> str:
    """A further link for somebody who is invited; the earlier ones stay good until they are revoked."""
    if name not in {one.name for one in invitation_links.invitations(connection, campaign_id)}:
        raise ArgumentError(f"{name[:40]!r} is not invited; write the name above")
    return invite(connection, campaign_id, name, at)


# ---- changing and deleting


async def change(context: OwnerContext, fields: Form, sent: list[tuple[str, UploadFile]]) -> Response:
    """Say what the folder would change, or change it."""
    do, name = fields.get("do", ""), context.campaign.name
    if do not in ("check", "change"):
        raise choose_one("do", do, "check", "change")
    if len(sent) != 1:
        raise ArgumentError("Choose a zip of the campaign's folder.")
    plan = await asyncio.to_thread(plan_from_zip, await sent[0][1].read())
    if plan.name != name:
        raise ArgumentError(f"The folder is of a campaign {plan.name}, not of {name}.")
    at, account = context.now, context.owner.name
    if do == "check":
        changes = await context.read(planned_changes, plan)
    else:
        changes = await context.write(change_campaign, plan, at, account=account)
    return await setup(context, lines=changes.lines, done=do == "change")


async def delete(context: OwnerContext, fields: Form) -> Response:
    """Delete the campaign, once an archive was downloaded that holds all."""
    name = context.campaign.name
    if fields.get("name", "") != name:
        raise ArgumentError(f"Type the name of the campaign, {name}, to delete it.")

    def work(connection: Connection) -> None:
        if not is_archived(connection, context.campaign.id):
            raise ArgumentError("Download the archive first: no download holds what happened last in the campaign.")
        delete_campaign(connection, name)

    await context.write(work)
    return RedirectResponse("/owner", 303)


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/setup", setup, needs=VIEWER),
    form("/owner/c/{campaign}/setup", change_setup, setup, needs=OWNER_OF),
    page("/owner/c/{campaign}/preview", preview, needs=VIEWER),
    page(SENT + "{campaign}", setup, needs=VIEWER),
    upload(SENT + "{campaign}", change, setup, needs=OWNER_OF),
    form("/owner/c/{campaign}/delete", delete, setup, needs=OWNER_OF),
]

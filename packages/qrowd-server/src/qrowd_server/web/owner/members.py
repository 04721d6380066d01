"""Who may do what in a campaign, and what its owners did.

GET  /owner/c/{campaign}/members    accounts with their roles    POST: a role for an account, or none
GET  /owner/c/{campaign}/log        what happened, the newest first: ?page=2
"""

from __future__ import annotations

from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd_server.campaigns.running.admin import give_role
from qrowd_server.store import accounts as stored
from qrowd_server.store import events
from qrowd_server.store.accounts import CAMPAIGN_ROLES
from qrowd_server.store.state import assessors_of
from qrowd_server.web.forms import Form, query_of
from qrowd_server.web.owner.context import OWNER_OF, VIEWER, OwnerContext, form, page

PER_PAGE = 50


async def members(context: OwnerContext) -> Response:
    """The accounts that were named in the campaign."""
    number = context.campaign.id
    rows = await context.read(lambda connection: stored.members(connection, number))
    return context.render("members", tab="members", rows=rows, roles=CAMPAIGN_ROLES)


async def change_members(context: OwnerContext, fields: Form) -> Response:
    """Give an account a role in the campaign, or take it away."""
    name, role, at = fields.get("name", "").strip(), fields.get("role", ""), context.server.clock()
    campaign, by = context.campaign.name, context.owner.name
    await context.server.store.write_async(
        lambda connection: give_role(connection, campaign, name, role, at, account=by)
    )
    still = context.role if name != by else next((one for one in CAMPAIGN_ROLES if one == role), None)
    allowed = still == "owner" or context.may("administrator")
    return RedirectResponse(f"{context.base}/members" if allowed else "/owner", 303)


async def log(context: OwnerContext) -> Response:
    """What owners did in the campaign, and when."""
    text = query_of(context.request).get("page", "1")
    current = max(int(text[:9]), 1) if text.isascii() and text.isdigit() else 1
    number = context.campaign.id

    def work(connection: Connection) -> tuple[int, list[events.LogEntry], dict[int, str]]:
        n = events.count_of_owners(connection, number)
        last = max(-(-n // PER_PAGE), 1)
        rows = events.of_owners(connection, number, PER_PAGE, (min(current, last) - 1) * PER_PAGE)
        people = assessors_of(connection, number)
        return n, rows, {one.id: one.name if context.may(OWNER_OF) else one.label for one in people}

    n, rows, names = await context.read(work)
    n_pages = max(-(-n // PER_PAGE), 1)
    values = {"n": n, "n_pages": n_pages, "current": min(current, n_pages)}
    return context.render("log", tab="log", rows=rows, names=names, **values)


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/members", members),
    form("/owner/c/{campaign}/members", change_members, members),
    page("/owner/c/{campaign}/log", log, needs=VIEWER),
]

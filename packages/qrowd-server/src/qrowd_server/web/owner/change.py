"""Changing a campaign after its start: a folder is sent, what it would change is shown, and it is sent again to do so.

GET  /owner/c/{campaign}/change    the form
POST /owner/change/{campaign}      check what a folder would change, or change it
"""

from __future__ import annotations

import asyncio

from starlette.datastructures import UploadFile
from starlette.responses import Response
from starlette.routing import BaseRoute

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.plan.campaign_files import MAX_ZIP
from qrowd_server.campaigns.plan.folder import plan_from_zip
from qrowd_server.campaigns.running.changes import change_campaign, planned_changes
from qrowd_server.web.forms import Form
from qrowd_server.web.owner.context import OWNER_OF, OwnerContext, choose_one, page, upload

SENT = "/owner/change/"


async def show_change(context: OwnerContext) -> Response:
    """The form."""
    return context.render("change", tab="settings", lines=None, done=False)


async def change(context: OwnerContext, fields: Form, sent: list[UploadFile]) -> Response:
    """Say what the folder would change, or change it."""
    do, name = fields.get("do", ""), context.campaign.name
    if do not in ("check", "change"):
        raise choose_one("do", do, "check", "change")
    if len(sent) != 1:
        raise ArgumentError("Choose a zip of the campaign's folder.")
    plan = await asyncio.to_thread(plan_from_zip, await sent[0].read())
    if plan.name != name:
        raise ArgumentError(f"The folder is of a campaign {plan.name}, not of {name}.")
    at, account = context.server.clock(), context.owner.name
    if do == "check":
        changes = await context.read(lambda connection: planned_changes(connection, plan))
    else:
        changes = await context.server.store.write_async(lambda c: change_campaign(c, plan, at, account=account))
        context.memory.forget(name)
    return context.render("change", tab="settings", lines=changes.lines, done=do == "change")


LARGE = {SENT: MAX_ZIP + (1 << 20)}  # bytes that a form may have
ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/change", show_change, needs=OWNER_OF),
    upload(SENT + "{campaign}", change, show_change, needs=OWNER_OF),
]

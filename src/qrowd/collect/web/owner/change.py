"""Changing a campaign after its start: a folder is sent, what it would change is shown, and then confirmed.

GET  /owner/c/{campaign}/change    the form; with a draft, what it would change
GET  /owner/c/{campaign}/change/folder   the campaign as a folder, in a zip
POST /owner/change/{campaign}      keep the folder as a draft of the account
POST /owner/c/{campaign}/change    make the change, if the campaign is still as it was when it was checked; or not

The draft names the version of the campaign that it was sent for.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from sqlalchemy import Connection
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.collect.campaigns.change_lines import change_lines
from qrowd.collect.campaigns.changing import change_campaign, planned_changes
from qrowd.collect.campaigns.creation import plan_of
from qrowd.collect.campaigns.folder import plan_from_zip
from qrowd.collect.campaigns.plan import Plan
from qrowd.collect.campaigns.plan_folder import plan_zip
from qrowd.collect.campaigns.plan_notes import plan_notes
from qrowd.collect.protocols.messages import Message
from qrowd.collect.store.campaign_drafts import CampaignDraft, remove_draft
from qrowd.collect.web.forms import Form, query_of
from qrowd.collect.web.owner import drafts
from qrowd.collect.web.owner.context import OWNER_OF, OwnerContext, form, page, upload_by_field
from qrowd.collect.web.recognised import line_of
from qrowd.errors import ArgumentError, QrowdError

SENT = "/owner/change/"
GONE = Message("The folder that was sent is not kept any more. Send it once more.")


async def show_change(context: OwnerContext) -> Response:
    """The form; where a folder was sent, what it would change and a button for it."""
    id = query_of(context.request).get("draft", "")
    draft = await _draft_of(context, id)
    lines: list[str] = []
    notes: tuple[str, ...] = ()
    if draft is None and id and not context.problem:
        context = replace(context, problem=GONE)
    elif draft is not None and not context.problem:
        try:
            plan = await _plan_of(context, draft)
            lines = change_lines(await context.read(lambda connection: planned_changes(connection, plan)))
            notes = plan_notes(plan)
        except QrowdError as error:
            context, draft = replace(context, problem=line_of(error)), None
    stale = draft is not None and _version_of(draft) != context.campaign.version
    shown = {"lines": lines, "notes": notes, "stale": stale, "draft": "" if draft is None else draft.id}
    done = query_of(context.request).get("done", "")
    return context.render("change", tab="settings", megabytes=drafts.MAX_DRAFT >> 20, done=done, **shown)


async def folder(context: OwnerContext) -> Response:
    """The campaign as it is now, as a folder in a zip."""
    number, name = context.campaign.id, context.campaign.name
    plan = await context.read(lambda connection: plan_of(connection, number))
    try:
        content = await asyncio.to_thread(plan_zip, plan)
    except ArgumentError as error:
        return await show_change(replace(context, problem=line_of(error)))
    headers = {"content-disposition": f'attachment; filename="{name}.zip"'}
    return Response(content, media_type="application/zip", headers=headers)


async def send(context: OwnerContext, fields: Form, sent: list[tuple[str, UploadFile]]) -> Response:
    """Keep the zip of a folder, and show what it would change."""
    if len(sent) != 1:
        raise ArgumentError(Message("Choose a zip of the campaign's folder."))
    row = context.campaign
    values = {"version": str(row.version)}
    id = await drafts.save(context, None, values, (), [("folder", sent[0][1])], campaign_id=row.id)
    return RedirectResponse(f"{context.base}/change?draft={id}", 303)


async def change(context: OwnerContext, fields: Form) -> Response:
    """Make the change that was shown, or drop it."""
    draft, do = await _draft_of(context, fields.get("draft", "")), fields.get("do", "")
    if do not in ("apply", "discard"):
        raise ArgumentError(Message("Choose whether the change is made or not."))
    if draft is None:
        raise ArgumentError(GONE)
    id, at, account, version = draft.id, context.server.clock(), context.owner.name, _version_of(draft)
    if do == "discard":
        await context.server.store.write_async(lambda connection: remove_draft(connection, id))
        return RedirectResponse(f"{context.base}/change", 303)
    plan = await _plan_of(context, draft)

    def work(connection: Connection) -> int:
        changes = change_campaign(connection, plan, at, account=account, version=version)
        remove_draft(connection, id)
        return changes.version

    await context.server.store.write_async(work)
    context.memory.forget(context.campaign.name)
    return RedirectResponse(f"{context.base}/change?done=1", 303)


async def _draft_of(context: OwnerContext, id: str) -> CampaignDraft | None:
    draft = await drafts.find(context, id)
    return draft if draft is not None and draft.campaign_id == context.campaign.id else None


def _version_of(draft: CampaignDraft) -> int:
    return int(draft.fields.get("version", "0"))


async def _plan_of(context: OwnerContext, draft: CampaignDraft) -> Plan:
    """The plan of the folder that was sent, which has to be of this campaign."""
    content = b"".join((await drafts.contents(context, draft)).values())
    plan = await asyncio.to_thread(plan_from_zip, content)
    if plan.name != context.campaign.name:
        names = {"name": plan.name, "campaign": context.campaign.name}
        raise ArgumentError(Message("The folder is of a campaign %(name)s, not of %(campaign)s.", **names))
    return plan


PATH = "/owner/c/{campaign}/change"
LARGE = {SENT: drafts.MAX_DRAFT + (1 << 20)}  # bytes that a form may have
ROUTES: list[BaseRoute] = [
    page(PATH, show_change, needs=OWNER_OF),
    page(f"{PATH}/folder", folder, needs=OWNER_OF),
    upload_by_field(SENT + "{campaign}", send, show_change, needs=OWNER_OF),
    form(PATH, change, show_change, needs=OWNER_OF),
]

"""Campaigns: the list of all, a new one, one as it runs, and what owners did in it.

GET  /owner                        all
GET  /owner/new                    a form         POST /owner/new                       create
GET  /owner/c/{campaign}           its progress   POST /owner/c/{campaign}/status       pause, resume, stop
GET  /owner/c/{campaign}/live      the part of it that changes
GET  /owner/c/{campaign}/log       what happened, the newest first: ?page=2
"""

from __future__ import annotations

import asyncio
from typing import Any

from sqlalchemy import Connection
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.plan.folder import plan_from_zip
from qrowd_server.campaigns.plan.form import SentFile, plan_from_form
from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.campaigns.plan.template import PROTOCOLS
from qrowd_server.campaigns.results.archive import read_archive
from qrowd_server.campaigns.results.campaign_progress import progress
from qrowd_server.campaigns.running.admin import STEPS
from qrowd_server.campaigns.running.campaign_settings import find
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.store import event_log as events
from qrowd_server.store.accounts import campaign_roles, set_member
from qrowd_server.store.materials import CampaignRow, campaigns, find_campaign
from qrowd_server.store.review_rows import count_asked
from qrowd_server.store.state_rows import assessors_of
from qrowd_server.web.forms import Form
from qrowd_server.web.owner import formatting
from qrowd_server.web.owner.assessors import quality_of
from qrowd_server.web.owner.context import (
    MEMBER,
    NO_ACCOUNT,
    OWNER_OF,
    VIEWER,
    Owner,
    OwnerContext,
    form,
    page,
    upload,
)
from qrowd_server.web.owner.decision import decision_of

NEW = "/owner/new"
PER_PAGE = 50  # events


async def overview(context: OwnerContext) -> Response:
    """The campaigns in which the account has a role, the newest first."""
    rows = await context.read(campaigns_of, context.owner)
    progresses = [await context.read(progress, row.name, context.now) for row in reversed(rows)]
    return context.render("campaigns", campaigns=progresses)


async def campaign(context: OwnerContext) -> Response:
    """One campaign as it runs."""
    return context.render("campaign", tab="progress", **await _progress(context))


async def live(context: OwnerContext) -> Response:
    """The part of the page that changes, for the script that asks every five seconds."""
    return context.render("live", **await _progress(context))


async def _progress(context: OwnerContext) -> dict[str, Any]:
    """How far the campaign is, its people, and the answer so far."""
    return {
        "p": await context.read(progress, context.campaign.name, context.now),
        "q": await quality_of(context),
        "decision": await decision_of(context),
        "n_asked": await context.read(count_asked, context.campaign.id),
    }


async def set_status(context: OwnerContext, fields: Form) -> Response:
    """Pause, resume or stop."""
    await context.admin.set_status(context.campaign.name, STEPS.get(step := fields.get("do", ""), step))
    return RedirectResponse(context.base, 303)


async def show_new(context: OwnerContext) -> Response:
    """The form."""
    return context.render("new", protocols=PROTOCOLS)


async def create(context: OwnerContext, fields: Form, sent: list[tuple[str, UploadFile]]) -> Response:
    """A campaign from the form, from a zip of its folder, or from an archive."""
    files = [SentFile(field, str(file.filename), await file.read()) for field, file in sent]
    folder = next((file for file in files if file.name.lower().endswith((".zip", ".archive"))), None)
    at, owner = context.now, context.owner
    if folder is not None and folder.name.lower().endswith(".archive"):
        lines = folder.content.splitlines()
        name = await context.write(import_as, lines, owner)
        return RedirectResponse(formatting.base_of(name), 303)
    if folder is not None:
        plan = await asyncio.to_thread(plan_from_zip, folder.content)
    else:
        plan = await asyncio.to_thread(plan_from_form, fields, files)
        if await context.read(find_campaign, plan.name) is not None:
            raise ArgumentError(f"title: {plan.name!r}, its name in addresses, is taken; choose another title")
    await context.write(create_as, plan, at, owner)
    return RedirectResponse(f"{formatting.base_of(plan.name)}/setup?created=1", 303)


def import_as(connection: Connection, lines: list[bytes], owner: Owner) -> str:
    """Create the campaign of an archive, whose owner is then also the account; its name."""
    name = read_archive(connection, lines, account=owner.name)
    _own(connection, find(connection, name).id, owner)
    return name


def create_as(connection: Connection, plan: Plan, at: float, owner: Owner) -> None:
    """Create a campaign, whose owner is the account."""
    _own(connection, create_campaign(connection, plan, at, account=owner.name), owner)


def _own(connection: Connection, campaign_id: int, owner: Owner) -> None:
    if owner.account != NO_ACCOUNT:
        set_member(connection, campaign_id, owner.account, "owner")


def campaigns_of(connection: Connection, owner: Owner) -> list[CampaignRow]:
    """The campaigns in which an account has a role, oldest first; an administrator has one in all."""
    roles = campaign_roles(connection, owner.account)
    return [row for row in campaigns(connection) if owner.role == "administrator" or row.id in roles]


async def log(context: OwnerContext) -> Response:
    """What owners did in the campaign, and when."""
    number, size = context.campaign.id, PER_PAGE
    n = await context.read(events.count_of_owners, number)
    current, n_pages = context.page_of(n, size)

    def work(connection: Connection) -> tuple[list[events.LogEntry], dict[int, str]]:
        rows = events.of_owners(connection, number, size, (current - 1) * size)
        people = assessors_of(connection, number)
        return rows, {one.id: one.name if context.may(OWNER_OF) else one.label for one in people}

    rows, names = await context.read(work)
    return context.render("log", tab="progress", rows=rows, names=names, n_pages=n_pages, current=current)


ROUTES: list[BaseRoute] = [
    page("/owner", overview, needs=MEMBER),
    page(NEW, show_new, needs=MEMBER),
    upload(NEW, create, show_new, needs=MEMBER),
    page("/owner/c/{campaign}", campaign, needs=VIEWER),
    page("/owner/c/{campaign}/live", live, needs=VIEWER),
    form("/owner/c/{campaign}/status", set_status, campaign, needs=OWNER_OF),
    page("/owner/c/{campaign}/log", log, needs=VIEWER),
]

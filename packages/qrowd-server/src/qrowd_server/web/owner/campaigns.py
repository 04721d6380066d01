"""Campaigns: the list of all, a new one, and one as it runs.

GET  /owner                        all            POST /owner/demo                   the demo's three
GET  /owner/new                    a form         POST /owner/new                    create
GET  /owner/c/{campaign}           one            POST /owner/c/{campaign}/status    pause, resume, stop
GET  /owner/c/{campaign}/live      its numbers    GET  /owner/c/{campaign}/settings  its settings
GET  /owner/new/example/{protocol} an example as a zip
"""

from __future__ import annotations

import asyncio
from typing import Any

from sqlalchemy import Connection
from starlette.datastructures import UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd_server.campaigns.demo import demo_plans
from qrowd_server.campaigns.plan.campaign_files import MAX_ZIP
from qrowd_server.campaigns.plan.folder import plan_from_zip
from qrowd_server.campaigns.plan.form import SentFile, plan_from_form
from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.campaigns.plan.plan_notes import preset_notes
from qrowd_server.campaigns.plan.template import PROTOCOLS, Protocol, template_zip
from qrowd_server.campaigns.results.archive import read_archive
from qrowd_server.campaigns.results.progress import Progress, progress
from qrowd_server.campaigns.running.admin import STEPS
from qrowd_server.campaigns.running.campaign_settings import find, read_settings
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.protocols.settings import to_table
from qrowd_server.store.accounts import campaign_roles, set_member
from qrowd_server.store.materials import CampaignRow, campaigns, find_campaign
from qrowd_server.web import texts
from qrowd_server.web.forms import Form, query_of
from qrowd_server.web.owner import formatting
from qrowd_server.web.owner.context import (
    MEMBER,
    NO_ACCOUNT,
    VIEWER,
    Owner,
    OwnerContext,
    form,
    page,
    upload_by_field,
)
from qrowd_server.web.problems import not_found

FRESH = 2.0  # seconds that progress is shown without being counted again
NEW = "/owner/new"
QUESTIONS = {True: "required", False: "not used", None: "optional"}


async def progress_of(context: OwnerContext, name: str) -> Progress:
    """The progress of a campaign, up to some seconds ago."""

    async def work() -> Progress:
        return await context.read(lambda connection: progress(connection, name, context.server.clock()))

    return await context.memory.get(("progress", name), FRESH, work)


async def overview(context: OwnerContext) -> Response:
    """The campaigns in which the account has a role, the newest first."""
    rows = await context.read(lambda connection: campaigns_of(connection, context.owner))
    progresses = [await progress_of(context, row.name) for row in reversed(rows)]
    return context.render("campaigns", tab="campaigns", campaigns=progresses)


async def campaign(context: OwnerContext) -> Response:
    """One campaign as it runs."""
    created = "created" in query_of(context.request)  # just now, by the form
    return context.render("campaign", tab="overview", created=created, **await _shown(context))


async def live(context: OwnerContext) -> Response:
    """The part of the page that changes, for the script that asks every five seconds."""
    return HTMLResponse(context.render_text("live", **await _shown(context)))


async def _shown(context: OwnerContext) -> dict[str, Any]:
    """The progress of the campaign."""
    return {"p": await progress_of(context, context.campaign.name)}


async def set_status(context: OwnerContext, fields: Form) -> Response:
    """Pause, resume or stop."""
    await context.admin.set_status(context.campaign.name, STEPS.get(step := fields.get("do", ""), step))
    context.memory.forget(context.campaign.name)
    return RedirectResponse(context.base, 303)


async def settings(context: OwnerContext) -> Response:
    """The settings of the campaign, which stay as they are after the first answer."""
    row = context.campaign
    current = read_settings(row)
    protocols = {arm.protocol for arm in current.arms.values()}
    tables: dict[str, dict[str, Any]] = {
        **{
            _capitalised(formatting.arm(name, arm.protocol)): to_table(arm.settings)
            for name, arm in current.arms.items()
        },
        **({} if current.question is None else {"Question": dict(current.question)}),
        "The assessor's way": _without_practice(to_table(current.journey), "magnitude" in protocols),
        "Campaign": {
            "Name": row.name,
            "Seed": str(row.seed),
            "Lease of a unit": formatting.seconds(current.lease_seconds),
            "Created": f"{formatting.moment(row.created)} UTC",
            **({"Check documents": row.settings["checks"]} if "magnitude" in protocols else {}),
            "Questions about topics": QUESTIONS[row.settings["questions"]],
        },
    }
    preset = row.settings["preset"]
    arms = {name: arm.settings for name, arm in current.arms.items()}
    notes = tuple(preset_notes(preset, row.settings, current.journey, arms)) if preset else ()
    rows = {title: {key: formatting.in_words(value) for key, value in table.items()} for title, table in tables.items()}
    return context.render("settings", tab="settings", tables=rows, current=current, consent=texts.consent, preset=notes)


def _without_practice(journey: dict[str, Any], practice: bool) -> dict[str, Any]:
    """The settings of a journey; those of the practice only where there may be one, before magnitudes."""
    return {key: value for key, value in journey.items() if practice or not key.startswith("practice")}


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


# ---- a new one


async def show_new(context: OwnerContext) -> Response:
    """The form."""
    return context.render("new", protocols=PROTOCOLS)


def _protocol(text: str) -> Protocol | None:
    return next((protocol for protocol in PROTOCOLS if protocol == text), None)


async def example(context: OwnerContext) -> Response:
    """The files of an example campaign, as a zip."""
    protocol = _protocol(context.request.path_params["protocol"])
    if protocol is None:
        raise not_found()
    headers = {"content-disposition": f'attachment; filename="example-{protocol}.zip"'}
    return Response(template_zip(protocol), media_type="application/zip", headers=headers)


async def create(context: OwnerContext, fields: Form, sent: list[tuple[str, UploadFile]]) -> Response:
    """A campaign from the form, from a zip of its folder, or from an archive."""
    files = [SentFile(field, str(file.filename), await file.read()) for field, file in sent]
    folder = next((file for file in files if file.name.lower().endswith((".zip", ".archive"))), None)
    at, owner = context.server.clock(), context.owner
    if folder is not None and folder.name.lower().endswith(".archive"):
        lines = folder.content.splitlines()
        name = await context.server.store.write_async(lambda connection: import_as(connection, lines, owner))
        return RedirectResponse(formatting.base_of(name), 303)
    if folder is not None:
        plan = await asyncio.to_thread(plan_from_zip, folder.content)
    else:
        plan = await asyncio.to_thread(plan_from_form, fields, files)
    await context.server.store.write_async(lambda connection: create_as(connection, plan, at, owner))
    return RedirectResponse(f"{formatting.base_of(plan.name)}?created=1", 303)


def import_as(connection: Connection, lines: list[bytes], owner: Owner) -> str:
    """Create the campaign of an archive, whose owner is then also the account; its name."""
    name = read_archive(connection, lines, account=owner.name)
    if owner.account != NO_ACCOUNT:
        set_member(connection, find(connection, name).id, owner.account, "owner")
    return name


async def demo(context: OwnerContext, fields: Form) -> Response:
    """The demo's campaigns, those of them that are not here yet."""
    plans, at = await asyncio.to_thread(demo_plans), context.server.clock()
    await context.server.store.write_async(lambda connection: add_missing(connection, plans, at, context.owner))
    return RedirectResponse("/owner", 303)


def campaigns_of(connection: Connection, owner: Owner) -> list[CampaignRow]:
    """The campaigns in which an account has a role, oldest first; an administrator has one in all."""
    roles = campaign_roles(connection, owner.account)
    return [row for row in campaigns(connection) if owner.role == "administrator" or row.id in roles]


def create_as(connection: Connection, plan: Plan, at: float, owner: Owner) -> int:
    """Create a campaign, whose owner is the account; its number."""
    number = create_campaign(connection, plan, at, account=owner.name)
    if owner.account != NO_ACCOUNT:
        set_member(connection, number, owner.account, "owner")
    return number


def add_missing(connection: Connection, plans: list[Plan], at: float, owner: Owner) -> list[str]:
    """Create the campaigns whose names are free; their names."""
    missing = [plan for plan in plans if find_campaign(connection, plan.name) is None]
    for plan in missing:
        create_as(connection, plan, at, owner)
    return [plan.name for plan in missing]


LARGE = {NEW: MAX_ZIP + (1 << 20)}  # bytes that a form may have
ROUTES: list[BaseRoute] = [
    page("/owner", overview, needs=MEMBER),
    page(NEW, show_new, needs=MEMBER),
    upload_by_field(NEW, create, show_new, needs=MEMBER),
    page(f"{NEW}/example/{{protocol}}", example, needs=MEMBER),
    form("/owner/demo", demo, needs=MEMBER),
    page("/owner/c/{campaign}", campaign, needs=VIEWER),
    page("/owner/c/{campaign}/live", live, needs=VIEWER),
    form("/owner/c/{campaign}/status", set_status, campaign),
    page("/owner/c/{campaign}/settings", settings, needs=VIEWER),
]

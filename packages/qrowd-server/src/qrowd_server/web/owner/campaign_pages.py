"""Campaigns: the list of all, a new one, and one as it runs; changing it, its members and log, deleting it.

GET  /owner                        all
GET  /owner/new                    a form         POST /owner/new                       create
GET  /owner/c/{campaign}           one            POST /owner/c/{campaign}/status       pause, resume, stop
GET  /owner/c/{campaign}/live      its numbers    GET  /owner/c/{campaign}/settings     its settings
GET  /owner/c/{campaign}/change    a form         POST /owner/change/{campaign}         say what a folder would change,
                                                                                        or change it
GET  /owner/c/{campaign}/members   accounts with their roles    POST: a role for an account, or none
GET  /owner/c/{campaign}/log       what happened, the newest first: ?page=2
GET  /owner/c/{campaign}/delete    what is to be done first     POST: the archive, after which the campaign may be
                                                                deleted; or delete it, by its name
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.plan.campaign_files import MAX_ZIP
from qrowd_server.campaigns.plan.folder import plan_from_zip
from qrowd_server.campaigns.plan.form import SentFile, plan_from_form
from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.campaigns.plan.plan_notes import preset_notes
from qrowd_server.campaigns.plan.template import PROTOCOLS
from qrowd_server.campaigns.results.archive import read_archive
from qrowd_server.campaigns.results.campaign_progress import progress
from qrowd_server.campaigns.results.exports import ARCHIVE, note_names
from qrowd_server.campaigns.running.admin import STEPS, give_role
from qrowd_server.campaigns.running.campaign_settings import find, read_settings
from qrowd_server.campaigns.running.changes import change_campaign, planned_changes
from qrowd_server.campaigns.running.creation import create_campaign, delete_campaign, newest_event
from qrowd_server.protocols.settings import to_table
from qrowd_server.store import accounts as stored
from qrowd_server.store import event_log as events
from qrowd_server.store.accounts import CAMPAIGN_ROLES, campaign_roles, set_member
from qrowd_server.store.materials import CampaignRow, campaigns
from qrowd_server.store.review_rows import count_asked
from qrowd_server.store.sessions import get_setting, put_setting
from qrowd_server.store.state_rows import assessors_of
from qrowd_server.web import page_texts as texts
from qrowd_server.web.downloads import download
from qrowd_server.web.forms import Form, query_of
from qrowd_server.web.owner import formatting
from qrowd_server.web.owner.assessors import quality_of
from qrowd_server.web.owner.context import (
    MEMBER,
    NO_ACCOUNT,
    OWNER_OF,
    VIEWER,
    Owner,
    OwnerContext,
    choose_one,
    form,
    page,
    upload,
)
from qrowd_server.web.owner.decision import decision_of

NEW, SENT = "/owner/new", "/owner/change/"
QUESTIONS = {True: "required", False: "not used", None: "optional"}


async def overview(context: OwnerContext) -> Response:
    """The campaigns in which the account has a role, the newest first."""
    rows = await context.read(campaigns_of, context.owner)
    progresses = [await context.read(progress, row.name, context.now) for row in reversed(rows)]
    return context.render("campaigns", campaigns=progresses)


async def campaign(context: OwnerContext) -> Response:
    """One campaign as it runs."""
    created = "created" in query_of(context.request)  # just now, by the form
    return context.render("campaign", tab="progress", created=created, **await _progress(context))


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


async def settings(context: OwnerContext) -> Response:
    """The settings of the campaign, which stay as they are after the first answer."""
    row = context.campaign
    current = read_settings(row)
    protocols = {arm.protocol for arm in current.arms.values()}
    practised = "magnitude" in protocols  # else nobody is asked to practise
    journey = {key: value for key, value in to_table(current.journey).items() if practised or "practice" not in key}
    tables: dict[str, Mapping[str, Any]] = {
        formatting.arm(name, arm.protocol): to_table(arm.settings) for name, arm in current.arms.items()
    }
    tables |= {} if current.question is None else {"Question": current.question}
    tables |= {} if current.gold is None else {"Gold questions": row.settings["gold"]}
    tables |= {
        "The assessor's way": journey,
        "Campaign": {
            "Name": row.name,
            "Seed": str(row.seed),
            "Lease of a unit": formatting.seconds(current.lease_seconds),
            "Created": f"{formatting.moment(row.created)} UTC",
            **({"Check documents": row.settings["checks"]} if practised else {}),
            "Questions about topics": QUESTIONS[row.settings["questions"]],
        },
    }
    preset = row.settings["preset"]
    arms = {name: arm.settings for name, arm in current.arms.items()}
    notes = tuple(preset_notes(preset, row.settings, current.journey, arms)) if preset else ()
    rows = {title: {key: formatting.in_words(value) for key, value in table.items()} for title, table in tables.items()}
    return context.render("settings", tables=rows, current=current, consent=texts.consent, preset=notes)


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
    await context.write(create_as, plan, at, owner)
    return RedirectResponse(f"{formatting.base_of(plan.name)}?created=1", 303)


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


async def show_change(context: OwnerContext) -> Response:
    """The form."""
    return context.render("change", tab="settings", lines=None, done=False)


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
    return context.render("change", tab="settings", lines=changes.lines, done=do == "change")


async def show_deletion(context: OwnerContext) -> Response:
    """The steps: stop, download the archive, type the name."""
    number = context.campaign.id
    is_kept = await context.read(_is_kept, number)
    return context.render("delete", tab="settings", is_kept=is_kept)


async def delete(context: OwnerContext, fields: Form) -> Response:
    """Send the archive, and keep in mind up to which event it goes; or delete the campaign."""
    name, number = context.campaign.name, context.campaign.id
    write = context.write
    match fields.get("do", ""):
        case "archive":
            names, account, at = fields.get("names") == "1", context.owner.name, context.now
            await write(_keep, name, number, at, account if names else None)
            return await download(context.server.store, name, ARCHIVE, "jsonl", names=names)
        case "delete":
            if fields.get("name", "") != name:
                raise ArgumentError(f"Type the name of the campaign, {name}, to delete it.")

            def work(connection: Connection) -> None:
                if not _is_kept(connection, number):
                    raise ArgumentError("Download the archive first: it does not hold what happened last.")
                delete_campaign(connection, name)

            await write(work)
            return RedirectResponse("/owner", 303)
    raise choose_one("do", fields.get("do", ""), "archive", "delete")


def _keep(connection: Connection, name: str, number: int, at: float, named_for: str | None) -> None:
    """Keep in mind up to which event the archive goes. named_for : the account that takes it with names, if any."""
    if named_for is not None:
        note_names(connection, name, ARCHIVE, ARCHIVE, at, account=named_for)
    put_setting(connection, _archived(number), str(newest_event(connection, number)))


def _archived(number: int) -> str:
    return f"archived.{number}"


def _is_kept(connection: Connection, number: int) -> bool:
    """Whether an archive was downloaded that holds the newest event."""
    return get_setting(connection, _archived(number)) == str(newest_event(connection, number))


PATH = "/owner/c/{campaign}/delete"


PER_PAGE = 50


async def members(context: OwnerContext) -> Response:
    """The accounts that were named in the campaign."""
    number = context.campaign.id
    rows = await context.read(stored.members, number)
    return context.render("members", rows=rows, roles=CAMPAIGN_ROLES)


async def change_members(context: OwnerContext, fields: Form) -> Response:
    """Give an account a role in the campaign, or take it away."""
    name, role, at = fields.get("name", "").strip(), fields.get("role", ""), context.now
    campaign, by = context.campaign.name, context.owner.name
    await context.write(give_role, campaign, name, role, at, account=by)
    return RedirectResponse(f"{context.base}/members", 303)


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


LARGE = dict.fromkeys((NEW, SENT), MAX_ZIP + (1 << 20))  # bytes that a form may have
ROUTES: list[BaseRoute] = [
    page("/owner", overview, needs=MEMBER),
    page(NEW, show_new, needs=MEMBER),
    upload(NEW, create, show_new, needs=MEMBER),
    page("/owner/c/{campaign}", campaign, needs=VIEWER),
    page("/owner/c/{campaign}/live", live, needs=VIEWER),
    form("/owner/c/{campaign}/status", set_status, campaign, needs=OWNER_OF),
    page("/owner/c/{campaign}/settings", settings, needs=VIEWER),
    page("/owner/c/{campaign}/change", show_change, needs=OWNER_OF),
    upload(SENT + "{campaign}", change, show_change, needs=OWNER_OF),
    page(PATH, show_deletion, needs=OWNER_OF),
    form(PATH, delete, show_deletion, needs=OWNER_OF),
    page("/owner/c/{campaign}/members", members, needs=OWNER_OF),
    form("/owner/c/{campaign}/members", change_members, members, needs=OWNER_OF),
    page("/owner/c/{campaign}/log", log, needs=VIEWER),
]

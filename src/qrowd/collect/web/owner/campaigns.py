"""Campaigns: which there are, a new one, and one as it runs.

GET  /owner                        all            POST /owner/demo                   the demo's three
GET  /owner/new                    a form         POST /owner/new                    create
GET  /owner/c/{campaign}           one            POST /owner/c/{campaign}/steer     pause, resume, stop
GET  /owner/c/{campaign}/live      its figures    GET  /owner/c/{campaign}/settings  how it is run
"""

from __future__ import annotations

import asyncio
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import Connection
from starlette.datastructures import UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.collect.campaigns.admin import STEPS
from qrowd.collect.campaigns.creation import create_campaign, read_settings
from qrowd.collect.campaigns.demo import demo_plans
from qrowd.collect.campaigns.folder import MAX_ZIP, TOML, plan_from_zip
from qrowd.collect.campaigns.plan import Plan
from qrowd.collect.campaigns.progress import Progress, progress
from qrowd.collect.protocols.settings import to_table
from qrowd.collect.store.base import StoreError
from qrowd.collect.store.materials import campaigns, find_campaign
from qrowd.collect.web import texts
from qrowd.collect.web.owner import formatting
from qrowd.collect.web.owner.context import Fields, OwnerContext, form, page, upload
from qrowd.errors import ArgumentError, QrowdError

FRESH = 2.0  # seconds that progress is shown without being counted again
NEW = "/owner/new"


async def progress_of(context: OwnerContext, name: str) -> Progress:
    """How far a campaign is, up to some seconds ago."""

    async def work() -> Progress:
        return await context.read(lambda connection: progress(connection, name, context.server.clock()))

    return await context.memory.get(("progress", name), FRESH, work)


async def overview(context: OwnerContext) -> Response:
    """All campaigns, the newest first."""
    rows = await context.read(campaigns)
    shown = [await progress_of(context, row.name) for row in reversed(rows)]
    return context.draw("campaigns", campaigns=shown)


async def campaign(context: OwnerContext) -> Response:
    """One campaign as it runs."""
    return context.draw("campaign", tab="overview", p=await progress_of(context, context.campaign.name))


async def live(context: OwnerContext) -> Response:
    """The part of it that changes, for the script that asks every five seconds."""
    return HTMLResponse(context.drawn("live", p=await progress_of(context, context.campaign.name)))


async def steer(context: OwnerContext, fields: Fields) -> Response:
    """Pause, resume or stop."""
    try:
        await context.admin.set_status(context.campaign.name, STEPS.get(step := fields.get("do", ""), step))
    except StoreError:
        raise
    except ArgumentError as error:
        p = await progress_of(context, context.campaign.name)
        return context.draw("campaign", status=422, tab="overview", p=p, problem=str(error))
    context.memory.forget(context.campaign.name)
    return RedirectResponse(context.base, 303)


async def settings(context: OwnerContext) -> Response:
    """How the campaign is run; nothing of it can be changed any more."""
    row = context.campaign
    held = read_settings(row)
    tables = {
        formatting.PROTOCOL[row.protocol].capitalize(): to_table(held.settings),
        "The assessor's way": to_table(held.journey),
        "Campaign": {
            "name": row.name,
            "seed": row.seed,
            "lease": formatting.seconds(held.lease_seconds),
            "created": f"{formatting.moment(row.created)} UTC",
        },
    }
    shown = {title: {key: said(value) for key, value in table.items()} for title, table in tables.items()}
    return context.draw("settings", tab="settings", tables=shown, held=held, consent=texts.consent)


def said(value: Any) -> str:
    """A setting in words.

    >>> said(True), said(["a", "b"]), said(20.0)
    ('yes', 'a, b', '20')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(said, value)) or formatting.NOTHING
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {said(one)}" for key, one in value.items()) or formatting.NOTHING
    return f"{value:g}" if isinstance(value, float) else str(value) or formatting.NOTHING


# ---- a new one


async def show_new(context: OwnerContext) -> Response:
    """The form."""
    return context.draw("new", toml="")


async def create(context: OwnerContext, fields: Fields, files: list[UploadFile]) -> Response:
    """A campaign from a zip, or from its TOML and the files that it names; told in place where that cannot be."""
    toml = fields.get("toml", "").replace("\r\n", "\n")
    try:
        content = await packed(toml, files)
        plan = await asyncio.to_thread(plan_from_zip, content)
        at = context.server.clock()
        await context.server.store.write_async(lambda connection: create_campaign(connection, plan, at))
    except StoreError:
        raise
    except QrowdError as error:
        return context.draw("new", status=422, toml=toml, problem=str(error))
    return RedirectResponse(formatting.base_of(plan.name), 303)


async def packed(toml: str, files: list[UploadFile]) -> bytes:
    """The zip that was sent, or one made of what was sent one by one."""
    zipped = [file for file in files if str(file.filename).lower().endswith(".zip")]
    if len(zipped) == 1 and len(files) == 1 and not toml.strip():
        return await zipped[0].read()
    if zipped:
        raise ArgumentError("send a zip alone, or a campaign.toml and the files that it names")
    if not files and not toml.strip():
        raise ArgumentError("choose a zip of the campaign's folder, or write a campaign.toml and add its files")
    names = [PurePosixPath(str(file.filename).replace("\\", "/")).name for file in files]
    if toml.strip():
        if TOML in names:
            raise ArgumentError(f"{TOML} is there twice: written and as a file; send it once")
        names.append(TOML)
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ArgumentError(f"{twice} is there twice; rename one")
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, file in zip(names, files, strict=False):
            archive.writestr(name, await file.read())
        if toml.strip():
            archive.writestr(TOML, toml)
    return made.getvalue()


async def demo(context: OwnerContext, fields: Fields) -> Response:
    """The demo's campaigns, those of them that are not here yet."""
    plans, at = await asyncio.to_thread(demo_plans), context.server.clock()
    await context.server.store.write_async(lambda connection: add_missing(connection, plans, at))
    return RedirectResponse("/owner", 303)


def add_missing(connection: Connection, plans: list[Plan], at: float) -> list[str]:
    """Create the campaigns whose names are free; which those are."""
    missing = [plan for plan in plans if find_campaign(connection, plan.name) is None]
    for plan in missing:
        create_campaign(connection, plan, at)
    return [plan.name for plan in missing]


LARGE = {NEW: MAX_ZIP + (1 << 20)}  # bytes that a form may have
ROUTES: list[BaseRoute] = [
    page("/owner", overview),
    page(NEW, show_new),
    upload(NEW, create),
    form("/owner/demo", demo),
    page("/owner/c/{campaign}", campaign),
    page("/owner/c/{campaign}/live", live),
    form("/owner/c/{campaign}/steer", steer),
    page("/owner/c/{campaign}/settings", settings),
]

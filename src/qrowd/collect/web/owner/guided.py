"""A new campaign by a form: what is entered is kept as a draft, checked, shown as assessors will see it, and created.

GET  /owner/new/guided             the form; with a draft, what was entered, and what is wrong with it
POST /owner/new/guided             save; then check, preview, create, or throw away
GET  /owner/new/guided/preview     the pages that assessors will see
GET  /owner/new/guided/shown       a picture or a document in a frame on these pages
GET  /owner/new/guided/folder      the campaign as a folder, for the command line

The draft is named in the address. It is kept in the database for a day, so any server may answer.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import Connection
from starlette.datastructures import UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.collect.campaigns.cache import Bounded
from qrowd.collect.campaigns.form import FILES, ONE, FormCheck, SentFile, check_form, folder_zip
from qrowd.collect.campaigns.form_fields import FIELDS, TEXTS, first_values, protocol_of_form, shown_flags
from qrowd.collect.campaigns.plan_notes import plan_notes
from qrowd.collect.campaigns.plan_preview import Preview, preview_of, with_addresses
from qrowd.collect.campaigns.plan_size import PlanSize, plan_size
from qrowd.collect.campaigns.sandbox import POLICY
from qrowd.collect.campaigns.template import PROTOCOLS
from qrowd.collect.campaigns.web_pages import HTML
from qrowd.collect.protocols.messages import N_
from qrowd.collect.store.campaign_drafts import CampaignDraft, remove_draft
from qrowd.collect.store.materials import find_campaign
from qrowd.collect.web.forms import Form, query_of
from qrowd.collect.web.languages import language, matching, tags
from qrowd.collect.web.owner import drafts, formatting
from qrowd.collect.web.owner.campaigns import create_as
from qrowd.collect.web.owner.context import CREATOR, OwnerContext, page, upload_by_field
from qrowd.collect.web.problems import not_found
from qrowd.collect.web.rendering import render_guidelines, render_page, render_welcome
from qrowd.collect.web.security import with_frames
from qrowd.collect.web.templating import render

PATH = "/owner/new/guided"
LONG = 1 << 20  # bytes of files from which on they are checked in a process of their own
LONG_GUIDELINES = 10_000  # characters, likewise
REMEMBERED = 8  # drafts that were checked lately, in this process
TAKEN = N_("is taken by another campaign; choose another")
WELCOME, GUIDELINES = "welcome", "guidelines"  # pages of the preview beside those of judging
FRAMED = {"content-security-policy": POLICY.format(ancestors="'self'"), "referrer-policy": "no-referrer"}


@dataclass(frozen=True)
class Checked:
    """What is known of a draft once it was checked. size, preview : None where it cannot be created."""

    problems: Mapping[str, tuple[str, ...]]
    toml: str
    name: str
    title: str
    language: str
    notes: tuple[str, ...] = ()
    size: PlanSize | None = None
    preview: Preview | None = None


# ---- checking


async def checked(context: OwnerContext, draft: CampaignDraft) -> Checked:
    """The check of a draft; the last ones are remembered."""
    state, key = context.request.app.state, (draft.id, draft.saved)
    if not hasattr(state, "checked_drafts"):
        state.checked_drafts = Bounded(REMEMBERED)
    known: Bounded[tuple[str, float], Checked] = state.checked_drafts
    if (found := known.get(key)) is None:
        values, files = {**first_values(), **draft.fields}, await sent_files(context, draft)
        apart = sum(len(one.content) for one in files) > LONG or len(values["guidelines"]) > LONG_GUIDELINES
        known[key] = found = await asyncio.to_thread(_check_apart if apart else _check, values, files)
    if found.name and await _is_taken(context, found.name):
        names = (*found.problems.get("campaign.name", ()), TAKEN)
        return replace(found, problems={**found.problems, "campaign.name": names})
    return found


def _check_apart(values: Mapping[str, str], files: list[SentFile]) -> Checked:
    """The same in a process of its own: checking megabytes in a thread would make others wait for the interpreter."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_check, values, files).result()


def _check(values: Mapping[str, str], files: list[SentFile]) -> Checked:
    form: FormCheck = check_form(values, files)
    plan = form.plan
    if plan is None:
        return Checked(form.problems, "", "", "", "")
    about = plan.name, plan.title, plan.language
    return Checked({}, form.toml, *about, plan_notes(plan), plan_size(plan), preview_of(plan))


async def _is_taken(context: OwnerContext, name: str) -> bool:
    return await context.server.store.read_async(lambda connection: find_campaign(connection, name)) is not None


async def sent_files(context: OwnerContext, draft: CampaignDraft) -> list[SentFile]:
    """The files of a draft."""
    contents = await drafts.contents(context, draft)
    return [SentFile(one.field, one.name, contents[one.key]) for one in draft.files]


async def _draft_of(context: OwnerContext) -> CampaignDraft | None:
    return await drafts.find(context, query_of(context.request).get("draft", ""))


def address(path: str = "", **query: str) -> str:
    """The address of one of these pages."""
    asked = urlencode({key: value for key, value in query.items() if value})
    return f"{PATH}{path}" + (f"?{asked}" if asked else "")


# ---- the form


async def show_form(context: OwnerContext) -> Response:
    """The form, with what was entered; with `check`, also what is wrong with it and what it makes."""
    query, typed = query_of(context.request), context.typed
    draft = await drafts.find(context, typed.get("draft", "") or query.get("draft", ""))
    values = {**first_values(), **({} if draft is None else draft.fields), **_texts(typed)}
    if draft is None and not typed and query.get("protocol") in PROTOCOLS:
        values["protocol"] = query["protocol"]
    result = await checked(context, draft) if draft is not None and query.get("check") and not typed else None
    files: dict[str, list[Any]] = {name: [] for name in FILES}
    for one in draft.files if draft is not None else ():
        files[one.field].append(one)
    gone = draft is None and not typed and "draft" in query
    return await asyncio.to_thread(
        context.render,
        "guided",
        tab="campaigns",
        gone=gone,
        protocols=PROTOCOLS,
        protocol=protocol_of_form(values),
        values=values,
        draft="" if draft is None else draft.id,
        files=files,
        problems={} if result is None else result.problems,
        result=result,
        megabytes=drafts.MAX_DRAFT >> 20,
        languages=[language(tag) for tag in tags()],
    )


def _texts(fields: Form) -> dict[str, str]:
    """The fields of the form, as entered; a box that is not ticked is not sent."""
    if not fields:
        return {}
    entered = {name: fields[name].replace("\r\n", "\n") for name in (*FIELDS, *TEXTS) if name in fields}
    flags = {name: "yes" if fields.get(name) else "" for name in shown_flags(protocol_of_form(fields))}
    return entered | flags


async def save(context: OwnerContext, fields: Form, sent: list[tuple[str, UploadFile]]) -> Response:
    """Keep what was entered, and do what the button says."""
    draft, do = await drafts.find(context, fields.get("draft", "")), fields.get("do", "")
    write = context.server.store.write_async
    if do == "discard":
        if draft is not None:
            await write(lambda connection: remove_draft(connection, draft.id))
        return RedirectResponse("/owner/new", 303)
    sent = [(name, file) for name, file in sent if name in FILES]
    new = {(name, "" if name in ONE else str(file.filename)) for name, file in sent}
    kept = [
        one
        for one in (draft.files if draft is not None else ())
        if f"remove.{one.key}" not in fields and not {(one.field, ""), (one.field, one.name)} & new
    ]
    values = {**first_values(), **({} if draft is None else draft.fields), **_texts(fields)}
    values["campaign.seed"] = values["campaign.seed"] or str(secrets.randbits(31))
    if do.startswith("protocol:") and do[9:] in PROTOCOLS:
        values["protocol"] = do[9:]
    id = await drafts.save(context, draft, values, kept, sent)
    if do == "preview":
        return RedirectResponse(address("/preview", draft=id), 303)
    if do.startswith("protocol:"):
        return RedirectResponse(address(draft=id), 303)
    if do == "create":
        return await _create(context, id)
    return RedirectResponse(address(draft=id, check="1") + "#check", 303)


async def _create(context: OwnerContext, id: str) -> Response:
    """Create the campaign, if nothing is wrong with it; its draft is gone then."""
    draft = await drafts.find(context, id)
    if draft is None:
        raise not_found()
    values, files = {**first_values(), **draft.fields}, await sent_files(context, draft)
    form = await asyncio.to_thread(check_form, values, files)
    if form.plan is None or await _is_taken(context, form.plan.name):
        return RedirectResponse(address(draft=id, check="1") + "#check", 303)
    plan, at, owner = form.plan, context.server.clock(), context.owner

    def work(connection: Connection) -> None:
        create_as(connection, plan, at, owner)
        remove_draft(connection, id)

    await context.server.store.write_async(work)
    return RedirectResponse(f"{formatting.base_of(plan.name)}?created=1", 303)


# ---- as assessors will see it


async def preview(context: OwnerContext) -> Response:
    """A page that assessors will see, in the language that the address names, with nothing to be saved."""
    draft, query = await _draft_of(context), query_of(context.request)
    if draft is None:
        return RedirectResponse(PATH, 303)
    result = await checked(context, draft)
    if result.preview is None:
        return RedirectResponse(address(draft=draft.id, check="1") + "#check", 303)
    pages = [WELCOME, *result.preview.pages]
    if any(one.guidelines for one in result.preview.pages.values()):
        pages.insert(-1, GUIDELINES)
    which = query["page"] if query.get("page") in pages else pages[-1]
    tag = matching(query.get("language", "") or result.language) or tags()[0]
    content = await asyncio.to_thread(_drawn, result, pages, which, tag, draft.id)
    frames = result.preview.pages[which].frames if which in result.preview.pages else ()
    return HTMLResponse(content, headers=with_frames({}, frames))


def _drawn(result: Checked, pages: list[str], which: str, tag: str, draft: str) -> str:
    """A page as the same templates draw it for assessors, below a bar that leads to the others and back."""
    assert result.preview is not None
    last = list(result.preview.pages.values())[-1]
    here = {"draft": draft, "language": tag}
    page = with_addresses(result.preview.pages.get(which, last), address("/shown", draft=draft) + "&digest=")
    if page.guidelines:
        page = replace(page, guidelines_at=address("/preview", page=GUIDELINES, **here))
    if which == WELCOME:
        content = render_welcome(result.title, csrf="", action="", name=page.name, effort=page.effort, tag=tag)
        content = content.replace('<button class="primary large">', '<button class="primary large" disabled>')
    elif which == GUIDELINES:
        content = render_guidelines(page, tag=tag)
    else:
        content = render_page(page, csrf="", base=f"{PATH}/preview", tag=tag)
    links = [(name, address("/preview", page=name, **here)) for name in pages]
    others = [(language(one), address("/preview", page=which, draft=draft, language=one)) for one in tags()]
    back = address(draft=draft, check="1")
    bar = render("owner/preview", tag=tag, links=links, which=which, others=others, back=back)
    start = '<header class="site">' if '<header class="site">' in content else "<main"
    return content.replace(start, bar + start, 1)


async def shown(context: OwnerContext) -> Response:
    """A picture, or a document in a frame."""
    draft, digest = await _draft_of(context), query_of(context.request).get("digest", "")
    if draft is None:
        return RedirectResponse(PATH, 303)
    result = await checked(context, draft)
    if result.preview is None or digest not in result.preview.contents:
        raise not_found()
    media_type, content = result.preview.contents[digest]
    return Response(content, media_type=media_type, headers=FRAMED if media_type == HTML else {})


async def folder(context: OwnerContext) -> Response:
    """The campaign as a folder, in a zip."""
    draft = await _draft_of(context)
    if draft is None:
        return RedirectResponse(PATH, 303)
    values, files = {**first_values(), **draft.fields}, await sent_files(context, draft)
    content = await asyncio.to_thread(folder_zip, values, files)
    headers = {"content-disposition": 'attachment; filename="campaign.zip"'}
    return Response(content, media_type="application/zip", headers=headers)


LARGE = {PATH: drafts.MAX_DRAFT + (4 << 20)}  # bytes that a form may have
ROUTES: list[BaseRoute] = [
    page(PATH, show_form, needs=CREATOR),
    upload_by_field(PATH, save, show_form, needs=CREATOR),
    page(f"{PATH}/preview", preview, needs=CREATOR),
    page(f"{PATH}/shown", shown, needs=CREATOR),
    page(f"{PATH}/folder", folder, needs=CREATOR),
]

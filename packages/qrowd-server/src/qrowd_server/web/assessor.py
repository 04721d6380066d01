"""Judging: the assessor's page, the forms sent from it, and arrival by invitation.

GET  /c/{campaign}         the page          POST /c/{campaign}/act     an action: 303, or the next <main>
GET  /c/{campaign}/pause   how to go on
GET  /join/{token}         an invitation     POST /c/{campaign}/draft   what is typed and not yet sent
POST /join/{token}         makes a session   POST /logout               ends it
GET  /                     the start page
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.errors import QrowdError
from qrowd_server.campaigns.running.pages import Page
from qrowd_server.campaigns.running.privacy import Answers, delete_person, person_json, retention_days
from qrowd_server.protocols.events import MAX_REASON, MAX_TEXT
from qrowd_server.store.state_rows import AssessorRow, find_assessor
from qrowd_server.web.arrival import with_completion_link
from qrowd_server.web.forms import TYPED, WHOLE_NUMBER, Form, action_of, token_of
from qrowd_server.web.problems import Problem, malformed, not_found, problem_of, wants_data
from qrowd_server.web.rendering import render, render_guidelines, render_landing
from qrowd_server.web.server import DAY, Identity, PageResponse, base_of, choice_of, language_in, language_of, server_of

RETRY = frozenset({409, 422, 429, 503})  # statuses after which the page is shown again, with what was typed


async def identity_in_campaign(request: Request) -> Identity:
    """The assessor of the session, in the campaign of the address and no other."""
    identity = await server_of(request).identity(request)
    if identity.campaign != request.path_params["campaign"]:
        raise not_found()
    return identity


# ---- the page


async def show(request: Request) -> Response:
    """What the assessor sees now."""
    return await current_page(request, await identity_in_campaign(request))


async def pause(request: Request) -> Response:
    """What is saved, and how to go on later."""
    identity = await identity_in_campaign(request)
    page = await server_of(request).page(identity, pause=True)
    return await current_page(request, identity, page=page)


async def current_page(
    request: Request,
    identity: Identity,
    *,
    page: Page | None = None,
    problem: Problem | None = None,
    form: Form | None = None,
) -> Response:
    """The current page, whole or its `<main>`; with a problem, the same page once more.

    form : what was sent; its texts and its key are kept where the page still asks for them.
    """
    server = server_of(request)
    page = await with_completion_link(server, identity, page or await server.page(identity))
    page = server.with_image_addresses(page)
    typed, status, headers = None, 200, dict[str, str]()
    if problem is not None:
        status, headers = problem.status, problem.headers
        if form is not None and same_place(page, form):
            typed = {name: form[name] for name in TYPED if name in form}
            if status != 409 and form.get("key"):
                page = replace(page, key=form["key"])
    options: dict[str, Any] = {"csrf": identity.csrf, "base": base_of(identity), "problem": problem, "typed": typed}
    options["tag"], whole = language_of(request, page.language), not wants_data(request)
    if whole:
        options["choice"] = choice_of(request, base_of(identity))
    return PageResponse(await server.render(page, whole=whole, **options), status, headers)


def same_place(page: Page, form: Form) -> bool:
    """Whether a form was sent from where the page is: the same document, pair or line of the same unit."""
    places = [(name, getattr(page.view, name)) for name in ("position", "pair", "line") if hasattr(page.view, name)]
    return form.get("shown", "") == page.shown and all(form.get(name) == str(value) for name, value in places)


# ---- forms


async def read_submission(request: Request) -> tuple[Identity, Form]:
    """Who sent a form from our own page of this campaign, and what is in it."""
    server = server_of(request)
    server.check_origin(request)
    identity = await server.identity(request)
    form = await server.read_session_form(request, identity.csrf)
    if identity.campaign != request.path_params["campaign"]:
        raise not_found()
    return identity, form


async def act(request: Request) -> Response:
    """Hand the action of a form to the service; answer with the next page, or with the reason of a refusal."""
    identity, form = await read_submission(request)
    server = server_of(request)
    try:
        server.judging.check(identity.assessor)
        action = action_of(form)
        key, place = token_of(form, "key"), token_of(form, "shown")
        await server.service.act(identity.assessor, action, shown=place, key=key)
    except QrowdError as error:
        problem = problem_of(error)
        if wants_data(request) or problem.status not in RETRY:
            raise problem from error
        return await current_page(request, identity, problem=problem, form=form)
    if not wants_data(request):
        return RedirectResponse(base_of(identity), 303)
    return await current_page(request, identity)


async def draft(request: Request) -> Response:
    """Save what is typed as a draft."""
    identity, form = await read_submission(request)
    server = server_of(request)
    server.drafting.check(identity.assessor)
    position = form.get("position", "")
    if not WHOLE_NUMBER.fullmatch(position):
        raise malformed("position: expected a number from 0", "position")
    text, reason = form.get("text", ""), form.get("reason", "")
    if len(text) > MAX_TEXT or len(reason) > MAX_REASON:
        raise Problem(422, "long", "This is too long to be kept.", field="text" if len(text) > MAX_TEXT else "reason")
    await server.service.save_draft(identity.assessor, token_of(form, "shown"), int(position), text, reason)
    return Response(status_code=204)


# ---- the rest


async def land(request: Request) -> Response:
    """The start page, for visitors without a link."""
    return HTMLResponse(render_landing(tag=language_of(request), choice=choice_of(request)))


async def logout(request: Request) -> Response:
    """End the session."""
    server = server_of(request)
    server.check_origin(request)
    identity = await server.identity(request)
    await server.read_session_form(request, identity.csrf)
    response = RedirectResponse("/", 303)
    await server.end(request, response)
    return response


async def image(request: Request) -> Response:
    """An image; browsers may keep it for a day."""
    digest, media_type, content = await server_of(request).image(request.path_params["token"])
    headers = {"cache-control": f"private, max-age={int(DAY)}, immutable", "etag": f'"{digest}"'}
    if request.headers.get("if-none-match") == f'"{digest}"':
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)


async def guidelines(request: Request) -> Response:
    """The guidelines, on a page of their own that has no task: judging goes on where it was."""
    server = server_of(request)
    name = str(server.address_fields("guidelines", request.path_params["token"])["c"])
    await server.campaign(name)  # or it is not there
    page = server.with_image_addresses(await server.service.preview(name))
    if not page.guidelines:
        raise not_found()
    tag, choice = language_of(request, page.language), choice_of(request)
    return HTMLResponse(await asyncio.to_thread(render_guidelines, page, tag=tag, choice=choice))


async def show_privacy(request: Request) -> Response:
    """What is kept, how long, who sees it, and the form that deletes it."""
    return await _privacy_page(request, await identity_in_campaign(request))


async def own_data(request: Request) -> Response:
    """All that is kept, as a file."""
    identity = await identity_in_campaign(request)
    row = await _own_row(request, identity)
    content = await server_of(request).read(person_json, row, for_owner=False)
    headers = {"content-disposition": f'attachment; filename="{identity.campaign}-my-data.json"'}
    return Response(content, media_type="application/json", headers=headers)


async def delete_own_data(request: Request) -> Response:
    """Delete the person of the session, where the box was ticked."""
    identity, form = await read_submission(request)
    server = server_of(request)
    answers: Answers = "withdraw" if form.get("answers") == "withdraw" else "keep"
    if form.get("sure") != "1":
        return await _privacy_page(request, identity, unsure=True)
    at = server.clock()
    await server.write(delete_person, identity.campaign, identity.assessor, at, answers=answers, by="assessor")
    row = await server.campaign(identity.campaign)
    tag = language_in(request, row)
    response = HTMLResponse(render("person_deleted", title=row.title, withdrawn=answers == "withdraw", tag=tag))
    await server.end(request, response)
    return response


async def _privacy_page(request: Request, identity: Identity, *, unsure: bool = False) -> Response:
    server = server_of(request)
    campaign, person = await server.campaign(identity.campaign), await _own_row(request, identity)
    tag = language_in(request, campaign)
    values = {
        "title": campaign.title,
        "person": person,
        "days": retention_days(campaign, server.service.retention_days),
        "base": base_of(identity),
        "csrf": identity.csrf,
        "unsure": unsure,
    }
    return HTMLResponse(render("privacy", tag=tag, **values), 422 if unsure else 200)


async def _own_row(request: Request, identity: Identity) -> AssessorRow:
    """The row of the session's assessor."""
    found = await server_of(request).read(find_assessor, identity.assessor)
    if found is None:
        raise not_found()
    return found[0]


ROUTES: list[BaseRoute] = [
    Route("/c/{campaign}/act", act, methods=["POST"]),  # first, since most requests go here
    Route("/", land),
    Route("/c/{campaign}", show),
    Route("/c/{campaign}/pause", pause),
    Route("/c/{campaign}/draft", draft, methods=["POST"]),
    Route("/logout", logout, methods=["POST"]),
    Route("/image/{token}", image),
    Route("/guidelines/{token}", guidelines),
    Route("/c/{campaign}/privacy", show_privacy),
    Route("/c/{campaign}/privacy", delete_own_data, methods=["POST"]),
    Route("/c/{campaign}/privacy/data", own_data),
]

"""Judging: the assessor's page, the forms sent from it, and arrival by invitation.

GET  /c/{campaign}         the page          POST /c/{campaign}/act     an action: 303, or the next <main>
GET  /join/{token}         an invitation     POST /c/{campaign}/draft   what is typed and not yet sent
POST /join/{token}         makes a session   POST /logout               ends it
GET  /                     the start page
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.errors import QrowdError
from qrowd_server.campaigns.running.pages import Page
from qrowd_server.protocols.events import MAX_REASON, MAX_TEXT
from qrowd_server.store.invitations import Invitation, find_invitation
from qrowd_server.store.sessions import hashed
from qrowd_server.translatable import N_
from qrowd_server.web.forms import TYPED, WHOLE_NUMBER, Form, action_of, token_of
from qrowd_server.web.language_choice import choice_of, language_of
from qrowd_server.web.panel import with_completion_link
from qrowd_server.web.problems import Problem, invalid_token, malformed, not_found, problem_of, wants_data
from qrowd_server.web.rendering import render_landing
from qrowd_server.web.server import ASSESSOR, Identity, Server, server_of

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
    page = await with_completion_link(server, identity, page or await server.service.page(identity.assessor))
    page = server.with_image_addresses(page)
    typed, status, headers = None, 200, dict[str, str]()
    if problem is not None:
        status, headers = problem.status, problem.headers
        if form is not None and same_place(page, form):
            typed = {name: form[name] for name in TYPED if name in form}
            if status != 409 and form.get("key"):
                page = replace(page, key=form["key"])
    options: dict[str, Any] = {"csrf": identity.csrf, "base": identity.base, "problem": problem, "typed": typed}
    options["tag"], whole = language_of(request, page.language), not wants_data(request)
    if whole:
        options["choice"] = choice_of(request, identity.base)
    return HTMLResponse(await server.render(page, whole=whole, **options), status, headers)


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
    """Take the action of a form."""
    return await take_action(request, *await read_submission(request))


async def take_action(request: Request, identity: Identity, form: Form) -> Response:
    """Hand the action to the service; answer with the next page, or with the reason of a refusal."""
    server = server_of(request)
    try:
        server.judging.check(identity.assessor)
        action = action_of(form)
        key, place = token_of(form, "key"), token_of(form, "shown")
        receipt = await server.service.act(identity.assessor, action, shown=place, key=key)
    except QrowdError as error:
        problem = problem_of(error)
        if wants_data(request) or problem.status not in RETRY:
            raise problem from error
        return await current_page(request, identity, problem=problem, form=form)
    if not wants_data(request):
        return RedirectResponse(identity.base, 303)
    return await current_page(request, identity, page=receipt.page)


async def draft(request: Request) -> Response:
    """Save what is typed as a draft."""
    return await save_draft(request, *await read_submission(request))


async def save_draft(request: Request, identity: Identity, form: Form) -> Response:
    """Hand the draft to the service."""
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


# ---- invitations


async def show_invitation(request: Request) -> Response:
    """The page behind an invitation: one button, so that opening a link begins nothing."""
    server, token = server_of(request), request.path_params["token"]
    invitation = await invitation_of(server, token)
    row = await server.campaign(invitation.campaign)
    stamp = server.form_token("join", {"t": hashed(token)})
    action = f"/join/{quote(token, safe='')}"
    language = {"tag": language_of(request, row.settings.get("language", "")), "choice": choice_of(request)}
    shown = {"name": invitation.name, "effort": row.settings.get("effort"), **language}
    content = server.rendering.render_welcome(row.title, csrf=stamp, action=action, **shown)
    return HTMLResponse(content)


async def join(request: Request) -> Response:
    """The button was pressed: a session, and on to the task."""
    server, token = server_of(request), request.path_params["token"]
    _, stamp = await server.read_form(request, "join")
    if stamp["t"] != hashed(token):
        raise invalid_token()
    invitation = await invitation_of(server, token)
    name = invitation.name
    assessor = await server.service.arrive(invitation.campaign, "link", name, name=name)
    response = RedirectResponse(f"/c/{quote(invitation.campaign)}", 303)
    await server.begin(request, response, ASSESSOR, assessor)
    return response


async def invitation_of(server: Server, token: str) -> Invitation:
    """The invitation of a link; a Problem (404) for one that was never made, or was revoked."""
    invitation = await server.store.read_async(lambda connection: find_invitation(connection, token))
    if invitation is None:
        message = N_("This invitation is not valid any more. Ask the person who sent it for another.")
        raise Problem(404, "invitation", message)
    return invitation


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


ROUTES: list[BaseRoute] = [
    Route("/c/{campaign}/act", act, methods=["POST"]),  # first, since most requests go here
    Route("/", land),
    Route("/c/{campaign}", show),
    Route("/c/{campaign}/draft", draft, methods=["POST"]),
    Route("/join/{token}", show_invitation, methods=["GET"]),
    Route("/join/{token}", join, methods=["POST"]),
    Route("/logout", logout, methods=["POST"]),
]

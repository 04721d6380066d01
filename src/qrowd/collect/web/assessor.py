"""Judging: the assessor's page, the forms sent from it, and arrival by invitation.

GET  /c/{campaign}         the page          POST /c/{campaign}/act     an action: 303, or the next <main>
GET  /join/{token}         an invitation     POST /c/{campaign}/draft   what is typed and not yet sent
POST /join/{token}         makes a session   POST /logout               ends it
GET  /health               whether the store answers             GET  /       the start page
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.collect.campaigns.pages import Page
from qrowd.collect.protocols.events import MAX_REASON, MAX_TEXT, Refusal
from qrowd.collect.store.accounts import Invitation, find_invitation
from qrowd.collect.store.materials import find_campaign
from qrowd.collect.web.crowd import with_completion_link
from qrowd.collect.web.forms import Form, action_of, read_form, token_of, typed_in
from qrowd.collect.web.problems import Problem, invalid_token, malformed, not_found, problem_of, wants_data
from qrowd.collect.web.rendering import render_landing
from qrowd.collect.web.sessions import ASSESSOR, Identity, Server, check_token, server_of
from qrowd.errors import QrowdError

RETRY = frozenset({409, 422, 429, 503})  # statuses after which the page is shown again, with what was typed


@dataclass(frozen=True)
class Channel:
    """How an assessor's pages are reached. base : their address. csrf : the token of their forms.

    redirect : whether an answer leads to the next page by a redirect, or is that page. about : what the platform says
    about this submission. headers : of every page.
    """

    base: str
    csrf: str = field(repr=False)
    redirect: bool = True
    about: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


def channel_of(identity: Identity) -> Channel:
    """The usual channel: a session by cookie."""
    return Channel(f"/c/{quote(identity.campaign)}", identity.csrf)


async def identity_in_campaign(request: Request, server: Server) -> Identity:
    """The assessor of the session, in the campaign of the address and no other."""
    identity = await server.identity(request)
    if identity.campaign != request.path_params["campaign"]:
        raise not_found()
    return identity


# ---- the page


async def show(request: Request) -> Response:
    """What the assessor sees now."""
    server = server_of(request)
    identity = await identity_in_campaign(request, server)
    return await current_page(request, server, identity, channel_of(identity))


async def current_page(
    request: Request,
    server: Server,
    identity: Identity,
    channel: Channel,
    *,
    page: Page | None = None,
    problem: Problem | None = None,
    form: Form | None = None,
) -> Response:
    """The current page, whole or its `<main>`; with a problem, the same page once more.

    form : what was sent; its texts and its key are kept where the page still asks for them.
    """
    page = await with_completion_link(
        server, identity, page or await server.service.page(identity.assessor), channel.about
    )
    refusal, typed, status, headers = None, None, 200, dict(channel.headers)
    if problem is not None:
        status, headers = problem.status, {**headers, **problem.headers}
        reference = f" Reference {problem.reference}" if problem.reference else ""
        refusal = Refusal(problem.code, problem.message + reference, problem.field)
        if form is not None and same_place(page, form):
            typed = typed_in(form)
            if status != 409 and form.get("key"):
                page = replace(page, key=form["key"])
    render = server.rendering.render_main if wants_data(request) else server.rendering.render_page
    content = render(page, csrf=channel.csrf, base=channel.base, problem=refusal, typed=typed)
    return HTMLResponse(content, status, headers)


def same_place(page: Page, form: Form) -> bool:
    """Whether a form was sent from where the page is: the same document, pair or line of the same unit."""
    places = [(name, getattr(page.view, name)) for name in ("position", "pair", "line") if hasattr(page.view, name)]
    return form.get("shown", "") == page.shown and all(form.get(name) == str(value) for name, value in places)


# ---- forms


async def read_submission(request: Request, server: Server) -> tuple[Identity, Form]:
    """Identity sent a form from our own page of this campaign, and what is in it."""
    server.check_origin(request)
    identity = await server.identity(request)
    form = await read_form(request)
    check_token(token_of(form, "csrf"), identity)
    if identity.campaign != request.path_params["campaign"]:
        raise not_found()
    return identity, form


async def act(request: Request) -> Response:
    """Take the action of a form."""
    server = server_of(request)
    identity, form = await read_submission(request, server)
    return await take_action(request, server, identity, channel_of(identity), form)


async def take_action(request: Request, server: Server, identity: Identity, channel: Channel, form: Form) -> Response:
    """Hand the action to the service; answer with the next page, or with the reason of a refusal."""
    try:
        check_rate(server.judging.take(identity.assessor))
        action = action_of(form)
        key, place = token_of(form, "key"), token_of(form, "shown")
        receipt = await server.service.act(identity.assessor, action, shown=place, key=key)
    except QrowdError as error:
        problem = problem_of(error)
        if wants_data(request) or problem.status not in RETRY:
            raise problem from error
        return await current_page(request, server, identity, channel, problem=problem, form=form)
    if channel.redirect and not wants_data(request):
        return RedirectResponse(channel.base, 303)
    return await current_page(request, server, identity, channel, page=receipt.page)


async def draft(request: Request) -> Response:
    """Save what is typed as a draft."""
    server = server_of(request)
    return await save_draft(server, *await read_submission(request, server))


async def save_draft(server: Server, identity: Identity, form: Form) -> Response:
    """Hand the draft to the service."""
    check_rate(server.drafting.take(identity.assessor))
    position = form.get("position", "")
    if not (position.isascii() and position.isdigit() and len(position) < 10):
        raise malformed("position: expected a number from 0", "position")
    text, reason = form.get("text", ""), form.get("reason", "")
    if len(text) > MAX_TEXT or len(reason) > MAX_REASON:
        raise Problem(422, "long", "This is too long to be kept.", field="text" if len(text) > MAX_TEXT else "reason")
    await server.service.save_draft(identity.assessor, token_of(form, "shown"), int(position), text, reason)
    return Response(status_code=204)


def check_rate(wait: float) -> None:
    """Refuse a request that comes too soon; `wait` : seconds until it may be sent again."""
    if wait > 0:
        message = "That was very fast. Your answer is still here: please send it again in a moment."
        raise Problem(429, "too_fast", message, retry_after=int(wait) + 1)


# ---- invitations


async def show_invitation(request: Request) -> Response:
    """The page behind an invitation: one button, so that opening a link begins nothing."""
    server, token = server_of(request), request.path_params["token"]
    invitation = await invitation_of(server, token)
    row = await server.campaign(invitation.campaign)
    stamp = server.form_token("join", {"t": _digest(token)})
    action = f"/join/{quote(token, safe='')}"
    return HTMLResponse(server.rendering.render_welcome(row.title, csrf=stamp, action=action, name=invitation.name))


async def join(request: Request) -> Response:
    """The button was pressed: a session, and on to the task."""
    server, token = server_of(request), request.path_params["token"]
    server.check_origin(request)
    stamp = server.read_form_token("join", token_of(await read_form(request), "csrf"))
    if stamp["t"] != _digest(token):
        raise invalid_token()
    invitation = await invitation_of(server, token)
    name = invitation.name
    assessor = await server.service.arrive(invitation.campaign, "link", name, name=name, identified="link")
    response = RedirectResponse(f"/c/{quote(invitation.campaign)}", 303)
    await server.begin(request, response, ASSESSOR, assessor)
    return response


async def invitation_of(server: Server, token: str) -> Invitation:
    """The invitation of a link; a Problem (404) for one that was never made, or was revoked."""
    invitation = None
    if token.isascii() and len(token) <= 200:
        invitation = await server.store.read_async(lambda connection: find_invitation(connection, token))
    if invitation is None:
        message = "This invitation is not valid any more. Ask the person who sent it for another."
        raise Problem(404, "invitation", message)
    return invitation


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


# ---- the rest


async def land(request: Request) -> Response:
    """The start page, for visitors without a link."""
    return HTMLResponse(render_landing())


async def logout(request: Request) -> Response:
    """End the session."""
    server = server_of(request)
    server.check_origin(request)
    identity = await server.identity(request)
    check_token(token_of(await read_form(request), "csrf"), identity)
    response = RedirectResponse("/", 303)
    await server.end(request, response)
    return response


async def health(request: Request) -> Response:
    """Whether the store answers, for monitoring."""
    try:
        await server_of(request).store.read_async(lambda connection: find_campaign(connection, 0))
    except Exception:
        return JSONResponse({"status": "failing"}, 503)
    return JSONResponse({"status": "ok"})


ROUTES: list[BaseRoute] = [
    Route("/", land),
    Route("/c/{campaign}/act", act, methods=["POST"]),
    Route("/c/{campaign}", show),
    Route("/c/{campaign}/draft", draft, methods=["POST"]),
    Route("/join/{token}", show_invitation, methods=["GET"]),
    Route("/join/{token}", join, methods=["POST"]),
    Route("/logout", logout, methods=["POST"]),
    Route("/health", health),
]

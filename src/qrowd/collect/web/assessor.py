"""Judging: the assessor's page, what is sent from it, and the doors of invitations.

GET  /c/{campaign}         the page          POST /c/{campaign}/act     an action: 303, or the next <main>
GET  /join/{token}         an invitation     POST /c/{campaign}/draft   what is typed and not yet sent
POST /join/{token}         makes a session   POST /logout               ends it
GET  /health               whether the store answers             GET  /       what this server is
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from urllib.parse import quote

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.collect.campaigns.pages import Page
from qrowd.collect.protocols.events import MAX_REASON, MAX_TEXT, Refusal
from qrowd.collect.store.accounts import Invitation, find_invitation
from qrowd.collect.web.crowd import with_completion_link
from qrowd.collect.web.forms import Form, action_of, read_form, token_of, typed_in
from qrowd.collect.web.problems import Problem, invalid_token, malformed, not_found, problem_of, wants_data
from qrowd.collect.web.rendering import render_landing
from qrowd.collect.web.sessions import ASSESSOR, Server, Who, check_token, server_of
from qrowd.errors import QrowdError

KEPT = frozenset({409, 422, 429, 503})  # the page comes again, with what was typed


@dataclass(frozen=True)
class Way:
    """How an assessor's pages are reached. base : their address. csrf : the token of their forms.

    redirect : whether an answer leads to the next page by a redirect, or is it. about : what the platform said of this
    visit. headers : of every page.
    """

    base: str
    csrf: str = field(repr=False)
    redirect: bool = True
    about: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


def way_of(who: Who) -> Way:
    """The usual way, by cookie."""
    return Way(f"/c/{quote(who.campaign)}", who.csrf)


async def scoped(request: Request, server: Server) -> Who:
    """The assessor of the session, in the campaign of the address and no other."""
    who = await server.who(request)
    if who.campaign != request.path_params["campaign"]:
        raise not_found()
    return who


# ---- the page


async def show(request: Request) -> Response:
    """What the assessor sees now."""
    server = server_of(request)
    who = await scoped(request, server)
    return await shown(request, server, who, way_of(who))


async def shown(
    request: Request,
    server: Server,
    who: Who,
    way: Way,
    *,
    page: Page | None = None,
    problem: Problem | None = None,
    form: Form | None = None,
) -> Response:
    """The page that is current, whole or its `<main>`; with a problem, the same page once more.

    form : what was sent, whose words and key are kept where the page still asks for them.
    """
    page = await with_completion_link(server, who, page or await server.service.page(who.assessor), way.about)
    refusal, typed, status, headers = None, None, 200, dict(way.headers)
    if problem is not None:
        status, headers = problem.status, {**headers, **problem.headers}
        reference = f" Reference {problem.reference}" if problem.reference else ""
        refusal = Refusal(problem.code, problem.message + reference, problem.field)
        if form is not None and same_place(page, form):
            typed = typed_in(form)
            if status != 409 and form.get("key"):
                page = replace(page, key=form["key"])
    draw = server.rendering.render_main if wants_data(request) else server.rendering.render_page
    content = draw(page, csrf=way.csrf, base=way.base, problem=refusal, typed=typed)
    return HTMLResponse(content, status, headers)


def same_place(page: Page, form: Form) -> bool:
    """Whether a form was sent from where the page is: the same document, pair or line of the same unit."""
    places = [(name, getattr(page.view, name)) for name in ("position", "pair", "line") if hasattr(page.view, name)]
    return form.get("shown", "") == page.shown and all(form.get(name) == str(value) for name, value in places)


# ---- what is sent


async def sent(request: Request, server: Server) -> tuple[Who, Form]:
    """Who sent a form from our own page of this campaign, and what is in it."""
    server.check_origin(request)
    who = await server.who(request)
    form = await read_form(request)
    check_token(token_of(form, "csrf"), who)
    if who.campaign != request.path_params["campaign"]:
        raise not_found()
    return who, form


async def act(request: Request) -> Response:
    """Take the action of a form."""
    server = server_of(request)
    who, form = await sent(request, server)
    return await taken(request, server, who, way_of(who), form)


async def taken(request: Request, server: Server, who: Who, way: Way, form: Form) -> Response:
    """Hand the action to the service; answer with what comes next, or with why not."""
    try:
        within(server.judging.take(who.assessor))
        action = action_of(form)
        key, place = token_of(form, "key"), token_of(form, "shown")
        receipt = await server.service.act(who.assessor, action, shown=place, key=key)
    except QrowdError as error:
        problem = problem_of(error)
        if wants_data(request) or problem.status not in KEPT:
            raise problem from error
        return await shown(request, server, who, way, problem=problem, form=form)
    if way.redirect and not wants_data(request):
        return RedirectResponse(way.base, 303)
    return await shown(request, server, who, way, page=receipt.page)


async def draft(request: Request) -> Response:
    """Keep what is typed."""
    server = server_of(request)
    return await drafted(server, *await sent(request, server))


async def drafted(server: Server, who: Who, form: Form) -> Response:
    """Hand what is typed to the service."""
    within(server.drafting.take(who.assessor))
    position = form.get("position", "")
    if not (position.isascii() and position.isdigit() and len(position) < 10):
        raise malformed("position: expected a number from 0", "position")
    text, reason = form.get("text", ""), form.get("reason", "")
    if len(text) > MAX_TEXT or len(reason) > MAX_REASON:
        raise Problem(422, "long", "This is too long to be kept.", field="text" if len(text) > MAX_TEXT else "reason")
    await server.service.save_draft(who.assessor, token_of(form, "shown"), int(position), text, reason)
    return Response(status_code=204)


def within(wait: float) -> None:
    """Refuse what comes too fast; `wait` : seconds until it may come again."""
    if wait > 0:
        message = "That was very fast. Your answer is still here: please send it again in a moment."
        raise Problem(429, "too_fast", message, retry_after=int(wait) + 1)


# ---- invitations


async def invite(request: Request) -> Response:
    """The page behind an invitation: one button, so that nothing begins by a mere visit."""
    server, token = server_of(request), request.path_params["token"]
    invitation = await invited(server, token)
    row = await server.campaign(invitation.campaign)
    stamp = server.ticket("join", {"t": _digest(token)})
    action = f"/join/{quote(token, safe='')}"
    return HTMLResponse(server.rendering.render_welcome(row.title, csrf=stamp, action=action, name=invitation.name))


async def join(request: Request) -> Response:
    """The button was pressed: a session, and on to the task."""
    server, token = server_of(request), request.path_params["token"]
    server.check_origin(request)
    stamp = server.stamped("join", token_of(await read_form(request), "csrf"))
    if stamp["t"] != _digest(token):
        raise invalid_token()
    invitation = await invited(server, token)
    name = invitation.name
    assessor = await server.service.arrive(invitation.campaign, "link", name, name=name, identified="link")
    response = RedirectResponse(f"/c/{quote(invitation.campaign)}", 303)
    await server.begin(request, response, ASSESSOR, assessor)
    return response


async def invited(server: Server, token: str) -> Invitation:
    """Whom a link invites; a Problem (404) for one that was never made, or was revoked."""
    found = None
    if token.isascii() and len(token) <= 200:
        found = await server.store.read_async(lambda connection: find_invitation(connection, token))
    if found is None:
        raise Problem(404, "invitation", "This invitation is not valid any more. Ask whoever sent it for another.")
    return found


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


# ---- the rest


async def land(request: Request) -> Response:
    """What this server is, for whoever comes without a link."""
    return HTMLResponse(render_landing())


async def logout(request: Request) -> Response:
    """End the session."""
    server = server_of(request)
    server.check_origin(request)
    who = await server.who(request)
    check_token(token_of(await read_form(request), "csrf"), who)
    response = RedirectResponse("/", 303)
    await server.end(request, response)
    return response


async def health(request: Request) -> Response:
    """Whether the store answers, for whoever watches the server."""
    try:
        await server_of(request).store.read_async(lambda connection: connection.execute(select(1)).scalar())
    except Exception:
        return JSONResponse({"status": "failing"}, 503)
    return JSONResponse({"status": "ok"})


ROUTES: list[BaseRoute] = [
    Route("/", land),
    Route("/c/{campaign}/act", act, methods=["POST"]),
    Route("/c/{campaign}", show),
    Route("/c/{campaign}/draft", draft, methods=["POST"]),
    Route("/join/{token}", invite, methods=["GET"]),
    Route("/join/{token}", join, methods=["POST"]),
    Route("/logout", logout, methods=["POST"]),
    Route("/health", health),
]

"""Arrival of assessors: by an invitation, by a sign-up link, from a panel; and the way back to the panel.

GET  /join/{token}             an invitation       POST /join/{token}       makes a session
GET  /sign-up/{token}          a form for a name   POST /sign-up/{token}    a session, and a link of one's own
GET  /panel/{campaign}?id=...  one button          POST /panel/{campaign}   makes a session

Opening a link begins nothing. The campaign names the parameter of a panel such as Prolific. An id is only text in an
address, so anybody can type another's: compare with the panel's own list before paying. The link or code that leads
back is put into a page only at the end.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.plan.panel_links import PROVIDER, PanelTable
from qrowd_server.campaigns.running.pages import Page
from qrowd_server.protocols.setting_fields import read
from qrowd_server.protocols.views import EndView, NoneLeftView, View
from qrowd_server.store.invitation_links import Invitation, SignUp, come_by_sign_up, find_invitation, find_sign_up
from qrowd_server.store.materials import CampaignRow
from qrowd_server.translatable import N_, Message
from qrowd_server.web.forms import query_of
from qrowd_server.web.problems import Problem, invalid_token, malformed, not_found
from qrowd_server.web.rendering import render
from qrowd_server.web.security import client_network
from qrowd_server.web.server import ASSESSOR, Identity, Server, base_of, choice_of, language_in, server_of

# ---- invitations


async def show_invitation(request: Request) -> Response:
    """The page behind an invitation: one button, so that opening a link begins nothing."""
    server, token = server_of(request), request.path_params["token"]
    invitation = await invitation_of(server, token)
    row = await server.campaign(invitation.campaign)
    stamp = server.link_token("join", token)
    action = f"/join/{quote(token, safe='')}"
    language = {"tag": language_in(request, row), "choice": choice_of(request)}
    shown = {"name": invitation.name, "effort": row.settings.get("effort"), **language}
    content = server.rendering.render_welcome(row.title, csrf=stamp, action=action, **shown)
    return HTMLResponse(content)


async def join(request: Request) -> Response:
    """The button was pressed: a session, and on to the task."""
    server, token = server_of(request), request.path_params["token"]
    await server.read_link_form(request, "join")
    invitation = await invitation_of(server, token)
    name = invitation.name
    assessor = await server.service.arrive(invitation.campaign, "link", name, name=name)
    response = RedirectResponse(f"/c/{quote(invitation.campaign)}", 303)
    await server.begin(request, response, ASSESSOR, assessor)
    return response


async def invitation_of(server: Server, token: str) -> Invitation:
    """The invitation of a link; a Problem (404) for one that was never made, or was revoked."""
    invitation = await server.read(find_invitation, token)
    if invitation is None:
        message = N_("This invitation is not valid any more. Ask the person who sent it for another.")
        raise Problem(404, "invitation", message)
    return invitation


# ---- sign-up


async def show_sign_up(request: Request) -> Response:
    """The form; opening the link begins nothing."""
    server, token = server_of(request), request.path_params["token"]
    return await _sign_up_page(request, token, await _open_link(server, token))


async def sign_up(request: Request) -> Response:
    """A name was chosen: a session, and the link that leads back to it, which is shown only now."""
    server, token = server_of(request), request.path_params["token"]
    fields = await server.read_link_form(request, "sign-up")
    link = await _open_link(server, token)
    server.signing_up.check(("link", link.id))
    server.signing_up.check(("address", client_network(request.scope)))
    name, at = fields.get("name", "")[:1000], server.clock()
    try:
        invitation, own = await server.write(come_by_sign_up, token, name, at)
    except ArgumentError as error:
        return await _sign_up_page(request, token, link, error.args[0], name)
    assessor = await server.service.arrive(invitation.campaign, "link", invitation.name, name=invitation.name)
    row = await server.campaign(invitation.campaign)
    address = f"{server.settings.base_url.rstrip('/')}/join/{own}"
    values = {"title": row.title, "name": invitation.name, "link": address, "task": f"/c/{quote(row.name)}"}
    response = HTMLResponse(render("signed_up", tag=language_in(request, row), **values))
    await server.begin(request, response, ASSESSOR, assessor)
    return response


async def _sign_up_page(request: Request, token: str, link: SignUp, problem: str = "", typed: str = "") -> Response:
    server = server_of(request)
    row = await server.campaign(link.campaign)
    csrf = server.link_token("sign-up", token)
    action = f"/sign-up/{quote(token, safe='')}"
    values = {"title": row.title, "csrf": csrf, "action": action, "problem": problem, "typed": typed}
    content = render("sign_up", tag=language_in(request, row), choice=choice_of(request), **values)
    return HTMLResponse(content, 422 if problem else 200)


async def _open_link(server: Server, token: str) -> SignUp:
    """The link; a Problem (404) for one that was never made, is closed or full, or has expired."""
    link = await server.read(find_sign_up, token)
    if link is None or not link.is_open(server.clock()):
        message = N_("This sign-up link is not open any more. Ask the person who gave it to you for another.")
        raise Problem(404, "sign_up", message)
    return link


# ---- a panel

ID = re.compile(r"[!-~]{1,200}")


async def panel_of(server: Server, campaign: str) -> tuple[CampaignRow, PanelTable]:
    """The campaign and its panel; a Problem (404) where assessors come by no panel."""
    row = await server.campaign(campaign)
    if row.settings.get("panel") is None:
        raise not_found()
    return row, read(PanelTable, row.settings["panel"])


async def show_panel(request: Request) -> Response:
    """The page with one button, or the task itself for an assessor who is signed in under the same id."""
    server = server_of(request)
    row, table = await panel_of(server, request.path_params["campaign"])
    query = query_of(request)
    external = _id(query, table.parameter)
    identity = await server.identity_or_none(request)
    if identity and (identity.campaign, identity.provider, identity.external) == (row.name, PROVIDER, external):
        return RedirectResponse(base_of(identity), 303)
    content = {"c": row.name, "x": external}
    page = server.rendering.render_welcome(
        row.title,
        csrf=server.form_token("arrival", content),
        action=f"/panel/{quote(row.name)}",
        effort=row.settings.get("effort"),
        tag=language_in(request, row),
        choice=choice_of(request),
    )
    return HTMLResponse(page)


def _id(query: dict[str, str], parameter: str) -> str:
    value = query.get(parameter, "")
    if not ID.fullmatch(value):
        expected = "%(parameter)s: expected the id that the panel gave you; open the panel's link again"
        raise malformed(Message(expected, parameter=parameter), parameter)
    return value


async def begin_from_panel(request: Request) -> Response:
    """The button was pressed: a session, then the task."""
    server = server_of(request)
    _, content = await server.read_form(request, "arrival")
    if content["c"] != request.path_params["campaign"]:
        raise invalid_token()
    await panel_of(server, content["c"])  # it may have been closed meanwhile
    assessor = await server.service.arrive(content["c"], PROVIDER, content["x"])
    response = RedirectResponse(f"/c/{quote(content['c'])}", 303)
    await server.begin(request, response, ASSESSOR, assessor)
    return response


# ---- completion


def outcome_of(view: View) -> str | None:
    """How the task ended for the assessor; None while there is something to do."""
    match view:
        case EndView(outcome="completed"):
            return "completed"
        case EndView(outcome=outcome, another=False):
            return outcome
        case NoneLeftView(finished=True):
            return "completed"
    return None


def completion(table: PanelTable, outcome: str, external: str) -> tuple[str | None, str | None]:
    """The link and the code for an outcome; None for what there is not.

    >>> completion(
    ...     PanelTable(links={"completed": "https://panel.test/?cc={code}"}, codes={"completed": "C1"}),
    ...     "completed",
    ...     "5f",
    ... )
    ('https://panel.test/?cc=C1', 'C1')
    """
    code, link = table.codes.get(outcome), table.links.get(outcome)
    if link is not None:
        link = link.replace("{id}", quote(external, safe="")).replace("{code}", quote(code or "", safe=""))
    return link, code


async def with_completion_link(server: Server, identity: Identity, page: Page) -> Page:
    """The page with the link or code that leads back to the panel, if the task has ended."""
    outcome = outcome_of(page.view)
    if outcome is None:
        return page
    row = await server.campaign(identity.campaign)
    settings: dict[str, Any] | None = row.settings.get("panel")
    if identity.provider != PROVIDER or settings is None:
        return page
    link, code = completion(read(PanelTable, settings), outcome, identity.external)
    return replace(page, link=link, code=code)


ROUTES: list[BaseRoute] = [
    Route("/join/{token}", show_invitation),
    Route("/join/{token}", join, methods=["POST"]),
    Route("/sign-up/{token}", show_sign_up),
    Route("/sign-up/{token}", sign_up, methods=["POST"]),
    Route("/panel/{campaign}", show_panel),
    Route("/panel/{campaign}", begin_from_panel, methods=["POST"]),
]

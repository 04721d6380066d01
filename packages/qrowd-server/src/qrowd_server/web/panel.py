"""Assessors from a panel such as Prolific: an id comes in by the address, and a link or a code leads back.

GET  /panel/{campaign}?id=...     one button, so that opening the link begins nothing; the campaign names the parameters
POST /panel/{campaign}            the button was pressed

An id is only text in an address, so anybody can type another's: compare with the panel's own list before paying. The
link or code that leads back is put into a page only at the end.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd_server.campaigns.plan.panel import PROVIDER, PanelTable
from qrowd_server.campaigns.running.pages import Page
from qrowd_server.protocols.schema import read
from qrowd_server.protocols.views import EndView, NoneLeftView, View
from qrowd_server.store.materials import CampaignRow
from qrowd_server.translatable import Message
from qrowd_server.web.forms import query_of
from qrowd_server.web.language_choice import choice_of, language_of
from qrowd_server.web.payment import payment_code
from qrowd_server.web.problems import invalid_token, malformed, not_found
from qrowd_server.web.server import ASSESSOR, Identity, Server, server_of

ID = re.compile(r"[!-~]{1,200}")


async def panel_of(server: Server, campaign: str) -> tuple[CampaignRow, PanelTable]:
    """The campaign and its panel; a Problem (404) where assessors come by no panel."""
    row = await server.campaign(campaign)
    if row.settings.get("panel") is None:
        raise not_found()
    return row, read(PanelTable, row.settings["panel"])


# ---- arrival


async def arrive(request: Request) -> Response:
    """The page with one button, or the task itself for an assessor who is signed in under the same id."""
    server = server_of(request)
    row, table = await panel_of(server, request.path_params["campaign"])
    query = query_of(request)
    external = _id(query, table.parameter)
    identity = await server.identity_or_none(request)
    if identity and (identity.campaign, identity.provider, identity.external) == (row.name, PROVIDER, external):
        return RedirectResponse(identity.base, 303)
    content = {"c": row.name, "x": external}
    page = server.rendering.render_welcome(
        row.title,
        csrf=server.form_token("arrival", content),
        action=f"/panel/{quote(row.name)}",
        effort=row.settings.get("effort"),
        tag=language_of(request, row.settings.get("language", "")),
        choice=choice_of(request),
    )
    return HTMLResponse(page)


def _id(query: dict[str, str], parameter: str) -> str:
    value = query.get(parameter, "")
    if not ID.fullmatch(value):
        expected = "%(parameter)s: expected the id that the panel gave you; open the panel's link again"
        raise malformed(Message(expected, parameter=parameter), parameter)
    return value


async def begin(request: Request) -> Response:
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
    if identity.provider == "link" and outcome == "completed":
        return replace(page, code=payment_code(server.settings.secret, identity.campaign, identity.assessor))
    row = await server.campaign(identity.campaign)
    settings: dict[str, Any] | None = row.settings.get("panel")
    if identity.provider != PROVIDER or settings is None:
        return page
    link, code = completion(read(PanelTable, settings), outcome, identity.external)
    return replace(page, link=link, code=code)


ROUTES: list[BaseRoute] = [
    Route("/panel/{campaign}", arrive, methods=["GET"]),
    Route("/panel/{campaign}", begin, methods=["POST"]),
]

"""Amazon Mechanical Turk, ExternalQuestion: our pages in a frame of theirs, and a form back to them at the end.

    GET  /mturk/{campaign}?assignmentId=&hitId=&workerId=&turkSubmitTo=     all four appended by MTurk
    POST /mturk/{campaign}           the button was pressed
    POST /mturk/{campaign}/act, /mturk/{campaign}/draft

In a frame cookies may be blocked, so here, and only here, each form carries instead a signed token that names the
assessor, in the field `csrf`; the answer to a form is the next page itself. The token lasts two hours and is new on
every page. Before a HIT is accepted there is only a frozen page, and nothing is written.

A page is shown at once only for a worker and an assignment that came together before. The same worker with another
assignment presses the button again: it is kept as an event `returned`, and has to earn its own form at the end. MTurk
signs nothing, so whoever knows a worker's id can press that button in their name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.collect.protocols.views import EndView, Outcome
from qrowd.collect.web.assessor import Channel, current_page, save_draft, take_action
from qrowd.collect.web.crowd import arrival_of, platform_of, welcome
from qrowd.collect.web.forms import query_of, read_form, token_of
from qrowd.collect.web.problems import invalid_token, malformed, not_found
from qrowd.collect.web.security import content_policy
from qrowd.collect.web.sessions import Identity, Server, server_of

SUBMIT_TO = ("https://www.mturk.com", "https://workersandbox.mturk.com")
FRAMED_BY = ("https://worker.mturk.com", "https://www.mturk.com", "https://workersandbox.mturk.com")
NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"
NAMES = ("assignmentId", "hitId", "workerId")
ID = re.compile(r"[A-Za-z0-9_-]{1,255}")
TOKEN_SECONDS = 2 * 3600.0
PREVIEW = "This is a preview. Accept the HIT to begin."
COOKIE = "__Host-qrowd-mturk"


def submit_to(address: str, sandbox: bool) -> str:
    """The host that the last form is posted to: MTurk or its sandbox and nothing else, without the slash."""
    host = address.removesuffix("/")
    if host not in SUBMIT_TO or (host == SUBMIT_TO[1]) != sandbox:
        raise malformed("turkSubmitTo: expected the address of MTurk itself", "turkSubmitTo")
    return host


def headers_of(about: Mapping[str, str]) -> dict[str, str]:
    """The headers of pages that MTurk may frame and whose last form is posted to MTurk."""
    policy = content_policy(form_action=[about["turkSubmitTo"]] if about else [], frame_ancestors=FRAMED_BY)
    return {"content-security-policy": policy}


async def arrive(request: Request) -> Response:
    """A crowd worker previews a HIT, or opens one they accepted, any number of times until they submit it."""
    server = server_of(request)
    row, table = await platform_of(server, request.path_params["campaign"], "mturk")
    query = query_of(request)
    if query.get("assignmentId") == NOT_ACCEPTED:
        page = await server.service.preview(row.name)
        content = server.rendering.render_page(page, csrf="", base=f"/mturk/{quote(row.name)}", notice=PREVIEW)
        return HTMLResponse(content, headers=headers_of({}))
    about = {name: query.get(name, "") for name in NAMES}
    for name, value in about.items():
        if not ID.fullmatch(value):
            raise malformed(f"{name}: expected what MTurk appends to the address", name)
    about["turkSubmitTo"] = submit_to(query.get("turkSubmitTo", ""), table["sandbox"])
    assessor = await server.find_number(row, "mturk", about["workerId"])
    submissions = () if assessor is None else await server.service.submissions(assessor)
    if assessor is not None and submissions:
        if submissions[-1].name == about["assignmentId"]:
            return await framed_page(request, server, assessor, about)
        outcome = next((one.outcome for one in submissions if one.name == about["assignmentId"]), None)
        if outcome is not None:  # ended before, and perhaps not submitted to MTurk yet
            return await framed_page(request, server, assessor, about, outcome=cast("Outcome", outcome))
    return await welcome(
        request, row, "mturk", about["workerId"], identified="url", about=about, headers=headers_of({})
    )


async def begin(request: Request) -> Response:
    """The button was pressed."""
    assessor, content = await arrival_of(request, "mturk")
    return await framed_page(request, server_of(request), assessor, content["a"])


async def act(request: Request) -> Response:
    """Take the action of a form."""
    server = server_of(request)
    server.check_origin(request)
    form = await read_form(request)
    identity, channel = await identity_of_token(request, server, token_of(form, "csrf"))
    return with_cookie(await take_action(request, server, identity, channel, form), server, channel)


async def draft(request: Request) -> Response:
    """Keep what is typed."""
    server = server_of(request)
    server.check_origin(request)
    form = await read_form(request)
    identity, _ = await identity_of_token(request, server, token_of(form, "csrf"))
    return await save_draft(server, identity, form)


# ---- the token instead of a cookie


async def identity_of_token(request: Request, server: Server, token: str) -> tuple[Identity, Channel]:
    """The assessor whom a form's token names, and a channel with a new token."""
    content = server.read_form_token("mturk", token)
    identity = await server.find_identity(content["w"], "")
    if identity is None or identity.provider != "mturk":
        raise invalid_token()
    if identity.campaign != request.path_params["campaign"]:
        raise not_found()
    return identity, channel_of(server, identity, content["a"])


def channel_of(server: Server, identity: Identity, about: Mapping[str, str]) -> Channel:
    """Pages in a frame, each with a token of its own."""
    content: dict[str, Any] = {"w": identity.assessor, "a": dict(about)}
    token = server.form_token("mturk", content, TOKEN_SECONDS)
    return Channel(f"/mturk/{quote(identity.campaign)}", token, redirect=False, about=about, headers=headers_of(about))


async def framed_page(
    request: Request, server: Server, assessor: int, about: Mapping[str, str], *, outcome: Outcome | None = None
) -> Response:
    """The current page; or the last page of a submission that ended with this outcome."""
    identity = await server.find_identity(assessor, "")
    if identity is None:
        raise not_found()
    channel, page = channel_of(server, identity, about), None
    if outcome is not None:
        page = await server.service.page(assessor)
        page = replace(page, view=EndView(outcome), topic=None, documents={}, draft=None, shown="")
    return with_cookie(await current_page(request, server, identity, channel, page=page), server, channel)


def with_cookie(response: Response, server: Server, channel: Channel) -> Response:
    """The token as a cookie too, as a help for whoever looks into a browser; nothing depends on it."""
    if server.settings.https:
        attributes = "Path=/; HttpOnly; Secure; SameSite=None; Partitioned"
        response.headers.append("set-cookie", f"{COOKIE}={channel.csrf}; Max-Age={int(TOKEN_SECONDS)}; {attributes}")
    return response


ROUTES: list[BaseRoute] = [
    Route("/mturk/{campaign}/act", act, methods=["POST"]),
    Route("/mturk/{campaign}/draft", draft, methods=["POST"]),
    Route("/mturk/{campaign}", arrive, methods=["GET"]),
    Route("/mturk/{campaign}", begin, methods=["POST"]),
]

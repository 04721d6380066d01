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
from qrowd.collect.web.assessor import Way, drafted, shown, taken
from qrowd.collect.web.crowd import arriving, platform_of, welcome
from qrowd.collect.web.forms import query_of, read_form, token_of
from qrowd.collect.web.problems import invalid_token, malformed, not_found
from qrowd.collect.web.security import content_policy
from qrowd.collect.web.sessions import Server, Who, server_of

SUBMIT_TO = ("https://www.mturk.com", "https://workersandbox.mturk.com")
FRAMED_BY = ("https://worker.mturk.com", "https://www.mturk.com", "https://workersandbox.mturk.com")
NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"
NAMES = ("assignmentId", "hitId", "workerId")
ID = re.compile(r"[A-Za-z0-9_-]{1,255}")
TOKEN_SECONDS = 2 * 3600.0
PREVIEW = "This is a preview. Accept the HIT to begin."
COOKIE = "__Host-qrowd-mturk"


def submit_to(address: str, sandbox: bool) -> str:
    """Where the form at the end goes: MTurk or its sandbox and nothing else, without the slash."""
    host = address.removesuffix("/")
    if host not in SUBMIT_TO or (host == SUBMIT_TO[1]) != sandbox:
        raise malformed("turkSubmitTo: expected the address of MTurk itself", "turkSubmitTo")
    return host


def headers_of(about: Mapping[str, str]) -> dict[str, str]:
    """What pages say that MTurk may frame, and whose last form goes there."""
    policy = content_policy(form_action=[about["turkSubmitTo"]] if about else [], frame_ancestors=FRAMED_BY)
    return {"content-security-policy": policy}


async def arrive(request: Request) -> Response:
    """A worker looks at a HIT, or comes with one accepted; again and again, until MTurk has what they sent."""
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
    assessor = await server.identity(row, "mturk", about["workerId"])
    taken = () if assessor is None else await server.service.submissions(assessor)
    if assessor is not None and taken:
        if taken[-1].name == about["assignmentId"]:
            return await framed(request, server, assessor, about)
        outcome = next((one.outcome for one in taken if one.name == about["assignmentId"]), None)
        if outcome is not None:  # done before, and perhaps MTurk has not heard of it
            return await framed(request, server, assessor, about, outcome=cast("Outcome", outcome))
    return await welcome(
        request, row, "mturk", about["workerId"], identified="url", about=about, headers=headers_of({})
    )


async def begin(request: Request) -> Response:
    """The button was pressed."""
    assessor, said = await arriving(request, "mturk")
    return await framed(request, server_of(request), assessor, said["a"])


async def act(request: Request) -> Response:
    """Take the action of a form."""
    server = server_of(request)
    server.check_origin(request)
    form = await read_form(request)
    who, way = await carried(request, server, token_of(form, "csrf"))
    return with_cookie(await taken(request, server, who, way, form), server, way)


async def draft(request: Request) -> Response:
    """Keep what is typed."""
    server = server_of(request)
    server.check_origin(request)
    form = await read_form(request)
    who, _ = await carried(request, server, token_of(form, "csrf"))
    return await drafted(server, who, form)


# ---- the token instead of a cookie


async def carried(request: Request, server: Server, token: str) -> tuple[Who, Way]:
    """The assessor whom a form's token names, and a new token."""
    said = server.stamped("mturk", token)
    who = await server.known(said["w"], "")
    if who is None or who.provider != "mturk":
        raise invalid_token()
    if who.campaign != request.path_params["campaign"]:
        raise not_found()
    return who, way_of(server, who, said["a"])


def way_of(server: Server, who: Who, about: Mapping[str, str]) -> Way:
    """Pages in a frame, each with a token of its own."""
    content: dict[str, Any] = {"w": who.assessor, "a": dict(about)}
    token = server.ticket("mturk", content, TOKEN_SECONDS)
    return Way(f"/mturk/{quote(who.campaign)}", token, redirect=False, about=about, headers=headers_of(about))


async def framed(
    request: Request, server: Server, assessor: int, about: Mapping[str, str], *, outcome: Outcome | None = None
) -> Response:
    """The page that is current; the last page of what ended with that outcome, where one is given."""
    who = await server.known(assessor, "")
    if who is None:
        raise not_found()
    way, page = way_of(server, who, about), None
    if outcome is not None:
        page = await server.service.page(assessor)
        page = replace(page, view=EndView(outcome), topic=None, documents={}, draft=None, shown="")
    return with_cookie(await shown(request, server, who, way, page=page), server, way)


def with_cookie(response: Response, server: Server, way: Way) -> Response:
    """The token as a cookie too, as a help for whoever looks into a browser; nothing depends on it."""
    if server.settings.https:
        attributes = "Path=/; HttpOnly; Secure; SameSite=None; Partitioned"
        response.headers.append("set-cookie", f"{COOKIE}={way.csrf}; Max-Age={int(TOKEN_SECONDS)}; {attributes}")
    return response


ROUTES: list[BaseRoute] = [
    Route("/mturk/{campaign}/act", act, methods=["POST"]),
    Route("/mturk/{campaign}/draft", draft, methods=["POST"]),
    Route("/mturk/{campaign}", arrive, methods=["GET"]),
    Route("/mturk/{campaign}", begin, methods=["POST"]),
]

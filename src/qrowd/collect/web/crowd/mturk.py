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
from typing import cast
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.collect.protocols.messages import N_
from qrowd.collect.protocols.views import EndView, Outcome
from qrowd.collect.store.state import find_identity
from qrowd.collect.web.assessor import current_page, save_draft, take_action
from qrowd.collect.web.crowd import arrival_of, platform_of, welcome
from qrowd.collect.web.forms import Form, query_of
from qrowd.collect.web.language_choice import language_of
from qrowd.collect.web.problems import invalid_token, malformed, not_found
from qrowd.collect.web.security import content_policy, with_frames
from qrowd.collect.web.server import Identity, Server, server_of
from qrowd.collect.web.texts import MTURK_HOSTS

SUBMIT_TO = tuple(f"https://{host}" for host in MTURK_HOSTS)
FRAMED_BY = ("https://worker.mturk.com", *SUBMIT_TO)
NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"
NAMES = ("assignmentId", "hitId", "workerId")
ID = re.compile(r"[A-Za-z0-9_-]{1,255}")
TOKEN_SECONDS = 2 * 3600.0
PREVIEW = N_("This is a preview. Accept the HIT to begin.")
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
        page = server.with_image_addresses(await server.service.preview(row.name))
        options = {"base": f"/mturk/{quote(row.name)}", "notice": PREVIEW, "tag": language_of(request, page.language)}
        content = await server.draw(page, whole=True, csrf="", **options)
        return HTMLResponse(content, headers=with_frames(headers_of({}), page.frames))
    about = {name: query.get(name, "") for name in NAMES}
    for name, value in about.items():
        if not ID.fullmatch(value):
            raise malformed(f"{name}: expected what MTurk appends to the address", name)
    about["turkSubmitTo"] = submit_to(query.get("turkSubmitTo", ""), table["sandbox"])
    assessor = await server.store.read_async(lambda c: find_identity(c, row.id, "mturk", about["workerId"]))
    submissions = () if assessor is None else await server.service.submissions(assessor.id)
    if assessor is not None and submissions:
        if submissions[-1].name == about["assignmentId"]:
            return await framed_page(request, assessor.id, about)
        outcome = next((one.outcome for one in submissions if one.name == about["assignmentId"]), None)
        if outcome is not None:  # ended before, and perhaps not submitted to MTurk yet
            return await framed_page(request, assessor.id, about, outcome=cast("Outcome", outcome))
    return await welcome(
        request, row, "mturk", about["workerId"], identified="url", about=about, headers=headers_of({})
    )


async def begin(request: Request) -> Response:
    """The button was pressed."""
    assessor, content = await arrival_of(request, "mturk")
    return await framed_page(request, assessor, content["a"])


async def act(request: Request) -> Response:
    """Take the action of a form."""
    identity, form = await read_submission(request)
    return with_cookie(request, identity, await take_action(request, identity, form))


async def draft(request: Request) -> Response:
    """Keep what is typed."""
    return await save_draft(request, *await read_submission(request))


# ---- the token instead of a cookie


async def read_submission(request: Request) -> tuple[Identity, Form]:
    """The assessor whom a form's token names, with a new token; and the form."""
    server = server_of(request)
    form, content = await server.read_form(request, "mturk")
    identity = await framed_identity(server, content["w"], content["a"])
    if identity is None or identity.provider != "mturk":
        raise invalid_token()
    if identity.campaign != request.path_params["campaign"]:
        raise not_found()
    return identity, form


async def framed_identity(server: Server, assessor: int, about: Mapping[str, str]) -> Identity | None:
    """The assessor of that number, whose pages are in a frame and carry a token of their own."""
    token = server.form_token("mturk", {"w": assessor, "a": dict(about)}, TOKEN_SECONDS)
    identity = await server.find_identity(assessor, token)
    if identity is None:
        return None
    base = f"/mturk/{quote(identity.campaign)}"
    return replace(identity, base=base, framed=True, about=about, headers=headers_of(about))


async def framed_page(
    request: Request, assessor: int, about: Mapping[str, str], *, outcome: Outcome | None = None
) -> Response:
    """The current page; or the last page of a submission that ended with this outcome."""
    server, page = server_of(request), None
    identity = await framed_identity(server, assessor, about)
    if identity is None:
        raise not_found()
    if outcome is not None:
        page = await server.service.page(assessor)
        page = replace(page, view=EndView(outcome), topic=None, documents={}, draft=None, shown="")
    return with_cookie(request, identity, await current_page(request, identity, page=page))


def with_cookie(request: Request, identity: Identity, response: Response) -> Response:
    """The token as a cookie too, as a help for whoever looks into a browser; nothing depends on it."""
    if server_of(request).settings.https:
        attributes = "Path=/; HttpOnly; Secure; SameSite=None; Partitioned"
        response.headers.append("set-cookie", f"{COOKIE}={identity.csrf}; Max-Age={int(TOKEN_SECONDS)}; {attributes}")
    return response


ROUTES: list[BaseRoute] = [
    Route("/mturk/{campaign}/act", act, methods=["POST"]),
    Route("/mturk/{campaign}/draft", draft, methods=["POST"]),
    Route("/mturk/{campaign}", arrive, methods=["GET"]),
    Route("/mturk/{campaign}", begin, methods=["POST"]),
]

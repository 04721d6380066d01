"""Sign-up: one link for many people, each of whom takes part under a name of their own.

GET  /sign-up/{token}    a form for the name    POST /sign-up/{token}    a session, and a link of one's own
"""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.errors import ArgumentError
from qrowd_server.store.invitations import SignUp, come_by_sign_up, find_sign_up
from qrowd_server.store.sessions import hashed
from qrowd_server.translatable import N_
from qrowd_server.web.language_choice import choice_of, language_of
from qrowd_server.web.problems import Problem, invalid_token
from qrowd_server.web.security import client_address
from qrowd_server.web.server import ASSESSOR, Limiter, Server, server_of
from qrowd_server.web.templating import render

PER_MINUTE = 60  # tries by one link, and from one address: a class may share one


async def show(request: Request) -> Response:
    """The form; opening the link begins nothing."""
    server, token = server_of(request), request.path_params["token"]
    return await _page(request, token, await _open_link(server, token))


async def sign_up(request: Request) -> Response:
    """A name was chosen: a session, and the link that leads back to it, which is shown only now."""
    server, token = server_of(request), request.path_params["token"]
    fields, stamp = await server.read_form(request, "sign-up")
    if stamp["t"] != hashed(token):
        raise invalid_token()
    link = await _open_link(server, token)
    limiter = _limiter(request)
    for key in (("link", str(link.id)), ("address", client_address(request.scope, server.settings))):
        if (wait := limiter.take(key)) > 0:
            message = N_("Many people are signing up at this moment. Wait a little and send your name again.")
            return await _page(request, token, link, message, fields.get("name", ""), 429, int(wait) + 1)
    name, at = fields.get("name", "")[:1000], server.clock()
    try:
        invitation, own = await server.store.write_async(
            lambda connection: come_by_sign_up(connection, token, name, at)
        )
    except ArgumentError as error:
        return await _page(request, token, link, error.args[0], name, 422)
    assessor = await server.service.arrive(invitation.campaign, "link", invitation.name, name=invitation.name)
    row = await server.campaign(invitation.campaign)
    address = f"{server.settings.base_url.rstrip('/')}/join/{own}"
    task = f"/c/{quote(row.name)}"
    tag = language_of(request, row.settings.get("language", ""))
    content = render("signed_up", title=row.title, name=invitation.name, link=address, task=task, tag=tag)
    response = HTMLResponse(content)
    await server.begin(request, response, ASSESSOR, assessor)
    return response


async def _page(
    request: Request,
    token: str,
    link: SignUp,
    problem: str = "",
    typed: str = "",
    status: int = 200,
    retry_after: int | None = None,
) -> Response:
    server = server_of(request)
    row = await server.campaign(link.campaign)
    csrf = server.form_token("sign-up", {"t": hashed(token)})
    action = f"/sign-up/{quote(token, safe='')}"
    values = {"title": row.title, "csrf": csrf, "action": action, "problem": problem, "typed": typed}
    tag = language_of(request, row.settings.get("language", ""))
    content = render("sign_up", tag=tag, choice=choice_of(request), **values)
    return HTMLResponse(content, status, {} if retry_after is None else {"retry-after": str(retry_after)})


async def _open_link(server: Server, token: str) -> SignUp:
    """The link; a Problem (404) for one that was never made, is closed or full, or has expired."""
    link = await server.store.read_async(lambda connection: find_sign_up(connection, token))
    if link is None or not link.is_open(server.clock()):
        message = N_("This sign-up link is not open any more. Ask the person who gave it to you for another.")
        raise Problem(404, "sign_up", message)
    return link


def _limiter(request: Request) -> Limiter:
    state = request.app.state
    if not hasattr(state, "sign_up_limiter"):
        state.sign_up_limiter = Limiter(PER_MINUTE, clock=server_of(request).monotonic)
    limiter: Limiter = state.sign_up_limiter
    return limiter


ROUTES: list[BaseRoute] = [
    Route("/sign-up/{token}", show, methods=["GET"]),
    Route("/sign-up/{token}", sign_up, methods=["POST"]),
]

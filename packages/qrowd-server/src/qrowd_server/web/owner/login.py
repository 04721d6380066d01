"""Login and logout of owners: accounts with passwords, and the link that the server prints when it starts.

GET  /owner/login            the form         POST /owner/login            makes a session
GET  /owner/enter/{token}    one button       POST /owner/enter/{token}    makes a session, once
POST /owner/logout           ends it
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd_server.store.accounts import (
    TooManyAttemptsError,
    begin_attempt,
    check_login,
    forgive,
)
from qrowd_server.store.sessions import get_setting, hashed, new_token, put_setting, take_setting
from qrowd_server.web.forms import Form
from qrowd_server.web.logs import note
from qrowd_server.web.owner.context import MEMBER, NO_ACCOUNT, OWNER, OwnerContext, form, owner_of
from qrowd_server.web.owner.oidc import oidc_settings
from qrowd_server.web.problems import Problem, invalid_token, problem_of
from qrowd_server.web.security import client_address
from qrowd_server.web.server import Server, server_of
from qrowd_server.web.templating import render

GOOD_FOR = 24 * 3600.0  # seconds that a printed link may be used
LINK = "owner_link:"
LONGEST_NAME = 200


# ---- the printed link


def owner_link(connection: Connection, base_url: str, at: float) -> str:
    """A link that lets one browser in as the owner, once, within a day; only its hash is kept."""
    token = new_token()
    put_setting(connection, LINK + hashed(token), str(at + GOOD_FOR))
    return f"{base_url.rstrip('/')}/owner/enter/{token}"


def is_valid(expiry: str | None, at: float) -> bool:
    """Whether a link that expires then may still be used; None : there is no such link."""
    return expiry is not None and at < float(expiry)


async def show_link(request: Request) -> Response:
    """The page behind the link: a button, because programs that look at links must not use it up."""
    server, token = server_of(request), request.path_params["token"]
    expiry = await server.store.read_async(lambda connection: get_setting(connection, LINK + hashed(token)))
    if not is_valid(expiry, server.clock()):
        raise _link_used()
    return _page("enter", csrf=server.form_token("owner", {"t": hashed(token)}), token=token)


async def enter(request: Request) -> Response:
    """The button was pressed: a session begins, and the link cannot be used again."""
    server, token = server_of(request), request.path_params["token"]
    _, stamp = await server.read_form(request, "owner")
    if stamp["t"] != hashed(token):
        raise invalid_token()
    expiry = await server.store.write_async(lambda connection: take_setting(connection, LINK + hashed(token)))
    if not is_valid(expiry, server.clock()):
        raise _link_used()
    response = RedirectResponse("/owner", 303)
    await server.begin(request, response, OWNER, NO_ACCOUNT)
    return response


def _link_used() -> Problem:
    return Problem(404, "link", "This link is not valid any more. Log in, or start the server again for another one.")


# ---- accounts


async def show_login(request: Request) -> Response:
    """The form; an owner who is logged in goes to the campaigns."""
    if await owner_of(request) is not None:
        return RedirectResponse("/owner", 303)
    return _login_page(request)


async def login(request: Request) -> Response:
    """Check name and password; after ten failures in 15 minutes, that name and that address have to wait."""
    server = server_of(request)
    fields, _ = await server.read_form(request, "login")
    name, password = fields.get("name", "").strip()[:LONGEST_NAME], fields.get("password", "")
    address = client_address(request.scope, server.settings)
    problem, account = Problem(422, "login", "Name and password do not belong together."), None
    try:
        account = await asyncio.to_thread(check_login, server.store, name, password, address, server.clock())
    except TooManyAttemptsError as error:
        problem = problem_of(error)
    if account is None:
        note("login failed", level=logging.WARNING, address=address)
        page = _login_page(request, name=name, problem=problem.message)
        page.status_code = problem.status
        page.headers.update(problem.headers)
        return page
    response = RedirectResponse("/owner", 303)
    await server.begin(request, response, OWNER, account)
    return response


@dataclass(frozen=True)
class Attempt:
    """An attempt to prove who somebody is, which counts as failed until it is forgiven."""

    server: Server
    number: int

    async def forgive(self) -> None:
        """It did not fail."""
        await self.server.store.write_async(lambda connection: forgive(connection, self.number))


async def count_attempt(server: Server, request: Request, name: str) -> Attempt:
    """Count an attempt for an account and for the address it comes from.

    Raises
    ------
    TooManyAttemptsError
        Too many failed.
    """
    address, at = client_address(request.scope, server.settings), server.clock()
    number = await server.store.write_async(lambda connection: begin_attempt(connection, name, address, at))
    return Attempt(server, number)


async def logout(context: OwnerContext, fields: Form) -> Response:
    """End the session."""
    response = RedirectResponse("/owner/login", 303)
    await context.server.end(context.request, response, OWNER)
    return response


def _login_page(request: Request, *, name: str = "", problem: str = "") -> Response:
    server = server_of(request)
    csrf, settings = server.form_token("login", {}), oidc_settings(server.settings.environ)
    return _page("login", csrf=csrf, name=name, problem=problem, provider=settings.issuer if settings else "")


def _page(template: str, **values: str) -> Response:
    return HTMLResponse(render(f"owner/{template}", **values))


ROUTES: list[BaseRoute] = [
    Route("/owner/login", show_login, methods=["GET"]),
    Route("/owner/login", login, methods=["POST"]),
    Route("/owner/enter/{token}", show_link, methods=["GET"]),
    Route("/owner/enter/{token}", enter, methods=["POST"]),
    form("/owner/logout", logout, needs=MEMBER),
]

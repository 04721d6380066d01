"""Sign-in of owners by a provider of OpenID Connect, where one is configured.

GET  /owner/oidc             to the provider          GET /owner/oidc/callback    back from it: a session
POST /owner/oidc             links one's own account  GET /owner/oidc/logout      logs out there as well
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.collect.protocols.messages import Message
from qrowd.collect.store.identities import link_identity, sign_in
from qrowd.collect.web.forms import Form, query_of
from qrowd.collect.web.oidc import Provider, Subject, oidc_settings
from qrowd.collect.web.owner.context import MEMBER, NO_ACCOUNT, OWNER, OwnerContext, form, owner_of
from qrowd.collect.web.problems import Problem, not_found
from qrowd.collect.web.recognised import line_of
from qrowd.collect.web.security import same
from qrowd.collect.web.server import Server, server_of
from qrowd.errors import ArgumentError

CALLBACK = "/owner/oidc/callback"
SECONDS = 600.0  # for signing in at the provider


def provider_name(environ: Mapping[str, str]) -> str:
    """What the configured provider is called; "" without one."""
    settings = oidc_settings(environ)
    return "" if settings is None else settings.label


def provider_of(server: Server, request: Request) -> Provider:
    """The configured provider; a Problem (404) without one."""
    state = request.app.state
    if not hasattr(state, "oidc_provider"):
        settings = oidc_settings(server.settings.environ)
        base = server.settings.base_url.rstrip("/")
        state.oidc_provider = None if settings is None else Provider(settings, base + CALLBACK)
    provider: Provider | None = state.oidc_provider
    if provider is None:
        raise not_found()
    return provider


async def go(request: Request) -> Response:
    """To the provider. What has to be remembered is in a signed cookie of ten minutes."""
    server = server_of(request)
    address, kept = await provider_of(server, request).begin()
    response = RedirectResponse(address, 303)
    _keep(server, response, kept, NO_ACCOUNT)
    return response


async def link(context: OwnerContext, fields: Form) -> Response:
    """Begin to link one's own account: a page that leads to the provider, as forms lead nowhere else."""
    if context.owner.account == NO_ACCOUNT:
        raise ArgumentError(
            Message("You came by the printed link, which belongs to no account. Log in by name and password.")
        )
    provider = provider_of(context.server, context.request)
    address, kept = await provider.begin()
    response = context.render("oidc", tab="account", address=address, provider=provider.settings.label)
    _keep(context.server, response, kept, context.owner.account)
    return response


async def callback(request: Request) -> Response:
    """Back from the provider: a session of the account, which is new the first time; or the account is linked."""
    server, query = server_of(request), query_of(request)
    provider, at = provider_of(server, request), server.clock()
    kept = server.signer.open("oidc", request.cookies.get(_cookie(server), ""), at)
    if kept is None or not same(query.get("state", ""), kept["s"]):
        raise Problem(403, "state", "This sign-in was not begun in this browser, or took too long. Begin again.")
    if "code" not in query:
        reason = query.get("error", "")[:100] or "error"
        raise Problem(403, "provider", Message("The provider refused the sign-in: %(reason)s.", reason=reason))
    subject, account = await provider.finish(query["code"], kept, at), int(kept["a"])
    response = RedirectResponse("/owner/account" if account else "/owner", 303)
    if account:
        await _link(request, server, subject, account, at)
    else:
        role = provider.settings.role

        def work(connection: Connection) -> int:
            return sign_in(connection, subject.issuer, subject.subject, subject.name, role, at)

        try:
            number = await server.store.write_async(work)
        except ArgumentError as error:
            raise Problem(403, "account", line_of(error)) from None
        await server.begin(request, response, OWNER, number)
    response.delete_cookie(_cookie(server), path="/", secure=server.settings.https, httponly=True, samesite="lax")
    return response


async def _link(request: Request, server: Server, subject: Subject, account: int, at: float) -> None:
    owner = await owner_of(request)
    if owner is None or owner.account != account:
        raise Problem(403, "session", "You were logged out meanwhile. Log in, and link your account again.")
    try:
        await server.store.write_async(lambda c: link_identity(c, subject.issuer, subject.subject, account, at))
    except ArgumentError as error:
        raise Problem(403, "account", line_of(error)) from None


async def leave(request: Request) -> Response:
    """To the provider's own page for logging out, if it has one."""
    server = server_of(request)
    back = f"{server.settings.base_url.rstrip('/')}/owner/login"
    return RedirectResponse(await provider_of(server, request).end_address(back) or "/owner/login", 303)


def _cookie(server: Server) -> str:
    return "__Host-qrowd-oidc" if server.settings.https else "qrowd-oidc"


def _keep(server: Server, response: Response, kept: Mapping[str, Any], account: int) -> None:
    value = server.form_token("oidc", {**kept, "a": account}, SECONDS)
    secure = server.settings.https
    response.set_cookie(
        _cookie(server), value, max_age=int(SECONDS), path="/", secure=secure, httponly=True, samesite="lax"
    )


ROUTES: list[BaseRoute] = [
    Route("/owner/oidc", go, methods=["GET"]),
    form("/owner/oidc", link, needs=MEMBER),
    Route(CALLBACK, callback, methods=["GET"]),
    Route("/owner/oidc/logout", leave, methods=["GET"]),
]

"""Sign-in of owners with OpenID Connect, by Authlib: authorization code with PKCE, state and nonce.

GET /owner/oidc             to the provider
GET /owner/oidc/callback    back from it: a session
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from json import JSONDecodeError
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.errors import ArgumentError
from qrowd_server.store.accounts import sign_in
from qrowd_server.web.logs import note
from qrowd_server.web.problems import Problem, not_found
from qrowd_server.web.server import server_of

CALLBACK = "/owner/oidc/callback"
SECONDS = 600.0  # for signing in at the provider
TIMEOUT = 10.0  # seconds for a request to the provider
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True)
class OidcSettings:
    """A provider. domains, groups : of which a person needs one; () for no such condition."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    domains: tuple[str, ...]
    groups: tuple[str, ...]


def oidc_settings(environ: Mapping[str, str]) -> OidcSettings | None:
    """The provider of the environment; None without one, ArgumentError where the settings cannot work."""
    issuer = environ.get("QROWD_OIDC_ISSUER", "").strip()
    if not issuer:
        return None
    url, client_id = urlsplit(issuer), environ.get("QROWD_OIDC_CLIENT_ID", "")
    if url.scheme != "https" and url.hostname not in LOOPBACK:
        raise ArgumentError(f"QROWD_OIDC_ISSUER={issuer!r}: expected an address such as https://id.example.org")
    if not client_id:
        raise ArgumentError("QROWD_OIDC_CLIENT_ID: give the id under which the provider knows this server")
    domains, groups = (environ.get(f"QROWD_OIDC_{name}", "").replace(",", " ") for name in ("DOMAINS", "GROUPS"))
    secret = environ.get("QROWD_OIDC_CLIENT_SECRET", "")
    return OidcSettings(issuer, client_id, secret, tuple(domains.lower().split()), tuple(groups.split()))


def client_of(request: Request) -> tuple[OidcSettings, Any]:
    """The provider and Authlib's client for it; a Problem (404) where none is configured."""
    from authlib.integrations.starlette_client import OAuth

    settings = oidc_settings(server_of(request).settings.environ)
    if settings is None:
        raise not_found()
    if not hasattr(request.app.state, "oidc_client"):
        secret = {} if settings.client_secret else {"token_endpoint_auth_method": "none"}
        client = {"scope": "openid profile email", "code_challenge_method": "S256", "timeout": TIMEOUT}
        request.app.state.oidc_client = OAuth().register(
            "provider",
            client_id=settings.client_id,
            client_secret=settings.client_secret or None,
            server_metadata_url=f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={**client, **secret, "verify": ssl.create_default_context()},
        )
    return settings, request.app.state.oidc_client


async def go(request: Request) -> Response:
    """To the provider. What has to be remembered is in a signed cookie of ten minutes."""
    from httpx2 import HTTPError

    server, (_, client) = server_of(request), client_of(request)
    request.scope["session"] = {}
    try:
        response: Response = await client.authorize_redirect(request, server.settings.base_url.rstrip("/") + CALLBACK)
    except (HTTPError, RuntimeError, ValueError) as error:
        raise _no_answer(error) from None
    value = server.form_token("oidc", request.session, SECONDS)
    response.set_cookie(server.cookie_name("oidc"), value, max_age=int(SECONDS), **server.cookie_attributes())
    return response


async def callback(request: Request) -> Response:
    """Back from the provider: a session of the account, which is new the first time."""
    from authlib.integrations.base_client import OAuthError
    from httpx2 import HTTPError
    from joserfc.errors import JoseError

    server, (settings, client) = server_of(request), client_of(request)
    at = server.clock()
    request.scope["session"] = server.signer.open("oidc", request.cookies.get(server.cookie_name("oidc"), ""), at) or {}
    required = {"iss": {"essential": True, "value": settings.issuer}, "sub": {"essential": True},
                "aud": {"essential": True, "value": settings.client_id}}  # fmt: skip
    try:
        metadata = await client.load_server_metadata()
        metadata["id_token_signing_alg_values_supported"] = list(ALGORITHMS)  # always with a key of the provider
        token = await client.authorize_access_token(request, claims_options=required)
        claims = dict(token.get("userinfo") or {})
        if claims and "userinfo_endpoint" in metadata:
            more = await client.userinfo(token=token)
            claims = {**more, **claims} if more.get("sub") == claims["sub"] else claims
    except (HTTPError, JSONDecodeError) as error:
        raise _no_answer(error) from None
    except (OAuthError, JoseError, KeyError, RuntimeError, ValueError) as error:
        reason = str(getattr(error, "error", type(error).__name__))[:100]
        raise _refused(f"The sign-in failed ({reason}). Begin again.") from error
    name, subject = _checked_name(settings, claims), str(claims["sub"])
    try:
        number = await server.write(sign_in, settings.issuer, subject, name, at)
    except ArgumentError as error:
        raise _refused(str(error)) from None
    response = RedirectResponse("/owner", 303)
    await server.begin(request, response, "owner", number)
    response.delete_cookie(server.cookie_name("oidc"), **server.cookie_attributes())
    return response


def _checked_name(settings: OidcSettings, claims: Mapping[str, Any]) -> str:
    """The name of a new account; a Problem (403) for somebody who may not sign in."""
    if not claims:
        raise _refused("The provider's token is not valid. Begin again.")
    email, groups = str(claims.get("email", "")), claims.get("groups")
    is_ours = claims.get("email_verified") is True and email.rpartition("@")[2].lower() in settings.domains
    if settings.domains and not is_ours:
        raise _refused("Your verified e-mail address is not of an organisation that may sign in here.")
    if settings.groups and not (isinstance(groups, list) and set(map(str, groups)) & set(settings.groups)):
        raise _refused("You are in no group that may sign in here.")
    names = (claims.get("preferred_username"), email.partition("@")[0], str(claims["sub"]))
    return next(name for name in names if name and isinstance(name, str))


def _no_answer(error: Exception) -> Problem:
    """The page; the log says why."""
    note("the provider of sign-in does not answer", level=logging.WARNING, reason=f"{type(error).__name__}: {error}")
    return _refused("The provider does not answer as expected. Try again later.", 502)


def _refused(message: str, status: int = 403) -> Problem:
    return Problem(status, "provider", message)


ROUTES: list[BaseRoute] = [Route("/owner/oidc", go, methods=["GET"]), Route(CALLBACK, callback)]

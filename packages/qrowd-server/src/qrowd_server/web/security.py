"""Security of the server: its settings, signed tokens, the check of origins, and what stands before every request.

The guard is plain ASGI. It refuses hosts that are not ours and bodies that are too long, adds the headers that every
response carries, and turns an unexpected error into an answer with a reference that is also in the log.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import os
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qrowd.errors import ArgumentError
from qrowd_server.translatable import Message as Text
from qrowd_server.web.logs import PROBES, request_id
from qrowd_server.web.problems import Problem

log = logging.getLogger("qrowd_server.web")

BODY_LIMIT = 64 * 1024  # bytes
HEADER_LIMIT = 32 * 1024  # with the address; what is still coming in is for uvicorn, or a proxy before it, to end
_GIVEAWAYS = (b"secret", b"changeme", b"change-me", b"password", b"example", b"insecure", b"default", b"qrowd")
_DISTINCT = 10  # bytes that differ: 32 random ones have about 30, 64 random hexadecimal digits about 16


# ---- settings


@dataclass(frozen=True)
class ServerSettings:
    """The settings of a server.

    base_url : its own address as browsers know it, `https://judge.example.org`, on a host of its own.
    secret : at least 32 random bytes; everything signed is signed with keys made from it.
    trusted_hosts : other hosts, with port where it is not the usual one, under which it may be asked.
    trusted_proxies : addresses or networks whose X-Forwarded-For is believed.
    judgments_per_minute, drafts_per_minute : what one assessor may send.
    environ : where the secrets of platforms are, under the names that campaigns give.
    body_seconds : for which the server waits for the next part of a body.
    """

    base_url: str
    secret: bytes = field(repr=False)
    trusted_hosts: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    judgments_per_minute: int = 60
    drafts_per_minute: int = 120
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    body_seconds: float = 30.0

    def __post_init__(self) -> None:
        """Refuse settings that would be unsafe."""
        _check_base_url(self.base_url)
        weak = len(self.secret) < 32 or len(set(self.secret)) < _DISTINCT
        if weak or any(word in self.secret.lower() for word in _GIVEAWAYS):
            raise ArgumentError(
                "secret: expected at least 32 random bytes that nobody else knows; secrets.token_bytes(32) makes some"
            )
        for network in self.trusted_proxies:
            try:
                ip_network(network)
            except ValueError:
                raise ArgumentError(
                    f"trusted_proxies {network!r}: expected an address or network such as '10.0.0.0/8'"
                ) from None

    @property
    def https(self) -> bool:
        """Whether browsers reach the server by https, if need be through a proxy."""
        return urlsplit(self.base_url).scheme == "https"

    @property
    def host(self) -> str:
        """The host of the base URL, without a port."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def hosts(self) -> frozenset[str]:
        """Every value of the Host header that is served, in lower case."""
        usual = ":443" if self.https else ":80"
        hosts = [urlsplit(self.base_url).netloc.lower(), *(host.lower() for host in self.trusted_hosts)]
        bare = [host.removesuffix(usual) for host in hosts]
        return frozenset([*hosts, *bare, *(host + usual for host in bare if not re.search(r":\d+$", host))])

    @property
    def origins(self) -> frozenset[str]:
        """Every value of the Origin header that is our own."""
        scheme = "https" if self.https else "http"
        return frozenset(f"{scheme}://{host}" for host in self.hosts)


def _check_base_url(address: str) -> None:
    """Refuse what is not the address of a server."""
    try:
        url = urlsplit(address)
        port = url.port
    except ValueError:  # no number, or brackets that do not close
        url, port = urlsplit(""), None
    unusual = url.path.rstrip("/") or url.query or url.fragment or url.username or url.password or port == 0
    if url.scheme not in {"http", "https"} or not url.hostname or unusual:
        raise ArgumentError(
            "expected http:// or https:// and a host, such as 'https://judge.example.org'", "base_url", address
        )


def client_address(scope: Scope) -> str:
    """The address of the client, as the server or, where that is a trusted proxy, the proxy says."""
    return str((scope.get("client") or ("", 0))[0])


def client_network(scope: Scope) -> str:
    """What one visitor can choose addresses from, to count what comes from there: of IPv6 the first 64 bits."""
    address = client_address(scope)
    with suppress(ValueError):  # a proxy may say anything
        if ":" in address:
            return str(ip_network(f"{address}/64", strict=False))
    return address


# ---- signed tokens


@dataclass(frozen=True)
class Signer:
    """Makes and opens signed tokens: HMAC-SHA256, one key per purpose, each with the time it expires.

    Everybody can read the content of a token; its signature proves that this server made it for this purpose.
    """

    secret: bytes = field(repr=False)

    def sign(self, purpose: str, content: Mapping[str, Any], expires: float) -> str:
        """A token that holds JSON values until `expires`, in seconds since 1970."""
        payload = _encode(json.dumps([int(expires), dict(content)], separators=(",", ":")).encode())
        return f"{payload}.{self._mac(purpose, payload)}"

    def open(self, purpose: str, token: str, now: float) -> dict[str, Any] | None:
        """What the token holds; None where it was made for something else, changed, or has expired."""
        payload, _, mac = token.partition(".")
        if len(token) > 4096 or not same(mac, self._mac(purpose, payload)):
            return None
        expires, fields = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return dict(fields) if now < expires else None

    def _mac(self, purpose: str, payload: str) -> str:
        key = hmac.digest(self.secret, purpose.encode(), sha256)
        return _encode(hmac.digest(key, payload.encode(), sha256))


def _encode(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def same(text: str, expected: str) -> bool:
    """Whether two texts are equal, in a time that says nothing of where they differ; nothing equals no text."""
    return bool(expected) and hmac.compare_digest(text.encode(), expected.encode())


# ---- headers


CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def security_headers(settings: ServerSettings) -> dict[str, str]:
    """What every response carries that says nothing else.

    The referrer policy is not "no-referrer": browsers would then send `Origin: null` with our own forms.
    """
    headers = {
        "content-security-policy": CONTENT_POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cache-control": "no-store",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }
    return headers | ({"strict-transport-security": "max-age=31536000"} if settings.https else {})


def check_origin(headers: Mapping[str, str], origins: frozenset[str]) -> None:
    """Refuse a POST that a page of somebody else sent, or of which nobody can tell.

    Every browser of today sends Origin with a POST, though "null" where it keeps referrers to itself; Sec-Fetch-Site
    says the same and cannot be set by a page.
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    ours = site == "same-origin" if origin in (None, "null") else origin.lower() in origins
    if not ours or site not in {None, "same-origin", "none"}:
        raise Problem(403, "origin", "This form came from another site. Open the page again and send it from there.")


# ---- the guard


class Guard:
    """Stands before every request; see the module."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: ServerSettings,
        failed: Callable[[Scope, str], Response],
        large: Mapping[str, int] | None = None,
    ) -> None:
        """`failed(scope, reference)` renders the answer to an error nobody foresaw; `large` : bytes by path prefix."""
        self.app, self.failed, self.large = app, failed, dict(large or {})
        self.seconds = settings.body_seconds
        self.hosts = {host.encode() for host in settings.hosts}
        self.defaults = [(name.encode(), value.encode()) for name, value in security_headers(settings).items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = list(message.get("headers", ()))
                present = {name for name, _ in headers}
                message["headers"] = headers + [pair for pair in self.defaults if pair[0] not in present]
            await send(message)

        try:
            refusal, limit = self._refusal(scope)
            if refusal is not None:
                await refusal(scope, receive, sending)
                return
            await self.app(scope, _counted(receive, limit, self.seconds), sending)
        except ClientDisconnect:
            log.info("the client went away before the end of its request")
            if not started:
                await PlainTextResponse("The request did not end.", 400)(scope, receive, sending)
        except Exception:
            reference = request_id()
            log.exception("the request failed, reference %s", reference)
            if started:
                raise
            await self.failed(scope, reference)(scope, receive, sending)

    def _refusal(self, scope: Scope) -> tuple[Response | None, int]:
        limit = next((n for prefix, n in self.large.items() if scope["path"].startswith(prefix)), BODY_LIMIT)
        hosts, length, size = [], b"0", len(scope["query_string"]) + len(scope["path"])
        for name, value in scope["headers"]:
            size += len(name) + len(value)
            if name == b"host":
                hosts.append(value.lower())
            elif name == b"content-length":
                length = value
        if size > HEADER_LIMIT:
            return PlainTextResponse("The headers are too long.", 431), limit
        if (len(hosts) != 1 or hosts[0] not in self.hosts) and scope["path"] not in PROBES:
            return PlainTextResponse("This host is not served here.", 400), limit
        if not length.isdigit():
            return PlainTextResponse("The length of the body is no number.", 400), limit
        if len(length) > 18 or int(length) > limit:
            return PlainTextResponse(f"The body is longer than {limit} bytes.", 413), limit
        return None, limit


def _counted(receive: Receive, limit: int, seconds: float) -> Receive:
    """The same, until more than `limit` bytes have come, whatever Content-Length is, or no part for so many seconds."""
    total, complete = 0, False

    async def receiving() -> Message:
        nonlocal total, complete
        if complete:  # what still comes is that the browser has gone
            return await receive()
        try:
            async with asyncio.timeout(seconds):
                message = await receive()
        except TimeoutError:
            raise Problem(408, "slow", "The rest of this request did not come in time.") from None
        complete = not message.get("more_body", False)
        total += len(message.get("body", b""))
        if total > limit:
            raise Problem(413, "too_large", Text("The body is longer than %(limit)s bytes.", limit=limit))
        return message

    return receiving

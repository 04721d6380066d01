"""Prolific's signed links: a JWT beside the ids, checked with the keys that Prolific publishes.

What is checked: the signature, by a published key of the named id and for the algorithm that key is for; `exp`; that
`aud` is our host; that the claim `prolific` names the same ids as the address.
https://docs.prolific.com/api-reference/well-known-endpoints/get-study-jwks
"""

from __future__ import annotations

import asyncio
import logging
import math
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from qrowd.errors import ArgumentError

if TYPE_CHECKING:
    import httpx
    import jwt

log = logging.getLogger("qrowd.collect.web")

PROLIFIC = "api.prolific.com"
ALGORITHMS = {"RS256": "RSA", "ES256": "EC"}  # with the kind of key each needs
DAY = 86400.0
PAUSE = 60.0  # seconds between two requests for keys, at least
LONGEST = 256 * 1024  # bytes of a key set
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Keys:
    """A published key set, fetched when needed, at least daily, and once more for a key id nobody has seen.

    clock : seconds since 1970. client : an httpx.AsyncClient, one of its own by default. hosts : where keys may be.
    loopback : whether the address may be of this machine and without https; for tests. `url` comes from a campaign,
    so this is the only address from outside that the server asks: no other host, no other port, no address within a
    private network whatever the name says, no redirect.

    Raises
    ------
    ArgumentError
        The address is not https, or not at one of the hosts.
    """

    def __init__(
        self,
        url: str,
        *,
        clock: Callable[[], float] = time.time,
        client: httpx.AsyncClient | None = None,
        hosts: Iterable[str] = (PROLIFIC,),
        loopback: bool = False,
    ) -> None:
        self._own = _may_ask(url, [host.lower() for host in hosts], loopback)
        self.url, self.clock, self.client = url, clock, client
        self._keys: dict[str, Mapping[str, Any]] = {}
        self._fetched = self._tried = -math.inf
        self._lock = asyncio.Lock()

    async def find(self, kid: str) -> Mapping[str, Any] | None:
        """The key of that id as published; None where there is none, or where it is too old to be believed."""
        if not self._current(kid):
            async with self._lock:
                if not self._current(kid) and self.clock() - self._tried >= PAUSE:
                    await self._fetch()
        return self._keys.get(kid) if self.clock() - self._fetched < 2 * DAY else None

    def _current(self, kid: str) -> bool:
        return kid in self._keys and self.clock() - self._fetched < DAY

    async def _fetch(self) -> None:
        """Fetch anew; where that fails, yesterday's keys stay for one more day."""
        import httpx

        self._tried = self.clock()
        client = self.client or httpx.AsyncClient(timeout=5, follow_redirects=False)
        try:
            if not self._own and self.client is None:
                await _check_public(urlsplit(self.url).hostname or "")
            content = bytearray()
            async with client.stream("GET", self.url) as response:
                response.raise_for_status()
                async for part in response.aiter_bytes():
                    content += part
                    if len(content) > LONGEST:
                        raise ValueError("the key set is too long")
            self._keys = _published(bytes(content))
            self._fetched = self.clock()
        except (httpx.HTTPError, OSError, ValueError, TypeError, KeyError) as error:
            log.warning("the keys at %s could not be fetched: %s", self.url, error)
        finally:
            if self.client is None:
                await client.aclose()


def _may_ask(url: str, hosts: list[str], loopback: bool) -> bool:
    """Whether the address is of this machine, which is for tests; an ArgumentError where it may not be asked."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ArgumentError(f"jwks_url {url!r}: is no address; give one that begins with https://") from None
    if loopback and parts.scheme in ("http", "https") and host in LOOPBACK:
        return True
    if parts.scheme != "https":
        raise ArgumentError(f"jwks_url {url!r}: expected an address that begins with https://")
    if host not in hosts or port not in (None, 443) or parts.username is not None or "\\" in url:
        raise ArgumentError(f"jwks_url {url!r}: this server fetches keys from {', '.join(hosts)} only")
    return False


async def _check_public(host: str) -> None:
    """Refuse (ValueError) a name that leads into a private network, now; what answers must then prove its name."""
    addresses = await asyncio.get_running_loop().getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    for *_, place in addresses:
        address = ip_address(str(place[0]).partition("%")[0])
        if not getattr(address, "ipv4_mapped", None) and address.is_global and not address.is_multicast:
            continue
        raise ValueError(f"{host} leads to {address}, which is not public")


def _published(content: bytes) -> dict[str, Mapping[str, Any]]:
    """The keys of a set by their ids."""
    import json

    return {str(key["kid"]): key for key in json.loads(content)["keys"] if key.get("use", "sig") == "sig"}


async def verified(token: str, ids: Mapping[str, str], *, audience: str, keys: Keys, now: float) -> bool:
    """Whether Prolific signed that these ids come to us, and not too long ago.

    ids : PROLIFIC_PID, STUDY_ID and SESSION_ID as in the address. audience : our host.
    """
    import jwt

    if not token or len(token) > 8192:
        return False
    try:
        header = jwt.get_unverified_header(token)
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in ALGORITHMS or not isinstance(kid, str):
            return False
        key = _key(await keys.find(kid), str(algorithm))
        if key is None:
            return False
        nothing_yet = {f"verify_{name}": False for name in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")}
        claims = jwt.decode(token, key, algorithms=[str(algorithm)], options=nothing_yet)  # type: ignore[arg-type]
    except (jwt.PyJWTError, ValueError, TypeError):
        return False
    return _current(claims, now) and _for_us(claims.get("aud"), audience) and _names(claims.get("prolific"), ids)


def _key(published: Mapping[str, Any] | None, algorithm: str) -> jwt.PyJWK | None:
    """The key, if it is one for this algorithm: a token does not choose how a key is used."""
    import jwt

    if published is None or published.get("kty") != ALGORITHMS[algorithm]:
        return None
    return jwt.PyJWK(dict(published), algorithm) if published.get("alg", algorithm) == algorithm else None


def _current(claims: Mapping[str, Any], now: float) -> bool:
    """Not expired, and not from the future by more than a minute."""
    expires, begins = (claims.get(name, default) for name, default in (("exp", None), ("nbf", 0)))
    if not isinstance(expires, int | float) or not isinstance(begins, int | float):
        return False
    return now < expires and begins <= now + 60


def _for_us(audience: Any, ours: str) -> bool:
    """Whether `aud` is our host, alone or as an address on it."""
    names = audience if isinstance(audience, list) else [audience]
    return _host(ours) in {_host(one) for one in names if isinstance(one, str)} - {""}


def _host(text: str) -> str:
    """The host of an address or of a bare domain; "" where it is neither, or not by https."""
    try:
        parts = urlsplit(text if "//" in text else f"https://{text}")
        return (parts.hostname or "") if parts.scheme == "https" and not parts.username else ""
    except ValueError:
        return ""


def _names(claim: Any, ids: Mapping[str, str]) -> bool:
    """Whether the claim names all of these ids."""
    return isinstance(claim, dict) and all(claim.get(name) == value for name, value in ids.items())

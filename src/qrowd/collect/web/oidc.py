"""Sign-in by OpenID Connect: authorization code with PKCE, state and nonce (OpenID Connect Core 1.0, RFC 7636).

The server asks the configured issuer and the further hosts that are configured, and nobody else: no address that a
response names is asked unless its host is one of these. The libraries are imported when somebody signs in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from qrowd.collect.protocols.messages import Message
from qrowd.collect.store.accounts import ServerRole
from qrowd.collect.web.problems import Problem
from qrowd.errors import ArgumentError

TIMEOUT = 10.0  # seconds for a request to the provider
LARGEST = 1 << 20  # bytes of a response
LEEWAY = 60  # seconds that the provider's clock may differ
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
SCOPE = "openid profile email"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True)
class OidcSettings:
    """A provider, from the environment.

    issuer : its address. name_claim : becomes the name of a new account. domains : of verified e-mail addresses, and
    groups : of the claim `groups_claim`, one of which a person needs; () for no condition. role : of new accounts.
    hosts : further hosts that the issuer's metadata may name. label : on the button.
    """

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name_claim: str = "preferred_username"
    domains: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    groups_claim: str = "groups"
    role: ServerRole = "member"
    hosts: tuple[str, ...] = ()
    label: str = ""
    scope: str = SCOPE

    def __post_init__(self) -> None:
        """Refuse what cannot work, or would be unsafe."""
        url = urlsplit(self.issuer)
        if not url.hostname or url.query or url.fragment:
            raise ArgumentError(
                f"QROWD_OIDC_ISSUER={self.issuer!r}: expected an address such as https://id.example.org"
            )
        if url.scheme != "https" and not (url.scheme == "http" and url.hostname in LOOPBACK):
            raise ArgumentError(f"QROWD_OIDC_ISSUER={self.issuer!r}: expected https://")
        if not self.client_id:
            raise ArgumentError("QROWD_OIDC_CLIENT_ID: give the id under which the provider knows this server")
        if self.role not in ("creator", "member"):
            raise ArgumentError(
                f"QROWD_OIDC_ROLE={self.role!r}: choose member or creator; administrators are named one by one"
            )

    def check_address(self, address: Any) -> str:
        """An address that the provider's metadata names, if it may be asked.

        Raises
        ------
        Problem
            502 for another host, or an address without TLS.
        """
        url, issuer = urlsplit(str(address)), urlsplit(self.issuer)
        same_site = url.hostname == issuer.hostname and url.port == issuer.port
        if url.scheme != issuer.scheme or not (same_site or (url.hostname in self.hosts and url.port in (None, 443))):
            raise Problem(
                502,
                "provider",
                Message(
                    "The provider names the address %(address)s, which is not allowed.", address=str(address)[:200]
                ),
            )
        return str(address)


def oidc_settings(environ: Mapping[str, str]) -> OidcSettings | None:
    """The settings of the provider; None where none is configured.

    Raises
    ------
    ArgumentError
        They are incomplete, or unsafe.
    """

    def several(name: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in environ.get(name, "").split(",") if part.strip())

    issuer = environ.get("QROWD_OIDC_ISSUER", "").strip()
    if not issuer:
        return None
    role: Any = environ.get("QROWD_OIDC_ROLE", "") or "member"
    return OidcSettings(
        issuer,
        environ.get("QROWD_OIDC_CLIENT_ID", ""),
        environ.get("QROWD_OIDC_CLIENT_SECRET", ""),
        environ.get("QROWD_OIDC_NAME_CLAIM", "") or "preferred_username",
        tuple(domain.lower() for domain in several("QROWD_OIDC_DOMAINS")),
        several("QROWD_OIDC_GROUPS"),
        environ.get("QROWD_OIDC_GROUPS_CLAIM", "") or "groups",
        role,
        several("QROWD_OIDC_HOSTS"),
        environ.get("QROWD_OIDC_LABEL", "") or str(urlsplit(issuer).hostname),
        environ.get("QROWD_OIDC_SCOPE", "") or SCOPE,
    )


@dataclass(frozen=True)
class Subject:
    """Somebody whom the provider vouches for."""

    issuer: str
    subject: str
    name: str


@dataclass
class Provider:
    """The configured provider; its metadata is fetched once."""

    settings: OidcSettings
    redirect: str  # the address of our callback
    _metadata: dict[str, Any] | None = None

    async def metadata(self) -> dict[str, Any]:
        """What the issuer says of itself; it has to be the issuer that was configured."""
        if self._metadata is None:
            issuer = self.settings.issuer
            found = await self._get(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
            if found.get("issuer") != issuer:
                raise Problem(
                    502,
                    "provider",
                    Message(
                        "The provider calls itself %(name)s, not %(issuer)s.",
                        name=str(found.get("issuer"))[:200],
                        issuer=issuer,
                    ),
                )
            self._metadata = found
        return self._metadata

    async def begin(self) -> tuple[str, dict[str, str]]:
        """The address to send the browser to, and what has to be remembered until it comes back."""
        from secrets import token_urlsafe

        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        kept = {"s": token_urlsafe(24), "n": token_urlsafe(24), "v": token_urlsafe(48)}
        query = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": self.redirect,
            "scope": self.settings.scope,
            "state": kept["s"],
            "nonce": kept["n"],
            "code_challenge": create_s256_code_challenge(kept["v"]),
            "code_challenge_method": "S256",
        }
        endpoint = str((await self.metadata())["authorization_endpoint"])
        self.settings.check_address(endpoint)
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}", kept

    async def finish(self, code: str, kept: Mapping[str, str], at: float) -> Subject:
        """Who signed in, from the code that the browser brought.

        Raises
        ------
        Problem
            403 for a code or a person that is refused, 502 where the provider's answers make no sense.
        """
        from authlib.integrations.base_client import OAuthError
        from authlib.integrations.httpx_client import AsyncOAuth2Client
        from httpx import HTTPError

        settings, metadata = self.settings, await self.metadata()
        methods = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        method = "client_secret_basic" if "client_secret_basic" in methods else "client_secret_post"
        client = AsyncOAuth2Client(
            settings.client_id,
            settings.client_secret,
            token_endpoint_auth_method=method if settings.client_secret else "none",
            redirect_uri=self.redirect,
            timeout=TIMEOUT,
            follow_redirects=False,
            trust_env=False,
        )
        async with client:
            try:
                endpoint = settings.check_address(metadata.get("token_endpoint"))
                token = await client.fetch_token(endpoint, code=code, code_verifier=kept["v"])
                claims = await self._claims(str(token.get("id_token", "")), kept["n"], at)
                if (userinfo := metadata.get("userinfo_endpoint")) and not self._complete(claims):
                    more = (await client.get(settings.check_address(userinfo))).json()
                    if more.get("sub") == claims["sub"]:
                        claims = {**more, **claims}
            except OAuthError as error:
                raise _refused(
                    Message("The provider refused the sign-in: %(reason)s.", reason=str(error)[:200])
                ) from None
            except (HTTPError, ValueError):
                raise Problem(502, "provider", "The provider does not answer as expected. Try again later.") from None
        return self._allowed(claims)

    async def end_address(self, back: str) -> str | None:
        """Where a browser logs out at the provider as well; None where the provider has no such page."""
        endpoint = (await self.metadata()).get("end_session_endpoint")
        if not endpoint:
            return None
        query = urlencode({"client_id": self.settings.client_id, "post_logout_redirect_uri": back})
        return f"{self.settings.check_address(endpoint)}?{query}"

    def _complete(self, claims: Mapping[str, Any]) -> bool:
        needed = [self.settings.name_claim]
        needed += ["email", "email_verified"] if self.settings.domains else []
        needed += [self.settings.groups_claim] if self.settings.groups else []
        return all(name in claims for name in needed)

    async def _claims(self, id_token: str, nonce: str, at: float) -> dict[str, Any]:
        """The claims of a token that the issuer signed for us, for this sign-in."""
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        keys = await self._get(self.settings.check_address((await self.metadata()).get("jwks_uri")))
        options = {
            "iss": {"essential": True, "value": self.settings.issuer},
            "aud": {"essential": True, "value": self.settings.client_id},
            "sub": {"essential": True},
        }
        try:
            token = jwt.decode(id_token, KeySet.import_key_set(keys), algorithms=list(ALGORITHMS))  # type: ignore[arg-type]
            claims = CodeIDToken(
                token.claims, token.header, options, {"nonce": nonce, "client_id": self.settings.client_id}
            )
            claims.validate(now=int(at), leeway=LEEWAY)
        except (JoseError, ValueError) as error:
            raise _refused(
                Message("The provider's token is not good: %(reason)s.", reason=type(error).__name__)
            ) from None
        if claims.get("nonce") != nonce:
            raise _refused(Message("The provider's token is not of this sign-in."))
        return dict(claims)

    def _allowed(self, claims: Mapping[str, Any]) -> Subject:
        """The subject, if the settings let them in."""
        settings, email = self.settings, str(claims.get("email", ""))
        if settings.domains:
            domain = email.rpartition("@")[2].lower()
            if claims.get("email_verified") is not True or domain not in settings.domains:
                raise _refused(Message("Your verified e-mail address is not of an organisation that may sign in here."))
        if settings.groups:
            groups = claims.get(settings.groups_claim)
            if not isinstance(groups, list) or not set(map(str, groups)) & set(settings.groups):
                raise _refused(Message("You are in no group that may sign in here."))
        name = str(claims.get(settings.name_claim) or email.partition("@")[0] or claims["sub"])
        return Subject(settings.issuer, str(claims["sub"]), name)

    async def _get(self, address: str) -> dict[str, Any]:
        """The JSON object at an address of the provider."""
        import json

        from httpx import AsyncClient, HTTPError

        content = b""
        try:
            async with (
                AsyncClient(timeout=TIMEOUT, follow_redirects=False, trust_env=False) as client,
                client.stream("GET", address) as response,
            ):
                async for part in response.aiter_bytes():
                    content += part
                    if len(content) > LARGEST:
                        break
                found = json.loads(content) if response.status_code == 200 and len(content) <= LARGEST else None
        except (HTTPError, ValueError):
            found = None
        if not isinstance(found, dict):
            raise Problem(502, "provider", "The provider does not answer as expected. Try again later.")
        return found


def _refused(message: str) -> Problem:
    return Problem(403, "provider", message)

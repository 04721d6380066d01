"""The identity of assessors by their sessions, and all that routes share.

A browser holds a random id in a cookie; the store holds its hash, whose it is, and the token that its forms carry.
The assessor of a session never changes, so it is remembered.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from qrowd.collect.campaigns.judging import JudgingService
from qrowd.collect.store.assessors import find_assessor, find_identity
from qrowd.collect.store.base import Store, StoreError
from qrowd.collect.store.materials import CampaignRow, find_campaign
from qrowd.collect.store.sessions import Kind, Session, close_session, find_session, note_use, renew
from qrowd.collect.web.limits import Limiter
from qrowd.collect.web.problems import invalid_token, not_found, not_signed_in
from qrowd.collect.web.security import ServerSettings, Signer, check_origin, same

K = TypeVar("K")
V = TypeVar("V")
ASSESSOR: Kind = "assessor"
FORM_SECONDS = 6 * 3600.0  # an anonymous form may be sent this long after it was shown
REMEMBERED = 50_000  # assessors, and sessions


# ---- identity


@dataclass(frozen=True)
class Identity:
    """A signed-in assessor. external : the id on the platform they come from. csrf : of the session."""

    assessor: int
    campaign: str
    provider: str
    external: str
    csrf: str = field(repr=False)

    @property
    def names(self) -> tuple[str, str, str]:
        """Campaign, provider and external id."""
        return self.campaign, self.provider, self.external


@dataclass
class Server:
    """All that routes share; at `request.app.state.server`."""

    service: JudgingService
    store: Store
    rendering: Any  # the module qrowd.collect.web.rendering, or what stands in for it
    settings: ServerSettings
    clock: Callable[[], float] = time.time
    keys: dict[str, Any] = field(default_factory=dict)  # qrowd.collect.web.crowd.prolific.Keys, by address
    signer: Signer = field(init=False)
    origins: frozenset[str] = field(init=False)
    judging: Limiter = field(init=False)
    drafting: Limiter = field(init=False)
    _assessors: OrderedDict[int, tuple[str, str, str]] = field(default_factory=OrderedDict)
    _sessions: OrderedDict[str, tuple[Session, float]] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        """Make what follows from the settings."""
        self.signer, self.origins = Signer(self.settings.secret), self.settings.origins
        self.judging = Limiter(self.settings.judgments_per_minute, clock=self.clock)
        self.drafting = Limiter(self.settings.drafts_per_minute, clock=self.clock)

    async def identity(self, request: Request) -> Identity:
        """The assessor whose session the request's cookie names; a Problem (403) without one."""
        identity = await self.identity_or_none(request)
        if identity is None:
            raise not_signed_in()
        return identity

    async def identity_or_none(self, request: Request) -> Identity | None:
        """The assessor whose session the request's cookie names, if any."""
        session = await self.session(request, ASSESSOR)
        return None if session is None else await self.find_identity(session.subject_id, session.csrf)

    async def find_identity(self, assessor: int, csrf: str) -> Identity | None:
        """The assessor of that number."""
        names = self._assessors.get(assessor)
        if names is None:

            def work(connection: Connection) -> tuple[str, str, str] | None:
                row = find_assessor(connection, assessor)
                campaign = None if row is None else find_campaign(connection, row[0].campaign_id)
                if row is None or campaign is None:
                    return None
                return campaign.name, row[0].provider, row[0].external_id

            names = await self.store.read_async(work)
            if names is None:
                return None
            _remember(self._assessors, assessor, names)
        return Identity(assessor, *names, csrf)

    async def campaign(self, name: str) -> CampaignRow:
        """The campaign of that name; a Problem (404) without one."""
        row = None
        if len(name) <= 200 and "\x00" not in name:
            row = await self.store.read_async(lambda connection: find_campaign(connection, name))
        if row is None:
            raise not_found()
        return row

    async def find_number(self, campaign: CampaignRow, provider: str, external: str) -> int | None:
        """The number of the assessor who came before under that id, if any."""
        row = await self.store.read_async(lambda c: find_identity(c, campaign.id, provider, external))
        return None if row is None else row.id

    # ---- forms of visitors without a session

    def form_token(self, purpose: str, content: Mapping[str, Any], seconds: float = FORM_SECONDS) -> str:
        """A signed token for a form, good for that long."""
        return self.signer.sign(purpose, content, self.clock() + seconds)

    def read_form_token(self, purpose: str, token: str) -> dict[str, Any]:
        """The content of such a token; a Problem (403) where it is not ours, for another purpose, or too old."""
        content = self.signer.open(purpose, token, self.clock())
        if content is None:
            raise invalid_token()
        return content

    def check_origin(self, request: Request) -> None:
        """Refuse a POST from elsewhere."""
        check_origin(request.headers, self.origins)

    # ---- sessions

    async def session(self, request: Request, kind: Kind) -> Session | None:
        """The session of that kind that the request's cookie names, if any.

        The store's word is believed for `session_seconds`, but one that this process ended is over at once.
        """
        cookie, at = cookie_of(request, self.settings, kind), self.clock()
        if not cookie:
            return None
        recent = self._sessions.get(cookie)
        if recent is not None and 0 <= at - recent[1] < self.settings.session_seconds:
            return recent[0] if recent[0].kind == kind else None
        session = await self.store.read_async(lambda connection: find_session(connection, cookie, at))
        if session is None:
            self._sessions.pop(cookie, None)
            return None
        if session.worth_noting(at):
            with suppress(StoreError):  # a full disk is no reason to show nothing
                await self.store.write_async(lambda connection: note_use(connection, cookie, at))
        _remember(self._sessions, cookie, (session, at))
        return session if session.kind == kind else None

    async def begin(self, request: Request, response: Response, kind: Kind, subject: int) -> str:
        """A new session in the response's cookie; the one that the request came with ends. The token of its forms."""
        old, at = cookie_of(request, self.settings, kind) or None, self.clock()
        cookie, csrf = await self.store.write_async(lambda connection: renew(connection, old, kind, subject, at))
        self._sessions.pop(old or "", None)
        set_cookie(response, self.settings, cookie, kind)
        return csrf

    async def end(self, request: Request, response: Response, kind: Kind = ASSESSOR) -> None:
        """The session that the request came with is over, here and in the browser."""
        cookie = cookie_of(request, self.settings, kind)
        if cookie:
            await self.store.write_async(lambda connection: close_session(connection, cookie))
            self._sessions.pop(cookie, None)
        name = cookie_name(self.settings, kind)
        response.delete_cookie(name, path="/", secure=self.settings.https, httponly=True, samesite="lax")

    def forget(self, kind: Kind, subject: int) -> None:
        """Ask the store again about a subject, such as after sessions of the same name were closed."""
        for cookie, (session, _) in list(self._sessions.items()):
            if (session.kind, session.subject_id) == (kind, subject):
                del self._sessions[cookie]


def _remember(memory: OrderedDict[K, V], key: K, value: V) -> None:
    """Remember a value; where there are too many, forget the oldest."""
    memory[key] = value
    if len(memory) > REMEMBERED:
        memory.popitem(last=False)


def server_of(request: HTTPConnection) -> Server:
    """What the routes share."""
    server: Server = request.app.state.server
    return server


def check_token(token: str, identity: Identity) -> None:
    """Refuse a form that does not carry the session's token."""
    if not same(token, identity.csrf):
        raise invalid_token()


# ---- cookies


def cookie_name(settings: ServerSettings, kind: Kind = ASSESSOR) -> str:
    """One cookie for judging and one for owning, so that the same person can do both; bound to the host by https."""
    name = "qrowd" if kind == ASSESSOR else f"qrowd-{kind}"
    return f"__Host-{name}" if settings.https else name


def cookie_of(request: Request, settings: ServerSettings, kind: Kind = ASSESSOR) -> str:
    """The cookie that the browser sent, "" for none that could be ours."""
    cookie = request.cookies.get(cookie_name(settings, kind), "")
    return cookie if cookie.isascii() and len(cookie) <= 200 else ""


def set_cookie(response: Response, settings: ServerSettings, cookie: str, kind: Kind = ASSESSOR) -> None:
    """For this host only, out of reach of scripts, not sent along from other sites."""
    name = cookie_name(settings, kind)
    response.set_cookie(name, cookie, path="/", secure=settings.https, httponly=True, samesite="lax")

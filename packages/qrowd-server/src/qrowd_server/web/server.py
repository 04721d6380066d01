"""What all routes share: the identity of visitors by their sessions, tokens of forms, and rate limits.

A browser holds a random id in a cookie; the store holds its hash, whose it is, and the token that its forms carry.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, Row
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.campaigns.running.pages import DocumentText, Page
from qrowd_server.store.base import Store, StoreError
from qrowd_server.store.materials import CampaignRow, find_campaign, find_image
from qrowd_server.store.sessions import (
    SELDOM,
    Kind,
    assessor_of_session,
    close_session,
    find_session,
    hashed,
    note_use,
    renew,
)
from qrowd_server.translatable import N_
from qrowd_server.web.forms import Form, read_form, token_of
from qrowd_server.web.languages import CAMPAIGN_LANGUAGE, choose, language, matching, tags
from qrowd_server.web.logs import WHO
from qrowd_server.web.problems import Problem, invalid_token, malformed, not_found, not_signed_in
from qrowd_server.web.rendering import LanguageChoice, takes_long
from qrowd_server.web.security import ServerSettings, Signer, check_origin, same

T = TypeVar("T")
P = ParamSpec("P")
ASSESSOR: Kind = "assessor"
FORM_SECONDS = 6 * 3600.0  # an anonymous form may be sent this long after it was shown
MINUTE = 60.0
SIGN_UPS_PER_MINUTE = 60  # tries by one link, and from one address: a class may share one
TOO_FAST = N_("You are sending answers too fast. This answer is still here: send it again in a moment.")
MANY = N_("Many people are signing up at this moment. Wait a little and send your name again.")
DAY = 86400.0


class Limiter:
    """At most `n` requests in any minute, for each key; each process counts for itself.

    Crowd workers share addresses, so requests are counted by assessor. A refused request is not counted.
    clock : seconds from anywhere, never going back.
    """

    def __init__(self, n: int, *, clock: Callable[[], float] = time.monotonic, message: str = TOO_FAST) -> None:
        self.n, self.clock, self.message = n, clock, message
        self._times: dict[Hashable, deque[float]] = {}
        self._swept = clock()

    def take(self, key: Hashable) -> float:
        """Count one more and return 0; or count nothing and return the seconds until one more is possible."""
        now = self.clock()
        if now - self._swept > MINUTE:
            self._times = {key: times for key, times in self._times.items() if now - times[-1] < MINUTE}
            self._swept = now
        times = self._times.setdefault(key, deque(maxlen=self.n))
        if len(times) == self.n and now - times[0] < MINUTE:
            return MINUTE - (now - times[0])
        times.append(now)
        return 0.0

    def check(self, key: Hashable) -> None:
        """Count one more; a Problem (429) where it comes too soon."""
        if (wait := self.take(key)) > 0:
            raise Problem(429, "too_fast", self.message, retry_after=int(wait) + 1)


Identity = Row[Any]  # a signed-in assessor: see `assessor_of_session`


def base_of(identity: Identity) -> str:
    """The address of an assessor's pages."""
    return f"/c/{quote(identity.campaign)}"


@dataclass
class Server:
    """All that routes share; at `request.app.state.server`."""

    service: JudgingService
    store: Store
    rendering: Any  # the module qrowd_server.web.rendering, or what stands in for it
    settings: ServerSettings
    clock: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic  # for durations: it never goes back
    signer: Signer = field(init=False)
    origins: frozenset[str] = field(init=False)
    judging: Limiter = field(init=False)
    drafting: Limiter = field(init=False)
    signing_up: Limiter = field(init=False)
    _binding: str = field(init=False)
    _long: dict[str, bool] = field(default_factory=dict)  # campaigns: whether pages take long, once one was seen
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)
    _rendering_thread: Executor = field(default_factory=lambda: ThreadPoolExecutor(1, "rendering"))

    def __post_init__(self) -> None:
        """Make what follows from the settings."""
        self.signer, self.origins = Signer(self.settings.secret), self.settings.origins
        self._binding = "__Host-" if self.settings.https else ""
        self.judging = Limiter(self.settings.judgments_per_minute, clock=self.monotonic)
        self.drafting = Limiter(self.settings.drafts_per_minute, clock=self.monotonic)
        self.signing_up = Limiter(SIGN_UPS_PER_MINUTE, clock=self.monotonic, message=MANY)

    async def read(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        """What `work(connection, ...)` reads of the store, in another thread."""
        return await self.store.read_async(lambda connection: work(connection, *args, **options))

    async def write(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        """What `work(connection, ...)` returns once its effects are on disk; if it raises, nothing is stored."""
        return await self.store.write_async(lambda connection: work(connection, *args, **options))

    async def identity(self, request: Request) -> Identity:
        """The assessor whose session the request's cookie names; a Problem (403) without one."""
        identity = await self.identity_or_none(request)
        if identity is None:
            raise not_signed_in()
        return identity

    async def identity_or_none(self, request: Request) -> Identity | None:
        """The assessor whose session the request's cookie names, if any."""
        identity = await self.session(request, ASSESSOR, assessor_of_session)
        request.scope[CAMPAIGN_LANGUAGE] = "" if identity is None else identity.settings.get("language", "")
        return identity

    async def campaign(self, name: str) -> CampaignRow:
        """The campaign of that name; a Problem (404) without one."""
        row = None
        if len(name) <= 200 and "\x00" not in name:
            row = await self.read(find_campaign, name)
        if row is None:
            raise not_found()
        return row

    # ---- pages

    async def page(self, identity: Identity, *, pause: bool = False) -> Page:
        """What an assessor sees now; in a campaign with long texts one at a time, or everybody else waits for them."""
        long = self._long.get(identity.campaign)
        async with nullcontext() if long is False else self._one:
            page = await self.service.page(identity.assessor, pause=pause)
        self._long[identity.campaign] = long or takes_long(page)
        return page

    async def render(self, page: Page, *, whole: bool, **options: Any) -> str:
        """The page, or its `<main>`; other requests go on while a long one is rendered. options : of `render_main`."""
        render = self.rendering.render_page if whole else self.rendering.render_main
        if takes_long(page):
            # One long page at a time: of several threads each would wait for the others, and so would answers.
            loop = asyncio.get_running_loop()
            return str(await loop.run_in_executor(self._rendering_thread, partial(render, page, **options)))
        return str(render(page, **options))

    # ---- what documents show beside their text

    def with_image_addresses(self, page: Page) -> Page:
        """The page with a signed address in place of each image, and of the guidelines.

        An address needs no session. It stays the same for a day, so that browsers may keep what is there, and is good
        for one to two days.
        """
        expires = (self.clock() // DAY + 2) * DAY

        def address(kind: str, digest: str) -> str:
            return f"/{kind}/{self.signer.sign(kind, {'c': page.campaign, 'i': digest}, expires)}"

        def with_addresses(document: DocumentText) -> DocumentText:
            image = address("image", document.image) if document.image else ""
            return replace(document, image=image, pages=tuple(address("image", digest) for digest in document.pages))

        return replace(
            page,
            documents={number: with_addresses(document) for number, document in page.documents.items()},
            pictures=tuple((name, address("image", digest)) for name, digest in page.pictures),
            guidelines_at=address("guidelines", "") if page.guidelines else "",
        )

    def address_fields(self, kind: str, token: str) -> dict[str, Any]:
        """What a signed address holds; a Problem (404) for one that is not ours any more."""
        fields = self.signer.open(kind, token, self.clock())
        if fields is None:
            raise not_found()
        return fields

    async def image(self, token: str) -> tuple[str, str, bytes]:
        """The digest, media type and content of the image of an address."""
        fields = self.address_fields("image", token)
        row, digest = await self.campaign(fields["c"]), str(fields["i"])
        image = await self.read(find_image, row.id, digest)
        if image is None:
            raise not_found()
        return digest, *image

    # ---- forms of visitors without a session

    def form_token(self, purpose: str, content: Mapping[str, Any], seconds: float = FORM_SECONDS) -> str:
        """A signed token for a form, good for that long."""
        return self.signer.sign(purpose, content, self.clock() + seconds)

    async def read_form(self, request: Request, purpose: str) -> tuple[Form, dict[str, Any]]:
        """The fields of a form that came from our own pages, and the content of its signed token.

        A Problem (403) where the token is not ours, for another purpose, or too old.
        """
        self.check_origin(request)
        form = await read_form(request)
        content = self.signer.open(purpose, token_of(form, "csrf"), self.clock())
        if content is None:
            raise invalid_token()
        return form, content

    def link_token(self, purpose: str, link: str) -> str:
        """A signed token for the form behind a link, which is for this link alone."""
        return self.form_token(purpose, {"t": hashed(link)})

    async def read_link_form(self, request: Request, purpose: str) -> Form:
        """The fields of the form behind the link of an address."""
        form, content = await self.read_form(request, purpose)
        if content["t"] != hashed(request.path_params["token"]):
            raise invalid_token()
        return form

    async def read_session_form(self, request: Request, csrf: str) -> Form:
        """The fields of a form, which carries this token of its session."""
        form = await read_form(request)
        if not same(token_of(form, "csrf"), csrf):
            raise invalid_token()
        return form

    def check_origin(self, request: Request) -> None:
        """Refuse a POST from elsewhere."""
        check_origin(request.headers, self.origins)

    # ---- sessions

    async def session(self, request: Request, kind: Kind, find: Callable[[Connection, Row[Any]], T]) -> T | None:
        """What `find` reads of the session of that kind that the request's cookie names; None where there is none."""
        cookie, at = self._cookie(request, kind), self.clock()
        if not cookie:
            return None

        def work(connection: Connection) -> tuple[Row[Any], T] | None:
            session = find_session(connection, cookie, at)
            return None if session is None or session.kind != kind else (session, find(connection, session))

        found = await self.store.read_async(work)
        if found is None:
            return None
        session, subject = found
        if at - session.seen >= SELDOM:
            with suppress(StoreError):  # a full disk is no reason to show nothing
                await self.write(note_use, cookie, at)
        request.scope[WHO] = f"{kind}:{session.subject_id}"
        return subject

    async def begin(self, request: Request, response: Response, kind: Kind, subject: int) -> str:
        """A new session in the response's cookie; the one that the request came with ends. The token of its forms."""
        old, at = self._cookie(request, kind), self.clock()
        cookie, csrf = await self.write(renew, old or None, kind, subject, at)
        # For this host only, out of reach of scripts, not sent along from other sites.
        response.set_cookie(self.cookie_name(kind), cookie, **self.cookie_attributes())
        return csrf

    async def end(self, request: Request, response: Response, kind: Kind = ASSESSOR) -> None:
        """The session that the request came with is over, here and in the browser."""
        if cookie := self._cookie(request, kind):
            await self.write(close_session, cookie)
        response.delete_cookie(self.cookie_name(kind), **self.cookie_attributes())

    def cookie_name(self, kind: str) -> str:
        """One cookie for judging and one for owning, so that a person can do both; bound to the host by https."""
        name = "qrowd" if kind == ASSESSOR else f"qrowd-{kind}"
        return self._binding + name

    def cookie_attributes(self) -> dict[str, Any]:
        """Of every cookie: over https where we are, out of reach of scripts and other sites."""
        return {"path": "/", "secure": self.settings.https, "httponly": True, "samesite": "lax"}

    def _cookie(self, request: Request, kind: Kind) -> str:
        """The cookie that the browser sent, "" for none that could be ours."""
        cookie = request.cookies.get(self.cookie_name(kind), "")
        return cookie if cookie.isascii() and len(cookie) <= 200 else ""


PIECE = 1 << 16  # bytes of a page that are sent at once


class PageResponse(HTMLResponse):
    """A page, which is sent in pieces: while a long one is sent, others are answered."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for at in range(PIECE, len(self.body), PIECE):
            await send({"type": "http.response.body", "body": self.body[at - PIECE : at], "more_body": True})
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": self.body[(len(self.body) - 1) // PIECE * PIECE :]})


def server_of(request: HTTPConnection) -> Server:
    """What the routes share."""
    server: Server = request.app.state.server
    return server


COOKIE = "qrowd-language"
YEAR = 365 * 86400
TOKEN_SECONDS = 30 * 86400.0  # a page may be open for long
MAX_ADDRESS = 2000  # characters of an address that is gone back to


def language_of(request: HTTPConnection, campaign: str = "") -> str:
    """The tag of the language of the page that answers a request. campaign : its language, where it has one."""
    wanted = campaign or request.scope.get(CAMPAIGN_LANGUAGE, "")
    return choose(request.cookies.get(COOKIE, ""), wanted, request.headers.get("accept-language", ""))


def language_in(request: HTTPConnection, campaign: CampaignRow) -> str:
    """The same for a page of this campaign."""
    return language_of(request, campaign.settings.get("language", ""))


def choice_of(request: Request, back: str = "") -> LanguageChoice | None:
    """The choice of a language on a page; None where there is only one. back : the page, the request's own without."""
    server = server_of(request)
    if len(tags()) == 1:
        return None
    query = request.url.query
    address = back or request.scope["path"] + (f"?{query}" if query else "")
    token = server.form_token("language", {"b": address[:MAX_ADDRESS]}, TOKEN_SECONDS)
    languages = (language(tag) for tag in tags())
    return LanguageChoice(token, tuple((one.tag, one.direction, one.name) for one in languages))


async def set_language(request: Request) -> Response:
    """Remember the choice, and show the page again."""
    server = server_of(request)
    form, content = await server.read_form(request, "language")
    tag = matching(form.get("language", ""))
    if not tag:
        raise malformed("language: there are no pages in this language", "language")
    response = RedirectResponse(str(content["b"]), 303)
    response.set_cookie(COOKIE, tag, max_age=YEAR, **server.cookie_attributes())
    return response

"""The request of an owner, and the routes that owners' pages and forms are made with.

A page is a handler of an `OwnerContext`, a form one of a context and its fields. `page`, `form` and `upload` make
routes of them, so no page is shown without a session, and no form is read without one, its token and our own origin.
Each route says which role it needs; a campaign in which an account has no role is like one that does not exist.
A form that is refused is answered with its page once more, with the problem and with what was typed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlencode

from sqlalchemy import Connection, Row
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from qrowd.errors import ArgumentError, QrowdError
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.campaigns.running.campaign_settings import protocols_of
from qrowd_server.store.accounts import (
    CAMPAIGN_ROLES,
    SERVER_ROLES,
    CampaignRole,
    ServerRole,
    campaign_roles,
    read_account,
)
from qrowd_server.store.base import StoreError
from qrowd_server.store.materials import CampaignRow
from qrowd_server.store.sessions import Kind
from qrowd_server.web.forms import Form, query_of
from qrowd_server.web.owner import formatting
from qrowd_server.web.owner.formatting import base_of
from qrowd_server.web.problems import Problem, invalid_token, not_found, not_signed_in, wants_data
from qrowd_server.web.rendering import render
from qrowd_server.web.security import same
from qrowd_server.web.server import Server, server_of

T = TypeVar("T")
P = ParamSpec("P")
OWNER: Kind = "owner"
NO_ACCOUNT = 0  # the administrator who came by the link that the server printed
PRINTED_LINK = "Owner, by link"  # the account of their events; no account has a blank in its name
MAX_FILES = 1000
MAX_FIELDS = 20  # of a form with files

Role = ServerRole | CampaignRole
ADMINISTRATOR: Role = "administrator"
MEMBER: Role = "member"
OWNER_OF: Role = "owner"
VIEWER: Role = "viewer"


@dataclass(frozen=True)
class Owner:
    """Somebody who is logged in. role : on the server. csrf : the token of the session."""

    account: int
    name: str
    role: ServerRole
    csrf: str = field(repr=False)


@dataclass(frozen=True)
class OwnerContext:
    """The request of an owner.

    row : the campaign of the address, if it names one; role : the account's in it. problem : why a form was refused.
    typed : what that form held.
    """

    request: Request
    server: Server
    owner: Owner
    row: CampaignRow | None = None
    role: CampaignRole | None = None
    problem: str = ""
    typed: Form = field(default_factory=dict)

    @property
    def campaign(self) -> CampaignRow:
        """The campaign of the address."""
        if self.row is None:
            raise LookupError("this address names no campaign")
        return self.row

    @property
    def now(self) -> float:
        """The time, in seconds since 1970."""
        return self.server.clock()

    @property
    def base(self) -> str:
        """The address of the campaign's pages."""
        return base_of(self.campaign.name)

    def address(self, path: str = "", **query: Any) -> str:
        """The address of a page of the campaign; what is empty in the query is left out."""
        text = urlencode({key: value for key, value in query.items() if value})
        return f"{self.base}{path}{'?' + text if text else ''}"

    @property
    def arm(self) -> str:
        """The arm that the address asks for, by default the first; "" in a campaign without arms."""
        arms = protocols_of(self.campaign)
        name = query_of(self.request).get("arm", "")
        return name if name in arms else next(iter(arms))

    @property
    def admin(self) -> CampaignAdmin:
        """What changes the campaign."""
        return CampaignAdmin(self.server.store, clock=self.server.clock, account=self.owner.name)

    def may(self, needed: str) -> bool:
        """Whether the account has a role, or one that includes it: on the server, or in the campaign of the address."""
        roles: tuple[str, ...] = CAMPAIGN_ROLES if needed in CAMPAIGN_ROLES else SERVER_ROLES
        mine = self.role if needed in CAMPAIGN_ROLES else self.owner.role
        return mine is not None and roles.index(mine) <= roles.index(needed)

    @property
    def memory(self) -> Memory:
        """Recent results."""
        state = self.request.app.state
        if not hasattr(state, "owner_memory"):
            state.owner_memory = Memory(self.server.monotonic)
        memory: Memory = state.owner_memory
        return memory

    def page_of(self, n: int, size: int) -> tuple[int, int]:
        """(page that the address asks for, number of pages) of a list, both from 1."""
        text, n_pages = query_of(self.request).get("page", "1"), max(-(-n // size), 1)
        return min(max(int(text[:9]) if text.isascii() and text.isdigit() else 1, 1), n_pages), n_pages

    async def read(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        """As `Server.read`."""
        return await self.server.read(work, *args, **options)

    async def write(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        """As `Server.write`."""
        return await self.server.write(work, *args, **options)

    def render(self, name: str, **values: Any) -> Response:
        """A page from its template; `tab` is its name by default."""
        usual: dict[str, Any] = {"notice": "", "tab": name, "row": self.row, "base": self.base if self.row else ""}
        if self.row is not None:
            usual |= {"arms": protocols_of(self.row), "arm": self.arm, "address": self.address}
        more = {"owner": self.owner, "may": self.may, "csrf": self.owner.csrf, "f": formatting, "now": self.now}
        refusal = {"problem": self.problem, "typed": self.typed}
        content = render(f"owner/{name}", **(usual | more | refusal | values))
        return HTMLResponse(content, 422 if self.problem else 200)


PageHandler = Callable[[OwnerContext], Awaitable[Response]]
FormHandler = Callable[[OwnerContext, Form], Awaitable[Response]]
UploadHandler = Callable[[OwnerContext, Form, list[tuple[str, UploadFile]]], Awaitable[Response]]


def page(path: str, handler: PageHandler, *, needs: Role) -> Route:
    """A route to a page; visitors who are not signed in are redirected to the login.

    needs : a role in the campaign of the address, or on the server where it names none.
    """

    async def answer(request: Request) -> Response:
        owner = await owner_of(request)
        if owner is None:
            if wants_data(request):
                raise not_signed_in()
            return RedirectResponse("/owner/login", 303)
        return await handler(await _context(request, owner, needs))

    return Route(path, answer, methods=["GET"], name=handler.__name__)


def form(path: str, handler: FormHandler, on: PageHandler | None = None, *, needs: Role) -> Route:
    """A route that a form is sent to.

    on : the page of the form, where the form can be refused. needs : as for `page`.
    """

    async def answer(request: Request) -> Response:
        owner = await _sender(request)
        fields = await server_of(request).read_session_form(request, owner.csrf)
        context = await _context(request, owner, needs)
        return await _answer(handler(context, fields), context, fields, on)

    return Route(path, answer, methods=["POST"], name=handler.__name__)


def upload(path: str, handler: UploadHandler, on: PageHandler, *, needs: Role) -> Route:
    """A route that a form with files is sent to; the handler gets (field, file). needs : as for `page`."""

    async def answer(request: Request) -> Response:
        owner = await _sender(request)
        if not request.headers.get("content-type", "").startswith("multipart/form-data"):
            raise Problem(415, "media_type", "Expected a form with files, as multipart/form-data.")
        async with request.form(max_files=MAX_FILES, max_fields=MAX_FIELDS, max_part_size=1 << 20) as parts:
            fields = {key: value for key, value in parts.multi_items() if isinstance(value, str)}
            files = [(key, file) for key, file in parts.multi_items() if isinstance(file, UploadFile) and file.filename]
            if not same(fields.get("csrf", ""), owner.csrf):
                raise invalid_token()
            context = await _context(request, owner, needs)
            return await _answer(handler(context, fields, files), context, fields, on)

    return Route(path, answer, methods=["POST"], name=handler.__name__)


async def _answer(
    response: Awaitable[Response], context: OwnerContext, fields: Form, on: PageHandler | None
) -> Response:
    """The response to a form; the form's page where it is refused."""
    try:
        return await response
    except (StoreError, Problem):
        raise
    except QrowdError as error:
        if on is None:
            raise
        return await on(replace(context, problem=str(error), typed=fields))


def choose_one(name: str, value: str, *choices: str) -> ArgumentError:
    """The error of a form that asks for what there is not; no page of ours sends it."""
    return ArgumentError(f"{name}={value[:40]!r}: choose one of {', '.join(choices)}")


async def owner_of(request: Request) -> Owner | None:
    """The owner whose session the request's cookie names, if any."""

    def find(connection: Connection, session: Row[Any]) -> Owner | None:
        if session.subject_id == NO_ACCOUNT:
            return Owner(NO_ACCOUNT, PRINTED_LINK, "administrator", session.csrf)
        account = read_account(connection, session.subject_id)
        if account is None or account.disabled is not None:
            return None
        return Owner(account.id, account.name, account.role, session.csrf)

    return await server_of(request).session(request, OWNER, find)


async def _sender(request: Request) -> Owner:
    server_of(request).check_origin(request)
    owner = await owner_of(request)
    if owner is None:
        raise not_signed_in()
    return owner


async def _context(request: Request, owner: Owner, needed: Role) -> OwnerContext:
    """The context of a request."""
    server = server_of(request)
    context, name = OwnerContext(request, server, owner), request.path_params.get("campaign")
    if name is not None:
        row = await server.campaign(name)
        context = replace(context, row=row, role=await role_in(server, owner, row.id))
        if context.role is None:
            raise not_found()
    if not context.may(needed):
        message = f"This needs the role {needed}, which your account does not have here."
        raise Problem(403, "role", message)
    return context


async def role_in(server: Server, owner: Owner, campaign_id: int) -> CampaignRole | None:
    """What somebody may do in a campaign: everything as an administrator, else as they were named."""
    if owner.role == "administrator":
        return "owner"
    return (await server.read(campaign_roles, owner.account)).get(campaign_id)


class Memory:
    """Results that take long are kept for some seconds, and computed once for all who ask meanwhile.

    clock : seconds from anywhere, never going back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._results: dict[tuple[object, ...], tuple[float, asyncio.Task[Any]]] = {}

    async def get(
        self, key: tuple[object, ...], seconds: Callable[[T], float], work: Callable[[], Coroutine[Any, Any, T]]
    ) -> T:
        """The result of `work` as it was begun less than so many seconds ago, or is under way; else a new one.

        key : the kind of result, the campaign, and what else there is. seconds : for how long a result is kept.
        """
        began, task = self._results.get(key, (0.0, None))
        if task is None or (task.done() and (task.exception() or self.clock() >= began + seconds(task.result()))):
            task = asyncio.ensure_future(work())
            self._results[key] = self.clock(), task
        result: T = await asyncio.shield(task)
        return result

    def forget(self, campaign: str) -> None:
        """Drop the results of a campaign that has changed."""
        for key in [key for key in self._results if key[1] == campaign]:
            del self._results[key]

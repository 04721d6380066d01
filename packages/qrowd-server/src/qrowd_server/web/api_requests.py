"""Requests of programs: their key, the JSON in them, and how an endpoint becomes a route.

`Authorization: Bearer qrowd_...`; there are no cookies here, so no page of another site can make a browser ask in
somebody's name. What a key does not open is answered like what does not exist. JSON that comes in has a bounded size
and depth, every name once, and nothing that no database can keep.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from sqlalchemy import Connection
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from qrowd.errors import InputError
from qrowd_server.campaigns.plan.plan import NAME
from qrowd_server.campaigns.running.campaign_settings import NotFoundError
from qrowd_server.protocols.setting_fields import SchemaError, path
from qrowd_server.store.materials import CampaignRow, find_campaign
from qrowd_server.store.sessions import KEY_STARTS, ApiKey, find_api_key
from qrowd_server.store.state_rows import find_assessor
from qrowd_server.web.forms import query_of
from qrowd_server.web.logs import WHO
from qrowd_server.web.problems import Problem, malformed
from qrowd_server.web.server import Server, server_of

DEPTH = 20  # lists and objects within each other
WHOLE = 2**63  # the numbers that a database's integers end before
UNFIT = re.compile("[\x00\ud800-\udfff]")


async def read_object(request: Request) -> dict[str, Any]:
    """The JSON object in the body, of at most 64 KB."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Problem(415, "media_type", "Expected application/json.", field="Content-Type")
    try:
        body = await request.body()  # the guard bounds it
    except ClientDisconnect:  # nobody is there to read this
        raise malformed("The body ended early.") from None
    value = parse(body)
    if not isinstance(value, dict):
        raise invalid("", "expected a JSON object")
    return value


def parse(body: bytes) -> Any:
    """A JSON value.

    >>> parse(b'{"do": "go_on"}')
    {'do': 'go_on'}
    """
    try:
        value = json.loads(body.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except UnicodeDecodeError:
        raise malformed("The body is not in UTF-8.") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise malformed(f"The body is no JSON: {error}") from None
    _check(value)
    return value


def invalid(field: str, problem: str) -> Problem:
    """JSON that says something that cannot be used; one line, the culprit first."""
    return Problem(422, "invalid", f"{field}: {problem}" if field else problem, field=field)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise malformed(f"{twice[:40]!r} is there more than once.", twice[:40])
    return table


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON number")


def _check(value: Any, depth: int = 0) -> None:
    """Depth, numbers and characters of a value."""
    if depth > DEPTH:
        raise _too_deep()
    match value:
        case int() | float() if not -WHOLE <= value < WHOLE:
            raise invalid("", f"{value:.3g} is larger than any number that can be kept")
        case str() if unfit := UNFIT.search(value):
            raise invalid("", f"the character {unfit[0]!r} cannot be kept")
        case dict():
            for name, content in value.items():
                _check(name)
                _check(content, depth + 1)
        case list():
            for content in value:
                _check(content, depth + 1)


def _too_deep() -> Problem:
    return invalid("", f"nested more than {DEPTH} levels deep")


# ---- keys

PROVIDER = "api"  # of assessors whom programs speak for
ASSESSOR = re.compile(r"[0-7]?[0-9a-f]{1,15}")  # below 2**63
LONGEST_KEY = 200


@dataclass(frozen=True)
class Caller:
    """A request that may be answered.

    row, assessor : the campaign and the assessor's number that the address names, if it does: they are there, belong
    together, and the key opens them.
    """

    request: Request = field(repr=False)
    server: Server = field(repr=False)
    key: ApiKey
    row: CampaignRow | None = None
    assessor: int = 0

    @property
    def campaign(self) -> CampaignRow:
        """The campaign of the address."""
        assert self.row is not None  # only asked for where the address names one
        return self.row

    @property
    def account(self) -> str:
        """Who the log says caused an event; no account has a blank in its name."""
        return f"key {self.key.name}"


class UnknownKeyError(Problem):
    """There is no key, or it is not valid."""

    def __init__(self) -> None:
        super().__init__(401, "key", "Send a valid key, as Authorization: Bearer qrowd_...")

    @property
    def headers(self) -> dict[str, str]:
        """How to authenticate."""
        return {"www-authenticate": 'Bearer realm="qrowd"'}


async def caller_of(request: Request) -> Caller:
    """The caller, with the key and what the address names."""
    server = server_of(request)
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if (origin is not None and origin.lower() not in server.origins) or site not in {None, "same-origin", "none"}:
        raise Problem(403, "origin", "Pages of other sites cannot use this.")  # programs send neither header
    key, names = _key_of(request), request.path_params

    def work(connection: Connection) -> Caller:
        api_key = find_api_key(connection, key)
        if api_key is None:
            raise UnknownKeyError
        caller = Caller(request, server, api_key)
        if "campaign" in names:
            caller = replace(caller, row=_campaign(connection, api_key, names["campaign"]))
        if "assessor" in names:
            caller = replace(caller, assessor=_assessor(connection, caller.campaign, names["assessor"]))
        return caller

    caller = await server.read(work)
    request.scope[WHO] = f"key:{caller.key.id}"
    return caller


def _key_of(request: Request) -> str:
    """The key that was sent."""
    headers = request.headers.getlist("authorization")
    scheme, _, key = (headers[0] if len(headers) == 1 else "").partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not key.startswith(KEY_STARTS) or not key.isascii() or len(key) > LONGEST_KEY:
        raise UnknownKeyError
    return key


def _campaign(connection: Connection, key: ApiKey, name: str) -> CampaignRow:
    row = find_campaign(connection, name) if NAME.fullmatch(name) else None
    if row is None or not key.opens(row.id):
        raise Problem(404, "missing", "There is no such campaign for this key.", field="campaign")
    return row


def _assessor(connection: Connection, campaign: CampaignRow, name: str) -> int:
    """The number of an assessor who arrived by a program: programs speak for nobody else."""
    found = find_assessor(connection, int(name, 16)) if ASSESSOR.fullmatch(name) else None
    if found is None or found[0].campaign_id != campaign.id or found[0].provider != PROVIDER:
        raise Problem(404, "missing", "There is no such assessor in this campaign, for this key.", field="assessor")
    return found[0].id


# ---- endpoints

PREFIX = "/api/v1"
Handler = Callable[[Caller], Awaitable[Any]]


def route(path_below: str, **handlers: Handler) -> Route:
    """A route below `PREFIX` with a handler for each method, which returns a response, or JSON."""

    async def answer(request: Request) -> Response:
        caller = await caller_of(request)
        try:
            result = await handlers["GET" if request.method == "HEAD" else request.method](caller)
        except NotFoundError:  # gone meanwhile
            raise Problem(404, "missing", "There is no such campaign or assessor.") from None
        except SchemaError as error:
            raise Problem(422, "invalid", str(error), field=path(error.where)[:200]) from None
        except InputError as error:
            raise Problem(422, "invalid", str(error)) from None
        return result if isinstance(result, Response) else JSONResponse(result)

    return Route(PREFIX + path_below, answer, methods=list(handlers))


def read_query(request: Request, choices: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The parameters of an address; those left out have the first of their choices. () : any text."""
    texts = query_of(request)
    for name in texts:
        if name not in choices:
            advice = f"choose from {', '.join(choices)}" if choices else "there are none here"
            raise invalid(name[:40], f"there is no such parameter; {advice}")
    for name, words in choices.items():
        if words and texts.setdefault(name, words[0]) not in words:
            raise invalid(name, f"expected one of {', '.join(words)}")
    return texts

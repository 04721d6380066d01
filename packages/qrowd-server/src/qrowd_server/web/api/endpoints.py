"""What an endpoint is, and how one becomes a route: it reads the query, calls its handler, and says what is wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.errors import InputError
from qrowd_server.campaigns.running.campaign_settings import NotFoundError
from qrowd_server.protocols.schema import SchemaError, path
from qrowd_server.web.api.bodies import invalid
from qrowd_server.web.api.keys import caller_of
from qrowd_server.web.forms import query_of
from qrowd_server.web.problems import Problem

PREFIX = "/api/v1"
YES_OR_NO = ("true", "false")
Handler = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Endpoint:
    """One thing that programs can do.

    path : below PREFIX. handler : takes the `Caller` and the parameters of the query; returns a response, or JSON.
    query : the choices of each parameter, the first of which is the default; () for any text.
    """

    method: str
    path: str
    handler: Handler
    query: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    async def answer(self, request: Request) -> Response:
        """Do it for a caller with a key; what is wrong is said in one line."""
        caller = await caller_of(request)
        try:
            result = await self.handler(caller, **read_query(request, self.query))
        except NotFoundError:  # gone meanwhile
            raise Problem(404, "missing", "There is no such campaign or assessor.") from None
        except SchemaError as error:
            raise Problem(422, "invalid", str(error), field=path(error.where)[:200]) from None
        except InputError as error:
            raise Problem(422, "invalid", str(error)) from None
        return result if isinstance(result, Response) else JSONResponse(result)


def routes_of(endpoints: Iterable[Endpoint]) -> list[BaseRoute]:
    """One route per path, so that a method it does not take is told all those it does."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in endpoints:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    return [_route(path, methods) for path, methods in by_path.items()]


def _route(path: str, methods: Mapping[str, Endpoint]) -> Route:
    async def answer(request: Request) -> Response:
        return await methods["GET" if request.method == "HEAD" else request.method].answer(request)

    return Route(PREFIX + path, answer, methods=list(methods))


def read_query(request: Request, choices: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """The parameters of the address; those left out have their defaults."""
    texts = query_of(request)
    for name in texts:
        if name not in choices:
            advice = f"choose from {', '.join(choices)}" if choices else "there are none here"
            raise invalid(name[:40], f"there is no such parameter; {advice}")
    values: dict[str, Any] = {}
    for name, words in choices.items():
        text = texts.get(name, words[0] if words else "")
        if words and text not in words:
            raise invalid(name, f"expected one of {', '.join(words)}")
        values[name] = text == "true" if set(words) == set(YES_OR_NO) else text
    return values

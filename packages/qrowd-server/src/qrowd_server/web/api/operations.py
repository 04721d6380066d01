"""What an operation is: its address, what it takes and answers, and its handler. Routes and the document follow."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from qrowd.errors import InputError
from qrowd_server.campaigns.running.lookup import NotFoundError
from qrowd_server.protocols.schema import Schema, SchemaError, path, plain
from qrowd_server.web.api.bodies import JSON
from qrowd_server.web.api.keys import caller_of
from qrowd_server.web.forms import query_of
from qrowd_server.web.problems import Problem

PREFIX = "/api/v1"
YES_OR_NO = {"true": True, "false": False}
Handler = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Answer:
    """An answer to a request that was carried out.

    of : the name of its component. files : media types, of a file instead.
    """

    description: str
    of: str = ""
    files: tuple[str, ...] = ()
    status: int = 200


@dataclass(frozen=True)
class Operation:
    """One thing that programs can do.

    name : its own, for clients that are generated. path : below PREFIX. handler : takes the `Caller` and the parameters
    of the query; returns a response, or a dataclass that is its JSON.
    query : schemas of parameters, all optional. body : the component that is sent, "" for nothing. media_type : of the
    body; a file's has no component. problems : further statuses, besides 400, 401, 403, 404 (where the path names
    something), 413 and 415 (where there is a body), 422 and 503.
    """

    name: str
    method: str
    path: str
    summary: str
    handler: Handler
    answers: tuple[Answer, ...]
    description: str = ""
    query: Mapping[str, Schema] = field(default_factory=dict)
    body: str = ""
    media_type: str = JSON
    examples: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[int, ...] = ()

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
        return result if isinstance(result, Response) else JSONResponse(plain(type(result), result))


def operation(method: str, path: str, *answers: Answer, **more: Any) -> Callable[[Handler], Operation]:
    """Make an operation of a handler: its name, and its docstring as summary and description.

    more : further fields of `Operation`.
    """

    def make(handler: Handler) -> Operation:
        summary, _, rest = inspect.cleandoc(handler.__doc__ or "").partition("\n\n")
        description = " ".join(rest.split())
        return Operation(handler.__name__, method, path, summary.rstrip("."), handler, answers, description, **more)

    return make


def routes_of(operations: Iterable[Operation]) -> list[Route]:
    """One route per path, so that a method it does not take is told all those it does."""
    by_path: dict[str, dict[str, Operation]] = {}
    for one in operations:
        by_path.setdefault(one.path, {})[one.method] = one
    return [_route(path, methods) for path, methods in by_path.items()]


def _route(path: str, methods: Mapping[str, Operation]) -> Route:
    async def endpoint(request: Request) -> Response:
        return await methods["GET" if request.method == "HEAD" else request.method].answer(request)

    return Route(PREFIX + path, endpoint, methods=list(methods))


def read_query(request: Request, schemas: Mapping[str, Schema]) -> dict[str, Any]:
    """The parameters of the address; those left out have their defaults."""
    texts = query_of(request)
    for name in texts:
        if name not in schemas:
            advice = f"choose from {', '.join(schemas)}" if schemas else "there are none here"
            raise Problem(422, "invalid", f"{name[:40]}: there is no such parameter; {advice}", field=name[:40])
    values: dict[str, Any] = {}
    for name, schema in schemas.items():
        text = texts.get(name)
        if text is None or (schema["type"] == "string" and "enum" not in schema):
            values[name] = schema["default"] if text is None else text
            continue
        choices: Mapping[str, Any] = YES_OR_NO if schema["type"] == "boolean" else {one: one for one in schema["enum"]}
        if text not in choices:
            raise Problem(422, "invalid", f"{name}: expected one of {', '.join(choices)}", field=name)
        values[name] = choices[text]
    return values

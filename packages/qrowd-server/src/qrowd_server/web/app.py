"""The web application: all routes behind the guard, with one kind of answer to errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Scope
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from qrowd.errors import QrowdError
from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.store.base import Store
from qrowd_server.web import arrival, assessor, health, rendering
from qrowd_server.web.languages import ENGLISH
from qrowd_server.web.logs import RequestLog
from qrowd_server.web.problems import Problem, as_json, internal_error, not_found, problem_of, wants_data
from qrowd_server.web.security import Guard, ServerSettings
from qrowd_server.web.server import Server, language_of, set_language

YEAR = 365 * 86400  # seconds


def make_app(
    service: JudgingService,
    store: Store,
    *,
    settings: ServerSettings,
    pages: Any = rendering,
    routes: Iterable[BaseRoute] = (),
    large: Mapping[str, int] | None = None,
    clock: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
) -> Starlette:
    """The application over a service and the store it works on.

    pages : the module that renders pages. routes : of further modules (owners, programs).
    large : for paths that begin so, how many bytes a body may have; 64 KB elsewhere. clock : seconds since 1970.
    monotonic : seconds for durations, never going back.
    """
    server = Server(service, store, pages, settings, clock, monotonic)

    def on_failure(scope: Scope, reference: str) -> Response:
        return error_response(server, Request(scope), internal_error(reference))

    async def on_problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, QrowdError)
        return error_response(server, request, problem_of(error))

    async def on_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        status = error.status_code
        problem = not_found() if status == 404 else Problem(status, "method", "This address does not take that.")
        response = error_response(server, request, problem)
        response.headers.update(error.headers or {})
        return response

    app = Starlette(
        routes=[
            *assessor.ROUTES,
            *arrival.ROUTES,
            *health.ROUTES,
            Route("/language", set_language, methods=["POST"]),
            *routes,
            Route("/static/{name:path}", static),
        ],
        middleware=[
            Middleware(ProxyHeadersMiddleware, trusted_hosts=list(settings.trusted_proxies)),
            Middleware(RequestLog),
            Middleware(Guard, settings=settings, failed=on_failure, large=large),
        ],
        exception_handlers={QrowdError: on_problem, HTTPException: on_http},
    )
    app.router.redirect_slashes = False  # an address with a slash too many is not there
    app.state.server = server
    return app


def error_response(server: Server, request: Request, problem: Problem) -> Response:
    """A problem as a page, or as JSON for scripts and programs."""
    tag = ENGLISH if request.scope["path"].startswith(("/api/", "/owner")) else language_of(request)
    if wants_data(request):
        return as_json(problem, tag)
    parts = request.scope["path"].split("/")
    back = f"/c/{quote(parts[2])}" if len(parts) > 2 and parts[1] == "c" and problem.status != 404 else ""
    page = server.rendering.render_error(
        problem.status,
        message=problem.message,
        reference=problem.reference,
        back=back,
        retry_after=problem.retry_after,
        tag=tag,
    )
    return HTMLResponse(page, problem.status, problem.headers)


async def static(request: Request) -> Response:
    """A file that comes with the program, cached for a year where the address holds its version."""
    file = rendering.static_files().get(request.path_params["name"])
    if file is None:
        raise not_found()
    content, media_type, version = file
    has_version = request.scope["query_string"] == f"v={version}".encode()
    caching = f"public, max-age={YEAR}, immutable" if has_version else "no-cache"
    headers = {"cache-control": caching, "etag": f'"{version}"'}
    if request.headers.get("if-none-match") == f'"{version}"':
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)

"""A real server, in a thread, for drawn pages and for a task that a list of pages stands for."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; report-uri /csp"
)
Answer = Callable[[Mapping[str, str], bool], Response]


@dataclass
class Site:
    """Where the server is, and what came in. answer : what a posted form leads to. view : what /c/birds shows."""

    pages: dict[str, str]
    address: str = ""
    acts: list[dict[str, str]] = field(default_factory=list)
    drafts: list[dict[str, str]] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    view: Callable[[], str] = lambda: ""
    answer: Answer = lambda form, fragment: RedirectResponse("/c/birds", 303)


@contextmanager
def serving(pages: dict[str, str]) -> Iterator[Site]:
    """A server on a free port of this machine, with the policy that the real one sends."""
    site = Site(pages)

    async def drawn(request: Request) -> Response:
        return HTMLResponse(site.pages[request.path_params["name"]])

    async def task(request: Request) -> Response:
        return HTMLResponse(site.view())

    async def act(request: Request) -> Response:
        async with request.form() as form:
            site.acts.append({name: str(value) for name, value in form.items()})
        return site.answer(site.acts[-1], request.headers.get("x-qrowd") == "fragment")

    async def draft(request: Request) -> Response:
        async with request.form() as form:
            site.drafts.append({name: str(value) for name, value in form.items()})
        return JSONResponse({})

    async def report(request: Request) -> Response:
        site.reports.append((await request.body()).decode())
        return Response(status_code=204)

    from importlib import resources

    app = Starlette(
        routes=[
            Route("/pages/{name}", drawn),
            Route("/c/birds", task),
            Route("/c/birds/act", act, methods=["POST"]),
            Route("/c/birds/draft", draft, methods=["POST"]),
            Route("/csp", report, methods=["POST"]),
            Mount("/static", StaticFiles(directory=str(resources.files("qrowd.collect.web").joinpath("static")))),
        ]
    )

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        async def send_on(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"content-security-policy", POLICY.encode())]
            await send(message)

        await app(scope, receive, send_on if scope["type"] == "http" else send)

    server = uvicorn.Server(uvicorn.Config(guarded, port=0, log_level="error", lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    site.address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield site
    finally:
        server.should_exit = True
        thread.join(timeout=5)

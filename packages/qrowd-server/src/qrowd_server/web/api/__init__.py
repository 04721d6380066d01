"""The server for programs: campaigns, judging and export as JSON, behind keys. `make_app` takes `ROUTES` and `LARGE`.

A route reads the request, calls one function of `campaigns` or `store`, and writes its result.

    keys        who asks, and what their key opens
    bodies      JSON that comes in: small, flat enough, each name once
    schemas     what programs send and get: dataclasses, their JSON and their JSON Schema
    operations  what an operation is, and how one becomes a route
    campaigns, judging, exports     the operations
    document    all of them as OpenAPI, and as a page for people
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd_server.web.api import document
from qrowd_server.web.api.campaigns import ARCHIVE_LIMIT, PLAN_LIMIT
from qrowd_server.web.api.operations import PREFIX, routes_of

LARGE = {  # bytes of a body, by how the path begins; what needs less has its own limit
    f"{PREFIX}/archives": ARCHIVE_LIMIT,
    f"{PREFIX}/campaigns": PLAN_LIMIT,
}


async def for_people(request: Request) -> Response:
    """The page that lists the operations."""
    return HTMLResponse(document.page(), headers={"cache-control": "no-cache"})


async def for_machines(request: Request) -> Response:
    """The OpenAPI document."""
    text = document.document_text()
    return Response(text, media_type="application/json", headers={"cache-control": "no-cache"})


ROUTES: list[BaseRoute] = [
    *routes_of(document.OPERATIONS),
    Route("/api", for_people),
    Route("/api/openapi.json", for_machines),
]

__all__ = ["LARGE", "ROUTES"]

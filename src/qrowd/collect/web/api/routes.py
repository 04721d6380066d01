"""What `make_app` takes to serve programs: `make_app(..., routes=[*ROUTES], large=LARGE)`."""

from __future__ import annotations

from functools import cache

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd.collect.web.api import document
from qrowd.collect.web.api.campaigns import ARCHIVE_LIMIT, PLAN_LIMIT
from qrowd.collect.web.api.operations import PREFIX, routes_of

LARGE = {  # bytes of a body, by how the path begins; what needs less has its own limit
    f"{PREFIX}/archives": ARCHIVE_LIMIT,
    f"{PREFIX}/campaigns": PLAN_LIMIT,
}


async def for_people(request: Request) -> Response:
    """The page that lists the operations."""
    return HTMLResponse(document.page(), headers={"cache-control": "no-cache"})


async def for_machines(request: Request) -> Response:
    """The OpenAPI document."""
    return Response(_document(), media_type="application/json", headers={"cache-control": "no-cache"})


@cache
def _document() -> bytes:
    return document.document_text().encode()


ROUTES: list[BaseRoute] = [
    *routes_of(document.OPERATIONS),
    Route("/api", for_people),
    Route("/api/openapi.json", for_machines),
]

"""What documents show beside their text, at signed addresses.

GET  /image/{token}         an image of a document, of a page of a PDF, or of guidelines
GET  /guidelines/{token}    the guidelines of a campaign, beside judging
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd_server.web.language_choice import choice_of, language_of
from qrowd_server.web.problems import not_found
from qrowd_server.web.server import DAY, server_of


async def image(request: Request) -> Response:
    """An image; browsers may keep it for a day."""
    digest, media_type, content = await server_of(request).image(request.path_params["token"])
    headers = {"cache-control": f"private, max-age={int(DAY)}, immutable", "etag": f'"{digest}"'}
    if request.headers.get("if-none-match") == f'"{digest}"':
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)


async def guidelines(request: Request) -> Response:
    """The guidelines, on a page of their own that has no task: judging goes on where it was."""
    server = server_of(request)
    name = str(server.address_fields("guidelines", request.path_params["token"])["c"])
    await server.campaign(name)  # or it is not there
    page = server.with_image_addresses(await server.service.preview(name))
    if not page.guidelines:
        raise not_found()
    options = {"tag": language_of(request, page.language), "choice": choice_of(request)}
    return HTMLResponse(await server.render_guidelines(page, **options))


ROUTES: list[BaseRoute] = [
    Route("/image/{token}", image, methods=["GET"]),
    Route("/guidelines/{token}", guidelines, methods=["GET"]),
]

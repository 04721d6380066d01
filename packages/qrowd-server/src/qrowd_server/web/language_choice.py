"""The language of a request: what the person chose on a page, else the campaign's, else the browser's.

POST /language    the choice, kept in a cookie for a year; back to the page that it was made on
"""

from __future__ import annotations

from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from qrowd_server.web.languages import CAMPAIGN_LANGUAGE, choose, language, matching, tags
from qrowd_server.web.problems import malformed
from qrowd_server.web.rendering import LanguageChoice
from qrowd_server.web.server import server_of

COOKIE = "qrowd-language"
YEAR = 365 * 86400
TOKEN_SECONDS = 30 * 86400.0  # a page may be open for long
MAX_ADDRESS = 2000  # characters of an address that is gone back to


def language_of(request: HTTPConnection, campaign: str = "") -> str:
    """The tag of the language of the page that answers a request. campaign : its language, where it has one."""
    wanted = campaign or request.scope.get(CAMPAIGN_LANGUAGE, "")
    return choose(request.cookies.get(COOKIE, ""), wanted, request.headers.get("accept-language", ""))


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


ROUTES: list[BaseRoute] = [Route("/language", set_language, methods=["POST"])]

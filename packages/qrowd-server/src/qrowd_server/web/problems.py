"""Problems: why a request was refused, and the answer that says so.

A browser gets a page with the problem in words; the script of our pages and programs get JSON:
{"code", "message", "field", "reference"}.

    400  the request makes no sense: no browser that shows our pages sends it
    403  nobody we know, or a form that is not ours     404  not there, or not for you
    408  the rest of the request did not come
    409  the page is not the current one any more       413  too long
    422  the answer cannot be taken as it is            429  too many in a minute
    500  an error of the server, logged                    503  could not be saved; try again
"""

from __future__ import annotations

import logging

from starlette.requests import Request
from starlette.responses import JSONResponse

from qrowd.errors import QrowdError
from qrowd_server.campaigns.running.campaign_settings import NotFoundError
from qrowd_server.protocols.events import Refusal
from qrowd_server.store.accounts import TooManyAttemptsError
from qrowd_server.store.base import StoreError, StoreFullError, StoreUnknownError
from qrowd_server.translatable import N_, Message
from qrowd_server.web.languages import ENGLISH, language
from qrowd_server.web.logs import request_id

log = logging.getLogger("qrowd_server.web")

STALE = frozenset({"stale", "changed"})  # codes of refusals that mean: the page is not the current one
RETRY_FULL, RETRY_BUSY = 30, 2  # seconds


class Problem(Refusal):
    """A request that is refused.

    status : of the response. reference : of the entry in the log, "" without one. retry_after : seconds, None where a
    retry cannot help.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str = "",
        reference: str = "",
        retry_after: int | None = None,
    ) -> None:
        self.status, self.reference, self.retry_after = status, reference, retry_after
        super().__init__(code, message, field)

    @property
    def headers(self) -> dict[str, str]:
        """Retry-After, if the request may be sent again."""
        return {} if self.retry_after is None else {"retry-after": str(self.retry_after)}


def not_signed_in() -> Problem:
    """The request comes without a session."""
    message = N_("You are not signed in on this device any more. Open the link that you were given again.")
    return Problem(403, "session", message)


def invalid_token() -> Problem:
    """The form carries no token, or not the session's."""
    return Problem(403, "csrf", "This page is too old, or was not made for you. Reload it and send your answer again.")


def not_found() -> Problem:
    """Not there; or there, and not for this visitor."""
    return Problem(404, "missing", "There is no such page.")


def malformed(message: str, field: str = "") -> Problem:
    """A request that no page of ours sends."""
    return Problem(400, "malformed", message, field=field)


def problem_of(error: QrowdError) -> Problem:
    """The problem that an error of ours means for the visitor; errors of the server are logged under a reference."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, Refusal):
        return Problem(409 if error.code in STALE else 422, error.code, error.message, field=error.field)
    if isinstance(error, TooManyAttemptsError):
        n = round(error.retry_after / 60)
        later = Message("There were too many attempts to log in; try again in %(n)s minutes.", n=n)
        return Problem(429, "attempts", later, retry_after=int(error.retry_after) + 1)
    if isinstance(error, NotFoundError):
        return not_found()
    reference = request_id()
    trace = None if isinstance(error, StoreError) else error  # whose text says all
    log.error("%s: %s, reference %s", type(error).__name__, error, reference, exc_info=trace)
    if isinstance(error, StoreError):
        wait = RETRY_FULL if isinstance(error, StoreFullError) else RETRY_BUSY
        message = N_("We could not save this answer. It is still here: please try again.")
        if isinstance(error, StoreUnknownError):
            message = N_("This answer may not have been saved. It is still here: please send it again; it counts once.")
        return Problem(503, "not_saved", message, reference=reference, retry_after=wait)
    return internal_error(reference)


def internal_error(reference: str) -> Problem:
    """An error that is explained in the log only."""
    return Problem(500, "failed", "Something went wrong on our side. Please try again.", reference=reference)


def wants_data(request: Request) -> bool:
    """Whether the script of our pages or a program asks, and not a browser."""
    return (b"x-qrowd", b"fragment") in request.scope["headers"] or request.scope["path"].startswith("/api/")


def as_json(problem: Problem, tag: str = ENGLISH) -> JSONResponse:
    """The problem for the script of our pages, in their language, and for programs, in English."""
    content = {name: getattr(problem, name) for name in ("code", "message", "field", "reference")}
    content["message"] = language(tag).text(problem.message)
    return JSONResponse(content, problem.status, headers=problem.headers)

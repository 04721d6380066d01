"""The log of the server: a JSON object on a line for each request and each error.

    {"time": "2026-11-22T10:15:02.113Z", "level": "info", "event": "request", "id": "5F2C9A01", "method": "POST",
     "route": "/c/{campaign}/act", "campaign": "pilot", "status": 303, "ms": 4.1, "who": "assessor:12"}

The id is also in the header X-Request-ID of the answer and on the page of an error. People are numbers here: of the
assessor, the account or the key. Tokens, names and queries are not in the log: a request is named by its route and by
the parameters of its path that are in `SHOWN`. Addresses of visitors stand only where a login failed.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import MutableMapping
from contextvars import ContextVar
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

log = logging.getLogger("qrowd_server.web.requests")

WHO = "qrowd.who"  # key of the scope: "assessor:12", once the session was read
SHOWN = ("campaign", "number", "assessor", "what", "format", "protocol")  # parameters of paths that are logged
PROBES = frozenset({"/health", "/ready"})  # asked every few seconds
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")


def request_id() -> str:
    """The id of the request under way; a new one where there is none."""
    return REQUEST_ID.get() or token_hex(4).upper()


def note(message: str, *, level: int = logging.INFO, **fields: object) -> None:
    """Write a line with these fields."""
    log.log(level, message, extra={"fields": fields})


class RequestLog:
    """Gives every request an id, and writes a line when it has been answered."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        number, began, status = token_hex(4).upper(), time.perf_counter(), 500
        token = REQUEST_ID.set(number)

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", number.encode())]
            await send(message)

        try:
            await self.app(scope, receive, sending)
        finally:
            write_request(scope, status, time.perf_counter() - began)
            REQUEST_ID.reset(token)


def write_request(scope: Scope, status: int, seconds: float) -> None:
    """Write the line of a request that was answered; a probe that went well has none."""
    if scope["path"] in PROBES and status < 400:
        return
    parameters = scope.get("path_params", {})
    fields: dict[str, object] = {"method": scope["method"], "route": route_of(scope)}
    fields |= {name: parameters[name] for name in SHOWN if name in parameters}
    fields |= {"status": status, "ms": round(1000 * seconds, 1)}
    if WHO in scope:
        fields["who"] = scope[WHO]
    note("request", level=logging.WARNING if status >= 500 else logging.INFO, **fields)


def route_of(scope: Scope) -> str:
    """The route that took a request, such as /c/{campaign}; "/..." where none did."""
    if "endpoint" in scope:
        names = {str(value): f"{{{name}}}" for name, value in scope.get("path_params", {}).items()}
        return "/".join(names.get(part, part) for part in scope["path"].split("/"))
    return "/..."


class JsonLines(logging.Formatter):
    """A record as a JSON object on one line."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        row = {"time": moment.replace("+00:00", "Z"), "level": record.levelname.lower(), "event": record.getMessage()}
        row |= {"id": number} if (number := REQUEST_ID.get()) else {}
        row |= getattr(record, "fields", {})
        row |= {"traceback": self.formatException(record.exc_info)} if record.exc_info else {}
        return json.dumps(row, ensure_ascii=False, default=str)


def set_up_logs() -> None:
    """Write the log of this process to its standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("qrowd_server").setLevel(logging.INFO)

"""The log of the server: a line for each request and each error, with the time, the level and the request's number.

    text   2026-11-22T10:15:02.113Z INFO request id=5F2C9A01 method=POST path=/c/pilot/act status=303 ms=4.1 who=...
    json   {"time": "2026-11-22T10:15:02.113Z", "level": "info", "event": "request", "id": "5F2C9A01", ...}

The number is also in the header X-Request-ID of the answer and on the page of an error. People are numbers here: of the
assessor, the account or the key. A path is that of its route, with names of campaigns and numbers filled in: tokens,
names and queries are not in it. Addresses of visitors stand only where a login failed.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from secrets import token_hex
from typing import Literal

from starlette.types import Scope

LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]
Observe = Callable[[str, str, int, float], None]  # route, method, status, seconds

log = logging.getLogger("qrowd.collect.web.requests")

HEADER = b"x-request-id"
WHO = "qrowd.who"  # key of the scope: "assessor:12", once it is known
SHOWN = frozenset(
    {"campaign", "number", "assessor", "what", "format", "protocol"}
)  # parameters of paths that are shown
PLAIN = re.compile(r"[a-z._-]{1,20}")  # what a token is not
QUOTED = re.compile(r'[\s"=]')  # what a value in text is quoted for
QUIET = frozenset({"/health", "/ready", "/metrics"})  # asked every few seconds
_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
CURRENT: ContextVar[str] = ContextVar("request_id", default="")


def request_id() -> str:
    """The number of the request under way; a new one where there is none."""
    return CURRENT.get() or token_hex(4).upper()


def note(message: str, *, level: int = logging.INFO, **fields: object) -> None:
    """Write a line with these fields."""
    log.log(level, message, extra={"fields": fields})


# ---- requests


def route_of(scope: Scope) -> str:
    """The path of the route that took a request, such as /c/{campaign}; "" where none did."""
    route = getattr(scope.get("route"), "path", None)
    if route is not None:
        return _without_types(route)
    if "endpoint" not in scope:
        return ""
    names = {str(value): f"{{{name}}}" for name, value in scope.get("path_params", {}).items()}
    return "/".join(names.get(part, part) for part in scope["path"].split("/"))


@lru_cache(maxsize=1024)
def _without_types(route: str) -> str:
    return _PARAMETER.sub(r"{\1}", route)


@lru_cache(maxsize=1024)
def _shown_parameters(route: str) -> tuple[str, ...]:
    """A route in parts; at odd places the names of parameters that are shown."""
    parts = _PARAMETER.split(route)
    shown = [parts[0]]
    for name, rest in zip(parts[1::2], parts[2::2], strict=True):
        if name in SHOWN:
            shown += [name, rest]
        else:
            shown[-1] += f"{{{name}}}{rest}"
    return tuple(shown)


def shown_path(scope: Scope) -> str:
    """The path as it may stand in a log: without tokens and names of people; only its start where no route took it."""
    route, values = route_of(scope), scope.get("path_params", {})
    if route:
        parts = _shown_parameters(route)
        return "".join([str(values.get(one, f"{{{one}}}")) if i % 2 else one for i, one in enumerate(parts)])
    first = scope["path"].split("/")[1] if "/" in scope["path"] else ""
    return f"/{first}/..." if PLAIN.fullmatch(first) else "/..."


def write_request(scope: Scope, status: int, seconds: float) -> None:
    """Write the line of a request that was answered."""
    quiet = scope["path"] in QUIET and status < 400
    level = logging.DEBUG if quiet else logging.WARNING if status >= 500 else logging.INFO
    if log.isEnabledFor(level):
        fields: dict[str, object] = {"method": scope["method"], "path": shown_path(scope), "status": status}
        fields["ms"] = round(1000 * seconds, 1)
        if (who := scope.get(WHO)) is not None:
            fields["who"] = who
        note("request", level=level, **fields)


# ---- lines


class Lines(logging.Formatter):
    """One line a record, as text or as a JSON object."""

    def __init__(self, form: LogFormat) -> None:
        super().__init__()
        self.form = form

    def format(self, record: logging.LogRecord) -> str:
        moment = f"{_second(int(record.created))}.{int(1000 * (record.created % 1)):03d}Z"
        fields: dict[str, object] = {"id": number} if (number := CURRENT.get()) else {}
        fields |= getattr(record, "fields", {})
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        if self.form == "json":
            row = {"time": moment, "level": record.levelname.lower(), "event": record.getMessage(), **fields}
            return json.dumps(row | ({"traceback": trace} if trace else {}), ensure_ascii=False, default=str)
        words = " ".join(f"{name}={_value(value)}" for name, value in fields.items())
        line = f"{moment} {record.levelname} {_one_line(record.getMessage())} {words}".rstrip()
        return f"{line}\n{trace}" if trace else line


@lru_cache(maxsize=4)
def _second(seconds: int) -> str:
    """The start of the time of a line."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").removesuffix("+00:00")


def _one_line(text: str) -> str:
    """The text without what would begin a line, or steer a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def _value(value: object) -> str:
    if type(value) is int or type(value) is float:
        return str(value)
    text = _one_line(str(value))
    return json.dumps(text, ensure_ascii=False) if QUOTED.search(text) or not text else text


def set_up_logs(form: LogFormat = "text", level: LogLevel = "info") -> None:
    """Write the log of this process to its standard error, of the server from this level on."""
    # What our lines do not hold need not be found out for each of them.
    logging._srcfile = None
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines(form))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("qrowd").setLevel(level.upper())

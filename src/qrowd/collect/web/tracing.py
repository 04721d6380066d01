"""Traces of requests for OpenTelemetry, where its ASGI instrumentation is installed.

Its middleware writes addresses, queries and headers into traces. So it sees none: what a trace holds is the method, the
status, the route, and the path as it may stand in a log.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qrowd.collect.web.logs import request_id, route_of, shown_path

SWITCHES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER")
CONTEXT = frozenset({b"traceparent", b"tracestate"})  # headers by which a trace of a proxy goes on
REAL = "qrowd.scope"


def is_traced(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment says where traces go, and the instrumentation is installed."""
    if not any(environ.get(name) for name in SWITCHES) or find_spec("opentelemetry") is None:
        return False
    try:
        return find_spec("opentelemetry.instrumentation.asgi") is not None
    except ModuleNotFoundError:
        return False


class Tracing:
    """Stands inside the log of requests, and traces each."""

    def __init__(self, app: ASGIApp) -> None:
        from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware

        self.app = app
        self.traced = OpenTelemetryMiddleware(
            self._answer,
            default_span_details=lambda scope: (scope["method"], {}),
            exclude_spans=["receive", "send"],
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = [pair for pair in scope["headers"] if pair[0] in CONTEXT]
        bare = {"path": "/", "raw_path": b"/", "query_string": b"", "headers": headers, "client": None}
        await self.traced({**scope, **bare, REAL: scope}, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        from opentelemetry import trace

        real, span = scope[REAL], trace.get_current_span()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":  # the span ends with the last part of the body
                route = route_of(real)
                span.update_name(f"{real['method']} {route}".strip())
                span.set_attribute("http.route", route)
                for name in ("url.path", "http.target"):
                    span.set_attribute(name, shown_path(real))
                span.set_attribute("qrowd.request", request_id())
            await send(message)

        await self.app(real, receive, sending)

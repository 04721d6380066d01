"""Connections that cost a file each: how many there may be, and for how long one may say nothing.

uvicorn ends a connection that rests after an answer; it waits for ever for the first request, and for the rest of one
that has begun. Bodies are waited for by the guard.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as AutoHTTPProtocol
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_SECONDS = 30.0  # for a request to begin, and for the rest of its headers
RESERVED = 64  # files that connections leave to the store, logs and pages
FEWEST = 32


class PatientProtocol(AutoHTTPProtocol):
    """uvicorn's protocol, which closes a connection whose request does not come."""

    head_seconds = HEAD_SECONDS
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._answering():
            self._stop_waiting()
        elif self._head_timer is None:  # the next request has begun
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _answering(self) -> bool:
        cycle = getattr(self, "cycle", None)  # None before the first request
        return cycle is not None and not cycle.response_complete

    def _wait(self) -> None:
        self._head_timer = asyncio.get_running_loop().call_later(self.head_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if not self._answering() and not self.transport.is_closing():
            self.transport.close()


def most_connections() -> int | None:
    """How many requests and connections there may be at once, so that files remain; beyond that the answer is 503."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if files == resource.RLIM_INFINITY else max(FEWEST, files - RESERVED)

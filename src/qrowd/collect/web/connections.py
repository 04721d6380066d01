"""Connections that cost a file each: how many there may be, for how long one may say nothing, and how answers are sent.

uvicorn ends a connection that rests after an answer; it waits for ever for the first request, and for the rest of one
that has begun. Bodies are waited for by the guard. uvicorn writes the head of an answer and its body one after another;
here they go together, which saves a call of the system, a packet, and whoever reads it from being woken twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as AutoHTTPProtocol
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_SECONDS = 30.0  # for a request to begin, and for the rest of its headers
RESERVED = 64  # files that connections leave to the store, logs and pages
FEWEST = 32


class JoiningTransport:
    """A transport that holds the head of an answer until the first part of the body is there.

    begins : whether what is written now is the head of an answer.
    """

    def __init__(self, transport: Any, begins: Callable[[], bool]) -> None:
        self._transport, self._begins, self._head = transport, begins, b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send this, with the head if that waits; or hold the head."""
        if self._head:
            data, self._head = self._head + data, b""
        elif self._begins():
            self._head = data
            return
        self._transport.write(data)

    def flush(self) -> None:
        """Send the head of an answer without a body."""
        if self._head:
            self.write(b"")

    def close(self) -> None:
        """Close the connection once all is sent."""
        self.flush()
        self._transport.close()


class PatientProtocol(AutoHTTPProtocol):
    """uvicorn's protocol, which closes a connection whose request does not come."""

    head_seconds = HEAD_SECONDS
    _head_timer: asyncio.TimerHandle | None = None
    _begun: Any = None  # the last request whose answer has begun

    def connection_made(self, transport: Any) -> None:
        joining: Any = JoiningTransport(transport, self._begins)
        super().connection_made(joining)
        self._wait()

    def on_response_complete(self) -> None:
        joining: Any = self.transport
        joining.flush()
        super().on_response_complete()

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

    def _begins(self) -> bool:
        cycle = getattr(self, "cycle", None)
        if cycle is None or cycle is self._begun or not cycle.response_started:
            return False
        self._begun = cycle
        return True

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

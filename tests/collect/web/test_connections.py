"""Connections of clients that say nothing, or too little, end; those of others stay."""

import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from qrowd.collect.web.connections import FEWEST, RESERVED, PatientProtocol, most_connections
from qrowd.collect.web.problems import Problem, as_json
from qrowd.collect.web.security import Guard, ServerSettings
from webserver import SECRET

LONG = 20.0  # seconds until a test gives up


class ShortProtocol(PatientProtocol):
    head_seconds = 0.2


async def answer(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


async def refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem)
    return as_json(error)


@contextmanager
def listening(app: object, protocol: type) -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as own:
        config = uvicorn.Config(app, http=protocol, ws="none", lifespan="off", log_level="critical")  # type: ignore[arg-type]
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [own]}, daemon=True)
        thread.start()
        try:
            yield own
        finally:
            server.should_exit = True
            thread.join(timeout=LONG)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    settings = ServerSettings("http://here", SECRET, body_seconds=0.2)
    routes = [Route("/", answer, methods=["GET", "POST"])]
    inner = Starlette(routes=routes, exception_handlers={Problem: refused})
    app = Guard(inner, settings=settings, failed=lambda scope, reference: PlainTextResponse("failed", 500))
    with listening(app, ShortProtocol) as own:
        yield own.getsockname()[1]


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=LONG)


def rest(connection: socket.socket) -> bytes:
    """What comes until the server closes; TimeoutError where it does not."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize("start", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: here\r\nX: ", b"POST / HTTP/1.1\r\n"])
def test_a_connection_whose_request_does_not_come_is_closed(port: int, start: bytes) -> None:
    with connected(port) as connection:
        connection.sendall(start)
        assert rest(connection) == b""


def test_a_second_request_that_does_not_end_closes_the_connection_too(port: int) -> None:
    with connected(port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 OK")
        connection.sendall(b"GET / HTTP/1.1\r\nHost:")
        assert rest(connection) == b""


def test_a_body_that_does_not_come_is_answered(port: int) -> None:
    with connected(port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\nhalf")
        assert connection.recv(65536).startswith(b"HTTP/1.1 408 ")


def test_a_request_in_parts_is_answered_and_the_connection_serves_the_next(port: int) -> None:
    with connected(port) as connection:
        for _ in range(3):
            for part in (b"POST / HTTP/1.1\r\nHo", b"st: here\r\nContent-Length: 6\r\n", b"\r\nabc", b"def"):
                connection.sendall(part)
            head = connection.recv(65536)
            assert head.startswith(b"HTTP/1.1 200 OK")
            assert head.endswith(b"6")


def test_connections_leave_files_for_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda what: (1024, 4096))
    assert most_connections() == 1024 - RESERVED
    monkeypatch.setattr(resource, "getrlimit", lambda what: (50, 4096))
    assert most_connections() == FEWEST
    monkeypatch.setattr(resource, "getrlimit", lambda what: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert most_connections() is None

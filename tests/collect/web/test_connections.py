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
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route

from qrowd.collect.web.connections import FEWEST, RESERVED, JoiningTransport, PatientProtocol, most_connections
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


async def parts(request: Request) -> StreamingResponse:
    return StreamingResponse(iter([b"ab", b"cde"]))


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
    routes = [Route("/", answer, methods=["GET", "POST"]), Route("/parts", parts)]
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


class Written:
    """A transport that keeps each thing written to it."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.parts.append(data)

    def close(self) -> None:
        self.parts.append(b"closed")


def test_the_head_of_an_answer_goes_with_the_first_part_of_its_body() -> None:
    heads = iter([True, False, True, True, False])
    written = Written()
    joining = JoiningTransport(written, lambda: next(heads))
    for part in (b"head ", b"first", b"second"):
        joining.write(part)
    joining.flush()
    assert written.parts == [b"head first", b"second"]
    joining.write(b"head of no body")
    joining.flush()
    assert written.parts[2:] == [b"head of no body"]
    joining.write(b"head")
    joining.close()
    assert written.parts[3:] == [b"head", b"closed"]
    joining.write(b"continue")
    assert written.parts[5:] == [b"continue"]


def test_answers_without_a_body_in_parts_and_one_after_another_come_whole(port: int) -> None:
    with connected(port) as connection:
        connection.sendall(b"HEAD / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert connection.recv(65536).endswith(b"\r\n\r\n")
        connection.sendall(b"GET /parts HTTP/1.1\r\nHost: here\r\n\r\n" * 3 + b"GET / HTTP/1.1\r\nHost: elsewhere\r\n")
        connection.sendall(b"Connection: close\r\n\r\n")
        answers = rest(connection)
    assert answers.count(b"HTTP/1.1 200 OK") == answers.count(b"2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n") == 3
    assert answers.endswith(b"This host is not served here.")


def test_connections_leave_files_for_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda what: (1024, 4096))
    assert most_connections() == 1024 - RESERVED
    monkeypatch.setattr(resource, "getrlimit", lambda what: (50, 4096))
    assert most_connections() == FEWEST
    monkeypatch.setattr(resource, "getrlimit", lambda what: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert most_connections() is None

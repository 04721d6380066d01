"""One page over HTTP for browsers of this machine, with the standard library alone."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from qrowd.errors import ArgumentError

HOST = "127.0.0.1"


class PageHandler(BaseHTTPRequestHandler):
    """Answers / with the page, to requests that name this machine: other sites cannot read it by names of theirs."""

    server_version, sys_version = "qrowd", ""

    def __init__(self, page: bytes, *arguments: object) -> None:
        self.page = page
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if host not in (HOST, "localhost"):
            self._answer(HTTPStatus.MISDIRECTED_REQUEST, b"")
        elif self.path.partition("?")[0] == "/":
            self._answer(HTTPStatus.OK, self.page)
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"")

    do_HEAD = do_GET

    def _answer(self, status: HTTPStatus, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing: the address was printed, and requests say no more."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Without the look-up of this machine's name."""
        from socketserver import TCPServer

        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, int(self.server_address[1])


def page_server(page: bytes, port: int) -> ThreadingHTTPServer:
    """A server of the page, bound to the port of this machine alone; 0: any free port.

    Raises
    ------
    ArgumentError
        A port that cannot be used.
    """
    try:
        return _Server((HOST, port), partial(PageHandler, page))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ArgumentError(f"port={port}: {reason}; give another, or 0 for any free port") from None

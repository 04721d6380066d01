"""The application of tests, with two of its three faces: asked straight, and listening on a port for a browser.

The third is a process that can be killed: `collect.web.application`.
"""

import asyncio
import html
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlencode, urlsplit

import uvicorn

from qrowd.collect.campaigns.judging import JudgingService
from qrowd.collect.store.engine import open_store
from qrowd.collect.web import api, owner
from qrowd.collect.web.app import make_app
from qrowd.collect.web.owner import owner_link
from qrowd.collect.web.security import ServerSettings

T = TypeVar("T")
SECRET = bytes(range(7, 250, 5))
BASE = "https://judge.test"
NOW = 1_800_000_000.0


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@dataclass
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key == name]
        return ", ".join(found) if found else None

    def field(self, name: str) -> str:
        """The value of the page's input of that name."""
        found = re.search(rf'name="{re.escape(name)}" value="([^"]*)"', self.text)
        assert found, f"no field {name} in {self.text[:300]}"
        return html.unescape(found[1])


@dataclass
class Browser:
    """Sends requests straight to the application; keeps cookies; says where its forms come from."""

    app: Any
    base: str = BASE
    cookies: dict[str, str] = field(default_factory=dict)
    address: str = "192.0.2.1"

    def get(self, path: str, headers: Mapping[str, str] | None = None, method: str = "GET") -> Answer:
        return self.send(method, path, b"", dict(headers or {}))

    def post(
        self, path: str, form: Mapping[str, str] | bytes, headers: Mapping[str, str] | None = None, origin: str = BASE
    ) -> Answer:
        body = form if isinstance(form, bytes) else urlencode(form).encode()
        own = {"content-type": "application/x-www-form-urlencoded", "content-length": str(len(body))}
        return self.send("POST", path, body, {**own, **({"origin": origin} if origin else {}), **(headers or {})})

    def send(self, method: str, path: str, body: bytes, headers: Mapping[str, str], *, keep: bool = True) -> Answer:
        parts = urlsplit(path)
        sent = {"host": urlsplit(self.base).netloc, **headers}
        if self.cookies:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        scope = scope_of(method, parts.path, parts.query, sent, self.address)
        answer = asyncio.run(ask(self.app, scope, body))
        for key, value in answer.headers if keep else ():
            if key == "set-cookie":
                name, _, rest = value.partition("=")
                content = rest.partition(";")[0].strip('"')
                if content and "Max-Age=0" not in rest:
                    self.cookies[name] = content
                else:
                    self.cookies.pop(name, None)
        return answer


def scope_of(method: str, path: str, query: str, headers: Mapping[str, str], address: str = "192.0.2.1") -> Any:
    return {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": unquote(path), "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(k.encode(), v.encode("latin-1")) for k, v in headers.items()],
        "client": (address, 1), "server": ("127.0.0.1", 80), "state": {},
    }  # fmt: skip


async def ask(app: Any, scope: Any, body: bytes) -> Answer:
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start = next(message for message in sent if message["type"] == "http.response.start")
    content = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
    return Answer(start["status"], [(k.decode(), v.decode("latin-1")) for k, v in start["headers"]], content)


@dataclass
class Place:
    """A server over a store of its own. base : its address."""

    store: Any
    clock: Any
    service: Any
    app: Any
    base: str = BASE

    def owner(self) -> Browser:
        """An owner who came in by the printed link."""
        browser = Browser(streaming(self.app), self.base)
        path = self.store.write(lambda c: owner_link(c, "", self.clock()))
        assert browser.post(path, {"csrf": browser.get(path).field("csrf")}, origin=self.base).status == 303
        return browser


@contextmanager
def serving(
    folder: Path, content: bytes, clock: Any, service: Callable[[Any, Any], Any] = JudgingService, **changes: Any
) -> Iterator[Place]:
    """The whole application over a store with that content in a folder. changes : of the settings."""
    (folder / "judgments.db").write_bytes(content)
    with open_store(folder / "judgments.db") as store:
        settings = ServerSettings(**{"base_url": BASE, "secret": SECRET, "environ": {}, **changes})
        routes, large = [*owner.ROUTES, *api.ROUTES], {**owner.LARGE, **api.LARGE}
        own = service(store, clock=clock)
        app = make_app(own, store, settings=settings, routes=routes, large=large, clock=clock)
        yield Place(store, clock, own, app, settings.base_url)


@contextmanager
def listening(make: Callable[[str], AbstractContextManager[T]]) -> Iterator[T]:
    """What `make` makes for the address of a free port of this machine, with its `app` listening there."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        with make(f"http://127.0.0.1:{own.getsockname()[1]}") as made:
            app: Any = made.app  # type: ignore[attr-defined]
            config = uvicorn.Config(app, log_level="critical", lifespan="off", ws="none", server_header=False)
            server = uvicorn.Server(config)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [own]}, daemon=True)
            thread.start()
            while not server.started:
                time.sleep(0.01)
            try:
                yield made
            finally:
                server.should_exit = True
                thread.join(timeout=5)


def streaming(app: Any) -> Any:
    """The application behind a server that says by itself when a browser has gone, as today's do."""

    async def newer(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, "asgi": {"version": "3.0", "spec_version": "2.4"}}, receive, send)

    return newer

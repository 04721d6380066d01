"""The application of tests, with three faces: asked straight, listening on a port, and as processes that can be killed.

`serving` and `Browser` ask an application of this process; `listening` lets a thread serve it to a real browser.

`ServerProcess` starts two processes: one loads the program and serves nothing, the server is its child. So a restart
costs no imports, and a hundred of them fit into a test. With `fresh=True` the server is started by a command of its own
instead, as a user does; then `ServerProcess.ask` has something done in its process that an owner would do.

python webserver.py load                reads lines `SERVING AS JSON` or `wait PID`, prints numbers of processes
python webserver.py serve SERVING       serves until it is killed, and does what the lines of its standard input say
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import html
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import copy_context
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.error import URLError
from urllib.parse import unquote, urlencode, urlsplit
from urllib.request import urlopen

import uvicorn
from sqlalchemy import select

from qrowd_server.campaigns.plan.plan_tables import plan_from_table
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.protocols.events import GoOn
from qrowd_server.store import schema
from qrowd_server.store.base import Store
from qrowd_server.store.engine import open_store
from qrowd_server.store.invitation_links import invite
from qrowd_server.web import api, owner
from qrowd_server.web import serving as web_serving
from qrowd_server.web.app import make_app
from qrowd_server.web.owner.sign_in import owner_link
from qrowd_server.web.rendering import environment
from qrowd_server.web.security import ServerSettings
from qrowd_server.web.serving import Serving, serve

T = TypeVar("T")
SECRET = bytes(range(7, 250, 5))
BASE = "https://judge.test"
HOST = "127.0.0.1"
READY = 30.0  # seconds


# ---- asked straight


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
        answer = finished(ask(self.app, scope, body))
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


RUNNER = asyncio.Runner()  # a new event loop with threads of its own takes as long as an answer
atexit.register(RUNNER.close)


def finished(work: Coroutine[Any, Any, T]) -> T:
    """What it returns. The main thread has one event loop for all of them."""
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(work)
    return RUNNER.run(work, context=copy_context())


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
        routes, large = [*owner.ROUTES, *api.ROUTES], owner.LARGE
        own = service(store, clock=clock)
        app = make_app(own, store, settings=settings, routes=routes, large=large, clock=clock, monotonic=clock)
        yield Place(store, clock, own, app, settings.base_url)


# ---- listening on a port


@contextmanager
def listening(make: Callable[[str], AbstractContextManager[T]]) -> Iterator[T]:
    """What `make` makes for the address of a free port of this machine, with its `app` listening there."""
    with socket.socket() as own:
        own.bind((HOST, 0))
        with make(f"http://{HOST}:{own.getsockname()[1]}") as made:
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


# ---- processes that can be killed


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port: int = listener.getsockname()[1]
        return port


class ServerProcess:
    """A server process over a store, at its own port for as long as this lives; it can be killed and started again.

    per_minute : judgments of one assessor. log : where the server's words go.
    """

    def __init__(self, database: str, *, log: Path, per_minute: int = 10**6, fresh: bool = False) -> None:
        self.address = HOST, free_port()
        serving = Serving(database, *self.address, self.url(), per_minute=per_minute, secret="%064x" % (7**70))
        self._settings = json.dumps(asdict(serving))
        self._log = log.open("ab")
        self._loader: subprocess.Popen[bytes] | None = None
        if not fresh:
            self._loader = self._popen("load")
        self._child: subprocess.Popen[bytes] | None = None
        self.pid = self.kills = 0

    def _popen(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, __file__, *arguments]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log)

    def start(self) -> None:
        """Start it; it may take a while until it answers."""
        if self._loader is None:
            self._child = self._popen("serve", self._settings)
            self.pid = self._child.pid
        else:
            self.pid = int(self._line(self._loader, self._settings))

    def ask(self, what: str, *arguments: Any) -> Any:
        """Something done in the process of a fresh server; see `deeds`."""
        assert self._child is not None
        return json.loads(self._line(self._child, json.dumps([what, *arguments])))

    def _line(self, process: subprocess.Popen[bytes], line: str) -> bytes:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        if not (answer := process.stdout.readline()):
            raise RuntimeError(f"the process ended: {Path(self._log.name).read_text()[-2000:]}")
        return answer

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it, and wait until it is gone."""
        os.kill(self.pid, how)
        self.kills += how == signal.SIGKILL
        if self._loader is None:
            assert self._child is not None
            self._child.communicate(timeout=READY)
        else:
            self._line(self._loader, f"wait {self.pid}")
        self.pid = 0

    def wait_ready(self) -> float:
        """Seconds until the server says that it is well."""
        start = time.perf_counter()
        while time.perf_counter() < start + READY:
            with contextlib.suppress(URLError, OSError), urlopen(self.url() + "/health", timeout=READY) as answer:
                if answer.status == 200:
                    return time.perf_counter() - start
            if "Z" in Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2]:
                raise RuntimeError(f"the server ended: {Path(self._log.name).read_text()[-2000:]}")
            time.sleep(0.01)
        raise TimeoutError(f"no answer from {self.url()} for {READY:.0f} seconds; see {self._log.name}")

    def url(self) -> str:
        return "http://{}:{}".format(*self.address)

    def cpu(self) -> float:
        """Seconds of processor time that it has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Megabytes it has in memory."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * resource.getpagesize() / 2**20

    def __enter__(self) -> ServerProcess:
        self.start()
        self.wait_ready()
        return self

    def __exit__(self, *_: object) -> None:
        if self.pid:
            self.kill()
        if self._loader is not None:
            self._loader.communicate(timeout=READY)
        self._log.close()


# ---- inside the processes


def run(settings: str, *, listen: bool = False) -> None:
    """Serve. listen : do what the lines of the standard input say, one after another, beside it."""
    serving = Serving(**{name: tuple(v) if isinstance(v, list) else v for name, v in json.loads(settings).items()})
    store = open_store(serving.database)
    if listen:
        threading.Thread(target=obey, args=(store,), daemon=True).start()
    serve(serving, store)


def obey(store: Store) -> None:
    by_name = deeds(store)
    with os.fdopen(0, "rb", buffering=0) as lines:  # a buffer has a lock, which would be waited for at the end
        for line in lines:
            what, *arguments = json.loads(line)
            print(json.dumps(by_name[what](*arguments)), flush=True)


def deeds(store: Store) -> dict[str, Callable[..., Any]]:
    """What can be asked for, by name."""

    def campaign(table: dict[str, Any]) -> int:
        plan = plan_from_table(table)
        return store.write(lambda connection: create_campaign(connection, plan, time.time()))

    def link(campaign_id: int, name: str) -> str:
        return store.write(lambda connection: invite(connection, campaign_id, name, time.time()))

    def lapse(campaign_id: int, name: str) -> None:
        who, unit = schema.assessor, schema.assignment
        ids = select(who.c.id).where(who.c.campaign_id == campaign_id, who.c.name == name)
        gone = unit.update().where(unit.c.assessor_id.in_(ids)).values(lease_until=time.time() - 60)
        store.write(lambda connection: connection.execute(gone).rowcount)

    async def come(campaign: str, name: str) -> None:
        service = JudgingService(store)
        await service.act(await service.arrive(campaign, "link", name), GoOn())

    return {
        "campaign": campaign,
        "invite": link,
        "lapse": lapse,
        "bring": lambda campaign, name: asyncio.run(come(campaign, name)),
        "set_status": lambda campaign, status: asyncio.run(CampaignAdmin(store).set_status(campaign, status)),
        "exclude": lambda campaign, name: asyncio.run(CampaignAdmin(store).exclude(campaign, name, "for a test")),
    }


def load() -> None:
    """Have all ready that clients in English see; then a child for every line, which compiles no other templates."""
    for name in environment().list_templates(["html"]):
        environment().get_template(name)
    web_serving.compile_templates = lambda: None  # type: ignore[attr-defined]
    while line := sys.stdin.readline():
        if line.startswith("wait "):
            pid, _ = os.waitpid(int(line.split()[1]), 0)
        elif (pid := os.fork()) == 0:
            os.close(0)
            os.dup2(2, 1)
            run(line)
            os._exit(0)
        os.write(1, f"{pid}\n".encode())


if __name__ == "__main__":
    load() if sys.argv[1] == "load" else run(sys.argv[2], listen=True)

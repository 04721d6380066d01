"""An assessor without a browser: does what the page's script does, in as little time as possible.

It shares the machine with the server that it measures, so it speaks HTTP/1.1 over a bare stream and reads the pages by
regular expressions. A form that was not answered is kept and sent again, with the same key, until it is.
"""

from __future__ import annotations

import asyncio
import html
import random
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import urlencode

AGAIN = 0.05  # seconds before a form is sent again where no connection could be had
PATIENCE = 60.0  # seconds after which nobody believes in the server any more

_VIEW = re.compile(r'data-view="(\w+)"')
_FIELD = re.compile(r'type="hidden" name="(csrf|shown|key|line|position|pair)" value="([^"]*)"')
_CHOICE = re.compile(r'type="radio" name="text"[^>]* value="([^"]*)"')
_STEPS = re.compile(r"A line, (\d+) steps long")
_PANES = re.compile(r'data-left="(\d+)" data-right="(\d+)"')
_TITLE = re.compile(r'<h2 id="(?:start|left-title|right-title)"[^>]*>([^<]*)</h2>')
_ANOTHER = re.compile(r'name="do" value="go_on"')

Form = dict[str, str]


@dataclass(frozen=True)
class Answer:
    """What a server sent. headers : names in lower case; of several cookies the last one."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


class Connection:
    """Requests one after another to one server, over one connection as long as it holds."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.address, self.cookie = address, ""
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    @property
    def origin(self) -> str:
        return f"http://{self.address[0]}:{self.address[1]}"

    async def get(self, path: str) -> Answer:
        return await self._request("GET", path, b"", ())

    async def post(self, path: str, form: Form, headers: Iterable[str] = ()) -> Answer:
        kind = "content-type: application/x-www-form-urlencoded"
        return await self._request("POST", path, urlencode(form).encode(), (kind, f"origin: {self.origin}", *headers))

    async def _request(self, method: str, path: str, body: bytes, headers: Iterable[str]) -> Answer:
        """One answer; OSError or EOFError where the connection broke, whatever the server did by then."""
        lines = [f"{method} {path} HTTP/1.1", f"host: {self.address[0]}:{self.address[1]}", *headers]
        if self.cookie:
            lines.append(f"cookie: {self.cookie}")
        if method == "POST":
            lines.append(f"content-length: {len(body)}")
        if self._streams is not None and self._streams[0].at_eof():
            self.close()  # the server let go of it while nobody asked for anything
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection(*self.address, limit=2**20)
            reader, writer = self._streams
            writer.write("\r\n".join([*lines, "", ""]).encode() + body)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            said = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            answer = Answer(
                int(head[0].split()[1]), said, await reader.readexactly(int(said.get("content-length", "0")))
            )
        except BaseException:
            self.close()
            raise
        if "set-cookie" in said:
            self.cookie = said["set-cookie"].partition(";")[0]
        if said.get("connection", "").lower() == "close":
            self.close()
        return answer

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


# ---- pages and what is done on them


@dataclass(frozen=True)
class Screen:
    """A `<main>`: which page it is, the hidden fields of its forms, and all of it."""

    view: str
    fields: Form
    text: str

    @classmethod
    def read(cls, text: str) -> Screen:
        found = _VIEW.search(text)
        if found is None:
            raise ValueError(f"no page: {text[:500]}")
        text = text[found.start() : text.rfind("</main>")]  # the forms around it have other tokens
        return cls(found[1], {name: html.unescape(value) for name, value in _FIELD.findall(text)}, text)

    @property
    def grades(self) -> list[str]:
        """The values of the scale; none where a number is typed."""
        return _CHOICE.findall(self.text)

    @property
    def titles(self) -> list[str]:
        """What the documents are called."""
        return [html.unescape(title) for title in _TITLE.findall(self.text)]

    @property
    def steps(self) -> int:
        """How long the practice line is."""
        found = _STEPS.search(self.text)
        assert found is not None
        return int(found[1])

    @property
    def pair(self) -> tuple[int, int]:
        """The numbers of the two documents."""
        found = _PANES.search(self.text)
        assert found is not None
        return int(found[1]), int(found[2])

    @property
    def has_another(self) -> bool:
        """Whether an end offers another topic."""
        return _ANOTHER.search(self.text) is not None


Choose = Callable[[Screen], Form]


def at_random(rng: random.Random, *, bad: float = 0.0, undo: float = 0.0) -> Choose:
    """Any judgment. bad, undo : how often a document is removed, or the last judgment of a pair taken back."""

    def choose(screen: Screen) -> Form:
        if screen.view == "document":
            grades = screen.grades
            text = rng.choice(grades) if grades else str(rng.randrange(1, 1000))
            return {"do": "judge", "text": text, "reason": f"because of {rng.random()}", "active": "1.5"}
        if 'id="bad"' in screen.text and rng.random() < bad:
            return {"do": "bad", "side": rng.choice(("left", "right"))}
        if 'id="undo"' in screen.text and rng.random() < undo:
            return {"do": "undo"}
        return {"do": "prefer", "choice": rng.choice(("left", "right"))}

    return choose


def next_form(screen: Screen, choose: Choose) -> Form | None:
    """What comes after a screen; None where nothing can be done on it."""
    match screen.view:
        case "consent":
            said = {"do": "consent", "agreed": "1"}
        case "line":
            said = {"do": "line", "text": str(screen.steps)}
        case "lines" | "revision" | "lost":
            said = {"do": "go_on"}
        case "question":
            said = {"do": "reply", "option": "0"}
        case "rating":
            said = {"do": "rate", "confidence": "3", "understanding": "4", "comment": ""}
        case "end" if screen.has_another:
            said = {"do": "go_on"}
        case "document" | "pair":
            said = choose(screen)
        case _:
            return None
    names = {"document": ("position",), "pair": ("pair",), "line": ("line",)}.get(screen.view, ())
    return {**{name: screen.fields[name] for name in ("csrf", "shown", "key", *names)}, **said}


@dataclass
class Log:
    """What clients were told, all of them together.

    acknowledged : {key: form}. took : seconds from the first byte of an answer's request to the last of its reply.
    broken : connections that broke. waited : answers that asked to come again. refused : {code: how often}.
    failed : statuses that no answer should have.
    """

    acknowledged: dict[str, Form] = field(default_factory=dict)
    took: list[float] = field(default_factory=list)
    broken: int = 0
    waited: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)


class Assessor:
    """One client. addresses : of servers, any of which will do; the next one is tried where one does not answer."""

    def __init__(
        self, campaign: str, addresses: list[tuple[str, int]], choose: Choose, log: Log, first: int = 0
    ) -> None:
        self.campaign, self.choose, self.log = campaign, choose, log
        self._connections = [Connection(address) for address in addresses]
        self._turn = first % len(addresses)
        self.screen: Screen | None = None
        self.cookie = ""

    @property
    def connection(self) -> Connection:
        return self._connections[self._turn]

    def close(self) -> None:
        for connection in self._connections:
            connection.close()

    async def join(self, token: str) -> None:
        """Come in by an invitation."""
        page = await self.connection.get(f"/join/{token}")
        csrf = next(value for name, value in _FIELD.findall(page.text) if name == "csrf")  # the language has its own
        answer = await self.connection.post(f"/join/{token}", {"csrf": csrf})
        assert answer.status == 303, answer
        self.cookie = self.connection.cookie

    async def persistent(self, ask: Callable[[], object]) -> Answer:
        """An answer that says yes or no; asked for again after anything else."""
        until, tries = time.monotonic() + PATIENCE, list[str]()
        while True:
            self.connection.cookie = self.cookie
            began = time.monotonic()
            try:
                answer: Answer = await ask()  # type: ignore[misc]
                tries.append(f"{answer.status} {answer.text[:80]!r}")
            except (OSError, EOFError) as error:
                tries.append(repr(error))
                self.log.broken += 1
                self._turn = (self._turn + 1) % len(self._connections)
                await asyncio.sleep(AGAIN)
            else:
                if answer.status in (502, 504):  # of a proxy that reaches no server
                    self.log.broken += 1
                    await asyncio.sleep(AGAIN)
                elif answer.status not in (429, 503):
                    return answer
                else:
                    self.log.waited += 1
                    await asyncio.sleep(float(answer.headers["retry-after"]))
            if time.monotonic() > until:
                last = f"the last after {time.monotonic() - began:.0f} s"
                raise TimeoutError(f"no answer for {PATIENCE:.0f} seconds in {len(tries)} tries, {last}: {tries[-4:]}")

    async def look(self) -> Screen:
        """The page as it is now."""
        answer = await self.persistent(lambda: self.connection.get(f"/c/{self.campaign}"))
        assert answer.status == 200, answer
        self.screen = Screen.read(answer.text)
        return self.screen

    async def send(self, form: Form) -> Answer:
        """Once, as the script does."""
        self.connection.cookie = self.cookie
        return await self.connection.post(f"/c/{self.campaign}/act", form, ("x-qrowd: fragment",))

    async def step(self) -> bool:
        """Do whatever the page asks for; whether there was anything."""
        screen = self.screen or await self.look()
        form = next_form(screen, self.choose)
        if form is None:
            return False
        start = time.perf_counter()
        answer = await self.persistent(lambda: self.send(form))
        self.log.took.append(time.perf_counter() - start)
        if answer.status == 200:
            self.log.acknowledged[form["key"]] = form
            self.screen = Screen.read(answer.text)
            return True
        code = re.search(rb'"code":\s*"(\w+)"', answer.body)
        if answer.status in (409, 422) and code is not None:
            said = code[1].decode()
            self.log.refused[said] = self.log.refused.get(said, 0) + 1
        else:
            self.log.failed.append(f"{answer.status} {answer.text[:300]}")
        self.screen = None  # ask again
        return True

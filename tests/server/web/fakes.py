"""A service without a database of its own, drawings that only repeat what they are given, and a browser."""

import html
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import insert

from judging import NOW, Clock
from qrowd_server.campaigns.running.pages import Page, Receipt
from qrowd_server.protocols.events import Action, Refusal
from qrowd_server.protocols.views import ConsentView, DocumentView, View
from qrowd_server.store.engine import open_store
from qrowd_server.store.invitation_links import invite
from qrowd_server.store.schema import assessor as assessor_table
from qrowd_server.store.schema import campaign as campaign_table
from qrowd_server.web.app import make_app
from qrowd_server.web.security import ServerSettings
from webserver import BASE, SECRET, Browser

PANEL = {"links": {"completed": "https://panel.test/done?who={id}&code={code}"},
         "codes": {"completed": "P1", "failed": "PFAIL", "screened_out": "POUT"}}  # fmt: skip
DOCUMENT = DocumentView(0, 2, 1, None, (False, False), (False, False), (), "optional")


class FakeService:
    """Takes every action and remembers it; raises `error` where one is set."""

    retention_days: float | None = None

    def __init__(self, store: Any, clock: Clock) -> None:
        self.store, self.clock = store, clock
        self.acts: list[tuple[int, Action, str, str]] = []
        self.drafts: list[tuple[Any, ...]] = []
        self.pauses: list[int] = []
        self.arrived: list[tuple[Any, ...]] = []
        self.views: dict[int, View] = {}
        self.replies: dict[tuple[int, str], Receipt] = {}
        self.error: Exception | None = None
        self.pages = 0

    def _page(self, campaign: str, view: View) -> Page:
        self.pages += 1
        return Page(campaign, "A title", "magnitude", "ann", view, None, {}, "s1", f"k{self.pages}")

    async def page(self, assessor_id: int, *, pause: bool = False) -> Page:
        self.pauses += [assessor_id] if pause else []
        return self._page("one", self.views.get(assessor_id, DOCUMENT))

    async def preview(self, campaign: str, *, judging: bool = False) -> Page:
        return self._page(campaign, ConsentView())

    async def act(self, assessor_id: int, action: Action, *, shown: str = "", key: str = "") -> Receipt:
        if self.error is not None:
            raise self.error
        if (assessor_id, key) in self.replies:
            earlier = self.replies[assessor_id, key]
            return Receipt(earlier.event_id, earlier.time, replayed=True)
        self.acts.append((assessor_id, action, shown, key))
        receipt = self.replies[assessor_id, key] = Receipt(len(self.acts), self.clock())
        return receipt

    async def save_draft(self, assessor_id: int, shown: str, position: int, text: str, reason: str) -> None:
        if self.error is not None:
            raise self.error
        self.drafts.append((assessor_id, shown, position, text, reason))

    async def arrive(
        self,
        campaign: str,
        provider: str,
        external_id: str,
        *,
        name: str | None = None,
        about: dict[str, Any] | None = None,
    ) -> int:
        self.arrived.append((campaign, provider, external_id, about))
        return await self.store.write_async(
            lambda c: add_assessor(c, campaign, provider, external_id, name or external_id)
        )


def add_assessor(connection: Any, campaign: str, provider: str, external: str, name: str) -> int:
    of = connection.execute(campaign_table.select().where(campaign_table.c.name == campaign)).one().id
    a = assessor_table.c
    known = connection.execute(
        assessor_table.select().where(a.campaign_id == of, a.provider == provider, a.external_id == external)
    ).first()
    if known is not None:
        return int(known.id)
    number = len(connection.execute(assessor_table.select()).all()) + 1
    row = {
        "id": number, "campaign_id": of, "name": f"{name}-{provider}", "provider": provider, "external_id": external,
        "status": "working", "seed": 1, "state": {}, "created": NOW, "updated": NOW,
    }  # fmt: skip
    connection.execute(insert(assessor_table).values(row))
    return number


class FakeRendering:
    """Pages that repeat what they were given, escaped."""

    def render_page(self, page: Page, **given: Any) -> str:
        return f"<html>{self.render_main(page, **given)}</html>"

    def render_main(
        self,
        page: Page,
        *,
        csrf: str,
        base: str,
        problem: Refusal | None = None,
        typed: Mapping[str, str] | None = None,
        **more: Any,
    ) -> str:
        said = "" if problem is None else f"{problem.code}|{problem.field}|{problem.message}"
        values = {
            "csrf": csrf, "base": base, "problem": said, "shown": page.shown, "key": page.key,
            "link": page.link or "", "code": page.code or "", "view": type(page.view).__name__,
            **{f"typed-{name}": value for name, value in (typed or {}).items()},
        }  # fmt: skip
        fields = "".join(f'<input name="{html.escape(k)}" value="{html.escape(v)}">' for k, v in values.items())
        return f"<main>{fields}</main>"

    def render_welcome(self, title: str, consent: str = "", *, csrf: str, action: str, **more: Any) -> str:
        return f'<html>welcome<input name="csrf" value="{csrf}"><input name="action" value="{action}"></html>'

    def render_error(self, status: int, *, message: str = "", reference: str = "", **more: Any) -> str:
        return f'<html>error {status} {html.escape(message)}<input name="reference" value="{reference}"></html>'


@dataclass
class World:
    """A server with campaigns "one" and "two", and assessors Ann (one), Bob (one) and Cleo (two) by invitation."""

    store: Any
    clock: Clock
    service: FakeService
    app: Any
    links: dict[str, str]

    def browser(self, name: str = "") -> Browser:
        """Of nobody; or of somebody who has come in by their link."""
        browser = Browser(self.app)
        if name:
            path = f"/join/{self.links[name]}"
            assert browser.post(path, {"csrf": browser.get(path).field("csrf")}).status == 303
        return browser

    def token(self, browser: Browser, campaign: str = "one") -> str:
        return browser.get(f"/c/{campaign}").field("csrf")


@cache
def template() -> tuple[bytes, dict[str, str]]:
    """A store with two campaigns and three invitations, as bytes; made once, because that takes longer than a test."""
    with TemporaryDirectory() as folder:
        with open_store(Path(folder) / "judgments.db") as store:
            links = store.write(fill)
        return (Path(folder) / "judgments.db").read_bytes(), links


def fill(connection: Any) -> dict[str, str]:
    numbers = {}
    for name in ("one", "two"):
        row = {
            "name": name, "title": f"Title {name}", "status": "running", "seed": 1,
            "settings": {
                "arms": [{"name": "", "protocol": "magnitude", "settings": {}, "instructions": ""}],
                "panel": PANEL if name == "one" else None,
            }, "created": NOW,
        }  # fmt: skip
        numbers[name] = connection.execute(insert(campaign_table).values(row)).inserted_primary_key[0]
    where = {"ann": "one", "bob": "one", "cleo": "two"}
    return {who: invite(connection, numbers[campaign], who, NOW) for who, campaign in where.items()}


@contextmanager
def world(folder: Path, *, rendering: Any = None, **changes: Any) -> Iterator[World]:
    """A server over a store of its own in that folder; `changes` : settings."""
    clock = Clock()
    content, links = template()
    (folder / "judgments.db").write_bytes(content)
    with open_store(folder / "judgments.db") as store:
        service = FakeService(store, clock)
        settings = ServerSettings(**{"base_url": BASE, "secret": SECRET, **changes})
        app = make_app(
            service, store, settings=settings, pages=rendering or FakeRendering(), clock=clock, monotonic=clock
        )
        yield World(store, clock, service, app, links)

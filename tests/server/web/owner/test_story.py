"""A project lead's way through the browser alone: from an empty server to the decision, with five people, two careless.

The lead logs in by the printed link, makes a campaign from two runs, invites five people, watches them, settles what
they disagree about, reads which system is better, and takes the files. ann judges on a phone by keys until her first
set ends, dan presses the same key until the entry test excludes him; what ann does afterwards, and what bob, cleo and
eve (who guesses) do, are the forms that a browser would send. Everybody's clicks are compared with the files.

QROWD_SCREENSHOTS=FOLDER keeps a picture of each page: wide and narrow, light and dark.
"""

from __future__ import annotations

import asyncio
import csv
import json
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Thread
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator, Page, Response, expect

from browsers import Look
from qrowd_server.store.materials import find_campaign
from qrowd_server.store.state_rows import assessors_of
from qrowd_server.web.owner.sign_in import owner_link
from server.soak.client import Assessor, Form, Log, Screen
from server.story import Material
from server.web.journeys import after, press
from stores import empty_file
from webserver import Place, listening, serving

MOST_PAGES = 12  # of an owner
PEOPLE = ("ann", "bob", "cleo", "dan", "eve")
CARELESS = ("dan", "eve")
TITLE = "Which search helps?"
NAME = "which-search-helps"
REASON = "It answers the question."  # of the owner
HARD = ' ÄÖÜ 猫 <b>not bold</b> "quoted", too'  # a reason; with a blank in front


class Clock:
    """The time of day, and what people spend reading, which passes at once."""

    def __init__(self) -> None:
        self.spent = 0.0

    def __call__(self) -> float:
        return time.time() + self.spent


# ---- people who judge


@dataclass(frozen=True)
class Click:
    """An answer as it was sent. before, after : the time at the client."""

    who: str
    document: str
    value: str
    reason: str
    before: float
    after: float


@dataclass
class People:
    """Five assessors. clicks : of all of them, in order."""

    made: Place
    material: Material
    look: Look
    links: dict[str, str]
    clicks: list[Click] = field(default_factory=list)
    rng: Random = field(default_factory=lambda: Random(3))

    def grade(self, who: str, title: str) -> int:
        """What they think of a document: bob and cleo differ about one of each topic, dan and eve do not read."""
        true, document = self.material.by_title[title], title.rpartition("-")[2]
        if who in CARELESS:
            return 2 if who == "dan" else Random(f"eve {title}").randrange(4)
        return abs(true - 1) if (who, document) in (("bob", "d1"), ("cleo", "d2")) else true

    def reason(self, who: str) -> str:
        return {"bob": HARD, "cleo": f"because of {self.rng.random():.3f}"}.get(who, "")

    def keep(self, who: str, document: str, value: str, reason: str, before: float) -> None:
        self.clicks.append(Click(who, document.removeprefix("Page "), value, reason, before, self.made.clock()))

    def read(self) -> float:
        """Somebody reads for some seconds; the time afterwards."""
        self.made.clock.spent += self.rng.uniform(2, 8)
        now: float = self.made.clock()
        return now

    def judge_by_keys(self, who: str, tab: Page) -> None:
        """From the invitation until the first set ends or they are excluded. ann's first answer is a slip."""

        def see(what: str) -> None:
            if who == "ann" and self.look.every:
                self.look(tab, f"{who}, {what}")
                tab.set_viewport_size({"width": 390, "height": 844})

        tab.goto(self.links[who])
        see("invited")
        after(tab, tab.get_by_role("button", name="Begin").click)
        see("asked to agree")
        after(tab, tab.get_by_role("button", name="I agree, let us begin").click)
        see("a document")
        while (view := tab.locator("main").get_attribute("data-view")) == "document":
            title = tab.locator("#start").inner_text()
            if len(self.clicks) == 1 and tab.locator("[form=move][data-keys=b]").count():
                press(tab, "b")
                continue
            grade, before = self.grade(who, title), self.read()
            grade = grade if self.clicks else 3 - grade
            tab.keyboard.press(str(grade))
            press(tab, "Enter")
            self.keep(who, title, str(grade), "", before)
            if len(self.clicks) == 5:
                tab.get_by_role("link", name="Pause").click()
                expect(tab.locator("main")).to_contain_text("You gave 4 answers so far.")
                see("at a pause")
                tab.get_by_role("link", name="Go on now").click()
        if view == "rating":
            see("asked about the set")
            for label in ("confidence-4", "understanding-5"):
                tab.locator(f"label[for={label}]").click()
            after(tab, tab.get_by_role("button", name="Finish").click)
        n = len({one.document for one in self.clicks if one.who == who})
        expect(tab.locator("main")).to_contain_text(f"You gave {n} answers.")
        see("at the end of a set")

    def judge_all(self, cookies: dict[str, str]) -> None:
        """Everybody in turn, form by form, until nobody can do anything. cookies : of those who came by a browser."""
        working = Thread(target=lambda: asyncio.run(self._judge_all(cookies)))
        working.start()
        working.join()

    async def _judge_all(self, cookies: dict[str, str]) -> None:
        parts = urlsplit(self.made.base)
        assert parts.hostname is not None
        assert parts.port is not None
        address = (parts.hostname, parts.port)
        clients: dict[str, Assessor] = {}
        for who, link in self.links.items():
            clients[who] = Assessor(NAME, [address], lambda screen, who=who: self.form(who, screen), Log())  # type: ignore[misc]
            clients[who].cookie = cookies.get(who, "")
            if not clients[who].cookie:
                await clients[who].join(urlsplit(link).path.rpartition("/")[2])
        while any([await self.step(who, client) for who, client in clients.items()]):
            pass
        for client in clients.values():
            client.close()
            assert (client.log.failed, client.log.refused, client.log.broken) == ([], {}, 0)

    def form(self, who: str, screen: Screen) -> Form:
        reason = self.reason(who)
        if who == "cleo" and 'value="cannot_tell"' in screen.text and self.rng.random() < 0.05:
            return {"do": "cannot_tell", "reason": "It has no date."}
        return {"do": "judge", "text": str(self.grade(who, screen.titles[0])), "reason": reason, "active": "1.5"}

    async def step(self, who: str, client: Assessor) -> bool:
        """One form of one of them; whether there was anything to do."""
        screen, before = client.screen or await client.look(), self.read()
        if not await client.step():
            client.screen = None  # look again later: somebody's unit may come back
            return False
        form = list(client.log.acknowledged.values())[-1]
        if form["do"] in ("judge", "cannot_tell"):
            self.keep(who, screen.titles[0], form.get("text", ""), form["reason"], before)
        return True


# ---- the owner


@dataclass
class Lead:
    """The owner's browser, and the addresses of the pages that it showed."""

    tab: Page
    made: Place
    look: Look
    pages: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tab.context.on("response", self._note)

    def _note(self, response: Response) -> None:
        if not response.request.is_navigation_request() or response.status != 200:
            return
        if not response.url.endswith("/copy") and "/export/" not in response.url:
            self.pages.append(response.url.removeprefix(self.made.base))

    def see(self, name: str) -> None:
        """The page has no fault."""
        self.look(self.tab, name)

    def press(self, name: str) -> None:
        with self.tab.expect_navigation():
            self.tab.get_by_role("button", name=name, exact=True).first.click()

    def follow(self, name: str | re.Pattern[str]) -> None:
        with self.tab.expect_navigation():
            self.tab.get_by_role("link", name=name, exact=isinstance(name, str)).first.click()

    def take(self, link: Locator) -> tuple[str, str]:
        """The name and content of the file behind a link."""
        with self.tab.expect_download() as waiting:
            link.click()
        return waiting.value.suggested_filename, waiting.value.path().read_text(encoding="utf-8")

    # what the owner does, and where

    def log_in(self) -> None:
        self.tab.goto(self.made.store.write(lambda c: owner_link(c, self.made.base, self.made.clock())))
        self.see("the printed link")
        self.press("Log in")
        self.see("no campaign")

    def make_campaign(self, material: Material) -> None:
        self.follow("New campaign")
        self.tab.get_by_label("Title", exact=True).fill(TITLE)
        for name, files in material.files().items():
            content = [{"name": n, "mimeType": "text/plain", "buffer": text.encode()} for n, text in files.items()]
            self.tab.locator(f"[type=file][name={name}]").set_input_files(content)  # type: ignore[arg-type]
        self.see("a new campaign")
        self.press("Create")
        expect(self.tab.get_by_role("status").first).to_contain_text("The campaign is created")
        self.see("created")

    def preview(self) -> None:
        """What assessors will see, each page in another tab, where scripts may not run: axe looks at a copy."""
        for link, words in (("The assessor's first page", "let us begin"), ("A page of judging", "highly relevant")):
            with self.tab.context.expect_page() as waiting:
                self.tab.get_by_role("link", name=link).click()
            address = waiting.value.url
            waiting.value.close()
            page = self.tab.context.request.get(address)
            assert "sandbox" in page.headers["content-security-policy"]
            assert words in page.text()
            if self.look.every:
                copy = self.tab.context.new_page()
                copy.route(
                    "**/copy", lambda route, *, page=page: route.fulfill(body=page.body(), content_type="text/html")
                )  # type: ignore[misc]
                copy.goto(f"{self.made.base}/copy")
                self.look(copy, link)
                copy.close()

    def invite(self) -> dict[str, str]:
        self.tab.get_by_label("Names, one a line").fill("\n".join(PEOPLE))
        self.press("Make links")
        links = self.tab.get_by_label("Names and links").input_value()
        self.see("links")
        return dict(line.split("\t") for line in links.splitlines())

    def watch(self) -> None:
        """Somebody has finished a set, and somebody was excluded: why."""
        self.follow("Progress")
        expect(self.tab.locator("#live-part")).to_contain_text("excluded 1")
        self.see("watching")
        self.follow("dan")
        # Which test notices first depends on the order drawn.
        excluded = re.compile(r"Excluded: (entry test|sequential test of gold answers): \d of \d right")
        expect(self.tab.locator("main")).to_contain_text(excluded)
        self.see("dan's page")

    def decision(self) -> tuple[str, list[str]]:
        """Which system is better, and under which conditions."""
        self.follow("Results")
        words = self.tab.locator("[data-figure=decision]")
        for _ in range(60):
            if words.count() and "are being compared" not in words.inner_text():
                return words.inner_text(), self.tab.locator("section:has([data-figure=decision]) li").all_inner_texts()
            self.tab.wait_for_timeout(200)
            self.tab.reload()
        raise AssertionError("the systems are not compared")

    def settle(self) -> str:
        """Give the final answer for the document that matters most; its label."""
        document = self.tab.get_by_role("link", name=re.compile("^Document .* of topic")).first
        label = document.inner_text().split()[1]
        document.click()
        self.tab.get_by_role("radio").nth(3).check()
        self.tab.get_by_label("Why", exact=True).fill(REASON)
        self.press("Save the final answer")
        expect(self.tab.get_by_text("by Owner, by link")).to_be_visible()
        self.see("settled")
        return label

    def download(self) -> dict[str, str]:
        """The three files, and the table with the answers of people who were excluded."""
        files = dict(self.take(self.tab.get_by_role("link", name=name)) for name in ("Table", "Qrels", "Everything"))
        self.tab.get_by_text("Other files", exact=True).click()
        return files | dict([self.take(self.tab.locator("a[href$='/judgments/csv?everything=1']"))])


# ---- what must be true


def same_as_clicks(clicks: list[Click], table: str, names: dict[str, str]) -> None:
    """The table has every answer of the clicks: value, reason, order, and a time within the client's."""
    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in csv.DictReader(table.splitlines()):
        if row["origin"] != "final":
            rows[names[row["assessor"]]].append(row)
    for who in PEOPLE:
        last = {one.document: one for one in clicks if one.who == who and one.value}  # the last word on each
        answered = sorted(rows[who], key=lambda row: float(row["time"]))
        assert [row["document"] for row in answered] == sorted(last, key=lambda label: last[label].after), who
        for row in answered:
            click = last[row["document"]]
            assert (row["raw"], float(row["value"])) == (click.value, float(click.value))
            assert row["comment"] == click.reason
            assert click.before <= float(row["time"]) <= click.after, (click, row)
        for unit in {row["assignment"] for row in answered}:
            order = [int(row["order"]) for row in answered if row["assignment"] == unit]
            assert order == sorted(order)


def same_as_events(clicks: list[Click], archive: str, numbers: dict[int, str]) -> None:
    """The archive has every click of a person once and in order, also what was changed, and that nobody could tell."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for one in map(json.loads, archive.splitlines()):
        if one.get("kind") in ("judged", "cannot_tell"):
            found[numbers[one["assessor_id"]]].append((one["data"].get("text", ""), one["data"]["reason"]))
    assert found == {who: [(one.value, one.reason) for one in clicks if one.who == who] for who in PEOPLE}


def same_as_decided(files: dict[str, str], document: str) -> None:
    """The owner's answer stands in place of those of assessors, in each file of judgments."""
    rows = [row for row in csv.DictReader(files[f"{NAME}-judgments.csv"].splitlines()) if row["document"] == document]
    assert {(row["value"], row["origin"], row["comment"]) for row in rows} == {("3.0", "final", REASON)}
    lines = [line.split() for line in files[f"{NAME}-judgments.qrels"].splitlines()]
    assert {line[3] for line in lines if line[2] == document} == {"3"}


@contextmanager
def empty_server(folder: Path) -> Iterator[Place]:
    clock = Clock()
    with listening(lambda base: serving(folder, empty_file(), clock, base_url=base)) as place:
        yield place


def test_a_lead_comes_from_an_empty_server_to_a_decision(browser: Browser, tmp_path: Path, look: Look) -> None:
    material = Material(6, 12) if look.every else Material(2, 6)
    with empty_server(tmp_path) as made:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(10_000)
        lead = Lead(context.new_page(), made, look)
        lead.log_in()
        lead.make_campaign(material)
        lead.preview()
        people = People(made, material, look, lead.invite())
        cookies = {}
        for who, width, scheme in (("ann", 390, "dark"), ("dan", 1280, "light")):
            own = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)  # type: ignore[arg-type]
            people.judge_by_keys(who, own.new_page())
            cookies[who] = next(f"qrowd={one['value']}" for one in own.cookies() if one["name"] == "qrowd")
            own.close()
        lead.watch()
        people.judge_all(cookies)
        _, conditions = lead.decision()
        assert not any("final answer" in text for text in conditions)
        document = lead.settle()
        sentence, conditions = lead.decision()
        assert any("replaced by final answers of owners: 3" in text for text in conditions)
        lead.see("the decision")
        files = lead.download()
        context.close()
        number = made.store.read(lambda c: find_campaign(c, NAME).id)  # type: ignore[union-attr]
        rows = made.store.read(lambda c: assessors_of(c, number))
    assert {one.name for one in rows if one.excluded is not None} == set(CARELESS)
    names = {one.label: one.name for one in rows}
    same_as_clicks(people.clicks, files[f"{NAME}-judgments-all.csv"], names)
    same_as_events(people.clicks, files[f"{NAME}.archive"], {one.id: one.name for one in rows})
    same_as_decided(files, document)
    assert "sorted leads" in sentence
    assert any("topics" in text for text in conditions)
    assert len(set(lead.pages)) <= MOST_PAGES, lead.pages

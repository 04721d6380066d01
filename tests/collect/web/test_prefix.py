"""The server below a path of a host: every address that leaves it begins with the path, on every page."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape
from playwright.sync_api import expect

from collect.web.attacks import filled, routes
from collect.web.siege import Fort, fort
from qrowd.collect.web.prefix import with_prefix
from webserver import Answer, Browser, listening

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium

HOST, PREFIX = "https://example.org", "/judge/here"
NO_ADDRESS = {"value", "data-title", "data-announce", "title", "aria-label", "alt", "d", "content"}


@pytest.fixture(scope="module")
def below(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fort]:
    with fort(tmp_path_factory.mktemp("below"), base_url=HOST + PREFIX) as place:
        place.base = HOST
        yield place


class Addresses(HTMLParser):
    """The values of attributes that begin like an address on this server, outside the path."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.outside: list[str] = []
        self.inside = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in NO_ADDRESS or value is None or not value.startswith("/"):
                continue
            if value == PREFIX or value.startswith(PREFIX + "/"):
                self.inside += 1
            else:
                self.outside.append(f"<{tag} {name}={value!r}>")


def check(answer: Answer) -> int:
    """How many addresses an answer holds, all below the path."""
    location = answer.header("location")
    if location is not None and not location.startswith("http"):
        assert location == PREFIX or location.startswith(PREFIX + "/"), location
    cookie = answer.header("set-cookie")
    if cookie is not None:
        assert f"Path={PREFIX};" in cookie + ";"
    if not (answer.header("content-type") or "").startswith("text/html"):
        return 0
    assert answer.header("content-length") == str(len(answer.body))
    found = Addresses(answer.text)
    assert found.outside == []
    return found.inside


@pytest.mark.parametrize("sent", ["", PREFIX])  # a proxy that takes the path away, and one that leaves it
def test_every_page_of_everybody_names_addresses_below_the_path_only(below: Fort, sent: str) -> None:
    ann, owner = below.walker("sizes", who="ann").come().browser, below.owner()
    n = 0
    for method, path in routes(below):
        if method == "GET":
            for who in (Browser(below.app, HOST), ann, owner):
                n += check(who.get(sent + filled(path, token=below.links["sizes ben"], number="1")))
    assert n > 300


@pytest.mark.parametrize("campaign", ["sizes", "stars", "pairs"])
def test_a_whole_unit_is_judged_below_the_path(below: Fort, campaign: str) -> None:
    walker = below.walker(campaign, who="ben").come().walk()
    assert walker.view in ("end", "noneleft")
    assert sum(check(answer) for answer in walker.seen) > 20


def test_files_and_the_api_are_below_the_path_too(below: Fort) -> None:
    browser = Browser(below.app, HOST)
    page = browser.get(f"{PREFIX}/owner/login")
    for address in re.findall(r'(?:href|src)="([^"#]+)"', page.text):
        assert browser.get(address).status == 200, address
    document = json.loads(browser.get(f"{PREFIX}/api/openapi.json").text)
    assert document["servers"] == [{"url": PREFIX}]
    key = {"authorization": f"Bearer {below.links['key all']}"} if "key all" in below.links else {}
    for path in document["paths"]:
        if "{" not in path:
            assert browser.get(PREFIX + path, key).status in (200, 401, 405), path


def test_a_cookie_below_a_path_belongs_to_that_path_and_to_https(below: Fort) -> None:
    walker = below.walker("stars", who="ann").come()
    cookie = next(a.header("set-cookie") for a in walker.seen if a.header("set-cookie"))
    assert re.fullmatch(rf"__Secure-qrowd=[\w-]{{43}}; HttpOnly; Path={PREFIX}; SameSite=lax; Secure", cookie or "")


def test_forms_come_from_the_origin_of_the_host(below: Fort) -> None:
    path = f"/join/{below.links['stars ben']}"
    browser = Browser(below.app, HOST)
    token = browser.get(path).field("csrf")
    assert browser.post(path, {"csrf": token}, origin=HOST + PREFIX).status == 403
    assert browser.post(path, {"csrf": token}, origin=HOST).status == 303


@given(st.text(alphabet="<>\"'= /abhrefsction&;", max_size=40))
def test_no_text_is_taken_for_an_address(text: str) -> None:
    page = f'<p title="{escape(text)}">{escape(text)}</p>'.encode()
    assert with_prefix(page, PREFIX) == page
    inner = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")  # as documents are written
    assert with_prefix(f"<p>{inner}</p>".encode(), PREFIX) == f"<p>{inner}</p>".encode()


@pytest.mark.browser
def test_a_browser_judges_below_a_path_and_asks_for_nothing_outside_it(tmp_path: Path, browser: "Chromium") -> None:
    with listening(lambda base: fort(tmp_path, base_url=f"{base}/judge")) as place:
        host = f"{urlsplit(place.base).scheme}://{urlsplit(place.base).netloc}"
        context = browser.new_context()
        tab, asked, wrong = context.new_page(), [], []
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("response", lambda answer: answer.status < 400 or wrong.append((answer.status, answer.url)))
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.goto(f"{host}/judge/join/{place.links['stars ann']}")
        tab.get_by_role("button").first.click()
        main = tab.locator("main")
        expect(main).to_have_attribute("data-base", "/judge/c/stars")
        for _ in range(3):
            before = main.inner_text()
            if (choices := main.locator("[type=radio]")).count():
                choices.first.check()
            tab.locator("main button.primary").first.click()
            expect(main).not_to_have_text(before, use_inner_text=True)
        context.clear_cookies()
        tab.goto(f"{host}/judge/owner")
        expect(tab).to_have_url(f"{host}/judge/owner/login")
        assert [one for one in asked if not one.startswith((f"{host}/judge/", "data:"))] == []
        assert wrong == []
        assert any(one.endswith("/act") for one in asked)

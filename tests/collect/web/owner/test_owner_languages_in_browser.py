"""The owner's pages in German, Japanese and from right to left, in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import WCAG, axe_faults, by_tags
from collect.web.owner.estate import HOSTILE, Estate, served
from collect.web.pseudo import with_arabic
from qrowd.collect.web.owner import owner_link

RULES = by_tags(*WCAG, "best-practice")
MIRRORED = (  # what all kinds of parts are on; colours and names do not depend on the direction
    *("/owner", "/owner/c/demo-magnitude", "/owner/c/demo-magnitude/assessors"),
    *("/owner/c/small/invitations", "/owner/c/small/review"),
)
CUT = (
    "[...document.querySelectorAll('button, summary, a.button, legend, label, h1, h2, th, dt, .hint, .pill')]"
    ".filter(e => e.offsetWidth && !e.closest('.scroller, .tabbar') && e.scrollWidth > e.clientWidth + 1"
    " && getComputedStyle(e).display !== 'inline' && !e.classList.contains('unseen'))"
    ".map(e => [e.outerHTML.slice(0, 90), e.scrollWidth, e.clientWidth])"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    with with_arabic(tmp_path_factory.mktemp("locale")), served(tmp_path_factory.mktemp("owner"), demo=True) as one:
        yield one


def begin_session(made: Estate, tab: Page, tag: str) -> None:
    tab.context.add_cookies([{"name": "qrowd-language", "value": tag, "url": made.address}])
    tab.goto(made.store.write(lambda c: owner_link(c, made.address, made.clock())))
    tab.locator("main button.primary").click()
    expect(tab.locator("html")).to_have_attribute("lang", tag)


def paths(made: Estate) -> list[str]:
    own = [f"/owner/c/demo-magnitude{path}" for path in ("", "/assessors", "/agreement", "/payment", "/settings")]
    other = [f"/owner/c/small{path}" for path in ("/panel", "/invitations", "/export", "/review", "/members", "/log")]
    pages = ["/owner", "/owner/new", "/owner/keys", "/owner/accounts"]
    return [*pages, *own, *other, made.assessor("ann", "demo-magnitude"), made.assessor(HOSTILE)]


@pytest.mark.parametrize("tag", ["de", "ja", "ar"])
def test_every_page_is_open_to_everybody_and_nothing_is_cut_off_on_a_phone(
    browser: Browser, made: Estate, tag: str
) -> None:
    tab, faults = browser.new_page(viewport={"width": 1280, "height": 900}), {}
    tab.goto(f"{made.address}/owner/login")
    begin_session(made, tab, tag)
    for path in paths(made):
        answer = tab.goto(made.address + path)
        assert answer is not None
        assert answer.status == 200, path
        if tag == "de" or (tag == "ar" and path in MIRRORED):
            faults[path, "axe"] = axe_faults(tab, RULES)
        tab.set_viewport_size({"width": 390, "height": 844})
        faults[path, "cut off"] = tab.evaluate(CUT)
        if (width := tab.evaluate("document.documentElement.scrollWidth")) > 390:
            faults[path, "width"] = [width]
        tab.set_viewport_size({"width": 1280, "height": 900})
    tab.context.close()
    assert {look: broken for look, broken in faults.items() if broken} == {}


def test_the_language_is_chosen_on_the_page_and_what_is_copied_is_said_in_it(browser: Browser, made: Estate) -> None:
    context = browser.new_context(locale="de-AT", viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    tab.goto(made.store.write(lambda c: owner_link(c, made.address, made.clock())))
    tab.get_by_role("button", name="Anmelden").click()
    expect(tab.get_by_role("heading", name="Kampagnen", exact=True)).to_be_visible()
    tab.goto(f"{made.address}/owner/c/small/panel")
    tab.get_by_role("button", name="Kopieren").first.click()
    expect(tab.locator("[data-copied]").first).to_have_text("Ausgewählt: Zum Kopieren Strg+C drücken.")
    tab.locator(".language summary").click()
    tab.get_by_role("button", name="日本語").click()
    expect(tab.locator("html")).to_have_attribute("lang", "ja")
    expect(tab).to_have_url(f"{made.address}/owner/c/small/panel")
    tab.goto(f"{made.address}/owner/c/small")
    expect(tab.locator(".tabbar").first).to_contain_text("判定者")
    context.close()


def test_from_right_to_left_the_page_is_mirrored(browser: Browser, made: Estate) -> None:
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    begin_session(made, tab, "ar")
    tab.goto(f"{made.address}/owner/c/small/assessors")
    brand, who = tab.locator(".brand").bounding_box(), tab.locator(".who").bounding_box()
    assert brand is not None
    assert who is not None
    assert brand["x"] > who["x"]
    heads = [one.bounding_box() for one in tab.locator("thead th").all()[:2]]
    assert heads[0]["x"] > heads[1]["x"]  # type: ignore[index]
    tab.context.close()

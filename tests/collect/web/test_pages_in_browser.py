"""Every kind of page in a real browser: open to everybody, wide or narrow, light or dark."""

import json
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from collect.web.gallery import Gallery, gallery
from collect.web.server import listening

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RULES = {"runOnly": {"type": "tag", "values": WCAG}, "rules": {"heading-order": {"enabled": False}}}
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
NARROW = ("magnitude", "grades", "pair", "pair-odd", "rating", "question", "end", "magnitude-html", "line")


@pytest.fixture(scope="module")
def site() -> Iterator[Gallery]:
    with listening(gallery) as made:
        yield made


@pytest.mark.parametrize(
    ("scheme", "width", "options"),
    [("light", 1280, RULES), ("dark", 1280, COLOURS), ("light", 320, RULES), ("dark", 320, COLOURS)],
)
def test_axe_finds_nothing_on_any_page(browser: Browser, site: Gallery, scheme: str, width: int, options: dict) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    tab = context.new_page()
    axe, faults = Axe(), {}
    for name in site.pages if width > 1000 else NARROW:
        tab.goto(f"{site.base}/{name}")
        found = axe.run(tab, options=options).response["violations"]
        if found:
            faults[name] = [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]
    context.close()
    assert not faults, json.dumps(faults, indent=1)
    assert not site.reports


def test_no_page_needs_scrolling_sideways_at_320_pixels_and_targets_are_large(browser: Browser, site: Gallery) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 640})
    tab = context.new_page()
    for name in site.pages:
        tab.goto(f"{site.base}/{name}")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 320, name
        small = tab.evaluate(
            "[...document.querySelectorAll('button, summary, a.button, .grade label, input[type=text]')]"
            ".map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])"
            ".filter(([_, r]) => r.width && (r.height < 43.9 || r.width < 43.9)).map(([html]) => html)"
        )
        assert small == [], name
    context.close()


def test_what_has_focus_is_never_under_the_bar(tab: Page, site: Gallery) -> None:
    tab.goto(f"{site.base}/magnitude-html")
    tab.set_viewport_size({"width": 800, "height": 600})
    for _ in range(20):
        tab.keyboard.press("Tab")
        hidden = tab.evaluate(
            "(() => { const e = document.activeElement, r = e.getBoundingClientRect();"
            " const bar = document.querySelector('.bar');"
            " return !bar.contains(e) && e !== document.body && r.top > bar.getBoundingClientRect().top - 4 })()"
        )
        assert not hidden

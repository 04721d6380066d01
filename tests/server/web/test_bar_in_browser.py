"""Most of the window belongs to the document, under every protocol; the reason opens where it is wanted."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from server.web.gallery import Gallery, gallery
from webserver import listening

PAGES = (
    *("magnitude", "magnitude-given", "magnitude-first", "grades", "grades-given", "grades-guidelines", "grades-image"),
    *("grades-pdf", "grades-typed", "binary", "pair", "pair-first", "pair-guidelines"),
)
MEASURE = """() => {
    const of = (what) => document.querySelector(what)?.getBoundingClientRect();
    const top = Math.max(...[".site", ".head", ".tabs"].map(of).filter(r => r && r.height).map(r => r.bottom));
    const buttons = [...document.querySelectorAll(".bar button, .bar label, .bar summary, .bar input[type=text]")];
    const bar = of(".bar"), shown = buttons.map(e => [e, e.getBoundingClientRect()])
        .filter(([e, r]) => r.width && e.checkVisibility());
    return {
        bar: bar.height, pane: (bar.top - top) / innerHeight,
        bottom: bar.bottom - innerHeight,
        covered: shown.filter(([e, r]) => {
            const hit = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);
            return !hit || !(e.contains(hit) || hit.contains(e) || hit.closest(".grade")?.contains(e));
        }).map(([e]) => e.outerHTML.slice(0, 80)),
        outside: shown.filter(([, r]) => r.left < 0 || r.right > innerWidth).map(([e]) => e.outerHTML.slice(0, 80)),
    };
}"""


@pytest.fixture(scope="module")
def site() -> Iterator[Gallery]:
    with listening(gallery) as made:
        yield made


@pytest.mark.parametrize(("width", "height"), [pytest.param(1280, 800, marks=pytest.mark.nightly), (390, 844)])
def test_the_document_has_most_of_the_window_and_nothing_is_covered(
    browser: Browser, site: Gallery, width: int, height: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": height})
    tab, found = context.new_page(), {}
    for name in PAGES:
        tab.goto(f"{site.base}/{name}")
        measured = tab.evaluate(MEASURE)
        assert measured["covered"] == measured["outside"] == [], name
        assert abs(measured["bottom"]) < 1, name
        found[name] = measured["bar"], measured["pane"]
    context.close()
    assert {name: pane for name, (_, pane) in found.items() if pane < 0.6} == {}
    if width == 1280:
        assert {name: bar for name, (bar, _) in found.items() if bar > 150} == {}


@pytest.mark.nightly
def test_the_reason_opens_by_its_key_and_the_bar_stays_in_view(tab: Page, site: Gallery) -> None:
    tab.goto(f"{site.base}/grades")
    expect(tab.locator("#reason")).to_be_hidden()
    tab.keyboard.press("r")
    expect(tab.locator("#reason")).to_be_focused()
    tab.keyboard.type("It names a cause, rather early.")  # r is a letter here
    expect(tab.locator("#reason")).to_have_value("It names a cause, rather early.")
    expect(tab.get_by_label("Why?")).to_be_visible()
    assert abs(tab.evaluate(MEASURE)["bottom"]) < 1


@pytest.mark.nightly
def test_a_reason_that_was_given_before_is_in_view(tab: Page, site: Gallery) -> None:
    tab.goto(f"{site.base}/grades-reason")
    expect(tab.locator("#reason")).to_have_value("It names a cause.")


@pytest.mark.nightly
def test_text_as_typed_scrolls_in_its_own_box_by_keyboard(tab: Page, site: Gallery) -> None:
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.goto(f"{site.base}/grades-typed")
    box = tab.locator(".typed")
    box.focus()
    for _ in range(5):
        tab.keyboard.press("ArrowRight")
    tab.wait_for_function("() => document.querySelector('.typed').scrollLeft > 0")
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    assert box.evaluate("e => getComputedStyle(e).whiteSpace") == "pre"
    assert box.locator("mark").count() >= 2
    assert "\n    if day.length" in (box.text_content() or "")

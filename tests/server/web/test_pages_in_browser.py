"""Every kind of page in a real browser: open to everybody, wide or narrow, light or dark."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from browsers import COLOURS, WCAG, axe_faults, by_tags, coloured, kinds_of_elements
from server.web.gallery import Gallery, gallery
from webserver import listening

RULES = by_tags(*WCAG, "best-practice") | {"rules": {"heading-order": {"enabled": False}}}
LOOKS = {"light": RULES, "dark": COLOURS}
NARROW = ("feedback", "magnitude", "grades", "pair", "pair-odd", "rating", "question", "end", "magnitude-html", "line",
          "magnitude-address", "grades-image", "pair-images", "grades-typed",
          "grades-pdf", "grades-reason", "pair-typed", "consent-guidelines",
          "guidelines")  # fmt: skip


@pytest.fixture(scope="module")
def site() -> Iterator[Gallery]:
    with listening(gallery) as made:
        yield made


def with_most(kinds: dict[str, set[tuple[str, ...]]]) -> list[str]:
    """Names of pages with most kinds of elements: each time the page that adds most, and five at least."""
    missing, chosen = set().union(*kinds.values()), []
    while True:
        name = max(kinds, key=lambda name: len(kinds[name] & missing))
        if len(kinds[name] & missing) < 5:
            return chosen
        chosen.append(name)
        missing -= kinds[name]


CASES = [(1280, "few"), *(pytest.param(*case, marks=pytest.mark.nightly) for case in [(1280, "all"), (320, "narrow")])]


@pytest.mark.parametrize(("width", "which"), CASES)
def test_axe_finds_nothing_on_any_page_light_or_dark(browser: Browser, site: Gallery, width: int, which: str) -> None:
    light = dark = list(site.pages) if which == "all" else list(NARROW)
    if which == "few":
        kinds = {name: kinds_of_elements(page) for name, page in site.pages.items()}
        light, dark = with_most(kinds), with_most({name: coloured(those) for name, those in kinds.items()})
        assert len(dark) < len(light) < len(site.pages)
    context = browser.new_context(viewport={"width": width, "height": 800})
    tab, faults = context.new_page(), {}
    for name in dict.fromkeys([*light, *dark]):
        tab.goto(f"{site.base}/{name}")
        for scheme, options in LOOKS.items():
            if name in {"light": light, "dark": dark}[scheme]:
                tab.emulate_media(color_scheme=scheme)
                faults[name, scheme] = axe_faults(tab, options)
    context.close()
    assert not {look: broken for look, broken in faults.items() if broken}
    assert not site.reports


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_what_has_focus_is_never_under_the_bar(tab: Page, site: Gallery) -> None:
    tab.goto(f"{site.base}/magnitude-html")
    tab.set_viewport_size({"width": 800, "height": 600})
    for _ in range(20):
        tab.keyboard.press("Tab")
        hidden = tab.evaluate(
            "(() => { const e = document.activeElement, r = e.getBoundingClientRect();"
            " const bar = document.querySelector('.bar'), b = bar.getBoundingClientRect();"
            " return !bar.contains(e) && e !== document.body && r.top > b.top - 4 && r.top < b.bottom - 1 })()"
        )
        assert not hidden

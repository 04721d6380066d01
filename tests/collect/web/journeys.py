"""What assessors do in a browser on the real application, step by step."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from browsers import WCAG, axe_faults, by_tags
from collect.web.application import Application, Running
from qrowd.collect.protocols.settings import GradesSettings, MagnitudeSettings, PreferenceSettings

GRADES = {"reason": "optional", "rating": False}

expect.set_options(timeout=10_000)


def after(tab: Page, act: Callable[[], object]) -> None:
    """Do something, and wait for the page that follows it."""
    tab.evaluate("document.getElementById('main').dataset.old = ''")
    act()
    tab.wait_for_selector("#main:not([data-old])", state="attached")


def click(tab: Page, name: str) -> None:
    after(tab, tab.get_by_role("button", name=name).click)


def press(tab: Page, key: str) -> None:
    after(tab, lambda: tab.keyboard.press(key))


def enter(tab: Page, campaign: Running, name: str = "ann") -> None:
    """Through the invitation to the first page of a unit; where no consent is asked for."""
    tab.goto(campaign.link(name))
    click(tab, "Begin")
    if tab.locator("main").get_attribute("data-view") == "noneleft":
        click(tab, "Start")


def is_at(tab: Page, view: str) -> None:
    expect(tab.locator("main")).to_have_attribute("data-view", view)


def title_of(tab: Page) -> str:
    return tab.locator("#start").inner_text()


def no_faults(tab: Page) -> None:
    assert axe_faults(tab, by_tags(*WCAG)) == []


def fits(tab: Page) -> None:
    """Nothing hangs out sideways, and nothing that can be pressed is small."""
    width = tab.viewport_size["width"]  # type: ignore[index]
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    small = (
        "[...document.querySelectorAll('main button, .grade label, input[type=text]')]"
        ".map(e => [e.textContent.trim(), e.getBoundingClientRect()])"
        ".filter(([_, r]) => r.width && (r.height < 43.9 || r.width < 43.9)).map(([text]) => text)"
    )
    assert tab.evaluate(small) == []


def line_length(tab: Page) -> str:
    width = tab.locator(".line rect").get_attribute("width")
    assert width is not None
    return f"{float(width) / 10:.1f}"


def preferences(app: Application, **settings: object) -> Running:
    made = PreferenceSettings(**{"measure": "wpref", "rating": False} | settings)  # type: ignore[arg-type]
    return app.campaign(app.plan(made, "preference", n_documents=6, systems=True))


def pair(tab: Page) -> tuple[str, str]:
    return tab.locator("#left-title").inner_text(), tab.locator("#right-title").inner_text()


def better(tab: Page) -> str:
    """Titles rise as documents get worse."""
    left, right = pair(tab)
    return "left" if left < right else "right"


def grades(app: Application, k: int = 4, **settings: object) -> Running:
    made = GradesSettings(**{"k": k, "redundancy": 1} | GRADES | settings)  # type: ignore[arg-type]
    return app.campaign(app.plan(made, "grades", n_documents=k))


def magnitudes(app: Application, **journey: object) -> Running:
    made = MagnitudeSettings(k=3, redundancy=1, min_seconds=0, rating=False)
    return app.campaign(app.plan(made, "magnitude", n_documents=3, **journey))


def fill(tab: Page, number: str = "40", reason: str = "because") -> None:
    tab.locator("#text").fill(number)
    tab.locator("#reason").fill(reason)


def judged(campaign: Running) -> list[str]:
    return [event.data["text"] for event in campaign.events("judged")]

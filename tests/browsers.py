"""Chromium for tests: Debian's, without a window and without a network."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WCAG = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}

# What Chromium would ask of the world by itself is switched off.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser. Where there is none the test is skipped, but for CI, which has to have one.

    The headless build is the same engine without tabs and menus: a page costs it a quarter of the time.
    """
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if program is None:
        why = "needs Debian's chromium-headless-shell or chromium on PATH"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(why)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def running() -> Iterator[tuple[Browser, asyncio.AbstractEventLoop]]:
    """Chromium, started once, and the event loop that is running in this thread for as long as it is."""
    with chromium() as started:
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield started, loop
        asyncio._set_running_loop(loop)


@pytest.fixture(scope="module")
def browser(running: tuple[Browser, asyncio.AbstractEventLoop]) -> Iterator[Browser]:
    """Chromium, without a window. Its event loop is out of the way of modules that do not want it."""
    started, loop = running
    asyncio._set_running_loop(loop)
    yield started
    for context in started.contexts:
        context.close()
    asyncio._set_running_loop(None)


def by_tags(*tags: str) -> dict[str, Any]:
    """Options of axe: the rules with these tags."""
    return {"runOnly": {"type": "tag", "values": tags}}


def axe_faults(tab: Page, options: dict[str, Any], within: str = "html") -> list[tuple[str, list[str]]]:
    """Rules of axe that the page breaks as it looks now, each with the elements that do; no more than that is sent.

    within : the selector of the part of the page that is looked at.
    """
    from axe_playwright_python.sync_playwright import Axe

    if not tab.evaluate("'axe' in window"):
        tab.evaluate(Axe().axe_script)
    run = """async ([within, options]) => (await axe.run(within, {...options, resultTypes: ['violations']})).violations
        .map(one => [one.id, one.nodes.map(node => node.html.slice(0, 200))])"""
    faults: list[tuple[str, list[str]]] = tab.evaluate(run, [within, options])
    return faults


# ---- every kind of element once


class _Elements(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.kinds: set[tuple[str, ...]] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.kinds.add((tag, dict(attrs).get("class") or "", *sorted(name for name, _ in attrs)))


def kinds_of_elements(page: str) -> set[tuple[str, ...]]:
    """(name, class, names of attributes) of the elements of a page."""
    return _Elements(page).kinds


def coloured(kinds: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """The same without attributes, on which no colour depends."""
    return {kind[:2] for kind in kinds}


RULES = by_tags(*WCAG, "best-practice")
LOOKS = (("light", 1280, RULES), ("dark", 1280, COLOURS), ("light", 320, COLOURS))


@dataclass
class Look:
    """axe on pages, light and dark: on each that has enough kinds of elements that no page before it had.

    every : on all pages, and in a narrow window as well. enough : so many. With the environment variable
    QROWD_SCREENSHOTS=FOLDER there is a picture of each page, wide and on a phone, light and dark.
    """

    every: bool
    enough: int = 8
    seen: set[tuple[str, ...]] = field(default_factory=set)

    def __call__(self, tab: Page, name: str) -> None:
        """The page that is shown has no fault, and is never wider than the window."""
        kinds = kinds_of_elements(tab.content())
        for scheme, width, options in LOOKS:
            tab.set_viewport_size({"width": width, "height": 900})
            tab.emulate_media(color_scheme=scheme)
            new = kinds - self.seen if options is RULES else coloured(kinds) - coloured(self.seen)
            if self.every or (len(new) >= self.enough and width > 1000):
                assert axe_faults(tab, options) == [], (name, scheme, width)
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
        if folder := os.environ.get("QROWD_SCREENSHOTS"):
            self.picture(tab, Path(folder), name)
        tab.set_viewport_size({"width": 1280, "height": 900})
        self.seen |= kinds

    def picture(self, tab: Page, folder: Path, name: str) -> None:
        """The whole page, as it looks in four windows."""
        for scheme in ("light", "dark"):
            for width in (1280, 390):
                tab.set_viewport_size({"width": width, "height": 844})
                tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                place = re.sub(r"\W+", "-", name).strip("-")
                tab.screenshot(path=folder / f"{place}-{width}-{scheme}.png", full_page=True)

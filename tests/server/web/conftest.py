"""Tabs of a browser, the real application as a process of its own, and servers full of secrets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from browsers import Look
from qrowd_server.store import accounts

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

    from server.web.journeys import Application
    from server.web.siege import Fort


@pytest.fixture(scope="module", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Passwords are hashed and checked in no time here; what they cost is a matter of the store's tests."""
    hasher = accounts._hasher(True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "_hasher", lambda fast: hasher)
        accounts._nobody.cache_clear()
        yield
    accounts._nobody.cache_clear()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 800})
    made.set_default_timeout(10_000)
    yield made
    made.close()


@pytest.fixture
def tab(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture(scope="session", params=["new", pytest.param("every", marks=pytest.mark.nightly)])
def look(request: pytest.FixtureRequest) -> Look:
    """axe on the pages that tests show to it."""
    return Look(every=request.param == "every")


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    from server.web.journeys import application

    with application(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Fort]:
    """A server full of marked secrets, for one test."""
    from server.web.siege import fort

    with fort(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fort]:
    """One for all tests that leave it as it was, or look at nothing but what they did."""
    from server.web.siege import fort

    with fort(tmp_path_factory.mktemp("shared")) as made:
        yield made

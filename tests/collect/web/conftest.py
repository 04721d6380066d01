"""One server per test process, and a browser for the modules that want one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from collect.web.serving import Site


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, without a window. It keeps an event loop running, so it does not outlive the tests that want it."""
    from browsers import chromium

    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def server() -> Iterator[Site]:
    """A server for pages put into `server.pages`."""
    from collect.web.serving import serving

    with serving({}) as site:
        yield site


@pytest.fixture
def site(server: Site) -> Site:
    """The server, as if new."""
    for seen in (server.acts, server.drafts, server.reports):
        seen.clear()
    server.pages = {}
    return server

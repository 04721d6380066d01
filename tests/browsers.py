"""Chromium for tests: Debian's, without a window and without a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

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
    """A browser. Where there is none the test is skipped, but for CI, which has to have one."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    if program is None:
        why = "needs Debian's chromium on PATH"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(why)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()

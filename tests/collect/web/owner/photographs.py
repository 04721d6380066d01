"""Pictures of the owner's pages for the docs."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import sync_playwright

from collect.web.owner.estate import served
from qrowd.collect.web.owner import owner_link

PAGES = {
    "overview": ("/owner/c/demo-grades", 1100, 800),
    "assessors": ("/owner/c/demo-grades/assessors", 1100, 510),
    "review-phone": ("/owner/c/demo-grades/review", 390, 844),
}


def photograph(folder: Path, names: Iterable[str]) -> list[Path]:
    """The pictures of these names, such as de-overview.png, as files in the folder."""
    pictures = []
    with served(folder, demo=True, stranger="60a1f3c9") as made, sync_playwright() as playwright:
        where = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=where, args=["--no-sandbox"])
        for name in names:
            tag, _, page = name.removesuffix(".png").partition("-")
            path, width, height = PAGES[page]
            tab = browser.new_page(viewport={"width": width, "height": height})
            tab.context.add_cookies([{"name": "qrowd-language", "value": tag, "url": made.address}])
            link = made.store.write(lambda connection: owner_link(connection, made.address, made.clock()))
            tab.goto(link)
            tab.locator("main button.primary").click()
            tab.goto(made.address + path)
            tab.screenshot(path=folder / name)
            pictures.append(folder / name)
            tab.context.close()
        browser.close()
    return pictures

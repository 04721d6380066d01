"""The documentation as a site: it is built without a warning and without network, and nothing is left out of it."""

import html.parser
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from browsers import axe_faults, by_tags

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
ALONE = """
import runpy, socket, sys

def refused(*_):
    raise OSError("the site asked for the network")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refused
sys.path.insert(0, sys.argv[1])
sys.argv = ["build_site.py", sys.argv[2]]
runpy.run_path(sys.path[0] + "/build_site.py", run_name="__main__")
"""


def entries(nav):
    """Every page that the navigation names."""
    for entry in nav:
        value = next(iter(entry.values())) if isinstance(entry, dict) else entry
        if isinstance(value, list):
            yield from entries(value)
        else:
            yield value


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """(folder, messages)"""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-c", ALONE, DOCS, folder],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "NO_COLOR": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site", done.stdout + done.stderr


def test_the_site_is_built_without_a_warning_and_without_network(built):
    folder, messages = built
    assert "No issues found" in messages
    assert (folder / "index.html").exists()
    assert (folder / "search.js").exists()


def test_every_entry_of_the_navigation_exists_and_every_page_is_in_it(built):
    folder, _ = built
    named = list(entries(tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]))
    assert len(named) == len(set(named))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    above = {f"about/{name}.md" for name in ("readme", "changelog", "contributing", "security")}
    assert set(named) == pages | above
    for name in named:
        assert (folder / name).with_suffix(".html").exists(), name


FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "link": "href"}


class Page(html.parser.HTMLParser):
    """What a page makes a browser fetch, where it leads, and what can be led to."""

    def __init__(self, path):
        super().__init__()
        self.fetched, self.links, self.anchors = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if found.get("id"):
            self.anchors.add(found["id"])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        target = found.get(FETCHED.get(tag, ""))
        if target and found.get("rel") not in ("canonical", "next", "prev"):
            self.fetched.append(target)


@pytest.fixture(scope="module")
def pages(built):
    folder, _ = built
    return {path.relative_to(folder).as_posix(): Page(path) for path in folder.rglob("*.html")}


def test_no_page_fetches_anything_from_elsewhere(built, pages):
    folder, _ = built
    for name, page in pages.items():
        assert page.fetched
        for target in page.fetched:
            assert not re.match(r"(https?:)?//", target), (name, target)
        assert "mermaid" not in (folder / name).read_text(encoding="utf-8")  # the theme would fetch what draws it
    for sheet in folder.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", sheet.read_text(encoding="utf-8")), sheet


@pytest.mark.nightly
def test_every_link_of_the_site_leads_to_a_page_and_a_heading_of_it(built, pages):
    folder, _ = built
    for name, page in pages.items():
        if name == "404.html":
            continue  # its links start at the root of wherever the site stands
        for link in page.links:
            if re.match(r"https?://|mailto:", link):
                continue
            target, _, anchor = link.partition("#")
            there = ((folder / name).parent / target).resolve() if target else folder / name
            there = there / "index.html" if there.is_dir() else there
            assert there.exists(), (name, link)
            if anchor and there.suffix == ".html":
                assert anchor in pages[there.relative_to(folder.resolve()).as_posix()].anchors, (name, link)


def test_lists_and_tables_are_drawn_as_such(built):
    """Markdown differs: what a code host draws as a list or table must not come out as a paragraph here."""
    folder, _ = built
    for path in folder.rglob("*.html"):
        for paragraph in re.findall(r"<p>(.*?)</p>", path.read_text(encoding="utf-8"), re.DOTALL):
            assert not re.search(r"^(- |\| |```|#+ )", paragraph, re.MULTILINE), (path.name, paragraph[:200])


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_the_first_page_fits_a_phone_and_has_no_barrier(built, browser, scheme):
    folder, _ = built
    with browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme) as context:
        page = context.new_page()
        page.goto((folder / "index.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        assert dark == (scheme == "dark")
        assert page.locator("article img").first.evaluate("image => image.naturalWidth > 0")
        assert axe_faults(page, by_tags("wcag2a", "wcag2aa", "wcag21aa")) == []


@pytest.mark.nightly
def test_search_works_on_pages_read_from_files(built, browser):
    folder, _ = built
    with browser.new_context() as context:
        page = context.new_page()
        page.goto((folder / "index.html").as_uri())
        page.keyboard.press("Control+k")
        page.locator("input:visible").first.fill("krippendorff")
        page.locator("mark:visible, a[href*='agreement']:visible").first.wait_for(timeout=10_000)
        assert page.locator("a[href*='agreement']:visible").count()

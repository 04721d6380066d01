"""The documentation as a site: `python docs/build_site.py FOLDER` writes it into FOLDER/site.

Pages link to `../README.md` and the like, which a code host follows and the site's builder cannot, since it sees one
folder of pages. FOLDER/pages is that folder: docs/ with the files that stand above it under `about/`, and links turned
both ways.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ABOVE = {  # file beside docs/: where it stands on the site
    "README.md": "about/readme.md",
    "CHANGELOG.md": "about/changelog.md",
    "CONTRIBUTING.md": "about/contributing.md",
    "SECURITY.md": "about/security.md",
    "CITATION.cff": "about/CITATION.cff",
    "LICENSE": "about/LICENSE.txt",
}
FETCHED = "https://unpkg.com/iframe-worker/shim"
TARGET = re.compile(r"(?<=\]\()(?!https?:|#)([^)\s#]+)")


def moved(text: str, source: str, place: str) -> str:
    """A page whose links lead to where their targets stand on the site.

    Parameters
    ----------
    source, place
        Path of the page below the repository's root, and its path on the site.
    """

    def link(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[0]))
        there = ABOVE.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(there, posixpath.dirname(place) or ".")

    return TARGET.sub(link, text)


def write_pages(folder: Path) -> None:
    """Write the pages of the site and what they show into an empty folder."""
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.py", "__pycache__", "generated"))
    (folder / "about").mkdir()
    for name, place in ABOVE.items():
        (folder / place).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    sources = {place: name for name, place in ABOVE.items()}
    for path in folder.rglob("*.md"):
        place = path.relative_to(folder).as_posix()
        text = path.read_text(encoding="utf-8")
        path.write_text(moved(text, sources.get(place, f"docs/{place}"), place), encoding="utf-8")


def without_other_hosts(folder: Path) -> None:
    """The builder's pages fetch what lets search work from files; the site has a file of its own for that."""
    for path in folder.rglob("*.html"):
        own = posixpath.relpath("javascripts/worker_from_file.js", path.parent.relative_to(folder).as_posix())
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(FETCHED, own if path.name != "404.html" else f"/{own}"), encoding="utf-8")


def build(folder: Path) -> None:
    """Build the site in a folder; a warning ends it."""
    from zensical.main import cli

    for made in (folder / "pages", folder / "site"):
        shutil.rmtree(made, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    write_pages(folder / "pages")
    settings = shutil.copy(ROOT / "zensical.toml", folder)
    try:
        cli(["build", "--strict", "--clean", "--config-file", str(settings)], standalone_mode=False)
    except RuntimeError as error:  # the builder has printed its warnings
        sys.exit(f"The site was not built: {error}")
    without_other_hosts(folder / "site")


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())

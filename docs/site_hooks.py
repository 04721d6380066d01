"""What the site needs beyond docs/: the files that stand above it, and links and anchors as code hosts make them.

Pages link to `../README.md` and the like, which a code host follows and MkDocs cannot, since it sees docs/ alone. Here
these files become pages of the site under `about/`, and links are turned both ways.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.append(str(Path(__file__).parent))
from sentences import sentence_reference

ROOT = Path(__file__).resolve().parents[1]
ABOVE = {  # file beside docs/: where it stands on the site
    "README.md": "about/readme.md",
    "CHANGELOG.md": "about/changelog.md",
    "CONTRIBUTING.md": "about/contributing.md",
    "CITATION.cff": "about/CITATION.cff",
    "LICENSE": "about/LICENSE.txt",
}
TARGET = re.compile(r"(?<=\]\()(?!https?:|#)([^)\s#]+)")


def slug(heading: str, _: str = "-") -> str:
    """The anchor that a code host gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def on_config(config: Any) -> Any:
    """Anchors are those that the pages' links name."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    return config


def on_files(files: Files, config: Any) -> Files:
    """The files above docs/ become files of the site, and so does the list of all sentences, too long to be kept."""
    for name, place in ABOVE.items():
        content = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=content))
    files.append(File.generated(config, "sentences.md", content=sentence_reference()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links lead to where their targets stand on the site."""
    here = page.file.src_uri
    stood = next((name for name, place in ABOVE.items() if place == here), f"docs/{here}")

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(stood), link[1]))
        place = ABOVE.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(place, posixpath.dirname(here) or ".")

    return TARGET.sub(moved, markdown)

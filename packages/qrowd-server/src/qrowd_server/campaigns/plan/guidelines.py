"""Guidelines of a campaign: Markdown with pictures from its folder, as a page that stands beside judging.

Raw HTML is shown as text. Nothing of another site is loaded: a picture is one of the campaign's own, a link opens in a
new tab, and what is rendered is cleaned once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from qrowd.errors import ArgumentError, FileError
from qrowd.texts import decoded
from qrowd_server.campaigns.plan.documents import Problems, image_from_text, image_of, image_to_text, text_problems
from qrowd_server.campaigns.plan.sanitise import words_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_GUIDELINES = 100_000  # characters
MAX_PICTURES = 100
HEADINGS = {"h1": "h2", "h2": "h3", "h3": "h4", "h4": "h5", "h5": "h6", "h6": "h6"}  # below the page's own
LINKS = ("http://", "https://", "mailto:")
TAGS = set(
    words_of("p br hr h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s table thead tbody tr th td div img a")
)
ATTRIBUTES = {
    "a": {"href", "target"},
    "img": {"src", "alt"},
    "ol": {"start"},
    "div": {"class", "tabindex", "role", "aria-label"},
    "pre": {"class", "tabindex", "role", "aria-label"},
}
TABLE = '<div class="wide" tabindex="0" role="group" aria-label="{label}"><table>'


def picture_names(markdown: str) -> tuple[str, ...]:
    """The files that guidelines name as pictures, each once."""
    return tuple(dict.fromkeys(_source(token) for token in _tokens(_parser().parse(markdown)) if token.type == "image"))


def guidelines_problems(markdown: str, pictures: Mapping[str, str]) -> Problems:
    """What of them could not be shown."""
    where = ("campaign", "guidelines")
    if len(markdown) > MAX_GUIDELINES:
        yield where, f"{len(markdown)} characters are more than {MAX_GUIDELINES}; shorten them"
        return
    yield from text_problems(("campaign",), guidelines=markdown)
    names = picture_names(markdown)
    if len(names) > MAX_PICTURES:
        yield where, f"{len(names)} pictures are more than {MAX_PICTURES}; leave some out"
    for name in names:
        if name not in pictures:
            yield where, f"the picture {name!r} is missing; put it into the folder"
    for name, content in pictures.items():
        try:
            image_from_text(content)
        except ArgumentError as error:
            yield ("campaign", "pictures"), f"{name}: {error}"


@lru_cache(maxsize=64)
def rendered(markdown: str, addresses: tuple[tuple[str, str], ...], label: str = "Table") -> str:
    """Guidelines as harmless HTML. addresses : of each picture. label : what a table is called to those who listen."""
    import nh3

    places = dict(addresses)
    parser = _parser()
    tokens = parser.parse(markdown)
    for token in _tokens(tokens):
        token.tag = HEADINGS.get(token.tag, token.tag)
        if token.type == "image":
            token.attrs = {"src": places.get(_source(token), ""), "alt": ""}  # the renderer fills in the words
        elif token.type == "link_open":
            token.attrs = {"href": str(token.attrs.get("href", "")), "target": "_blank"}
            if not str(token.attrs["href"]).lower().startswith(LINKS):
                token.attrs = {}
    html = parser.renderer.render(tokens, parser.options, {})
    html = html.replace("<table>", TABLE.format(label=label)).replace("</table>", "</table></div>")
    html = html.replace("<pre>", '<pre class="wide" tabindex="0">')
    return nh3.clean(
        html, tags=TAGS, attributes=ATTRIBUTES, url_schemes={"http", "https", "mailto"}, link_rel="noopener noreferrer"
    )


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _tokens(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _tokens(token.children or [])


def _source(token: Any) -> str:
    return unquote(str(token.attrs.get("src", "")))


# ---- from a folder


def read_guidelines(head: dict[str, Any], read: Callable[[str], bytes]) -> None:
    """Put the text of the file that [campaign] names as guidelines in its place, and the pictures that it names."""
    name = head.get("guidelines", "")
    if not isinstance(name, str) or not name:
        return
    markdown = decoded(read(name), name)
    pictures: dict[str, str] = {}
    for picture in picture_names(markdown):
        try:
            if "://" in picture or picture.startswith("//"):
                raise ArgumentError("is on another site; put the picture into the folder")
            content = read(str(PurePosixPath(name).parent / picture))  # as it is named from the file's place
            pictures[picture] = image_to_text(image_of(content).content)
        except (ArgumentError, FileError) as error:
            line = next((n for n, text in enumerate(markdown.split("\n"), 1) if picture in text), None)
            problem = error.problem if isinstance(error, FileError) else str(error)
            raise FileError(name, f"picture {picture}: {problem}", line) from None
    head |= {"guidelines": markdown, "pictures": pictures}

"""HTML from strangers, made harmless: an allow-list of tags, no attribute and no address.

What is left can be formatted but cannot act: no script, no style, no picture, no link, nothing that loads. Time grows
with the length alone: tags are nested rightly in one pass, to a limited depth, before the cleaner builds a tree.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from functools import cache
from html import escape
from typing import NamedTuple

from qrowd.texts import text_of_html


def words_of(names: str) -> frozenset[str]:
    """Names between blanks."""
    return frozenset(names.split())


TAGS = words_of(
    "p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong b i u s sub sup small q cite "
    "table caption thead tbody tfoot tr th td div span section figure figcaption"
)
RAW = words_of("script style title noscript noembed noframes iframe textarea xmp plaintext")  # hold no tags
UNREAD = RAW | words_of(
    "template frame frameset object embed applet svg math select option button audio video canvas map head"
)
EMPTY = words_of("br hr frame embed")  # never closed
FORMATTING = words_of("b code em i s small strong u")  # goes on where a paragraph ends without it
MARKED = words_of("td th caption table")  # formatting neither enters nor leaves these
ENDS_PARAGRAPH = words_of("p div h1 h2 h3 h4 h5 h6 ul ol li table blockquote pre section figure figcaption hr")
# What an opening tag closes, up to the innermost element of the second set.
CLOSES = {
    **dict.fromkeys(ENDS_PARAGRAPH, (words_of("p"), MARKED | words_of("object applet button template select"))),
    "li": (words_of("li p"), words_of("ul ol")),
    **dict.fromkeys(("td", "th"), (words_of("td th caption"), words_of("table"))),
    "tr": (words_of("td th tr caption"), words_of("table")),
    **dict.fromkeys(("thead", "tbody", "tfoot"), (words_of("td th tr thead tbody tfoot caption"), words_of("table"))),
    "option": (words_of("option"), words_of("select")),
}
MAX_DEPTH = 200  # elements within each other; deeper text is shown without formatting
MAX_GROWTH = 4  # times the length, with the tags that were missing
TOKEN = re.compile(r"<(?:!--|(/?)([a-zA-Z][^\s/>]*)|[!?/])")
ATTRIBUTES = re.compile(r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+>""")

LISTS = ("ul", "ol")
TAG = re.compile(r"<(/?)([a-z0-9]+)>")
HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}  # under the document's own, an h2
TABLE = '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>'


def clean(html: str) -> str:
    """The same text with only harmless tags; those are closed, nested rightly, and carry no attribute.

    Headings move down to stand below the page's own, an item outside a list becomes a paragraph, and a table gets a
    frame that scrolls, so that the page around stays accessible whatever comes in.
    """
    harmless = without_harm(html)
    if harmless is None:
        parts = text_of_html(html).split("\n\n")
        return "".join(f'<p dir="auto">{escape(part, quote=False)}</p>' for part in parts if part)
    return _set_right(harmless)


def without_harm(html: str) -> str | None:
    """HTML with harmless tags only, as it is stored; None where tags are nested too deep to be kept.

    What this returns stays the same where it comes in again.
    """
    import nh3

    nested = rightly_nested(html)
    if nested is None:
        return None
    return nh3.clean(
        nested,
        tags=set(TAGS),
        clean_content_tags=set(UNREAD),
        attributes={"*": set()},  # without "*" the cleaner keeps title and lang of every tag
        url_schemes=set(),
        link_rel=None,
        strip_comments=True,
    )


def rightly_nested(html: str) -> str | None:
    """The tags that can stay or whose content is to go, without attributes and rightly nested; other tags are left out.

    None : more than `MAX_DEPTH` elements within each other, or much longer than it was. A paragraph, an item or a cell
    ends where the next one begins, and formatting that was not closed goes on, as in browsers.
    """
    tree = _Tree(MAX_GROWTH * len(html) + 1000)
    for part in parts_of(html, RAW):
        tree.text(part.text)
        if part.closes:
            tree.close(part.name)
        elif part.name and part.name not in RAW and not tree.open(part.name):
            return None
    return tree.closed()


class Part(NamedTuple):
    """Text, and the tag that follows it: as it is written, its name in lower case, and whether it closes an element.

    The last text, and one before a comment, are followed by no tag: all else is empty.
    """

    text: str
    tag: str = ""
    name: str = ""
    closes: bool = False


def parts_of(html: str, without: Container[str]) -> Iterator[Part]:
    """HTML in one pass, without its comments and without the content of the elements `without`; no tree is built."""
    at = 0
    while (token := TOKEN.search(html, at)) is not None:
        text, name = html[at : token.start()], (token[2] or "").lower()
        if not name:
            end = html.find("-->", token.start() + 2) if token[0] == "<!--" else html.find(">", token.end())
            at = len(html) if end < 0 else end + (3 if token[0] == "<!--" else 1)
            yield Part(text)
            continue
        tag = ATTRIBUTES.match(html, token.end())
        if tag is None:  # a tag that never ends
            yield Part(text)
            return
        at = tag.end()
        yield Part(text, html[token.start() : at], name, bool(token[1]))
        if name in without and not token[1]:
            end_tag = _end_of(name).search(html, at)
            at = len(html) if end_tag is None else end_tag.start()
    yield Part(html[at:])


@cache
def _end_of(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)


class _Tree:
    """Tags in the order in which they are written, and those that are open."""

    def __init__(self, longest: int) -> None:
        self.longest, self.length = longest, 0
        self.written: list[str] = []
        self.stack: list[str] = []
        self.formatting: list[str] = []  # to be opened again before the next text

    def text(self, text: str) -> None:
        if not text:
            return
        if self.formatting and not text.isspace() and len(self.stack) + len(self.formatting) <= MAX_DEPTH:
            for name in self.formatting:
                self._write(f"<{name}>")
                self.stack.append(name)
            self.formatting.clear()
        self._write(text)

    def open(self, name: str) -> bool:
        """Open an element; False where it would be nested too deep, or the whole has grown too long."""
        if name not in TAGS and name not in UNREAD:
            return True
        closes, boundary = CLOSES.get(name, ((), ()))
        for place in range(len(self.stack) - 1, -1, -1):
            if self.stack[place] in boundary:
                break
            if self.stack[place] in closes:
                self._close_to(place)
        if name in MARKED:
            self.formatting.clear()
        if name in FORMATTING and name in self.formatting:
            self.formatting.remove(name)
        self._write(f"<{name}>")
        if name not in EMPTY:
            self.stack.append(name)
        return len(self.stack) <= MAX_DEPTH and self.length <= self.longest

    def close(self, name: str) -> None:
        """Close the innermost element of that name, and all within it; nothing where none is open."""
        for place in range(len(self.stack) - 1, -1, -1):
            if self.stack[place] == name:
                self._close_to(place)
                return
            if self.stack[place] in MARKED and name not in MARKED and name not in ("tr", "thead", "tbody", "tfoot"):
                return  # a cell is left by its own tags only
        if name in self.formatting:
            self.formatting.remove(name)

    def closed(self) -> str | None:
        """The whole, with all closed; None where it has grown too long."""
        self._close_to(0)
        return "".join(self.written) if self.length <= self.longest else None

    def _close_to(self, place: int) -> None:
        """Close the elements from a place of the stack on; what formats goes on, but not out of a cell."""
        gone = self.stack[place:]
        del self.stack[place:]
        for name in reversed(gone):
            self._write(f"</{name}>")
        if not MARKED.isdisjoint(gone):
            self.formatting.clear()
        else:
            self.formatting += [name for name in dict.fromkeys(gone[1:]) if name in FORMATTING - set(self.formatting)]

    def _write(self, text: str) -> None:
        self.written.append(text)
        self.length += len(text)


def _set_right(cleaned: str) -> str:
    stack: list[tuple[str, str]] = []  # each open tag, and what closes it

    def replace(tag: re.Match[str]) -> str:
        closing, name = tag.groups()
        if closing:
            while stack:
                open_tag, close = stack.pop()
                if open_tag == name:
                    return close
            return ""
        new = HEADINGS.get(name, name)
        start, close = f"<{new}>", f"</{new}>"
        parent = stack[-1][0] if stack else ""
        if name == "li" and parent not in LISTS:
            start, close = "<p>", "</p>"
        elif name != "li" and parent in LISTS:
            start, close = f"<li>{start}", f"{close}</li>"
        elif name == "table":
            start, close = TABLE, "</table></div>"
        if name in ("br", "hr"):
            return start if parent not in LISTS else ""
        stack.append((name, close))
        return start

    return TAG.sub(replace, cleaned)


# ---- for a frame in which nothing runs and nothing loads

# What protects is the frame's sandbox and its content policy. Before, tags that could act or load are left out, in one
# pass and without a tree, so that a browser that knew neither would do little.

POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors {ancestors}"
)
WITH_CONTENT = words_of(
    "script noscript iframe frameset noframes object embed applet template audio video canvas svg math portal"
)
WITHOUT_CONTENT = words_of("link meta base frame embed param source track form input button select option")
HANDLER = re.compile(r"""(?<=[\s"'/])on[a-zA-Z]+\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"']*+)""")


def for_sandbox(html: str) -> str:
    """HTML without the tags and attributes that act or load; styles stay.

    Time grows with the length alone.
    """
    left_out = WITH_CONTENT | WITHOUT_CONTENT
    parts = parts_of(html, WITH_CONTENT)
    return "".join(part.text + ("" if part.name in left_out else HANDLER.sub("", part.tag)) for part in parts)

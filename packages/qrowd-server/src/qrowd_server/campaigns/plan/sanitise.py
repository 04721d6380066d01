"""HTML from strangers, made harmless by nh3: an allow-list of tags, no attribute and no address.

What is left can be formatted but cannot act: no script, no style, no picture, no link, nothing that loads. HTML that is
too long, or nested too deep, is shown as plain text instead: building its tree could take very long.
"""

from __future__ import annotations

import re
from html import escape

from qrowd.texts import text_of_html


def words_of(names: str) -> frozenset[str]:
    """Names between blanks."""
    return frozenset(names.split())


TAGS = words_of(
    "p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong b i u s sub sup small q cite "
    "table caption thead tbody tfoot tr th td div span section figure figcaption"
)
RAW = "script|style|title|noscript|noembed|noframes|iframe|textarea|xmp"  # hold no tags
UNREAD = words_of(RAW.replace("|", " ")) | words_of(
    "plaintext template frame frameset object embed applet svg math select option button audio video canvas map head"
)
NOT_NESTED = words_of(  # elements that are empty, or that the next one of their kind ends
    "br hr img input meta link base source track wbr area col embed param html head body p li dt dd option optgroup "
    "td th tr thead tbody tfoot caption colgroup"
)
MAX_DEPTH = 100  # elements within each other
MAX_CHARACTERS = 1_000_000  # of a text
NO_TAGS = re.compile(rf"(?is)<(?=[!instx])(?:!--.*?(?:-->|\Z)|({RAW})\b.*?(?:</\1\b[^>]*+>?|\Z))")  # fast on "<<<"
START = re.compile(r"</?[a-zA-Z][^\s/>]*+")  # of a tag
ATTRIBUTES = re.compile(r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+>""")

TAG = re.compile(r"<(/?)([a-z0-9]+)>")
HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}  # under the document's own, an h2
TABLE = '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>'


def clean(html: str) -> str:
    """The same text with only harmless tags; those are closed, nested rightly, and carry no attribute.

    Headings move down to stand below the page's own, an item outside a list is a paragraph, and a table gets a frame
    that scrolls.
    """
    harmless = without_harm(html)
    if harmless is None:
        parts = text_of_html(html).split("\n\n")
        return "".join(f'<p dir="auto">{escape(part, quote=False)}</p>' for part in parts if part)
    return _shown(harmless)


def without_harm(html: str) -> str | None:
    """HTML with harmless tags only, as it is stored; None where it is too long or nested too deep."""
    import nh3

    if len(html) > MAX_CHARACTERS:
        return None
    plain = without_attributes(NO_TAGS.sub("", html))
    if depth_of(plain) > MAX_DEPTH:
        return None
    harmless = nh3.clean(
        plain,
        tags=set(TAGS),
        clean_content_tags=set(UNREAD),
        attributes={"*": set()},  # without "*" the cleaner keeps title and lang of every tag
        url_schemes=set(),
        link_rel=None,
        strip_comments=True,
    )
    return harmless if len(harmless) <= MAX_CHARACTERS else None


def without_attributes(html: str) -> str:
    """HTML whose tags have no attributes; what follows a tag that never ends is left out.

    A parser opens formatting that was not closed again in each paragraph, the same tag only three times.

    >>> without_attributes("<b id='<p>'>x</b><i")
    '<b>x</b>'
    """
    parts, at = [], 0
    while (start := START.search(html, at)) is not None:
        parts.append(html[at : start.start()])
        end = ATTRIBUTES.match(html, start.end())
        if end is None:
            return "".join(parts)
        parts.append(f"{start[0]}>")
        at = end.end()
    return "".join([*parts, html[at:]])


def depth_of(html: str) -> int:
    """How many elements are at most within each other; an upper bound for HTML without attributes.

    >>> depth_of("<div><p>a<p>b</div><div>c</div>")
    1
    """
    now = deepest = 0
    for tag in re.finditer(r"<(/?)([a-zA-Z][^\s/>]*)>", html):  # no list: other threads would wait for it
        closing, name = tag.groups()
        if name.lower() not in NOT_NESTED:
            now = max(0, now - 1) if closing else now + 1
            deepest = max(deepest, now)
    return deepest


def _shown(cleaned: str) -> str:
    n_lists = 0  # that are open

    def shown(tag: re.Match[str]) -> str:
        nonlocal n_lists
        closing, name = tag.groups()
        if name in ("ul", "ol"):
            n_lists += -1 if closing else 1
        if name == "table":
            return "</table></div>" if closing else TABLE
        if name == "li" and not n_lists:
            name = "p"
        return f"<{closing}{HEADINGS.get(name, name)}>"

    return TAG.sub(shown, cleaned)

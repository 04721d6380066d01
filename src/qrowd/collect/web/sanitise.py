"""HTML from strangers, made harmless: an allow-list of tags, no attribute and no address.

What is left can be formatted but cannot act: no script, no style, no picture, no link, nothing that loads.
"""

from __future__ import annotations

import re

import nh3

TAGS = frozenset(
    re.findall(
        r"\w+",
        "p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong b i u s sub sup small q cite "
        "table caption thead tbody tfoot tr th td div span section figure figcaption",
    )
)
UNREAD = frozenset(
    re.findall(
        r"\w+",
        "script style title template noscript noembed noframes iframe frame frameset object embed applet svg math "
        "textarea select option button audio video canvas map head",
    )
)
LISTS = ("ul", "ol")
TAG = re.compile(r"<(/?)([a-z0-9]+)>")
HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}  # under the document's own, an h2
TABLE = '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>'


def clean(html: str) -> str:
    """The same text with only harmless tags; those are closed, nested rightly, and carry no attribute.

    Headings move down to stand below the page's own, an item outside a list becomes a paragraph, and a table gets a
    frame that scrolls, so that the page around stays accessible whatever comes in.
    """
    cleaned = nh3.clean(
        html,
        tags=set(TAGS),
        clean_content_tags=set(UNREAD),
        attributes={"*": set()},  # without "*" the cleaner keeps title and lang of every tag
        url_schemes=set(),
        link_rel=None,
        strip_comments=True,
    )
    return _set_right(cleaned)


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

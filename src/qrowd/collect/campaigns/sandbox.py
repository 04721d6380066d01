"""HTML with its own styles, for a frame in which nothing runs and nothing loads.

What protects is the frame's sandbox and its content policy. Before, tags that could act or load are left out here, in
one pass and without a tree, so that a browser that knew neither would do little.
"""

from __future__ import annotations

import re

from qrowd.collect.campaigns.sanitise import ATTRIBUTES, TOKEN, words_of

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
    parts: list[str] = []
    at = 0
    while (token := TOKEN.search(html, at)) is not None:
        parts.append(html[at : token.start()])
        name = (token[2] or "").lower()
        if not name:
            end = html.find("-->", token.start() + 2) if token[0] == "<!--" else html.find(">", token.end())
            at = len(html) if end < 0 else end + (3 if token[0] == "<!--" else 1)
            continue
        tag = ATTRIBUTES.match(html, token.end())
        if tag is None:  # a tag that never ends
            at = len(html)
            break
        at = tag.end()
        if name in WITH_CONTENT and not token[1]:
            end_tag = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(html, at)
            at = len(html) if end_tag is None else end_tag.start()
        elif name not in WITHOUT_CONTENT and name not in WITH_CONTENT:
            parts.append(HANDLER.sub("", html[token.start() : at]))
    parts.append(html[at:])
    return "".join(parts)

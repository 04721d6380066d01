"""HTML with its own styles, for a frame in which nothing runs and nothing loads.

What protects is the frame's sandbox and its content policy. Before, tags that could act or load are left out here, in
one pass and without a tree, so that a browser that knew neither would do little.
"""

from __future__ import annotations

import re

from qrowd_server.campaigns.plan.sanitise import parts_of, words_of

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

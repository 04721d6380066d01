"""Documents as pages show them: texts with the topic's words marked, and images. Rendered once and remembered."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from markupsafe import Markup

from qrowd_server.campaigns.plan.sanitise import clean
from qrowd_server.campaigns.running.pages import DocumentText
from qrowd_server.web.highlight import mark, stemmer_of

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
SPACES = re.compile(r"\n[ \t\r]*\n\s*")
EMPTY = Markup()
KEPT = 256  # rendered documents


@dataclass(frozen=True)
class RenderedDocument:
    """A document ready for a page.

    lang : its language tag, "" where it is none. counts : of the topic's words. url : its address, shown above it.
    image : the address of the image that is shown instead of the text. words : what stands for the image.
    pre : the text keeps its lines and blanks. pages : the addresses of the images of a PDF's pages; its text can be
    read beside them.
    """

    title: str
    lang: str
    html: Markup = EMPTY
    counts: tuple[tuple[str, int], ...] = ()
    url: str = ""
    image: str = ""
    words: str = ""
    pre: bool = False
    pages: tuple[str, ...] = ()

    @property
    def has_text(self) -> bool:
        """Whether it is shown as text, in which words can be marked and found."""
        return not (self.image or self.pages)


@lru_cache(maxsize=KEPT)
def render_document(topic: str, document: DocumentText) -> RenderedDocument:
    """A document's text with the words of the topic's title marked; HTML is cleaned, anything else is only text.

    Images are shown as they are, with nothing marked.
    """
    title, lang = document.title, document.language if LANGUAGE.fullmatch(document.language) else ""
    url, pre = document.url, document.layout == "pre"
    if document.image:
        return RenderedDocument(title, lang, url=url, image=document.image, words=document.text.strip() or title)
    if document.pages:
        return RenderedDocument(title, lang, Markup(_paragraphs(document.text)), url=url, pages=document.pages)
    if document.html:
        harmless = clean(document.text)
    elif pre:
        harmless = escape(document.text.replace("\r\n", "\n").strip("\n"), quote=False)
    else:
        harmless = _paragraphs(document.text)
    marked = mark(harmless, topic, stemmer_of(lang))
    return RenderedDocument(title, lang, Markup(marked.html), marked.counts, url, pre=pre)


def _paragraphs(text: str) -> str:
    parts = (escape(part.strip("\n\r"), quote=False) for part in SPACES.split(text.replace("\r\n", "\n")))
    return "".join(f'<p dir="auto">{part.replace(chr(10), "<br>")}</p>' for part in parts if part.strip())

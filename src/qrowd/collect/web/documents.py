"""Documents as pages show them: texts with the topic's words marked, images, frames. Drawn once and remembered."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import Markup

from qrowd.collect.campaigns.cache import Bounded
from qrowd.collect.campaigns.pages import DocumentText
from qrowd.collect.campaigns.sanitise import clean
from qrowd.collect.campaigns.web_pages import site_of
from qrowd.collect.web.highlight import Marked, mark, stemmer_of

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
SPACES = re.compile(r"\n[ \t\r]*\n\s*")
EMPTY = Markup("")
N_DOCUMENTS = 2048  # drawn documents kept


@dataclass(frozen=True)
class RenderedDocument:
    """A document ready for a page.

    lang : its language tag, "" where it is none. counts : of the topic's words. url, frame : as in `DocumentText`.
    image : the address of the image that is shown instead of the text. words : what stands for the image.
    pre : the text keeps its lines and blanks. sandbox : the address of HTML with its own styles, which is shown in a
    frame. pages : the addresses of the images of a PDF's pages; its text can be read beside them.
    """

    title: str
    lang: str
    html: Markup = EMPTY
    counts: tuple[tuple[str, int], ...] = ()
    url: str = ""
    image: str = ""
    frame: bool = False
    words: str = ""
    pre: bool = False
    sandbox: str = ""
    pages: tuple[str, ...] = ()

    @property
    def has_text(self) -> bool:
        """Whether it is shown as text, in which words can be marked and found."""
        return not (self.image or self.frame or self.sandbox or self.pages)


RENDERED: Bounded[tuple[str, DocumentText], RenderedDocument] = Bounded(N_DOCUMENTS)


def render_document(topic: str, document: DocumentText) -> RenderedDocument:
    """A document's text with the words of the topic's title marked; HTML is cleaned, anything else is only text.

    Images, pages and frames are shown as they are, with nothing marked.
    """
    key = topic, document
    if (rendered := RENDERED.get(key)) is None:
        RENDERED[key] = rendered = _render_document(topic, document)
    return rendered


def _render_document(topic: str, document: DocumentText) -> RenderedDocument:
    title, lang = document.title, document.language if LANGUAGE.fullmatch(document.language) else ""
    url = document.url if site_of(document.url) is not None else ""
    if document.layout == "sandbox":
        return RenderedDocument(title, lang, url=url, sandbox=document.image)
    if document.image or (document.frame and url):
        words = document.text.strip() or title
        return RenderedDocument(title, lang, url=url, image=document.image, frame=document.frame, words=words)
    if document.pages:
        return RenderedDocument(title, lang, Markup(_paragraphs(document.text)), url=url, pages=document.pages)
    pre = document.layout == "pre"
    if document.html:
        harmless = clean(document.text)
    elif pre:
        harmless = _escaped(document.text.replace("\r\n", "\n").strip("\n"))
    else:
        harmless = _paragraphs(document.text)
    marked: Marked = mark(harmless, topic, stemmer_of(lang))
    return RenderedDocument(title, lang, Markup(marked.html), marked.counts, url, pre=pre)


def _paragraphs(text: str) -> str:
    parts = (part.strip("\n\r") for part in SPACES.split(text.replace("\r\n", "\n")))
    return "".join(f'<p dir="auto">{_escaped(part).replace(chr(10), "<br>")}</p>' for part in parts if part.strip())


def _escaped(part: str) -> str:
    return part.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

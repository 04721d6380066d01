"""Documents as pages show them: texts with the topic's words marked, images, frames. Drawn once and remembered."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from dataclasses import dataclass

from markupsafe import Markup

from qrowd_server.campaigns.plan.sanitise import clean
from qrowd_server.campaigns.plan.web_pages import site_of
from qrowd_server.campaigns.running.pages import DocumentText
from qrowd_server.web.highlight import Marked, mark, stemmer_of

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
SPACES = re.compile(r"\n[ \t\r]*\n\s*")
EMPTY = Markup("")
LETTERS = 1 << 25  # of drawn documents that are kept


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


class Rendered:
    """Drawn documents by topic and document, up to a number of letters; the oldest go first."""

    def __init__(self, letters: int) -> None:
        self.letters, self._kept = letters, 0
        self._documents: OrderedDict[tuple[str, DocumentText], RenderedDocument] = OrderedDict()
        self._changing = threading.Lock()  # long documents are drawn in a thread

    def get(self, topic: str, document: DocumentText) -> RenderedDocument | None:
        """A drawn document; None where it is not kept."""
        return self._documents.get((topic, document))

    def keep(self, topic: str, document: DocumentText, rendered: RenderedDocument) -> None:
        """Keep a drawn document."""
        with self._changing:
            if (topic, document) not in self._documents:
                self._documents[topic, document] = rendered
                self._kept += _letters(rendered)
            while self._kept > self.letters:
                self._kept -= _letters(self._documents.popitem(last=False)[1])

    def clear(self) -> None:
        """Keep none."""
        with self._changing:
            self._documents.clear()
            self._kept = 0

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._documents)


def _letters(rendered: RenderedDocument) -> int:
    return 1000 + len(rendered.html) + len(rendered.words)  # with all that is as long for every document


RENDERED = Rendered(LETTERS)


def render_document(topic: str, document: DocumentText) -> RenderedDocument:
    """A document's text with the words of the topic's title marked; HTML is cleaned, anything else is only text.

    Images, pages and frames are shown as they are, with nothing marked.
    """
    if (rendered := RENDERED.get(topic, document)) is None:
        rendered = _render_document(topic, document)
        RENDERED.keep(topic, document, rendered)
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

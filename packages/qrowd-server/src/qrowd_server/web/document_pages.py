"""Documents as pages show them: texts with the topic's words marked, and images. Rendered once and remembered.

Words are marked as they are or in another form of the same stem, by Snowball's stemmers. Words that say nothing of the
topic ("the", "what") are not marked.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape

import snowballstemmer  # type: ignore[import-untyped]
from babel import Locale
from markupsafe import Markup

from qrowd_server.campaigns.plan.sanitise import clean
from qrowd_server.campaigns.running.pages import DocumentText

UNTOLD = frozenset(
    re.findall(
        r"\w+",
        "a about an and are as at be by can do does did for from had has have how i in into is it its me my of on "
        "or our should so than that the their them there these this those to us was we were what when where which who "
        "whom why will with would you your not no but if",
    )
)
WORD = re.compile(r"(<[^<>]*+>|&#?\w++;|[^\W_]++)")
STEMMERS = frozenset(snowballstemmer.algorithms()) - {"porter"}
SAME_START = "english", ""  # languages in which a word and its stem begin alike, so that few have to be stemmed
LONGEST = 60  # letters of a word that has other forms
_stemming = threading.Lock()  # a Snowball stemmer holds the word it works on


@dataclass(frozen=True)
class Marked:
    """Harmless HTML with `<mark>` around the topic's words, and how often each of them was found."""

    html: str
    counts: tuple[tuple[str, int], ...] = ()


@lru_cache(maxsize=1 << 16)
def stem(word: str, language: str = "english") -> str:
    """What all forms of a word have in common; the word in lower case where the language is not known."""
    if language not in STEMMERS or len(word) > LONGEST:
        return word.lower()
    with _stemming:
        return str(_stemmer(language).stemWord(word.lower()))


@cache
def _stemmer(language: str) -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer(language)


def stemmer_of(tag: str) -> str:
    """The stemmer for a language tag such as `en` or `de-CH`: English where nothing is said, none ("") if unknown."""
    name = Locale("en").languages.get(tag.partition("-")[0].lower(), "").partition(" ")[0].lower() if tag else "english"
    return name if name in STEMMERS else ""


@lru_cache(maxsize=4096)
def terms(title: str, language: str = "english") -> dict[str, str]:
    """The words of a title worth marking: stem -> the word as the title first says it."""
    words = [word for word in WORD.findall(title) if word[0] not in "<&"]
    telling = [word for word in words if word.lower() not in UNTOLD and (len(word) > 1 or not word.isascii())]
    stems: dict[str, str] = {}
    for word in telling or words:
        stems.setdefault(stem(word, language), word)
    return stems


def mark(html: str, title: str, language: str = "english") -> Marked:
    """HTML whose text speaks of the title's words, with these marked; tags and entities stay as they are.

    html : escaped text, or what `campaigns.sanitise.clean` returns: every `<` begins a tag.
    """
    stems = terms(title, language)
    firsts = {stemmed[0] for stemmed in stems} if language in SAME_START else None
    counts = dict.fromkeys(stems, 0)

    def marked(match: re.Match[str]) -> str:
        word = match[0]
        if firsts is not None and word[0].lower()[0] not in firsts:
            return word
        if word[0] in "<&" or (stemmed := stem(word, language)) not in stems:
            return word
        counts[stemmed] += 1
        return f"<mark>{word}</mark>"

    with_marks = WORD.sub(marked, html)
    return Marked(with_marks, tuple((stems[stemmed], n) for stemmed, n in counts.items()))


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
    text = document.text.replace("\r\n", "\n")
    escaped = escape(text.strip("\n") if pre else text, quote=False)
    if document.pages:
        return RenderedDocument(title, lang, _paragraphs(escaped), url=url, pages=document.pages)
    marked = mark(clean(document.text) if document.html else escaped, topic, stemmer_of(lang))
    html = Markup(marked.html) if document.html or pre else _paragraphs(marked.html)
    return RenderedDocument(title, lang, html, marked.counts, url, pre=pre)


def _parts(text: str) -> Iterator[str]:
    at = 0
    for match in SPACES.finditer(text):  # no list: other threads would wait for it
        yield text[at : match.start()]
        at = match.end()
    yield text[at:]


def _paragraphs(html: str) -> Markup:
    parts = (part.strip("\n\r") for part in _parts(html))
    return Markup("".join(f'<p dir="auto">{part.replace(chr(10), "<br>")}</p>' for part in parts if part.strip()))

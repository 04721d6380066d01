"""Pages for assessors: a `Page` becomes HTML, whole or as the `<main>` that the script puts in place of the last one.

Everything that somebody typed is escaped by the templates; the only HTML let through is a document's, cleaned first.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from importlib import resources
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from qrowd.collect.campaigns.pages import DocumentText, Page
from qrowd.collect.campaigns.sanitise import clean
from qrowd.collect.campaigns.state import Bounded
from qrowd.collect.campaigns.web_pages import site_of
from qrowd.collect.protocols.events import Refusal
from qrowd.collect.protocols.views import DocumentView, Grade, PairView
from qrowd.collect.web import texts
from qrowd.collect.web.forms import TYPED
from qrowd.collect.web.highlight import Marked, mark, stemmer_of

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
WRAPPED = re.compile(r"(?<=[^\n]{60})(?<![ \t])[ \t]*+\n(?![ \t]*+(?:[-*•–]|\d++[.)])[ \t])")
SPACES = re.compile(r"\n[ \t\r]*\n\s*")
N_DOCUMENTS = 2048  # drawn documents kept
SHORT, LONG = 2_000, 100_000  # characters that are drawn in a few milliseconds: of new documents, and of a page
HIDDEN = Markup(
    '<input type="hidden" name="csrf" value="{}"><input type="hidden" name="shown" value="{}">'
    '<input type="hidden" name="key" value="{}">'
)


# ---- the tools


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates, each compiled once; escaping is always on, and a name that is missing is an error."""
    environment = Environment(
        loader=PackageLoader("qrowd.collect.web"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        cache_size=-1,
    )
    environment.globals["asset"] = asset
    environment.filters["paragraphs"] = paragraphs
    return environment


@lru_cache(maxsize=64)
def asset(name: str) -> str:
    """The address of a file that comes with the program; another content has another address, so it may be kept."""
    content = resources.files("qrowd.collect.web").joinpath("static", name).read_bytes()
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:10]}"


@lru_cache(maxsize=1024)
def paragraphs(text: str) -> Markup:
    """Plain text as paragraphs: an empty line parts them, a single break stays one.

    After 60 characters a break only says where an editor's line ended, unless an item of a list follows.
    """
    parts = (WRAPPED.sub(" ", part.strip()) for part in SPACES.split(text.replace("\r\n", "\n")))
    lines = (str(escape(part)).replace("\n", "<br>") for part in parts if part)
    return Markup("".join(f'<p dir="auto">{part}</p>' for part in lines))


@dataclass(frozen=True)
class RenderedDocument:
    """A document ready for a page.

    lang : its language tag, "" where it is none. counts : of the topic's words. url, frame : as in `DocumentText`.
    image : the address of the image that is shown instead of the text. words : what stands for the image.
    """

    title: str
    lang: str
    html: Markup
    counts: tuple[tuple[str, int], ...]
    url: str = ""
    image: str = ""
    frame: bool = False
    words: str = ""

    @property
    def has_text(self) -> bool:
        """Whether it is shown as text, in which words can be marked and found."""
        return not (self.image or self.frame)


RENDERED: Bounded[tuple[str, DocumentText], RenderedDocument] = Bounded(N_DOCUMENTS)


def render_document(topic: str, document: DocumentText) -> RenderedDocument:
    """A document's text with the words of the topic's title marked; HTML is cleaned, anything else is only text.

    An image or a frame is shown as it is, with nothing marked.
    """
    return RENDERED.get_or_make((topic, document), lambda: _render_document(topic, document))


def takes_long(page: Page) -> bool:
    """Whether drawing the page may take more than some milliseconds, so that a thread should do it.

    Documents are drawn once and remembered; the first time they are cleaned and their words are marked.
    """
    topic, title = page.topic, page.topic.title if page.topic is not None else ""
    new = (one for one in page.documents.values() if (title, one) not in RENDERED)
    words = [page.instructions, page.consent] + ([] if topic is None else [title, topic.description, topic.narrative])
    n_new = sum(len(one.text) + len(one.title) for one in new) + len(title)
    n_drawn = sum(len(one.text) for one in page.documents.values()) + sum(map(len, words))
    return n_new > SHORT or n_drawn > LONG


def _render_document(topic: str, document: DocumentText) -> RenderedDocument:
    lang = document.language if LANGUAGE.fullmatch(document.language) else ""
    url = document.url if site_of(document.url) is not None else ""
    if document.image or (document.frame and url):
        words = document.text.strip() or document.title
        return RenderedDocument(document.title, lang, Markup(""), (), url, document.image, document.frame, words)
    if document.html:
        harmless = clean(document.text)
    else:
        parts = (part.strip("\n\r") for part in SPACES.split(document.text.replace("\r\n", "\n")))
        harmless = "".join(f'<p dir="auto">{_text(part)}</p>' for part in parts if part.strip())
    marked: Marked = mark(harmless, topic, stemmer_of(lang))
    return RenderedDocument(document.title, lang, Markup(marked.html), marked.counts, url)


def _text(part: str) -> str:
    return part.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", "<br>")


# ---- the pages


def render(template: str, **values: Any) -> str:
    """A page from its template."""
    return environment().get_template(f"{template}.html").render(values)


def render_page(page: Page, *, base: str, **options: Any) -> str:
    """The whole page; arguments as for `render_main`."""
    main = Markup(render_main(page, base=base, **options))
    return render("page", main=main, page=page, title=_title(page), base=base)


def render_main(
    page: Page,
    *,
    csrf: str,
    base: str,
    notice: str = "",
    problem: Refusal | None = None,
    typed: Mapping[str, str] | None = None,
) -> str:
    """The page's `<main>` alone, which the script puts in place of the last one.

    csrf : the session's token against forged forms. base : the address of the campaign's page; forms go to base/act.
    notice : something to say above. problem : why the last form was refused. typed : what it held, to be kept.
    """
    view = page.view
    name = type(view).__name__.removesuffix("View").lower()
    values: dict[str, Any] = {
        "page": page,
        "view": view,
        "name": name,
        "title": _title(page),
        "announcement": texts.announcement(view),
        "act": f"{base}/act",
        "base": base,
        "hidden": HIDDEN.format(csrf, page.shown, page.key),
        "disabled": Markup(" disabled") if page.preview else Markup(""),
        "notice": notice,
        "problem": problem,
        "typed": {**_inputs(page), **(typed or {})},
        "texts": texts,
    }
    if isinstance(view, DocumentView):
        values["document"] = _document(page, view.document)
        values["words"] = values["document"].has_text
        values["grades"] = _keyed(view.grades)
        values["others"] = _others(view)
    elif isinstance(view, PairView):
        values["left"] = _document(page, view.left)
        values["right"] = _document(page, view.right)
        values["words"] = values["left"].has_text or values["right"].has_text
    else:
        values["exit"] = _exit(page.link)
        values["until"] = _until(getattr(view, "until", None))
    return render(name, **values)


def render_welcome(title: str, *, csrf: str, action: str, name: str = "") -> str:
    """The first page behind an invitation: what it is about and one button, so that nothing begins by a mere visit.

    action : where the button's form goes. name : of whom was invited, if known.
    """
    return render("welcome", title=title, csrf=csrf, action=action, person=name)


def render_landing() -> str:
    """The page at the server's own address: for visitors who come without a link."""
    return render("landing", title="Judging")


def render_error(
    status: int, *, message: str = "", reference: str = "", back: str = "", retry_after: int | None = None
) -> str:
    """A page for what went wrong: what happened, what is safe, what to do.

    message : more exact words, where there are any. reference : to find it in the log. back : address of the task.
    retry_after : seconds to wait.
    """
    title, text = texts.ERRORS.get(status, texts.ERRORS[500 if status >= 500 else 400])
    details = {"reference": reference, "back": back, "retry_after": retry_after}
    return render("error", status=status, title=title, message=message or text, **details)


# ---- what the templates ask for


def _title(page: Page) -> str:
    return f"{texts.heading(page.view)} · {page.title}"


def _document(page: Page, number: int) -> RenderedDocument:
    return render_document(page.topic.title if page.topic is not None else "", page.documents[number])


def _inputs(page: Page) -> dict[str, str]:
    """The first content of the inputs: the draft where there is one, else the earlier answer, else nothing."""
    earlier = page.view.answer if isinstance(page.view, DocumentView) else None
    source = page.draft or earlier
    texts = {"text": source.text, "reason": source.reason} if source is not None else {}
    return dict.fromkeys(TYPED, "") | texts


@lru_cache(maxsize=256)
def _keyed(grades: tuple[Grade, ...]) -> tuple[tuple[Grade, str], ...]:
    """Each grade with its key: n and y for two, the value where all are digits, else its place."""
    if [grade.value for grade in grades] == [0, 1]:
        return tuple(zip(grades, "ny", strict=True))
    digits = all(0 <= grade.value <= 9 for grade in grades)
    places = (str(place) if place <= 9 else "" for place in range(1, len(grades) + 1))
    return tuple((grade, str(grade.value) if digits else place) for grade, place in zip(grades, places, strict=True))


def _others(view: DocumentView) -> list[tuple[int, bool]]:
    """The other documents that were here before: position, and whether it has an answer or waits for one."""
    states = zip(view.done, view.postponed, strict=True)
    return [(place, done) for place, (done, later) in enumerate(states) if (done or later) and place != view.position]


@dataclass(frozen=True)
class Exit:
    """The way back to a platform: a link, or a form where `fields` are to be posted."""

    label: str
    address: str
    fields: tuple[tuple[str, str], ...] | None


def _exit(link: str | None) -> Exit | None:
    """The way out; none for an address that is not of the web. MTurk wants its fields by POST."""
    if link is None:
        return None
    parts = urlsplit(link)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return None
    label = texts.platform(link)
    if parts.path.endswith("/mturk/externalSubmit"):
        if parts.scheme != "https" or parts.netloc not in texts.MTURK_HOSTS:
            return None
        address = urlunsplit((parts.scheme, parts.netloc, quote(parts.path), "", ""))
        return Exit(label, address, tuple(parse_qsl(parts.query, keep_blank_values=True)))
    return Exit(label, link, None)


def _until(seconds: float | None) -> tuple[str, str] | None:
    """A time for machines and, in UTC, for people; the script says it in the reader's own."""
    if seconds is None:
        return None
    time = datetime.fromtimestamp(seconds, UTC)
    return time.isoformat(timespec="seconds"), f"{time:%H:%M} UTC"

"""Pages for assessors: a `Page` becomes HTML, whole or as the `<main>` that the script puts in place of the last one.

Everything that somebody typed is escaped by the templates; the only HTML let through is a document's, cleaned first.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from importlib import resources
from secrets import token_hex
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from qrowd.collect.campaigns import sanitise
from qrowd.collect.campaigns.guidelines import rendered
from qrowd.collect.campaigns.pages import Page, PageMessage, TopicText
from qrowd.collect.protocols.events import Refusal
from qrowd.collect.protocols.messages import Instructions, Message
from qrowd.collect.protocols.views import DocumentView, Grade, PairView
from qrowd.collect.web import texts
from qrowd.collect.web.documents import RENDERED, SPACES, RenderedDocument, render_document
from qrowd.collect.web.forms import TYPED
from qrowd.collect.web.languages import ENGLISH, Language, language

WRAPPED = re.compile(r"(?<=[^\n]{60})(?<![ \t])[ \t]*+\n(?![ \t]*+(?:[-*•–]|\d++[.)])[ \t])")
BEFORE_JUDGING = ("consent", "lines", "noneleft")  # pages that show the guidelines
PLACES = 1024  # pages around a document that are remembered
SHORT, LONG = 4_000, 100_000  # characters that are drawn in a few milliseconds: of new documents, and of a page


# ---- the tools


@lru_cache(maxsize=64)
def environment(tag: str = ENGLISH) -> Environment:
    """The templates in a language, compiled once; escaping is always on, and a name that is missing is an error."""
    environment = Environment(
        loader=PackageLoader("qrowd.collect.web"),
        extensions=["jinja2.ext.i18n"],
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        cache_size=-1,
    )
    environment.globals["asset"] = asset
    environment.filters["paragraphs"] = paragraphs
    words = language(tag)
    environment.policies["ext.i18n.trimmed"] = True
    environment.newstyle_gettext = True  # type: ignore[attr-defined]
    environment.globals |= {"language": words, "choice": None}
    environment.globals |= {"_": words.gettext, "gettext": words.gettext, "ngettext": words.ngettext}
    environment.globals["pgettext"] = words.pgettext
    environment.filters["said"] = words.text
    environment.filters["own"] = words.own
    table = sanitise.TABLE.replace("Table", escape(words.text(texts.TABLE)))
    environment.filters["tables"] = lambda content: Markup(str(content).replace(sanitise.TABLE, table))
    environment.filters["sentences"] = lambda messages: words.joined([words.text(one) for one in messages])
    environment.filters["ask"] = lambda ask: words.text(ask) if ask in texts.ASKS else ask
    environment.filters["label"] = lambda label: words.text(label) if label in texts.LABELS else label
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


def takes_long(page: Page) -> bool:
    """Whether drawing the page may take more than some milliseconds, so that a thread should do it.

    Documents are drawn once and remembered; the first time they are cleaned and their words are marked.
    """
    topic, title = page.topic, page.topic.title if page.topic is not None else ""
    n_new, n_drawn = len(title), len(page.instructions) + len(page.consent) + len(page.guidelines)
    for one in page.documents.values():
        n_drawn += len(one.text)
        if RENDERED.get(title, one) is None:
            n_new += len(one.text) + len(one.title)
    if topic is not None:
        n_drawn += len(title) + len(topic.description) + len(topic.narrative)
    return n_new > SHORT or n_drawn > LONG


# ---- the pages


@dataclass(frozen=True)
class LanguageChoice:
    """The choice of a language on a page: its form's token, and (tag, direction, name) of each language."""

    token: str
    languages: tuple[tuple[str, str, str], ...]


def render(template: str, *, tag: str = ENGLISH, **values: Any) -> str:
    """A page from its template, in the language of that tag."""
    return environment(tag).get_template(f"{template}.html").render(values)


def render_page(
    page: Page, *, base: str, tag: str = ENGLISH, choice: LanguageChoice | None = None, **options: Any
) -> str:
    """The whole page; arguments as for `render_main`."""
    main = Markup(render_main(page, base=base, tag=tag, **options))
    values = {"main": main, "page": page, "title": _title(page, language(tag)), "base": base}
    return render("page", tag=tag, choice=choice, script_texts=script_texts(tag), **values)


@lru_cache(maxsize=64)
def script_texts(tag: str) -> str:
    """What the script says, as JSON."""
    return json.dumps({name: language(tag).text(text) for name, text in texts.SCRIPT.items()}, ensure_ascii=False)


def render_main(
    page: Page,
    *,
    csrf: str,
    base: str,
    notice: str = "",
    problem: Refusal | None = None,
    typed: Mapping[str, str] | None = None,
    tag: str = ENGLISH,
) -> str:
    """The page's `<main>` alone, which the script puts in place of the last one.

    csrf : the session's token against forged forms. base : the address of the campaign's page; forms go to base/act.
    notice : something to say above. problem : why the last form was refused. typed : what it held, to be kept.
    tag : of the language.
    """
    view, words = page.view, language(tag)
    typed = {**_inputs(page), **(typed or {})}
    if isinstance(view, DocumentView):
        said = Said(notice, problem, page.messages, tuple(typed.items()))
        document = _document(page, view.document)
        draw = _around_document if said == NOTHING_SAID else _around_document.__wrapped__
        around = draw(_place(page, view), said, document.has_text, base, tag)
        article = _article(
            view.revising, view.reopened, page.place[0] if page.place else view.position + 1, document, tag
        )
        return _filled(around, {"hidden": _hidden(csrf, page), "shown": escape(page.shown), "article": article})
    name = type(view).__name__.removesuffix("View").lower()
    values: dict[str, Any] = {
        "page": page,
        "view": view,
        "name": name,
        "title": _title(page, words),
        "announcement": words.text(texts.announcement(view)),
        "act": f"{base}/act",
        "base": base,
        "hidden": _hidden(csrf, page),
        "disabled": Markup(" disabled") if page.preview else Markup(""),
        "notice": notice,
        "problem": problem,
        "messages": page.messages,
        "typed": typed,
        "texts": texts,
    }
    if isinstance(view, PairView):
        values["left"] = _document(page, view.left)
        values["right"] = _document(page, view.right)
        values["words"] = values["left"].has_text or values["right"].has_text
    else:
        values["exit"] = _exit(page.link)
        values["guidelines"] = _guidelines(page, words) if name in BEFORE_JUDGING else ""
        values["until"] = _until(getattr(view, "until", None), words)
    return render(name, tag=tag, **values)


# ---- the page of a document


class Place(NamedTuple):
    """Where the page of a document is, and what it says beside the document: the same for everybody at that place.

    view : with no number of a document. The rest is as in `Page`; built_in : whether the instructions are ours.
    """

    view: DocumentView
    title: str
    topic: TopicText | None
    place: tuple[int, int] | None
    ask: str
    full_topic: bool
    instructions: str
    built_in: bool
    guidelines_at: str
    may_ask: bool
    preview: bool
    shown: Markup


class Said(NamedTuple):
    """What a page says of what was sent or typed; arguments of `render_main`, and questions to the organisers."""

    notice: str
    problem: Refusal | None
    messages: tuple[PageMessage, ...]
    typed: tuple[tuple[str, str], ...]


NOTHING_SAID = Said("", None, (), tuple(dict.fromkeys(TYPED, "").items()))
GAP = token_hex(16)  # around the name of what is filled in later; nobody can write it into a text


def _gap(name: str) -> Markup:
    return Markup(f"{GAP}{name}{GAP}")


def _place(page: Page, view: DocumentView) -> Place:
    built_in = isinstance(page.instructions, Message | Instructions)
    return Place(
        replace(view, document=0), page.title, page.topic, page.place, page.ask, page.full_topic, page.instructions,
        built_in, page.guidelines_at, page.may_ask, page.preview, _gap("shown"),
    )  # fmt: skip


@lru_cache(maxsize=PLACES)
def _around_document(place: Place, said: Said, words: bool, base: str, tag: str) -> tuple[str, ...]:
    """The page of a document without what differs from one assessor or document to the next: texts, and between them
    the names of gaps.

    words : whether the document is shown as text.
    """
    view, own = place.view, language(tag)
    grades = _keyed(_in_language(view.grades, own))
    main = render(
        "document",
        tag=tag,
        page=place,
        view=view,
        name="document",
        title=_title(place, own),
        announcement=own.text(texts.announcement(view)),
        act=f"{base}/act",
        base=base,
        hidden=_gap("hidden"),
        article=_gap("article"),
        disabled=Markup(" disabled") if place.preview else Markup(""),
        notice=said.notice,
        problem=said.problem,
        messages=said.messages,
        typed=dict(said.typed),
        words=words,
        grades=grades,
        others=_others(view),
        help=_help(grades, words, tag),
    )
    return tuple(main.split(GAP))


def _article(revising: bool, reopened: str, number: int, document: RenderedDocument, tag: str) -> str:
    """A document with its title. number : that stands for one without."""
    if not document.has_text or document.url:
        return render("article", tag=tag, revising=revising, reopened=reopened, number=number, document=document)
    title, html = escape(document.title), environment(tag).filters["tables"](document.html)
    kind = RenderedDocument(_gap("title") if title else "", document.lang, _gap("html"), pre=document.pre)
    around = _around_text(revising, reopened, 0 if title else number, kind, tag)
    return _filled(around, {"title": title, "html": html})


@lru_cache(maxsize=256)
def _around_text(revising: bool, reopened: str, number: int, document: RenderedDocument, tag: str) -> tuple[str, ...]:
    article = render("article", tag=tag, revising=revising, reopened=reopened, number=number, document=document)
    return tuple(article.split(GAP))


def _hidden(csrf: str, page: Page) -> Markup:
    """What every form of a page repeats."""
    values = (("csrf", csrf), ("shown", page.shown), ("key", page.key))
    return Markup("".join([f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in values]))


def _filled(around: tuple[str, ...], values: Mapping[str, str]) -> str:
    """The page with its gaps filled."""
    return "".join(values[part] if i % 2 else part for i, part in enumerate(around))


def render_welcome(
    title: str,
    *,
    csrf: str,
    action: str,
    name: str = "",
    effort: tuple[int, int] | None = None,
    tag: str = ENGLISH,
    choice: LanguageChoice | None = None,
) -> str:
    """The first page behind an invitation: what it is about and one button, so that nothing begins by a mere visit.

    action : where the button's form goes. name : of whom was invited, if known. effort : as in `Page`.
    """
    values = {"title": title, "csrf": csrf, "action": action, "person": name, "effort": effort}
    return render("welcome", tag=tag, choice=choice, **values)


def render_guidelines(page: Page, *, tag: str = ENGLISH, choice: LanguageChoice | None = None) -> str:
    """The guidelines of a campaign on a page of their own, without a task."""
    words = language(tag)
    values = {
        "page": page,
        "guidelines": _guidelines(page, words),
        "title": f"{words.text(texts.GUIDELINES)} · {page.title}",
    }
    return render("guidelines", tag=tag, choice=choice, **values)


def render_landing(*, tag: str = ENGLISH, choice: LanguageChoice | None = None) -> str:
    """The page at the server's own address: for visitors who come without a link."""
    return render("landing", tag=tag, choice=choice, title=language(tag).text(texts.JUDGING))


def render_error(
    status: int,
    *,
    message: str = "",
    reference: str = "",
    back: str = "",
    retry_after: int | None = None,
    tag: str = ENGLISH,
) -> str:
    """A page for what went wrong: what happened, what is safe, what to do.

    message : more exact words, where there are any. reference : to find it in the log. back : address of the task.
    retry_after : seconds to wait.
    """
    title, text = texts.ERRORS.get(status, texts.ERRORS[500 if status >= 500 else 400])
    details = {"reference": reference, "back": back, "retry_after": retry_after}
    return render("error", tag=tag, status=status, title=language(tag).text(title), message=message or text, **details)


# ---- what the templates ask for


def _guidelines(page: Page, words: Language) -> Markup:
    """The guidelines with their pictures, as harmless HTML."""
    return Markup(rendered(page.guidelines, page.pictures, words.text(texts.TABLE))) if page.guidelines else Markup("")


def _title(page: Page | Place, words: Language) -> str:
    return f"{words.text(texts.heading(page.view))} · {page.title}"


def _in_language(grades: tuple[Grade, ...], words: Language) -> tuple[Grade, ...]:
    """Grades with their built-in labels in a language; labels of the campaign's own as they are."""
    if tuple(grade.label for grade in grades) not in texts.LABEL_SETS:
        return grades
    return tuple(replace(grade, label=words.text(grade.label)) for grade in grades)


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


@lru_cache(maxsize=256)
def _help(grades: tuple[tuple[Grade, str], ...], words: bool, tag: str) -> Markup:
    """The list of keys on the page of a document, which is the same on all of a campaign."""
    values = {"name": "document", "view": {"grades": grades}, "grades": grades, "words": words}
    return Markup(render("help", tag=tag, **values))


def _others(view: DocumentView) -> list[tuple[int, bool]]:
    """The other documents that were here before: position, and whether it has an answer or waits for one."""
    if view.reopened:
        return []
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


def _until(seconds: float | None, words: Language) -> tuple[str, str] | None:
    """A time for machines and, in UTC, for people; the script says it in the reader's own."""
    if seconds is None:
        return None
    time = datetime.fromtimestamp(seconds, UTC)
    return time.isoformat(timespec="seconds"), f"{words.clock(time)} UTC"

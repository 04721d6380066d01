"""Pages on which a document or a pair is judged: drawn once with gaps, which are filled in for each assessor.

What is drawn depends on the place alone: the campaign, the position, what the page offers. Tokens, the topic and the
documents are filled in. Pages that say something of what was sent or typed are drawn anew each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from secrets import token_hex
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from qrowd_server.campaigns.running.campaign_reader import Bounded
from qrowd_server.campaigns.running.pages import Page, PageMessage, TopicText
from qrowd_server.protocols.events import Refusal
from qrowd_server.protocols.views import DocumentView, Grade, PairView, View
from qrowd_server.translatable import Instructions, Message
from qrowd_server.web import texts
from qrowd_server.web.documents import RenderedDocument, render_document
from qrowd_server.web.forms import TYPED
from qrowd_server.web.languages import Language, language
from qrowd_server.web.templating import environment, paragraphs, render

PLACES = 1024  # pages that are kept
GAP = token_hex(16)  # around the name of what is filled in; nobody can write it into a text

Parts = tuple[str, ...]  # texts, and between them the names of gaps


class Place(NamedTuple):
    """What the templates read of a page, as in `Page`.

    topic : with gaps. built_in : whether the instructions are ours.
    """

    title: str
    topic: TopicText | None
    ask: str
    full_topic: bool
    instructions: str
    built_in: bool
    guidelines_at: str
    may_ask: bool
    preview: bool
    shown: str


class Said(NamedTuple):
    """What a page says of what was sent or typed; arguments of `render_main`, and questions to the organisers."""

    notice: str
    problem: Refusal | None
    messages: tuple[PageMessage, ...]
    typed: Mapping[str, str]


NOTHING_TYPED = dict.fromkeys(TYPED, "")
NOTHING_SAID = Said("", None, (), NOTHING_TYPED)

KEPT: Bounded[tuple[Any, ...], Parts] = Bounded(PLACES)


def judging_page(page: Page, view: DocumentView | PairView, said: Said, *, csrf: str, base: str, tag: str) -> str:
    """The `<main>` of a page with a document or a pair; arguments as for `render_main`."""
    values: dict[str, str] = {"shown": escape(page.shown), "hidden": hidden_fields(csrf, page)}
    if page.topic is not None:
        values |= _of_topic(page.topic)
    if isinstance(view, DocumentView):
        return _document_page(page, view, said, values, base, tag)
    return _pair_page(page, view, said, values, base, tag)


# ---- gaps


@lru_cache(maxsize=256)
def _gap(name: str) -> Markup:
    return Markup(f"{GAP}{name}{GAP}")


def _filled(parts: Parts, values: Mapping[str, str]) -> str:
    """The page with its gaps filled."""
    return "".join([values[part] if i % 2 else part for i, part in enumerate(parts)])


@lru_cache(maxsize=256)
def _topic_with_gaps(has_description: bool, has_narrative: bool, n_snippets: int) -> TopicText:
    description = _gap("description") if has_description else ""
    narrative = _gap("narrative") if has_narrative else ""
    return TopicText(_gap("topic"), description, narrative, tuple(_gap(f"snippet {i}") for i in range(n_snippets)))


@lru_cache(maxsize=1024)
def _of_topic(topic: TopicText) -> dict[str, str]:
    """What is filled in of a topic."""
    snippets = {f"snippet {i}": paragraphs(snippet) for i, snippet in enumerate(topic.context)}
    words = {"description": paragraphs(topic.description), "narrative": paragraphs(topic.narrative)}
    return {"topic": escape(topic.title), **words, **snippets}


def _place(page: Page) -> Place:
    topic = page.topic
    if topic is not None:
        topic = _topic_with_gaps(bool(topic.description), bool(topic.narrative), len(topic.context))
    built_in = isinstance(page.instructions, Message | Instructions)
    return Place(
        page.title, topic, page.ask, page.full_topic, page.instructions, built_in, page.guidelines_at,
        page.may_ask, page.preview, _gap("shown"),
    )  # fmt: skip


def _draw(
    template: str,
    place: Place,
    view: DocumentView | PairView,
    title: str,
    said: Said,
    base: str,
    tag: str,
    **values: Any,
) -> Parts:
    main = render(
        template,
        tag=tag,
        page=place,
        view=view,
        name=template,
        title=title,
        announcement=language(tag).text(texts.announcement(view)),
        act=f"{base}/act",
        base=base,
        hidden=_gap("hidden"),
        disabled=Markup(" disabled") if place.preview else Markup(""),
        notice=said.notice,
        problem=said.problem,
        messages=said.messages,
        typed=said.typed,
        **values,
    )
    return tuple(main.split(GAP))


def hidden_fields(csrf: str, page: Page) -> Markup:
    """What every form of a page repeats."""
    values = (("csrf", csrf), ("shown", page.shown), ("key", page.key))
    return Markup("".join([f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in values]))


def title_of(view: View, campaign: str, words: Language) -> str:
    """What the browser's tab says. campaign : its title."""
    return f"{words.text(texts.heading(view))} · {campaign}"


# ---- a document

_of_document_view = attrgetter(*(name for name in DocumentView.__dataclass_fields__ if name != "document"))


def _document_page(page: Page, view: DocumentView, said: Said, values: dict[str, str], base: str, tag: str) -> str:
    document = _document(page, view.document)
    place = _place(page)
    key = "document", _of_document_view(view), place, document.has_text, base, tag
    parts = KEPT.get(key) if said is NOTHING_SAID else None
    if parts is None:
        parts = _around_document(place, replace(view, document=0), said, document.has_text, base, tag)
        if said is NOTHING_SAID:
            KEPT[key] = parts
    values["article"] = _article(view, view.position + 1, document, tag)
    return _filled(parts, values)


def _around_document(place: Place, view: DocumentView, said: Said, words: bool, base: str, tag: str) -> Parts:
    """words : whether the document is shown as text."""
    grades = _keyed(_in_language(view.grades, language(tag)))
    help = Markup(render("help", tag=tag, name="document", view={"grades": grades}, grades=grades, words=words))
    title = title_of(view, place.title, language(tag))
    return _draw(
        "document", place, view, title, said, base, tag,
        article=_gap("article"), words=words, grades=grades, others=_others(view), help=help,
    )  # fmt: skip


def _document(page: Page, number: int) -> RenderedDocument:
    return render_document(page.topic.title if page.topic is not None else "", page.documents[number])


def _article(view: DocumentView, number: int, document: RenderedDocument, tag: str) -> str:
    """A document with its title. number : that stands for one without."""
    revising, reopened, title = view.revising, view.reopened, escape(document.title)
    if not document.has_text or document.url:
        return render("article", tag=tag, revising=revising, reopened=reopened, number=number, document=document)
    parts = _around_text(revising, reopened, 0 if title else number, document.lang, document.pre, tag)
    return _filled(parts, {"title": title, "html": environment(tag).filters["tables"](document.html)})


@lru_cache(maxsize=256)
def _around_text(revising: bool, reopened: str, number: int, lang: str, pre: bool, tag: str) -> Parts:
    """number : 0 for a document with a title."""
    document = RenderedDocument("" if number else _gap("title"), lang, _gap("html"), pre=pre)
    article = render("article", tag=tag, revising=revising, reopened=reopened, number=number, document=document)
    return tuple(article.split(GAP))


def _in_language(grades: tuple[Grade, ...], words: Language) -> tuple[Grade, ...]:
    """Grades with their built-in labels in a language; labels of the campaign's own as they are."""
    if tuple(grade.label for grade in grades) not in texts.LABEL_SETS:
        return grades
    return tuple(replace(grade, label=words.text(grade.label)) for grade in grades)


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
    if view.reopened:
        return []
    states = zip(view.done, view.postponed, strict=True)
    return [(place, done) for place, (done, later) in enumerate(states) if (done or later) and place != view.position]


# ---- a pair

_of_pair_view = attrgetter(*(name for name in PairView.__dataclass_fields__ if name not in ("pair", "left", "right")))


def _pair_page(page: Page, view: PairView, said: Said, values: dict[str, str], base: str, tag: str) -> str:
    left, right = _document(page, view.left), _document(page, view.right)
    place, kinds = _place(page), (_kind(left), _kind(right))
    values |= {"pair": str(view.pair), "title": escape(title_of(view, page.title, language(tag)))}
    if said is not NOTHING_SAID or None in kinds:
        return _filled(_around_pair(place, view, said, left, right, base, tag), values)
    key = "pair", _of_pair_view(view), place, kinds, base, tag
    parts = KEPT.get(key)
    if parts is None:
        sides = _with_gaps("left", left), _with_gaps("right", right)
        KEPT[key] = parts = _around_pair(place, view, said, *sides, base, tag)
    return _filled(parts, values | _of_side("left", left, tag) | _of_side("right", right, tag))


def _around_pair(
    place: Place, view: PairView, said: Said, left: RenderedDocument, right: RenderedDocument, base: str, tag: str
) -> Parts:
    gaps: dict[str, Any] = {"left": 0, "right": 0, "pair": _gap("pair")}
    words = left.has_text or right.has_text
    return _draw(
        "pair", place, replace(view, **gaps), _gap("title"), said, base, tag,
        left=left, right=right, words=words, texts=texts,
    )  # fmt: skip


def _kind(document: RenderedDocument) -> tuple[bool, str, int, bool] | None:
    """What decides how a text is shown; None for what is drawn anew each time."""
    if not document.has_text or document.url:
        return None
    return bool(document.title), document.lang, len(document.counts), document.pre


def _with_gaps(side: str, document: RenderedDocument) -> RenderedDocument:
    title = _gap(f"{side} title") if document.title else ""
    counts: Any = tuple((_gap(f"{side} word {i}"), _gap(f"{side} n {i}")) for i in range(len(document.counts)))
    return RenderedDocument(title, document.lang, _gap(f"{side} html"), counts, pre=document.pre)


def _of_side(side: str, document: RenderedDocument, tag: str) -> dict[str, str]:
    """What is filled in of a document."""
    values = {
        f"{side} title": escape(document.title),
        f"{side} html": environment(tag).filters["tables"](document.html),
    }
    for i, (word, n) in enumerate(document.counts):
        values[f"{side} word {i}"], values[f"{side} n {i}"] = escape(word), str(n)
    return values

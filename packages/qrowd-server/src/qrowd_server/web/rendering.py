"""The templates of all pages, in each language.

Everything that somebody typed is escaped by the templates; the only HTML let through is a document's, cleaned first.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from importlib import resources
from mimetypes import guess_type
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from qrowd_server.campaigns.plan import sanitise
from qrowd_server.campaigns.plan.guidelines import rendered
from qrowd_server.campaigns.running.pages import Page
from qrowd_server.protocols.events import Refusal
from qrowd_server.protocols.views import DocumentView, Grade, PairView, View
from qrowd_server.web import page_texts as texts
from qrowd_server.web.document_pages import SPACES, RenderedDocument, render_document
from qrowd_server.web.forms import TYPED
from qrowd_server.web.languages import ENGLISH, Language, language, tags

WRAPPED = re.compile(r"(?<=[^\n]{60})(?<![ \t])[ \t]*+\n(?![ \t]*+(?:[\n|#>]|(?:[-*•–]|\d++[.)])[ \t]))")


@lru_cache(maxsize=64)
def environment(tag: str = ENGLISH) -> Environment:
    """The templates in a language, compiled once; escaping is always on, and a name that is missing is an error."""
    environment = Environment(
        loader=PackageLoader("qrowd_server.web"),
        extensions=["jinja2.ext.i18n"],
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        cache_size=-1,
    )
    environment.filters |= {"paragraphs": paragraphs, "markdown": partial(markdown, tag)}
    words = language(tag)
    environment.policies["ext.i18n.trimmed"] = True
    environment.newstyle_gettext = True  # type: ignore[attr-defined]
    environment.globals |= {
        "language": words,
        "choice": None,
        "asset": asset,
        "_": words.gettext,
        "gettext": words.gettext,
        "ngettext": words.ngettext,
    }
    environment.filters["said"] = words.text
    environment.filters["own"] = words.own
    table = sanitise.TABLE.replace("Table", escape(words.text(texts.TABLE)))
    environment.filters["tables"] = lambda content: Markup(str(content).replace(sanitise.TABLE, table))
    environment.filters["ask"] = lambda ask: words.text(ask) if ask in texts.ASKS else ask
    environment.filters["label"] = lambda label: words.text(label) if label in texts.LABELS else label
    return environment


def asset(name: str) -> str:
    """The address of a file that comes with the program; another content has another address, so it may be kept."""
    return f"/static/{name}?v={static_files()[name][2]}"


@lru_cache(maxsize=1)
def static_files() -> dict[str, tuple[bytes, str, str]]:
    """(content, media type, version) of the program's files by their exact names: there is no path to walk."""
    files = {}
    for file in resources.files("qrowd_server.web").joinpath("static").iterdir():
        content = file.read_bytes()
        media_type = guess_type(file.name)[0] or "application/octet-stream"
        files[file.name] = content, media_type, hashlib.sha256(content).hexdigest()[:10]
    return files


def paragraphs(text: str) -> Markup:
    """Plain text as paragraphs: an empty line parts them, a single break stays one. What is HTML stays as it is.

    After 60 characters a break only says where an editor's line ended, unless an item of a list follows.
    """
    return text if isinstance(text, Markup) else _paragraphs(text)


@lru_cache(maxsize=1024)
def _paragraphs(text: str) -> Markup:
    parts = (WRAPPED.sub(" ", part.strip()) for part in SPACES.split(text.replace("\r\n", "\n")))
    lines = (str(escape(part)).replace("\n", "<br>") for part in parts if part)
    return Markup("".join(f'<p dir="auto">{part}</p>' for part in lines))


def markdown(tag: str, text: str, pictures: tuple[tuple[str, str], ...] | None = None) -> Markup:
    """Markdown of an owner as harmless HTML. pictures : of guidelines; in other texts a break stays a break."""
    if pictures is None:
        text = WRAPPED.sub(" ", text).replace("\n", "  \n")
    return Markup(rendered(text, pictures or (), language(tag).text(texts.TABLE)))


def compile_templates() -> None:
    """Have the templates ready in each language: the first page of a kind took .1 s, in which nothing was answered."""
    for words in map(environment, tags()):
        for name in words.list_templates(["html"]):
            words.get_template(name)


def render(template: str, *, tag: str = ENGLISH, **values: Any) -> str:
    """A page from its template, in the language of that tag."""
    return environment(tag).get_template(f"{template}.html").render(values)


NOTHING_TYPED = dict.fromkeys(TYPED, "")
SHORT = 10_000  # characters that are rendered in a few milliseconds


def takes_long(page: Page) -> bool:
    """Whether rendering the page may take more than some milliseconds, so that a thread should do it."""
    texts = [page.instructions, page.consent, page.guidelines, *(one.text for one in page.documents.values())]
    if page.topic is not None:
        texts += [page.topic.title, page.topic.description, page.topic.narrative]
    return sum(map(len, texts)) > SHORT


# ---- the pages


@dataclass(frozen=True)
class LanguageChoice:
    """The choice of a language on a page: its form's token, and (tag, direction, name) of each language."""

    token: str
    languages: tuple[tuple[str, str, str], ...]


def render_page(
    page: Page, *, base: str, tag: str = ENGLISH, choice: LanguageChoice | None = None, **options: Any
) -> str:
    """The whole page; arguments as for `render_main`."""
    main = Markup(render_main(page, base=base, tag=tag, **options))
    values = {"main": main, "page": page, "title": title_of(page.view, page.title, language(tag)), "base": base}
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
    problem: Refusal | None = None,
    typed: Mapping[str, str] | None = None,
    tag: str = ENGLISH,
) -> str:
    """The page's `<main>` alone, which the script puts in place of the last one.

    csrf : the session's token against forged forms. base : the address of the campaign's page; forms go to base/act.
    problem : why the last form was refused. typed : what it held, to be kept.
    tag : of the language.
    """
    view, words = page.view, language(tag)
    name = type(view).__name__.removesuffix("View").lower()
    values: dict[str, Any] = {
        "page": page,
        "view": view,
        "name": name,
        "title": title_of(view, page.title, words),
        "announcement": words.text(texts.announcement(view)),
        "act": f"{base}/act",
        "base": base,
        "hidden": _hidden_fields(csrf, page),
        "problem": problem,
        "typed": {**NOTHING_TYPED, **_inputs(page), **(typed or {})},
        "texts": texts,
        "exit": _exit(page.link),
        "until": _until(getattr(view, "until", None), words),
    }
    match view:
        case DocumentView():
            document = _document(page, view.document)
            grades = _keyed(_in_language(view.grades, words))
            values |= {"document": document, "words": document.has_text, "grades": grades, "others": _others(view)}
        case PairView():
            left, right = _document(page, view.left), _document(page, view.right)
            values |= {"left": left, "right": right, "words": left.has_text or right.has_text}
    return render(name, tag=tag, **values)


def _document(page: Page, number: int) -> RenderedDocument:
    return render_document(page.topic.title if page.topic is not None else "", page.documents[number])


def _hidden_fields(csrf: str, page: Page) -> Markup:
    """What every form of a page repeats."""
    values = (("csrf", csrf), ("shown", page.shown), ("key", page.key))
    return Markup("").join(Markup('<input type="hidden" name="{}" value="{}">').format(*pair) for pair in values)


def title_of(view: View, campaign: str, words: Language) -> str:
    """What the browser's tab says. campaign : its title."""
    return f"{words.text(texts.heading(view))} · {campaign}"


def _in_language(grades: tuple[Grade, ...], words: Language) -> tuple[Grade, ...]:
    """Grades with their built-in labels in a language; labels of the campaign's own as they are."""
    if tuple(grade.label for grade in grades) not in texts.LABEL_SETS:
        return grades
    return tuple(replace(grade, label=words.text(grade.label)) for grade in grades)


def _keyed(grades: tuple[Grade, ...]) -> list[tuple[Grade, str]]:
    """Each grade with its key: n and y for two, the value where all are digits, else its place."""
    if [grade.value for grade in grades] == [0, 1]:
        return list(zip(grades, "ny", strict=True))
    if all(0 <= grade.value <= 9 for grade in grades):
        return [(grade, str(grade.value)) for grade in grades]
    return [(grade, str(place) if place <= 9 else "") for place, grade in enumerate(grades, 1)]


def _others(view: DocumentView) -> list[tuple[int, bool]]:
    """The other documents that were here before: position, and whether it has an answer or waits for one."""
    if view.reopened:
        return []
    states = zip(view.done, view.postponed, strict=True)
    return [(place, done) for place, (done, later) in enumerate(states) if (done or later) and place != view.position]


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
    title = f"{language(tag).text(texts.GUIDELINES)} · {page.title}"
    return render("guidelines", tag=tag, choice=choice, page=page, title=title)


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


def _inputs(page: Page) -> dict[str, str]:
    """The first content of the inputs: the draft where there is one, else the earlier answer, else nothing."""
    source = page.draft or (page.view.answer if isinstance(page.view, DocumentView) else None)
    return {} if source is None else {"text": source.text, "reason": source.reason}


def _exit(link: str | None) -> str:
    """The address of the way back to a panel; "" for one that is not of the web."""
    parts = urlsplit(link or "")
    return link or "" if parts.scheme in ("http", "https") and parts.netloc else ""


def _until(seconds: float | None, words: Language) -> tuple[str, str] | None:
    """A time for machines and, in UTC, for people; the script says it in the reader's own."""
    if seconds is None:
        return None
    time = datetime.fromtimestamp(seconds, UTC)
    return time.isoformat(timespec="seconds"), f"{words.clock(time)} UTC"

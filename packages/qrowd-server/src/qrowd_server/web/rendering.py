"""Pages for assessors: a `Page` becomes HTML, whole or as the `<main>` that the script puts in place of the last one.

Everything that somebody typed is escaped by the templates; the only HTML let through is a document's, cleaned first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup

from qrowd_server.campaigns.plan.guidelines import rendered
from qrowd_server.campaigns.running.pages import Page, PageMessage
from qrowd_server.protocols.events import Refusal
from qrowd_server.protocols.views import DocumentView, PairView
from qrowd_server.web import texts
from qrowd_server.web.documents import RENDERED
from qrowd_server.web.judging_pages import NOTHING_SAID, NOTHING_TYPED, Said, hidden_fields, judging_page, title_of
from qrowd_server.web.languages import ENGLISH, Language, language
from qrowd_server.web.templating import render

BEFORE_JUDGING = ("consent", "lines", "noneleft")  # pages that show the guidelines
SHORT, LONG = 4_000, 100_000  # characters that are drawn in a few milliseconds: of new documents, and of a page


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
    kept = {**_inputs(page), **(typed or {})}
    if isinstance(view, DocumentView | PairView):
        return judging_page(page, view, _said(notice, problem, page.messages, kept), csrf=csrf, base=base, tag=tag)
    name = type(view).__name__.removesuffix("View").lower()
    values: dict[str, Any] = {
        "page": page,
        "view": view,
        "name": name,
        "title": title_of(view, page.title, words),
        "announcement": words.text(texts.announcement(view)),
        "act": f"{base}/act",
        "base": base,
        "hidden": hidden_fields(csrf, page),
        "disabled": Markup(" disabled") if page.preview else Markup(""),
        "notice": notice,
        "problem": problem,
        "messages": page.messages,
        "typed": {**NOTHING_TYPED, **kept},
        "texts": texts,
        "exit": _exit(page.link),
        "guidelines": _guidelines(page, words) if name in BEFORE_JUDGING else "",
        "until": _until(getattr(view, "until", None), words),
    }
    return render(name, tag=tag, **values)


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


def _inputs(page: Page) -> dict[str, str]:
    """The first content of the inputs: the draft where there is one, else the earlier answer, else nothing."""
    source = page.draft or (page.view.answer if isinstance(page.view, DocumentView) else None)
    return {} if source is None else {"text": source.text, "reason": source.reason}


def _said(notice: str, problem: Refusal | None, messages: tuple[PageMessage, ...], typed: Mapping[str, str]) -> Said:
    if not notice and problem is None and not messages and not any(typed.values()):
        return NOTHING_SAID
    return Said(notice, problem, messages, {**NOTHING_TYPED, **typed})


@dataclass(frozen=True)
class Exit:
    """The way back to a panel."""

    label: str
    address: str


def _exit(link: str | None) -> Exit | None:
    """The way out; none for an address that is not of the web."""
    if link is None:
        return None
    parts = urlsplit(link)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return None
    return Exit(texts.platform(link), link)


def _until(seconds: float | None, words: Language) -> tuple[str, str] | None:
    """A time for machines and, in UTC, for people; the script says it in the reader's own."""
    if seconds is None:
        return None
    time = datetime.fromtimestamp(seconds, UTC)
    return time.isoformat(timespec="seconds"), f"{words.clock(time)} UTC"

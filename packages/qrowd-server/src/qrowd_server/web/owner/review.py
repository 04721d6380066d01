"""Review: answers by topic and document, final answers, answers that are opened again, and questions of assessors.

GET  /owner/c/{campaign}/review         a list: ?topic=, open=1, arm=, page=2
GET  /owner/c/{campaign}/review/item    everybody's answers: ?topic=, document=
POST /owner/c/{campaign}/review/item    a final answer; an answer opened again, or closed
GET  /owner/c/{campaign}/questions      what assessors asked, those without a reply first    POST: reply
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.results.review import Adjudication, adjudicate, adjudications, summaries
from qrowd_server.campaigns.running import messages, reopening
from qrowd_server.campaigns.running.campaign_reader import document_texts
from qrowd_server.campaigns.running.campaign_settings import protocols_of, read_settings
from qrowd_server.campaigns.running.pages import DocumentText, Page
from qrowd_server.protocols.journey import from_json
from qrowd_server.protocols.registry import PREFERENCE
from qrowd_server.protocols.settings import GradesSettings
from qrowd_server.protocols.views import ExcludedView
from qrowd_server.store import materials
from qrowd_server.store import review as rows
from qrowd_server.store.review import Summary, asked, count_asked
from qrowd_server.store.schema import MODEL
from qrowd_server.web.documents import render_document
from qrowd_server.web.forms import Form, query_of
from qrowd_server.web.owner.assessors import CANNOT_TELL
from qrowd_server.web.owner.context import OWNER_OF, OwnerContext, choose_one, form, page
from qrowd_server.web.problems import not_found

FRESH = 15.0  # seconds that a list is shown without being read again
MOST_SHOWN = 50  # documents of a page
MOST_ASKED = 200  # questions of a page


def address(context: OwnerContext, path: str = "", **query: Any) -> str:
    """An address below the list, without what is empty."""
    text = urlencode({key: value for key, value in query.items() if value})
    return f"{context.base}/review{path}{'?' + text if text else ''}"


# ---- the list


async def index(context: OwnerContext) -> Response:
    """Documents with what was said of them, most disagreement first."""
    fields, row, arm = query_of(context.request), context.campaign, context.arm
    topic, open_only, number = fields.get("topic", ""), fields.get("open") == "1", fields.get("page", "1")

    async def find() -> list[Summary]:
        return await context.read(lambda c: summaries(c, row.name, arm=arm, topic=topic, open=open_only))

    problem = context.problem
    try:
        found = await context.memory.get(("review", row.name, arm, topic, str(open_only)), FRESH, find)
    except ArgumentError as error:
        found, problem = [], problem or str(error)
    n_pages = max(-(-len(found) // MOST_SHOWN), 1)
    current = max(min(int(number[:9]) if number.isascii() and number.isdigit() else 1, n_pages), 1)
    part = found[(current - 1) * MOST_SHOWN :][:MOST_SHOWN]

    def work(connection: Connection) -> dict[str, Any]:
        return {
            "final": adjudications(connection, row.id),
            "topics": [(topic.label, topic.title) for topic in materials.topics_of(connection, row.id)],
            "n_asked": count_asked(connection, row.id),
        }

    values = await context.read(work)
    return replace(context, problem=problem).render(
        "review",
        tab="review",
        rows=part,
        n=len(found),
        n_pages=n_pages,
        current=current,
        topic=topic,
        open_only=open_only,
        address=lambda path="", **query: address(context, path, **query),
        protocol=protocols_of(row)[arm],
        **values,
    )


# ---- one document


@dataclass(frozen=True)
class AnswerRow:
    """One current answer as the page shows it.

    place : position of the document. waiting : the reason with which it was opened again, "" where it is not open.
    may_open : whether it can be.
    """

    assessor: str
    assessor_id: int
    assignment: int
    place: int
    text: str
    reason: str
    seconds: float | None
    time: float
    revisions: int
    counted: bool
    status: str
    is_model: bool
    waiting: str
    may_open: bool


@dataclass(frozen=True)
class Item:
    """A document with all that was said of it. final : the final answer."""

    topic: Any
    document: str
    text: DocumentText
    answers: tuple[AnswerRow, ...]
    final: Adjudication | None


async def item(context: OwnerContext) -> Response:
    """Everybody's current answers to a document, with the text beside."""
    fields: Mapping[str, str] = {**query_of(context.request), **context.typed}
    row, arm = context.campaign, fields.get("arm") or context.arm
    topic, document = fields.get("topic", ""), fields.get("document", "")
    if not document:
        return await index(context)
    if protocols_of(row).get(arm, PREFERENCE) == PREFERENCE:
        raise not_found()
    details = await context.read(lambda connection: find_item(connection, row.id, topic, document, arm))
    if details is None:
        raise not_found()
    nobody = Page(row.name, "", "", "", ExcludedView(), None, {0: details.text}, "", "")
    shown = context.server.with_image_addresses(nobody).documents[0]
    settings = read_settings(row).arms[arm].settings
    return context.render(
        "review_item",
        tab="review",
        details=details,
        document=await asyncio.to_thread(render_document, details.topic.title, shown),
        arm=arm,
        protocol=protocols_of(row)[arm],
        grades=settings.labels if isinstance(settings, GradesSettings) else (),
        address=lambda path="", **query: address(context, path, **query),
    )


def find_item(connection: Connection, campaign_id: int, topic_label: str, label: str, arm: str) -> Item | None:
    """What was said of a document; None where there is no such one."""
    topic = materials.topic_of(connection, campaign_id, topic_label)
    document = materials.document_of(connection, campaign_id, label)
    if topic is None or document is None:
        return None
    text = document_texts(connection, [document.id])[document.id]
    answers = rows.answers_about(connection, campaign_id, topic.id, document.id)
    final = adjudications(connection, campaign_id).get((topic_label, label, arm))
    return Item(topic, label, text, tuple(_answer(one) for one in answers if one.arm == arm), final)


def _answer(row: Any) -> AnswerRow:
    reopened = {(one.assignment, one.position): one.reason for one in from_json(row.journey).reopened}
    is_model = row.provider == MODEL
    return AnswerRow(
        assessor=row.assessor,
        assessor_id=row.assessor_id,
        assignment=row.assignment,
        place=row.position,
        text=CANNOT_TELL if row.value is None else row.raw,
        reason=row.reason,
        seconds=row.seconds,
        time=row.time,
        revisions=row.revisions,
        counted=bool(row.counted),
        status=row.status if row.excluded is None else "excluded",
        is_model=is_model,
        waiting=reopened.get((row.assignment, row.position), ""),
        may_open=not is_model and row.excluded is None and row.status in ("open", "completed"),
    )


async def decide(context: OwnerContext, fields: Form) -> Response:
    """Give the final answer or take it back, open an answer again, or close it."""
    name, arm = context.campaign.name, fields.get("arm", "")
    topic, document = fields.get("topic", ""), fields.get("document", "")
    of_arm = f"{name}/{arm}" if arm else name
    write, at, by = context.server.store.write_async, context.server.clock(), context.owner.name
    match fields.get("do", ""):
        case "adjudicate":
            if not (text := fields.get("text", "").strip()):
                raise ArgumentError("answer: choose or write the final answer")
            reason = fields.get("reason", "")
            await write(lambda c: adjudicate(c, of_arm, topic, document, text, reason, at, account=by))
        case "withdraw":
            await write(lambda c: adjudicate(c, of_arm, topic, document, "", "", at, account=by))
        case "reopen":
            place, why = _numbers(fields, "assignment", "position"), fields.get("why", "")
            await context.admin.change(name, lambda transaction: reopening.reopen(transaction, *place, why))
        case "close":
            place = _numbers(fields, "assignment", "position")
            await context.admin.change(name, lambda transaction: reopening.close(transaction, *place))
        case other:
            raise choose_one("do", other, "adjudicate", "withdraw", "reopen", "close")
    context.memory.forget(name)
    return RedirectResponse(address(context, "/item", topic=topic, document=document, arm=arm), 303)


def _numbers(fields: Form, first: str, second: str) -> tuple[int, int]:
    """Two numbers of a form: a long one in hexadecimal digits, and one that counts."""
    try:
        numbers = int(fields.get(first, ""), 16), int(fields.get(second, "")[:9])
    except ValueError:
        numbers = -1, -1
    if not (0 <= numbers[0] < 2**63 and numbers[1] >= 0):
        raise ArgumentError("answer: there is none of this number")
    return numbers


# ---- questions of assessors


async def questions(context: OwnerContext) -> Response:
    """What assessors asked the organisers: without a reply first, the newest first."""
    row = context.campaign
    all_asked = await context.read(lambda connection: asked(connection, row.id, MOST_ASKED))
    return context.render(
        "questions",
        tab="review",
        rows=all_asked,
        n_open=sum(one.message.reply is None for one in all_asked),
        taken=read_settings(row).journey.ask_organisers,
        address=lambda path="", **query: address(context, path, **query),
    )


async def reply(context: OwnerContext, fields: Form) -> Response:
    """Answer a question."""
    (assessor, number), text = _numbers(fields, "assessor", "number"), fields.get("reply", "")
    await context.admin.change(context.campaign.name, lambda t: messages.reply(t, assessor, number, text))
    return RedirectResponse(f"{context.base}/questions", 303)


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/review", index, needs=OWNER_OF),
    page("/owner/c/{campaign}/review/item", item, needs=OWNER_OF),
    form("/owner/c/{campaign}/review/item", decide, item, needs=OWNER_OF),
    page("/owner/c/{campaign}/questions", questions, needs=OWNER_OF),
    form("/owner/c/{campaign}/questions", reply, questions, needs=OWNER_OF),
]

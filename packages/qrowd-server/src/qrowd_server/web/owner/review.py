"""Review: answers to one document, its final answer, answers that are opened again, and questions of assessors.

GET  /owner/c/{campaign}/review/item    everybody's answers: ?topic=, document=
POST /owner/c/{campaign}/review/item    a final answer; an answer opened again
GET  /owner/c/{campaign}/questions      what assessors asked, those without a reply first    POST: reply
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.results.review_decisions import adjudicate
from qrowd_server.campaigns.running import messages, reopening
from qrowd_server.campaigns.running.campaign_reader import document_texts
from qrowd_server.campaigns.running.campaign_settings import protocols_of, read_settings
from qrowd_server.campaigns.running.collected import FinalAnswer, final_answers
from qrowd_server.campaigns.running.pages import DocumentText, Page
from qrowd_server.protocols import PREFERENCE
from qrowd_server.protocols.journey import from_json
from qrowd_server.protocols.settings import GradesSettings
from qrowd_server.protocols.views import ExcludedView
from qrowd_server.store import materials
from qrowd_server.store import review_rows as rows
from qrowd_server.store.review_rows import asked
from qrowd_server.store.schema import MODEL
from qrowd_server.web.document_pages import render_document
from qrowd_server.web.forms import Form, query_of
from qrowd_server.web.owner.assessors import CANNOT_TELL
from qrowd_server.web.owner.context import OWNER_OF, OwnerContext, choose_one, form, page
from qrowd_server.web.problems import not_found

MOST_ASKED = 200  # questions of a page


# ---- one document


@dataclass(frozen=True)
class AnswerRow:
    """One current answer. row : as of `answers_about`. waiting : why it is open again; "" where it is not."""

    row: Any
    waiting: str

    @property
    def is_gold(self) -> bool:
        """Whether the document was a gold question."""
        return hasattr(self.row, "is_right")

    @property
    def text(self) -> str:
        """What was chosen or typed."""
        chosen = self.row.is_right if self.is_gold else self.row.value
        return CANNOT_TELL if chosen is None else str(self.row.raw)

    @property
    def is_model(self) -> bool:
        """Whether a language model gave it."""
        return bool(self.row.provider == MODEL)

    @property
    def may_open(self) -> bool:
        """Whether it can be opened again."""
        usual = not self.is_model and not self.is_gold
        return usual and self.row.excluded is None and self.row.status in ("open", "completed")


@dataclass(frozen=True)
class Item:
    """A document with all that was said of it. final : the final answer. gold : right grades; None if not gold."""

    topic: Any
    document: str
    text: DocumentText
    answers: tuple[AnswerRow, ...]
    final: FinalAnswer | None
    gold: list[int] | None


async def item(context: OwnerContext) -> Response:
    """Everybody's current answers to a document, with the text beside."""
    fields: Mapping[str, str] = {**query_of(context.request), **context.typed}
    row, arm = context.campaign, fields.get("arm") or context.arm
    topic, document = fields.get("topic", ""), fields.get("document", "")
    if protocols_of(row).get(arm, PREFERENCE) == PREFERENCE:
        raise not_found()
    details = await context.read(find_item, row.id, topic, document, arm)
    if details is None:
        raise not_found()
    nobody = Page(row.name, "", "", "", ExcludedView(), None, {0: details.text}, "", "")
    shown = context.server.with_image_addresses(nobody).documents[0]
    settings = read_settings(row).arms[arm].settings
    return context.render(
        "review_item",
        tab="results",
        details=details,
        document=await asyncio.to_thread(render_document, details.topic.title, shown),
        arm=arm,
        protocol=protocols_of(row)[arm],
        grades=settings.labels if isinstance(settings, GradesSettings) else (),
    )


def find_item(connection: Connection, campaign_id: int, topic_label: str, label: str, arm: str) -> Item | None:
    """What was said of a document; None where there is no such one."""
    topic = materials.labelled(connection, "topic", campaign_id, topic_label)
    document = materials.labelled(connection, "document", campaign_id, label)
    if topic is None or document is None:
        return None
    text = document_texts(connection, [document.id])[document.id]
    answers = rows.answers_about(connection, campaign_id, topic.id, document.id)
    final = final_answers(connection, campaign_id).get((topic_label, label, arm))
    accepted = {one.document_id: one.accepted for one in materials.gold_of_topic(connection, topic.id)}
    shown = tuple(_answer(one) for one in answers if one.arm == arm)
    return Item(topic, label, text, shown, final, accepted.get(document.id))


def _answer(row: Any) -> AnswerRow:
    reopened = {(one.assignment, one.position): one.reason for one in from_json(row.journey).reopened}
    place = row.assignment_id, getattr(row, "position", -1)  # -1: a gold question, never opened again
    return AnswerRow(row, reopened.get(place, ""))


async def decide(context: OwnerContext, fields: Form) -> Response:
    """Give the final answer or take it back, or open an answer again."""
    name, arm, by, at = context.campaign.name, fields.get("arm", ""), context.owner.name, context.now
    topic, document = fields.get("topic", ""), fields.get("document", "")
    of_arm = f"{name}/{arm}" if arm else name
    match fields.get("do", ""):
        case "adjudicate":
            if not (text := fields.get("text", "").strip()):
                raise ArgumentError("answer: choose or write the final answer")
            await context.write(adjudicate, of_arm, topic, document, text, fields.get("reason", ""), at, account=by)
        case "withdraw":
            await context.write(adjudicate, of_arm, topic, document, "", "", at, account=by)
        case "reopen":
            place, why = _numbers(fields, "assignment", "position"), fields.get("why", "")
            await context.admin.change(name, lambda transaction: reopening.reopen(transaction, *place, why))
        case other:
            raise choose_one("do", other, "adjudicate", "withdraw", "reopen")
    context.memory.forget(name)
    return RedirectResponse(context.address("/review/item", topic=topic, document=document, arm=arm), 303)


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
    all_asked = await context.read(asked, row.id, MOST_ASKED)
    return context.render(
        "questions",
        tab="progress",
        rows=all_asked,
        n_open=sum(one.reply is None for one in all_asked),
        taken=read_settings(row).journey.ask_organisers,
    )


async def reply(context: OwnerContext, fields: Form) -> Response:
    """Answer a question."""
    (assessor, number), text = _numbers(fields, "assessor", "number"), fields.get("reply", "")
    await context.admin.change(context.campaign.name, lambda t: messages.reply(t, assessor, number, text))
    return RedirectResponse(f"{context.base}/questions", 303)


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/review/item", item, needs=OWNER_OF),
    form("/owner/c/{campaign}/review/item", decide, item, needs=OWNER_OF),
    page("/owner/c/{campaign}/questions", questions, needs=OWNER_OF),
    form("/owner/c/{campaign}/questions", reply, questions, needs=OWNER_OF),
]

"""Review: answers by topic and document or pair, final answers, and answers that are opened again.

GET  /owner/c/{campaign}/review         a list: ?topic=, assessor=, order=, kind=gold, comments=1, open=1, arm=, page=2
GET  /owner/c/{campaign}/review/item    everybody's answers: ?topic=, document= and, of a pair, other=
POST /owner/c/{campaign}/review/item    a final answer; an answer opened again, or closed
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.collect.campaigns.adjudication import (
    Adjudication,
    adjudications,
    pair_answers,
    place_of,
)
from qrowd.collect.campaigns.document_rows import document_texts
from qrowd.collect.campaigns.pages import DocumentText, Page
from qrowd.collect.campaigns.review import (
    MOST_SHOWN,
    ORDERS,
    CampaignReview,
    Filters,
    Order,
    review_rows,
    summaries,
)
from qrowd.collect.campaigns.state import protocols_of, read_settings
from qrowd.collect.protocols.journey import from_json
from qrowd.collect.protocols.messages import Message
from qrowd.collect.protocols.pairs import place_of_answer
from qrowd.collect.protocols.registry import PREFERENCE
from qrowd.collect.protocols.settings import GradesSettings, PreferenceSettings
from qrowd.collect.protocols.views import ExcludedView
from qrowd.collect.store import materials
from qrowd.collect.store import review as rows
from qrowd.collect.store.messages import count_asked
from qrowd.collect.store.review import Summary
from qrowd.collect.store.schema import MODEL
from qrowd.collect.web.documents import RenderedDocument, render_document
from qrowd.collect.web.forms import Form, query_of
from qrowd.collect.web.owner.assessors import BAD, CANNOT_TELL, SAME
from qrowd.collect.web.owner.context import OWNER_OF, REVIEWER, OwnerContext, choose_one, form, page
from qrowd.collect.web.problems import not_found
from qrowd.collect.web.recognised import line_of
from qrowd.errors import ArgumentError

FRESH = 15.0  # seconds that a list is shown without being read again
FIELDS = ("topic", "assessor", "order", "kind", "comments", "open", "arm")


def review_of(context: OwnerContext) -> CampaignReview:
    """What changes the campaign, in the name of the account."""
    return CampaignReview(context.server.store, clock=context.server.clock, account=context.owner.name)


def filters_of(fields: Mapping[str, str], arm: str, names: bool) -> Filters:
    """What the list is narrowed to by its address. names : people by name, not by pseudonym."""
    order: Order = next((one for one in ORDERS if one == fields.get("order")), "disagreement")
    return Filters(
        arm,
        "gold" if fields.get("kind") == "gold" else "answers",
        fields.get("topic", ""),
        fields.get("assessor", "").strip(),
        fields.get("comments") == "1",
        fields.get("open") == "1",
        order,
        names,
    )


def address(context: OwnerContext, path: str = "", **query: str) -> str:
    """An address below the list, without what is empty."""
    text = urlencode({key: value for key, value in query.items() if value})
    return f"{context.base}/review{path}{'?' + text if text else ''}"


# ---- the list


async def index(context: OwnerContext) -> Response:
    """Documents or pairs with what was said of them, most disagreement first by default."""
    fields, row = query_of(context.request), context.campaign
    filters, number = filters_of(fields, context.arm, context.may(OWNER_OF)), fields.get("page", "1")
    current = int(number[:9]) if number.isascii() and number.isdigit() else 1

    async def find() -> list[Summary]:
        return await context.read(lambda connection: summaries(connection, row.name, filters))

    problem = context.problem
    try:
        found = await context.memory.get(("review", row.name, *map(str, asdict(filters).values())), FRESH, find)
    except ArgumentError as error:
        found, problem = [], problem or line_of(error)
    n_pages = max(-(-len(found) // MOST_SHOWN), 1)
    current = max(min(current, n_pages), 1)
    part = found[(current - 1) * MOST_SHOWN :][:MOST_SHOWN]

    def work(connection: Connection) -> dict[str, Any]:
        return {
            "rows": review_rows(connection, row.id, part, filters.arm),
            "topics": list(rows.topic_labels(connection, row.id).values()),
            "n_asked": count_asked(connection, row.id)[0],
            "n_final": len(adjudications(connection, row.id)),
        }

    values = await context.read(work)
    chosen = {key: value for key, value in fields.items() if key in FIELDS}
    protocol = protocols_of(row)[filters.arm]
    return replace(context, problem=problem).render(
        "review",
        tab="review",
        n=len(found),
        n_pages=n_pages,
        current=current,
        filters=filters,
        address=lambda path="", **query: address(context, path, **query),
        chosen=chosen,
        pairs=protocol == PREFERENCE,
        protocol=protocol,
        has_gold=row.settings.get("gold") is not None,
        **values,
    )


# ---- one document or pair


@dataclass(frozen=True)
class AnswerRow:
    """One current answer as the page shows it.

    place : position of the document, or number of the pair. waiting : the reason with which it was opened again, ""
    where it is not open. may_open : whether it can be.
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
    waiting: str = ""
    may_open: bool = False
    is_right: bool | None = None


@dataclass(frozen=True)
class Item:
    """A document or a pair with all that is known of it. final : the final answer."""

    topic: Any
    documents: tuple[str, ...]
    texts: tuple[DocumentText, ...]
    answers: tuple[AnswerRow, ...]
    gold: tuple[AnswerRow, ...]
    marks: tuple[AnswerRow, ...]
    final: Adjudication | None


async def item(context: OwnerContext) -> Response:
    """Everybody's current answers to a document or a pair, with the text beside."""
    fields: Mapping[str, str] = {**query_of(context.request), **context.typed}
    row, arm = context.campaign, fields.get("arm") or context.arm
    labels = tuple(fields[key] for key in ("document", "other") if fields.get(key))
    if not labels:
        return await index(context)
    if arm not in protocols_of(row):
        raise not_found()
    names = context.may(OWNER_OF)  # others see pseudonyms
    topic = fields.get("topic", "")
    details = await context.read(lambda connection: find_item(connection, row.id, topic, labels, arm, names=names))
    if details is None:
        raise not_found()
    texts = dict(enumerate(details.texts))
    nobody = Page(row.name, "", "", "", ExcludedView(), None, texts, "", "")
    shown = context.server.with_image_addresses(nobody).documents.values()
    drawn: list[RenderedDocument] = [
        await asyncio.to_thread(render_document, details.topic.title, text) for text in shown
    ]
    settings = read_settings(row).arms[arm].settings
    return context.render(
        "review_item",
        tab="review",
        details=details,
        drawn=drawn,
        arm=arm,
        protocol=protocols_of(row)[arm],
        grades=settings.labels if isinstance(settings, GradesSettings) else (),
        choices=pair_answers(settings) if isinstance(settings, PreferenceSettings) else (),
        address=lambda path="", **query: address(context, path, **query),
    )


def find_item(
    connection: Connection,
    campaign_id: int,
    topic_label: str,
    labels: tuple[str, ...],
    arm: str,
    *,
    names: bool = False,
) -> Item | None:
    """What was said of a document or a pair; None where there is no such one.

    names : people by name, not by pseudonym.
    """
    topic = materials.topic_of(connection, campaign_id, topic_label)
    documents = [materials.document_of(connection, campaign_id, label) for label in labels]
    if topic is None or None in documents or len(labels) > 2:
        return None
    numbers = tuple(one.id for one in documents if one is not None)
    texts = document_texts(connection, numbers)
    if len(numbers) == 2:
        found = rows.answers_about_pair(connection, campaign_id, topic.id, (numbers[0], numbers[1]), names=names)
        answers = [_answer(one, _preferred(one, dict(zip(numbers, labels, strict=True)))) for one in found]
    else:
        found = rows.answers_about(connection, campaign_id, topic.id, numbers[0], names=names)
        answers = [_answer(one, CANNOT_TELL if one.value is None else one.raw) for one in found]
    marks = [_answer(one, BAD) for one in rows.marks_about(connection, campaign_id, topic.id, numbers, names=names)]
    gold = [
        replace(_answer(one, one.raw or CANNOT_TELL), is_right=one.is_right, may_open=False)
        for one in rows.gold_answers_about(connection, campaign_id, topic.id, numbers[0], names=names)
    ]
    final = adjudications(connection, campaign_id).get(place_of(topic_label, labels, arm))
    of_arm = {one.assignment for one in (*found,) if one.arm == arm}
    return Item(
        topic,
        labels,
        tuple(texts[number] for number in numbers),
        tuple(one for one in answers if one.assignment in of_arm),
        tuple(gold),
        tuple(marks),
        final,
    )


def _answer(row: Any, text: str) -> AnswerRow:
    is_document, is_pair, is_model = hasattr(row, "position"), hasattr(row, "choice"), row.provider == MODEL
    place, revisions = row.position if is_document else row.number, getattr(row, "revisions", 0)
    if is_pair:
        place, revisions = place_of_answer(row.progress, row.number)
    may_change = is_document or is_pair  # not a Bad mark, nor an answer to a gold question
    reopened = {(one.assignment, one.position): one.reason for one in from_json(row.journey).reopened}
    return AnswerRow(
        row.assessor,
        row.assessor_id,
        row.assignment,
        place,
        text,
        getattr(row, "reason", ""),
        row.seconds,
        row.time,
        revisions,
        bool(row.counted),
        row.status if row.excluded is None else "excluded",
        is_model,
        reopened.get((row.assignment, place), "") if may_change else "",
        may_change and not is_model and row.excluded is None and row.status in ("open", "completed"),
    )


def _preferred(row: Any, labels: Mapping[int, str]) -> str:
    if row.choice == "duplicates":
        return SAME
    better = labels[row.left_id if row.choice == "left" else row.right_id]
    return Message("definitely %(document)s", document=better) if row.strength == 2 else better


async def decide(context: OwnerContext, fields: Form) -> Response:
    """Give the final answer or take it back, open an answer again, or close it."""
    review, name, arm = review_of(context), context.campaign.name, fields.get("arm", "")
    topic, document, other = (fields.get(key, "") for key in ("topic", "document", "other"))
    of_arm = f"{name}/{arm}" if arm else name
    match fields.get("do", ""):
        case "adjudicate":
            if not (text := fields.get("text", "").strip()):
                raise ArgumentError(Message("answer: choose or write the final answer"))
            await review.adjudicate(of_arm, topic, document, text, fields.get("reason", ""), other=other)
        case "withdraw":
            await review.adjudicate(of_arm, topic, document, "", "", other=other)
        case "reopen":
            await review.reopen(name, *_place(fields), fields.get("why", ""))
        case "close":
            await review.close(name, *_place(fields))
        case other:
            raise choose_one("do", other, "adjudicate", "withdraw", "reopen", "close")
    context.memory.forget(name)
    return RedirectResponse(address(context, "/item", topic=topic, document=document, other=other, arm=arm), 303)


def _place(fields: Form) -> tuple[int, int]:
    unit, position = fields.get("assignment", ""), fields.get("position", "")
    try:
        number = int(unit, 16)
    except ValueError:
        number = -1
    if not 0 <= number < 2**63 or not (position.isascii() and position.isdigit() and len(position) <= 9):
        raise ArgumentError(Message("answer: there is none of this number"))
    return number, int(position)


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/review", index, needs=REVIEWER),
    page("/owner/c/{campaign}/review/item", item, needs=REVIEWER),
    form("/owner/c/{campaign}/review/item", decide, item, needs=REVIEWER),
]

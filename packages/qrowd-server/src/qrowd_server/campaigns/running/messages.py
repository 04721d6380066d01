"""Questions of assessors to the organisers about what is on the page, and the replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.running.campaign_reader import AssessorReader
from qrowd_server.campaigns.running.campaign_settings import NotFoundError
from qrowd_server.campaigns.running.current_state import journey_of_assessor
from qrowd_server.campaigns.running.pages import Page, PageMessage
from qrowd_server.campaigns.running.transaction import Transaction
from qrowd_server.protocols.events import MAX_REASON, AskOrganisers, Event, ReadReply, Refusal
from qrowd_server.protocols.protocol import STALE, check_text, storable
from qrowd_server.protocols.views import DocumentView, PairView, View
from qrowd_server.store import materials
from qrowd_server.store.event_log import LogEntry
from qrowd_server.store.review_rows import Message, messages_of, save_messages
from qrowd_server.store.state_rows import AssessorRow, find_assessor
from qrowd_server.translatable import N_
from qrowd_server.translatable import Message as Sentence

MOST = 50  # questions of an assessor in a campaign
LONGEST = 500  # characters of a question
TOO_MANY = N_("You have asked %(n)s questions, which is as many as can be kept.")


# ---- what an assessor does


def take_message(transaction: Transaction, now: AssessorReader, action: AskOrganisers | ReadReply, place: str) -> None:
    """Send a question about what is shown, or note that a reply was read.

    place : of the form's page; "" says whatever is current.
    """
    assessor, assignment = now.assessor, now.current
    n = journey_of_assessor(assessor).n_messages
    if isinstance(action, ReadReply):
        message = _message(transaction, assessor, action.number)
        if message is None or message.replied is None:
            raise Refusal("stale", STALE)
        if message.read is None:
            _record(transaction, assessor, "message_read", {"number": message.number}, message.assignment_id)
        return
    if not transaction.settings.journey.ask_organisers or now.status != "running":
        raise Refusal("no_questions", "Questions to the organisers are not taken here.")
    if assignment is None or place not in ("", f"{assignment.row.id:x}") or assignment.row.status != "open":
        raise Refusal("stale", STALE)
    view = assignment.protocol.view(assignment.task, assignment.state)
    if not isinstance(view, DocumentView | PairView):
        raise Refusal("stale", STALE)
    text = action.message.strip()
    if not text:
        raise Refusal("message", "Write your question first.", "message")
    check_text(text, "message", longest=LONGEST)
    if n >= MOST:
        raise Refusal("too_many", Sentence(TOO_MANY, n=n), "message")
    numbers = (view.document,) if isinstance(view, DocumentView) else (view.left, view.right)
    labels = {one.id: one.label for one in materials.find_documents(transaction.connection, numbers)}
    data = {"number": n, "place": _place(view), "documents": [labels[one] for one in numbers], "text": text}
    _record(transaction, assessor, "message_sent", data, assignment.row.id)


def reply(transaction: Transaction, assessor_id: int, number: int, text: str) -> None:
    """Answer a question; once more replaces the first reply, which stays in the log.

    number : of the question, from 0.
    """
    text = text.strip()
    if not text or len(text) > MAX_REASON or not storable(text):
        raise ArgumentError(f"reply: write 1 to {MAX_REASON:,} characters; the assessor reads it")
    holder = find_assessor(transaction.connection, assessor_id)
    if holder is None or holder[0].campaign_id != transaction.campaign_id:
        raise NotFoundError(f"the campaign {transaction.settings.name} has no such assessor")
    assessor = holder[0]
    message = _message(transaction, assessor, number)
    if message is None:
        raise ArgumentError(f"{assessor.name} has asked no question of the number {number}")
    _record(transaction, assessor, "message_answered", {"number": number, "text": text}, message.assignment_id)


def _message(transaction: Transaction, assessor: AssessorRow, number: int) -> Message | None:
    return next((one for one in messages_of(transaction.connection, assessor.id) if one.number == number), None)


def _record(
    transaction: Transaction, assessor: AssessorRow, kind: str, data: Mapping[str, Any], assignment_id: int
) -> None:
    event, assignment = Event(kind, data), transaction.reader.assignment(assignment_id)
    assert assignment is not None  # a foreign key says so
    transaction.record_assessor(assessor, event, assignment.row)
    earlier = {(one.assessor_id, one.number): one for one in messages_of(transaction.connection, assessor.id)}
    ids = assessor.campaign_id, assessor.id, assignment_id
    save_messages(transaction.connection, [_after(earlier, event, transaction.at, *ids)])


# ---- the table


KINDS = ("message_sent", "message_answered", "message_read")


def _after(
    earlier: Mapping[tuple[int, int], Message], event: Event, at: float, campaign_id: int, assessor_id: int, id: int
) -> Message:
    """A question after an event about it. id : of the assignment."""
    data, number = event.data, int(event.data["number"])
    if event.kind == "message_sent":
        return Message(assessor_id, number, campaign_id, id, data["place"], data["documents"], data["text"], at)
    message = earlier[assessor_id, number]
    if event.kind == "message_answered":
        return message._replace(reply=data["text"], replied=at, read=None)
    return message._replace(read=at)


def collect_message(earlier: dict[tuple[int, int], Message], entry: LogEntry) -> None:
    """Take an event of a campaign into its questions."""
    if entry.kind in KINDS and entry.assessor_id is not None and entry.assignment_id is not None:
        ids = entry.campaign_id, entry.assessor_id, entry.assignment_id
        row = _after(earlier, Event(entry.kind, entry.data), entry.time, *ids)
        earlier[row.assessor_id, row.number] = row


# ---- the page


def messages_of_page(now: AssessorReader, page: Page) -> Page:
    """A page with the questions about what it shows, and with replies that were not read yet."""
    view, shown = page.view, page.view if isinstance(page.view, DocumentView | PairView) else None
    assessor, assignment = now.assessor, now.current
    may_ask = now.settings.journey.ask_organisers and shown is not None and not assessor.is_model
    if not assessor.state.get("n_messages"):
        return replace(page, may_ask=True) if may_ask else page
    here = (assignment.row.id, _place(view)) if assignment is not None and shown is not None else None
    messages = tuple(
        PageMessage(one.number, one.text, one.reply or "", is_here, one.read is not None)
        for one in messages_of(now.connection, assessor.id)
        if (is_here := (one.assignment_id, one.place) == here) or (one.replied is not None and one.read is None)
    )
    return replace(page, may_ask=may_ask, messages=messages)


def _place(view: View) -> int:
    return view.position if isinstance(view, DocumentView) else view.pair if isinstance(view, PairView) else 0

"""Judgments that an owner opens again for their author, who changes them or keeps them.

The unit stays as it is. The author sees the document before anything else, with the owner's reason; the former answer
stays in the log.
"""

from __future__ import annotations

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.running.campaign_reader import AssessorReader
from qrowd_server.campaigns.running.campaign_settings import NotFoundError
from qrowd_server.campaigns.running.current_state import AssignmentState, journey_of_assessor
from qrowd_server.campaigns.running.transaction import Transaction
from qrowd_server.protocols.events import MAX_REASON, Action, CannotTell, Event, GoOn, Judge, Refusal
from qrowd_server.protocols.journey import Reopened
from qrowd_server.protocols.protocol import STALE, storable
from qrowd_server.protocols.sequence import Sequence as SequenceProtocol
from qrowd_server.protocols.views import View
from qrowd_server.store.schema import COMPLETED, OPEN
from qrowd_server.store.state_rows import find_assessor, find_assignment

STATUSES = ("running", "decided")  # of a campaign, in which answers that were opened again are shown


# ---- what the author does


def first_reopened(now: AssessorReader) -> tuple[Reopened, AssignmentState] | None:
    """The answer that an assessor is to consider again first, with its assignment; None where there is none."""
    assessor = now.assessor
    if not assessor.state.get("reopened") or assessor.excluded is not None or now.status not in STATUSES:
        return None
    for one in journey_of_assessor(assessor).reopened:
        assignment = now.assignment(one.assignment)
        if assignment is not None and assignment.row.status in (OPEN, COMPLETED):
            return one, assignment
    return None


def reopened_view(assignment: AssignmentState, reopened: Reopened) -> View:
    """What its author sees."""
    protocol = _of_documents(assignment)
    assert protocol is not None  # or it could not have been opened again
    return protocol.reopened_view(assignment.task, assignment.state, reopened.position, reopened.reason)


def _of_documents(assignment: AssignmentState) -> SequenceProtocol | None:
    """The protocol of a unit in which documents are judged one by one; None where pairs are."""
    return assignment.protocol if isinstance(assignment.protocol, SequenceProtocol) else None


def reopened_page(reopened: Reopened) -> str:
    """What a form says of the page, as `page_id` says it of others; it holds "-"."""
    return f"{reopened.assignment:x}-{reopened.position}"


def reconsider(transaction: Transaction, now: AssessorReader, action: Action, place: str) -> None:
    """Keep the answer that was opened again (GoOn), or give another. place : of the form's page."""
    again = first_reopened(now)
    if again is None or place not in ("", reopened_page(again[0])):
        raise Refusal("stale", STALE)
    reopened, assignment = again
    protocol = _of_documents(assignment)
    event: Event | None = None
    match action:
        case GoOn():
            pass
        case Judge(position) | CannotTell(position) if protocol is not None and position == reopened.position:
            event = protocol.revise(assignment.task, assignment.state, action)
        case _:
            raise Refusal("stale", STALE)
    data = {"position": reopened.position, "changed": event is not None}
    transaction.record_assessor(now.assessor, Event("reconsidered", data), assignment.row)
    if event is not None:
        transaction.record_assignment(assignment, event)


# ---- what an owner does


def reopen(transaction: Transaction, assignment_id: int, position: int, reason: str) -> None:
    """Open an answer again for its author; once more with another reason replaces the first.

    position : of the document.
    """
    row = find_assignment(transaction.connection, assignment_id)
    if row is None or row.campaign_id != transaction.campaign_id:
        raise NotFoundError(f"the campaign {transaction.settings.name} has no such unit")
    holder = find_assessor(transaction.connection, row.assessor_id)
    assert holder is not None  # a foreign key says so
    assessor, assignment = holder[0], transaction.reader.read(row)
    reason = reason.strip()
    if not reason or len(reason) > MAX_REASON or not storable(reason):
        raise ArgumentError(f"reason: say why, in at most {MAX_REASON:,} characters; the assessor reads it")
    if assessor.is_model:
        raise ArgumentError(
            f"{assessor.name} is a language model; only people can be asked to consider an answer again"
        )
    if assessor.excluded is not None:
        raise ArgumentError(f"{assessor.name} is excluded; reinstate them first")
    if assignment.row.status not in (OPEN, COMPLETED):
        raise ArgumentError(
            f"this unit is {assignment.row.status}; only answers of open and completed units can be opened again"
        )
    protocol = _of_documents(assignment)
    if protocol is None or position not in protocol.reopenable(assignment.task, assignment.state):
        raise ArgumentError("there is no such judgment; preferences and gold questions cannot be opened again")
    data = {"position": position, "reason": reason}
    transaction.record_assessor(assessor, Event("reopened", data), assignment.row)

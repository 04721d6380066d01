"""Assessors who take no further part, by an owner's word or by the rule for gold questions."""

from __future__ import annotations

from typing import Protocol

from sqlalchemy import Connection

from qrowd_server.campaigns.running.assignment_state import AssignmentState, journey_of_assessor
from qrowd_server.campaigns.running.campaign_reader import CampaignReader
from qrowd_server.campaigns.running.state import CampaignSettings
from qrowd_server.protocols.events import Event
from qrowd_server.protocols.gold import GoldAnswer, entry_test, evidence, is_below
from qrowd_server.store import gold as gold_store
from qrowd_server.store import state
from qrowd_server.store.state import AssessorRow, AssignmentRow


class Changes(Protocol):
    """What a transaction does here; see `Transaction`."""

    connection: Connection
    reader: CampaignReader
    settings: CampaignSettings
    at: float

    def held(self, assignment_id: int) -> AssignmentState | None:
        """An assignment as the transaction has changed it."""

    def record_assessor(
        self, assessor: AssessorRow, event: Event, row: AssignmentRow | None = None, *, actor: str = ""
    ) -> AssessorRow:
        """Write an event of an assessor."""

    def record_assignment(self, assignment: AssignmentState, event: Event) -> AssignmentState:
        """Write an event of an assignment."""


def gold_of_unit(transaction: Changes, assessor: AssessorRow) -> dict[str, int]:
    """What the next unit of an assessor has of gold questions, as the event "assigned" says it."""
    gold = transaction.settings.gold
    if gold is None or assessor.is_model:
        return {}
    places = {"gold_every": gold.every_in(first=journey_of_assessor(assessor).n_units == 0)}
    if not gold.first:
        return places
    n_answered = gold_store.count_entry_answers(transaction.connection, assessor.id)
    return places | ({"gold_first": gold.first - n_answered} if n_answered < gold.first else {})


def exclude_by_gold(
    transaction: Changes, assessor: AssessorRow, assignment: AssignmentState
) -> tuple[AssessorRow, AssignmentState]:
    """Exclude an assessor whose answers to gold questions show too low an accuracy; the states afterwards.

    It is looked at after every answer, so that an answer to a gold question takes no longer than any other. Somebody
    whom an owner reinstated is not excluded again.
    """
    gold = transaction.settings.gold
    if gold is None or not gold.exclude or assessor.is_model or journey_of_assessor(assessor).reinstated:
        return assessor, assignment
    rows = sorted(assignment.protocol.rows(assignment.task, assignment.state).gold, key=lambda row: row.time)
    before = gold_store.gold_answers_before(transaction.connection, assessor.id, assignment.row.id)
    answers = [GoldAnswer(*one) for one in before]
    answers += [
        GoldAnswer(row.is_right, row.chance, tuple(row.choices.split()), row.is_entry)
        for row in rows
        if row.is_right is not None
    ]
    if not is_below(answers, **gold.rule):
        return assessor, assignment
    n_right = sum(one.is_right for one in answers)
    entry = entry_test(gold.first, gold.accuracy, gold.risk)
    counts = {
        "answers": len(answers),
        "right": n_right,
        "entry_failed": entry.is_failed(answers),
        "least_right": entry.least_right,
        "evidence": evidence(answers, gold.accuracy),
        **gold.rule,
    }
    what = "entry test" if all(one.is_entry for one in answers) else "gold questions"
    reason = f"{what}: {n_right} of {len(answers)} right"
    assessor = transaction.record_assessor(
        assessor, Event("excluded", {"reason": reason, "gold": counts}), actor="server"
    )
    withdraw(transaction, assessor, ("open", "completed"))
    return assessor, transaction.held(assignment.row.id) or assignment


def withdraw(transaction: Changes, assessor: AssessorRow, statuses: tuple[str, ...]) -> None:
    """Take units away from an assessor, so that others may have them."""
    for row in state.assignments_of(transaction.connection, assessor.id):
        held = transaction.held(row.id)
        if held is None:
            if row.status not in statuses:
                continue
            held = transaction.reader.read(row)
        if held.row.status not in statuses:
            continue
        transaction.record_assignment(held, Event("assignment_withdrawn"))
        state.release_slot(transaction.connection, held.row)

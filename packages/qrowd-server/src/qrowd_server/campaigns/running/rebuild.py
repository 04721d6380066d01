"""Working the tables out again from the log, which alone is the truth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Table

from qrowd_server.campaigns.running.campaign_reader import CampaignReader
from qrowd_server.campaigns.running.campaign_settings import find
from qrowd_server.campaigns.running.current_state import (
    ABOUT_ASSIGNMENTS,
    AssignmentState,
    assessor_after,
    differences,
    hold_pair,
    new_assessor,
)
from qrowd_server.campaigns.running.messages import collect_message
from qrowd_server.protocols.events import Event
from qrowd_server.store import event_log as events
from qrowd_server.store import materials
from qrowd_server.store import state_rows as state
from qrowd_server.store.base import upsert
from qrowd_server.store.persons import events_of_assessor
from qrowd_server.store.review_rows import Message, save_messages
from qrowd_server.store.state_rows import AssessorRow, Slot

STATUS = {"paused": "paused", "resumed": "running", "stopped": "stopped"}
BY_SERVER = {"decided": "decided", "undecided": "running"}  # what the server itself sets, when a question is decided


def rebuild(connection: Connection, name: str, *, only: int | None = None) -> int:
    """Write assessors, assignments, slots and answers of a campaign anew from its events; how many those were.

    only : write only the rows of this assessor, and their answers, whose events were changed.
    """
    row = find(connection, name)
    reader = CampaignReader(connection, row.id, row.stamp)
    settings = reader.settings
    assessors: dict[int, AssessorRow] = {}
    assignments: dict[int, AssignmentState] = {}
    closed: dict[int, list[int]] = {}
    messages: dict[tuple[int, int], Message] = {}
    status, n = "running", 0
    log = events.of_campaign(connection, row.id) if only is None else events_of_assessor(connection, only)
    for one in log:
        n += 1
        event, who, which = Event(one.kind, one.data), one.assessor_id, one.assignment_id
        collect_message(messages, one)
        if who is None:  # of the campaign as a whole
            status = {**STATUS, **BY_SERVER}.get(one.kind, status)
        elif one.late:
            continue
        elif one.kind == "arrived":
            assessors[who] = new_assessor(settings, row.id, who, event, one.time)
        elif which is not None and one.kind not in ABOUT_ASSIGNMENTS:
            if one.kind == "slots_closed":
                closed[which] = one.data["slots"]
            elif one.kind == "assignment_withdrawn":
                closed.pop(which, None)
            assignments[which] = assignments[which].after(settings, event, one.time)
        else:
            assessors[who] = assessor_after(settings, assessors[who], event, one.time, which)
            if one.kind == "assigned" and which is not None and one.unit_id is not None:
                slot = Slot(one.unit_id, int(one.data["slot"]), int(one.data["topic"]))
                assignments[which] = reader.new_assignment(
                    assessors[who],
                    which,
                    slot,
                    int(one.data["seed"]),
                    one.time,
                    gold_every=int(one.data.get("gold_every", 0)),
                    gold_first=int(one.data.get("gold_first", 0)),
                )
    if only is not None:
        _save_one(connection, assessors[only], assignments.values())
        return n
    state.clear_state(connection, row.id)
    materials.set_campaign_status(connection, row.id, status)
    state.add_assessors(connection, *assessors.values())
    state.add_assignments(connection, [assignment.to_row() for assignment in assignments.values()])
    for which, numbers in closed.items():
        state.close_slots(connection, assignments[which].row, numbers)
    answers: defaultdict[Table, list[dict[str, Any]]] = defaultdict(list)
    for assignment in assignments.values():
        for table, rows, _ in differences(None, assignment):
            answers[table] += rows
        hold_pair(connection, assignment)
    for table, rows in answers.items():
        upsert(connection, table, rows)
    save_messages(connection, messages.values())
    return n


def _save_one(connection: Connection, assessor: AssessorRow, assignments: Iterable[AssignmentState]) -> None:
    """Write what may have changed of one assessor; slots and pairs are as they were."""
    state.save_assessor(connection, assessor)
    for assignment in assignments:
        state.save_assignment(connection, assignment.to_row())
        for table, rows, _ in differences(None, assignment):
            upsert(connection, table, rows)

"""Working the tables out again from the log, which alone is the truth."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sqlalchemy import Connection

from qrowd.collect.campaigns.cache import Cache
from qrowd.collect.campaigns.projection import NOTHING, TABLES, AssessorState, AssignmentState, differences
from qrowd.collect.campaigns.transaction import assignment_row, hold_pair, new_assessor
from qrowd.collect.protocols.events import Event
from qrowd.collect.store import answers, assessors, assignments, events, materials
from qrowd.collect.store.assignments import Slot
from qrowd.errors import ArgumentError

STATUS = {"paused": "paused", "resumed": "running", "stopped": "stopped"}


def rebuild(connection: Connection, name: str) -> int:
    """Write assessors, assignments, slots and answers of a campaign anew from its events; how many those were.

    Raises
    ------
    ArgumentError
        There is no such campaign.
    """
    row = materials.find_campaign(connection, name)
    if row is None:
        raise ArgumentError(f"there is no campaign {name!r}; qrowd campaign status lists them")
    cache = Cache()
    settings = cache.settings(connection, row.id)
    people: dict[int, AssessorState] = {}
    assignment: dict[int, AssignmentState] = {}
    status, n = "running", 0
    for one in events.of_campaign(connection, row.id):
        n += 1
        event = Event(one.kind, one.data)
        if one.assessor_id is None:  # of the campaign as a whole
            status = STATUS.get(one.kind, status)
            continue
        if one.late:
            continue
        if one.kind == "arrived":
            people[one.assessor_id] = new_assessor(settings, row.id, one.assessor_id, event, one.time)
        elif one.assignment_id is not None and one.kind not in ("assigned", "unit_left"):
            assignment[one.assignment_id] = assignment[one.assignment_id].after(settings, event, one.time)
        else:
            assessor = people[one.assessor_id].after(settings, event, one.time, one.assignment_id)
            people[one.assessor_id] = assessor
            if one.kind == "assigned" and one.assignment_id is not None and one.unit_id is not None:
                place = Slot(one.unit_id, int(one.data["slot"]), int(one.data["topic"]))
                seed = int(one.data["seed"])
                assignment[one.assignment_id] = cache.new_assignment(
                    connection, assignment_row(settings, assessor.row, one.assignment_id, place, seed, one.time)
                )
    assignments.clear(connection, row.id)
    materials.set_campaign_status(connection, row.id, status)
    assessors.add_assessors(connection, *(assessor.row for assessor in people.values()))
    assignments.add_assignments(connection, [work.row for work in assignment.values()])
    written: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for work in assignment.values():
        for table, rows, _ in differences(work.row, NOTHING, work.answers()):
            written[table.name] += rows
        hold_pair(connection, settings, work)
    for table, _, _ in TABLES.values():
        answers.save_answers(connection, table, written[table.name])
    return n

"""Assessors: how well they judge, the page of one, and what an owner can change about one.

GET  /owner/c/{campaign}/assessors/{number}    one       POST to it: exclude, reinstate, reset, delete
GET  /owner/c/{campaign}/assessors/{number}/data   all that is held about one, as JSON
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Row
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.results.quality import Quality, quality
from qrowd_server.campaigns.running.privacy import Answers, delete_person, deleted, person_json
from qrowd_server.store import materials
from qrowd_server.store import state_rows as state
from qrowd_server.store.answer_rows import answers_of
from qrowd_server.store.schema import bad_mark, gold_answer, judgment, preference
from qrowd_server.store.state_rows import AssessorRow, AssignmentRow, find_assessor
from qrowd_server.web.forms import Form
from qrowd_server.web.owner.context import OWNER_OF, OwnerContext, choose_one, form, page
from qrowd_server.web.problems import not_found

FRESH, PER_ANSWER = 30.0, 0.001  # seconds that quality is shown without being worked out again, at most and by answer
UNITS_SHOWN = 50  # the last so many
LONGEST_REASON = 2000
CANNOT_TELL = "cannot tell"


async def quality_of(context: OwnerContext) -> Quality:
    """The quality of a campaign's judgments, in the arm that the page shows; of many, up to some seconds ago."""
    name, arm, names = context.campaign.name, context.arm, context.may(OWNER_OF)  # others see pseudonyms

    async def work() -> Quality:
        return await context.read(quality, f"{name}/{arm}".rstrip("/"), context.now, names=names)

    def seconds(q: Quality) -> float:
        return min(FRESH, PER_ANSWER * sum(one.answers for one in q.assessors))

    return await context.memory.get(("quality", name, arm, names), seconds, work)


# ---- one assessor


@dataclass(frozen=True)
class UnitOfAssessor:
    """A unit that an assessor had. answers : rows of the tables of judgments, pairs and gold questions, by time."""

    row: AssignmentRow
    topic: str
    title: str
    number: int
    answers: list[Row[Any]]


async def assessor(context: OwnerContext, notice: str = "") -> Response:
    """One assessor: units, times, checks, and all answers in order."""
    row = await _assessor_row(context)
    n_units, units = await context.read(units_of, row)
    q = await quality_of(context)
    mine = next((one for one in q.assessors if one.id == row.id), None)
    if mine is None:  # arrived after the quality was computed
        context.memory.forget(context.campaign.name)
        q = await quality_of(context)
        mine = next(one for one in q.assessors if one.id == row.id)
    values = {"person": row, "mine": mine, "units": units, "n_units": n_units, "q": q}
    values["deleted"] = row.id in await context.read(deleted, row.campaign_id)
    return context.render("assessor", tab="progress", notice=notice, **values)


async def change(context: OwnerContext, fields: Form) -> Response:
    """Exclude, reinstate, reset or delete."""
    row, admin, name = await _assessor_row(context), context.admin, context.campaign.name
    notice = ""
    match fields.get("do", ""):
        case "exclude":
            await admin.exclude(name, row.name, fields.get("reason", "")[:LONGEST_REASON])
        case "reinstate":
            if n_lost := await admin.reinstate(name, row.name):
                notice = (
                    f"{row.name} takes part again. Units that other assessors judged meanwhile: "
                    f"{n_lost}. These do not count."
                )
        case "reset":
            await admin.reset(name, row.name)
        case "delete":
            return await _delete(context, row, fields)
        case other:
            raise choose_one("do", other, "exclude", "reinstate", "reset", "delete")
    context.memory.forget(name)
    return await assessor(context, notice) if notice else RedirectResponse(f"{context.base}/assessors/{row.id:x}", 303)


async def _delete(context: OwnerContext, row: AssessorRow, fields: Form) -> Response:
    """Delete the person, where the box was ticked."""
    answers: Answers = "withdraw" if fields.get("answers") == "withdraw" else "keep"
    if fields.get("sure") != "1":
        raise ArgumentError("sure: tick the box; a deletion cannot be reversed")
    server, name, account, at = context.server, context.campaign.name, context.owner.name, context.now
    await server.write(delete_person, name, row.id, at, answers=answers, account=account)
    context.memory.forget(name)
    return RedirectResponse(f"{context.base}/assessors/{row.id:x}", 303)


async def data_file(context: OwnerContext) -> Response:
    """Everything that is held about a person, as JSON."""
    row = await _assessor_row(context)
    content = await context.read(person_json, row, for_owner=True)
    headers = {"content-disposition": f'attachment; filename="{context.campaign.name}-{row.label}.json"'}
    return Response(content, media_type="application/json", headers=headers)


async def _assessor_row(context: OwnerContext) -> AssessorRow:
    """The assessor of the address, of this campaign and no other."""
    try:
        number = int(context.request.path_params["number"], 16)
    except ValueError:
        raise not_found() from None
    row = await context.read(find_assessor, number) if 0 <= number < 2**63 else None
    if row is None or row[0].campaign_id != context.campaign.id:
        raise not_found()
    return row[0]


# ---- the answers of one assessor


def units_of(connection: Connection, row: AssessorRow) -> tuple[int, list[UnitOfAssessor]]:
    """How many units an assessor ever had, and the last `UNITS_SHOWN` of them, the first first."""
    assignments = state.assignments_of(connection, row.id)
    places = materials.unit_places(connection, [one.unit_id for one in assignments])
    units = []
    for assignment in assignments[-UNITS_SHOWN:]:
        tables = judgment, preference, bad_mark, gold_answer
        answers = [row for table in tables for row in answers_of(connection, table, assignment.id)]
        units.append(UnitOfAssessor(assignment, *places[assignment.unit_id], sorted(answers, key=attrgetter("time"))))
    return len(assignments), units


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/assessors/{number}", assessor, needs=OWNER_OF),
    form("/owner/c/{campaign}/assessors/{number}", change, assessor, needs=OWNER_OF),
    page("/owner/c/{campaign}/assessors/{number}/data", data_file, needs=OWNER_OF),
]

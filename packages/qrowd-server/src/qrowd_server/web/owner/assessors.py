"""Assessors: the table of all, the page of one, and what an owner can change about one.

GET  /owner/c/{campaign}/assessors             a table, ?sort=column or ?sort=-column
GET  /owner/c/{campaign}/assessors/{number}    one       POST to it: exclude, reinstate, reset, paid, delete
GET  /owner/c/{campaign}/assessors/{number}/data   all that is held about one, as JSON
GET  /owner/c/{campaign}/agreement             their agreement
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.results.quality import AssessorQuality, Quality, quality
from qrowd_server.campaigns.running.privacy import Answers, delete_person, person_json
from qrowd_server.store import events, materials, state
from qrowd_server.store.answers import answers_of
from qrowd_server.store.events import LogEntry
from qrowd_server.store.schema import bad_mark, judgment, preference
from qrowd_server.store.state import AssessorRow, AssignmentRow, find_assessor
from qrowd_server.web.forms import Form, query_of
from qrowd_server.web.owner.context import OWNER_OF, VIEWER, OwnerContext, choose_one, form, page
from qrowd_server.web.problems import not_found

FRESH = 15.0  # seconds that quality is shown without being worked out again
UNITS_SHOWN = 50  # the last so many
LONGEST_REASON = 2000
CANNOT_TELL, SAME, BAD = "cannot tell", "they are the same", "Bad"

COLUMNS: dict[str, Callable[[AssessorQuality], Any]] = {
    "name": lambda one: one.name.lower(),
    "status": lambda one: one.status,
    "completed": lambda one: one.completed,
    "lost": lambda one: one.failed + one.screened_out + one.lost,
    "answers": lambda one: one.answers,
    "seconds": lambda one: one.seconds,
    "active": lambda one: one.active,
    "fast": lambda one: one.fast,
    "accuracy": lambda one: None if one.accuracy is None else one.accuracy.value,
    "backs": lambda one: one.backs,
    "fails": lambda one: one.fails,
    "agreement": lambda one: one.agreement,
    "seen": lambda one: one.seen,
}


async def quality_of(context: OwnerContext) -> Quality:
    """The quality of a campaign's judgments, in the arm that the page shows, up to some seconds ago."""
    name, arm, names = context.campaign.name, context.arm, context.may(OWNER_OF)  # others see pseudonyms

    async def work() -> Quality:
        of = f"{name}/{arm}" if arm else name
        return await context.read(lambda connection: quality(connection, of, names=names))

    return await context.memory.get(("quality", name, arm, "names" if names else ""), FRESH, work)


def ordered(rows: tuple[AssessorQuality, ...], sort: str) -> list[AssessorQuality]:
    """Rows by a column, "-" before it for descending order; those without a value come last."""
    value = COLUMNS.get(sort.removeprefix("-"))
    if value is None:
        return list(rows)
    present = [one for one in rows if value(one) is not None]
    return [
        *sorted(present, key=value, reverse=sort.startswith("-")),
        *(one for one in rows if value(one) is None),
    ]


async def assessors(context: OwnerContext) -> Response:
    """The table of all assessors."""
    sort = query_of(context.request).get("sort", "")
    q = await quality_of(context)
    column = sort if sort.removeprefix("-") in COLUMNS else ""
    return context.render("assessors", tab="assessors", q=q, rows=ordered(q.assessors, column), sort=column)


async def agreement(context: OwnerContext) -> Response:
    """The agreement of assessors, overall and by topic, and those who stand out."""
    q, campaign_id = await quality_of(context), context.campaign.id
    rows = await context.read(lambda connection: materials.topics_of(connection, campaign_id))
    return context.render("agreement", tab="agreement", q=q, titles={row.label: row.title for row in rows})


# ---- one assessor


@dataclass(frozen=True)
class Answer:
    """One answer. about : the document or the pair. earlier : (time, text) of former answers, oldest first."""

    number: int
    about: str
    text: str
    reason: str
    seconds: float | None
    active: float | None
    time: float
    earlier: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True)
class UnitOfAssessor:
    """A unit that an assessor had. notes : (time, text) of checks, questions and ratings."""

    row: AssignmentRow
    topic: str
    title: str
    number: int
    answers: list[Answer] = field(default_factory=list)
    notes: list[tuple[float, str]] = field(default_factory=list)


async def assessor(context: OwnerContext, notice: str = "") -> Response:
    """One assessor: units, times, checks, and all answers in order with what they were before."""
    row = await _assessor_row(context)
    units = await context.read(lambda connection: units_of(connection, row))
    q = await quality_of(context)
    mine = next((one for one in q.assessors if one.id == row.id), None)
    if mine is None:  # arrived after the quality was computed
        context.memory.forget(context.campaign.name)
        q = await quality_of(context)
        mine = next(one for one in q.assessors if one.id == row.id)
    if not context.may(OWNER_OF) and not row.is_model:
        row = replace(row, name=row.label, external_id=row.label)
    values = {"person": row, "mine": mine, "units": units[-UNITS_SHOWN:], "n_units": len(units), "q": q}
    return context.render("assessor", tab="assessors", notice=notice, **values)


async def change(context: OwnerContext, fields: Form) -> Response:
    """Exclude, reinstate, reset, or note that somebody was paid."""
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
        case "paid":
            await admin.note_paid(name, row.name)
        case "delete":
            return await _delete(context, row, fields)
        case other:
            raise choose_one("do", other, "exclude", "reinstate", "reset", "paid", "delete")
    context.memory.forget(name)
    return await assessor(context, notice) if notice else RedirectResponse(f"{context.base}/assessors/{row.id:x}", 303)


async def _delete(context: OwnerContext, row: AssessorRow, fields: Form) -> Response:
    """Delete the person, where the box was ticked."""
    answers: Answers = "withdraw" if fields.get("answers") == "withdraw" else "keep"
    if fields.get("sure") != "1":
        raise ArgumentError("sure: tick the box; a deletion cannot be reversed")
    server, name, account, at = context.server, context.campaign.name, context.owner.name, context.server.clock()
    await server.store.write_async(lambda c: delete_person(c, name, row.id, at, answers=answers, account=account))
    await server.forget_person(row.id)
    context.memory.forget(name)
    return RedirectResponse(f"{context.base}/assessors/{row.id:x}", 303)


async def data_file(context: OwnerContext) -> Response:
    """Everything that is held about a person, as JSON."""
    row = await _assessor_row(context)
    content = await context.read(lambda connection: person_json(connection, row, for_owner=True))
    headers = {"content-disposition": f'attachment; filename="{context.campaign.name}-{row.label}.json"'}
    return Response(content, media_type="application/json", headers=headers)


async def _assessor_row(context: OwnerContext) -> AssessorRow:
    """The assessor of the address, of this campaign and no other."""
    try:
        number = int(context.request.path_params["number"], 16)
    except ValueError:
        raise not_found() from None
    row = await context.read(lambda c: find_assessor(c, number)) if 0 <= number < 2**63 else None
    if row is None or row[0].campaign_id != context.campaign.id:
        raise not_found()
    return row[0]


# ---- the answers of one assessor


def units_of(connection: Connection, row: AssessorRow) -> list[UnitOfAssessor]:
    """All units that an assessor ever had, the first first; answers only of the last `UNITS_SHOWN`."""
    rows = state.assignments_of(connection, row.id)
    places = materials.unit_places(connection, [one.unit_id for one in rows])
    units = [UnitOfAssessor(one, *places[one.unit_id]) for one in rows]
    for unit in units[-UNITS_SHOWN:]:
        log = events.of_assignment(connection, unit.row.id)
        unit.answers.extend(_judgments(connection, unit.row.id, log))
        unit.answers.extend(_preferences(connection, unit.row.id))
        unit.notes.extend((event.time, note) for event in log if (note := note_of(event)))
    return units


def _judgments(connection: Connection, assignment_id: int, log: list[LogEntry]) -> list[Answer]:
    versions: defaultdict[int, list[tuple[float, str]]] = defaultdict(list)  # by position
    for event in log:
        if event.kind in ("judged", "cannot_tell") and not event.late:
            text, earlier = event.data.get("text", CANNOT_TELL), versions[event.data["position"]]
            if not earlier or earlier[-1][1] != text:
                earlier.append((event.time, text))
    return [
        Answer(
            row.position + 1,
            row.label,
            CANNOT_TELL if row.value is None else row.raw,
            row.reason,
            row.seconds,
            row.active,
            row.time,
            tuple(versions[row.position][:-1]),
        )
        for row in answers_of(connection, judgment, assignment_id)
    ]


def _preferences(connection: Connection, assignment_id: int) -> list[Answer]:
    answers = []
    for row in answers_of(connection, preference, assignment_id):
        better = {"left": row.left, "right": row.right}.get(row.choice, SAME)
        text = f"definitely {better}" if row.strength == 2 else better
        pair = f"{row.left} or {row.right}"
        answers.append(Answer(row.number + 1, pair, text, "", row.seconds, row.active, row.time))
    answers += [
        Answer(row.number + 1, row.label, BAD, "", row.seconds, None, row.time)
        for row in answers_of(connection, bad_mark, assignment_id)
    ]
    return sorted(answers, key=lambda one: (one.number, one.time))


def note_of(event: LogEntry) -> str:
    """What an event other than an answer means to the owner; "" for the others."""
    data = event.data
    match event.kind:
        case "checked" if not data["passed"]:
            if not (data["ordered"] or data["unhurried"]):
                return "failed the checks of order and time"
            return "failed the check of time" if data["ordered"] else "failed the check of order"
        case "checked":
            return "passed the checks"
        case "replied" if data["correct"]:
            return "answered the question correctly"
        case "replied":
            return "answered the question incorrectly"
        case "undone":
            return f"took back pair {data['pair'] + 1}"
        case "rated":
            comment = f": {data['comment']}" if data["comment"] else ""
            return f"confidence {data['confidence']}, understanding {data['understanding']} of 5{comment}"
        case "unanswered":
            status = data["status"].replace("_", " ")
            return f"gave no answer that counts ({status}: {data['detail']})"
        case "given_back":
            return "the unit was given back; another assessor gets it"
        case "lease_expired":
            return "was away too long; another assessor gets the unit"
        case "assignment_withdrawn":
            return "the unit was withdrawn"
        case "assignment_restored":
            return "the unit was given back"
    return "sent an answer too late; it is kept but does not count" if event.late else ""


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/assessors", assessors, needs=OWNER_OF),
    page("/owner/c/{campaign}/assessors/{number}", assessor, needs=OWNER_OF),
    form("/owner/c/{campaign}/assessors/{number}", change, assessor),
    page("/owner/c/{campaign}/assessors/{number}/data", data_file, needs=OWNER_OF),
    page("/owner/c/{campaign}/agreement", agreement, needs=VIEWER),
]

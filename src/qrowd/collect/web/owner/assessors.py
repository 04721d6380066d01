"""Assessors: all of them, one of them, and what an owner may do about one.

GET  /owner/c/{campaign}/assessors             a table, ?sort=column or ?sort=-column
GET  /owner/c/{campaign}/assessors/{number}    one       POST to it: exclude, reinstate, reset, paid
GET  /owner/c/{campaign}/agreement             how far they agree
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.collect.campaigns.quality import AssessorQuality, Quality, quality
from qrowd.collect.store import assignments, events
from qrowd.collect.store.assessors import AssessorRow, find_assessor
from qrowd.collect.store.assignments import AssignmentRow
from qrowd.collect.store.base import StoreError
from qrowd.collect.store.events import LogEntry
from qrowd.collect.store.schema import bad_mark, document, judgment, preference, topic, unit
from qrowd.collect.web.forms import query_of
from qrowd.collect.web.owner.context import Fields, OwnerContext, form, page
from qrowd.collect.web.problems import not_found
from qrowd.errors import ArgumentError

FRESH = 15.0  # seconds that quality is shown without being worked out again
UNITS_SHOWN = 50  # the last so many
LONGEST_REASON = 2000

COLUMNS: dict[str, Callable[[AssessorQuality], Any]] = {
    "name": lambda one: one.name.lower(),
    "status": lambda one: one.status,
    "completed": lambda one: one.completed,
    "lost": lambda one: one.failed + one.screened_out + one.lost,
    "answers": lambda one: one.answers,
    "seconds": lambda one: one.seconds,
    "active": lambda one: one.active,
    "fast": lambda one: one.fast,
    "backs": lambda one: one.backs,
    "fails": lambda one: one.fails,
    "agreement": lambda one: one.agreement,
    "seen": lambda one: one.seen,
}


async def quality_of(context: OwnerContext, name: str) -> Quality:
    """How well a campaign is judged, up to some seconds ago."""

    async def work() -> Quality:
        return await context.read(lambda connection: quality(connection, name))

    return await context.memory.get(("quality", name), FRESH, work)


def ordered(rows: tuple[AssessorQuality, ...], sort: str) -> list[AssessorQuality]:
    """Rows by a column, "-" before it for the other way; those that have nothing there come last."""
    value = COLUMNS.get(sort.removeprefix("-"))
    if value is None:
        return list(rows)
    known = [one for one in rows if value(one) is not None]
    return [
        *sorted(known, key=value, reverse=sort.startswith("-")),
        *(one for one in rows if value(one) is None),
    ]


async def assessors(context: OwnerContext) -> Response:
    """Everybody, as a table."""
    sort = query_of(context.request).get("sort", "")
    q = await quality_of(context, context.campaign.name)
    known = sort if sort.removeprefix("-") in COLUMNS else ""
    return context.draw("assessors", tab="assessors", q=q, rows=ordered(q.assessors, known), sort=known)


async def agreement(context: OwnerContext) -> Response:
    """How far they agree, in all and by topic, and who stands out."""
    return context.draw("agreement", tab="agreement", q=await quality_of(context, context.campaign.name))


# ---- one assessor


@dataclass(frozen=True)
class Answer:
    """One answer as it stands. earlier : what was said before, oldest first, as (time, words)."""

    number: int
    what: str
    said: str
    reason: str
    seconds: float | None
    active: float | None
    time: float
    earlier: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True)
class UnitOfOne:
    """A unit that somebody had. notes : checks, questions and ratings, as words."""

    row: AssignmentRow
    topic: str
    title: str
    number: int
    answers: list[Answer] = field(default_factory=list)
    notes: list[tuple[float, str]] = field(default_factory=list)


async def assessor(context: OwnerContext) -> Response:
    """One assessor: units, times, checks, and all answers in order with what they were before."""
    return await _one(context, await _found(context))


async def _one(
    context: OwnerContext, row: AssessorRow, *, problem: str = "", notice: str = "", reason: str = ""
) -> Response:
    units = await context.read(lambda connection: units_of(connection, row))
    q = await quality_of(context, context.campaign.name)
    mine = next((one for one in q.assessors if one.id == row.id), None)
    if mine is None:  # came since it was worked out
        context.memory.forget(context.campaign.name)
        q = await quality_of(context, context.campaign.name)
        mine = next(one for one in q.assessors if one.id == row.id)
    values = {"person": row, "mine": mine, "units": units[-UNITS_SHOWN:], "n_units": len(units), "q": q}
    status = 422 if problem else 200
    return context.draw(
        "assessor", status=status, tab="assessors", problem=problem, notice=notice, reason=reason, **values
    )


async def change(context: OwnerContext, fields: Fields) -> Response:
    """Exclude, reinstate, reset, or note that somebody was paid."""
    row, admin, name = await _found(context), context.admin, context.campaign.name
    notice, reason = "", fields.get("reason", "")[:LONGEST_REASON]
    try:
        match fields.get("do", ""):
            case "exclude":
                await admin.exclude(name, row.name, reason)
            case "reinstate":
                lost = await admin.reinstate(name, row.name)
                if lost:
                    notice = f"Taken back; {lost} of the units had been done by others meanwhile and stay lost."
            case "reset":
                await admin.reset(name, row.name)
            case "paid":
                await admin.note(name, row.name, "paid")
            case other:
                raise ArgumentError(f"do={other!r}: choose one of exclude, reinstate, reset, paid")
    except StoreError:
        raise
    except ArgumentError as error:
        return await _one(context, row, problem=str(error), reason=reason)
    context.memory.forget(name)
    if notice:
        return await _one(context, await _found(context), notice=notice)
    return RedirectResponse(f"{context.base}/assessors/{row.id:x}", 303)


async def _found(context: OwnerContext) -> AssessorRow:
    """The assessor of the address, of this campaign and no other."""
    try:
        number = int(context.request.path_params["number"], 16)
    except ValueError:
        raise not_found() from None
    found = await context.read(lambda c: find_assessor(c, number)) if 0 <= number < 2**63 else None
    if found is None or found[0].campaign_id != context.campaign.id:
        raise not_found()
    return found[0]


# ---- what one assessor said


def units_of(connection: Connection, row: AssessorRow) -> list[UnitOfOne]:
    """All units that an assessor ever had, the first first; answers only of the last `UNITS_SHOWN`."""
    held = assignments.of_assessor(connection, row.id)
    if not held:
        return []
    places = {
        number: (label, title, n)
        for number, label, title, n in connection.execute(
            select(unit.c.id, topic.c.label, topic.c.title, unit.c.number)
            .join(topic, topic.c.id == unit.c.topic_id)
            .where(unit.c.id.in_([one.unit_id for one in held]))
        )
    }
    units = [UnitOfOne(one, *places[one.unit_id]) for one in held]
    for one in units[-UNITS_SHOWN:]:
        happened = list(events.of_assignment(connection, one.row.id))
        one.answers.extend(_judgments(connection, one.row.id, happened))
        one.answers.extend(_preferences(connection, one.row.id))
        one.notes.extend((event.time, words) for event in happened if (words := noted(event)))
    return units


def _judgments(connection: Connection, assignment_id: int, happened: list[LogEntry]) -> list[Answer]:
    said: defaultdict[int, list[tuple[float, str]]] = defaultdict(list)
    for event in happened:
        if event.kind in ("judged", "cannot_tell") and not event.late:
            words = event.data.get("text", "cannot tell")
            if not said[event.data["position"]] or said[event.data["position"]][-1][1] != words:
                said[event.data["position"]].append((event.time, words))
    query = (
        select(judgment, document.c.label)
        .join(document, document.c.id == judgment.c.document_id)
        .where(judgment.c.assignment_id == assignment_id)
        .order_by(judgment.c.position)
    )
    return [
        Answer(
            row.position + 1,
            row.label,
            "cannot tell" if row.value is None else row.raw,
            row.reason,
            row.seconds,
            row.active,
            row.time,
            tuple(said[row.position][:-1]),
        )
        for row in connection.execute(query)
    ]


def _preferences(connection: Connection, assignment_id: int) -> list[Answer]:
    left, right = document.alias("one"), document.alias("other")
    query = (
        select(preference, left.c.label.label("left"), right.c.label.label("right"))
        .join(left, left.c.id == preference.c.left_id)
        .join(right, right.c.id == preference.c.right_id)
        .where(preference.c.assignment_id == assignment_id)
    )
    answers = []
    for row in connection.execute(query):
        said = {"left": row.left, "right": row.right}.get(row.choice, "they are the same")
        words = f"definitely {said}" if row.strength == 2 else said
        answers.append(
            Answer(row.number + 1, f"{row.left} or {row.right}", words, "", row.seconds, row.active, row.time)
        )
    marks = (
        select(bad_mark, document.c.label)
        .join(document, document.c.id == bad_mark.c.document_id)
        .where(bad_mark.c.assignment_id == assignment_id)
    )
    answers += [
        Answer(row.number + 1, row.label, "Bad", "", row.seconds, None, row.time) for row in connection.execute(marks)
    ]
    return sorted(answers, key=lambda one: (one.number, one.time))


def noted(event: LogEntry) -> str:
    """What is worth telling of an event besides answers; "" for the others."""
    data = event.data
    match event.kind:
        case "checked" if not data["passed"]:
            faults = [words for words, ok in (("order", data["ordered"]), ("time", data["unhurried"])) if not ok]
            return f"failed the check of {' and '.join(faults)}"
        case "checked":
            return "passed the checks"
        case "replied":
            return "answered the question rightly" if data["correct"] else "answered the question wrongly"
        case "undone":
            return f"took back pair {data['pair'] + 1}"
        case "rated":
            said = f"confidence {data['confidence']}, understanding {data['understanding']} of 5"
            return f"{said}: {data['comment']}" if data["comment"] else said
        case "lease_expired":
            return "was away too long; the unit went to others"
        case "assignment_withdrawn":
            return "the unit was taken away"
        case "assignment_restored":
            return "the unit was given back"
    return "sent an answer too late; it is kept and does not count" if event.late else ""


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/assessors", assessors),
    page("/owner/c/{campaign}/assessors/{number}", assessor),
    form("/owner/c/{campaign}/assessors/{number}", change),
    page("/owner/c/{campaign}/agreement", agreement),
]

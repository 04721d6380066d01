"""What organisers and single assessors have with each other: questions with replies, and units for a named person.

GET  /owner/c/{campaign}/questions   what assessors asked; ?replied=1 shows those with a reply    POST: reply
GET  /owner/c/{campaign}/assigned    units that are kept for a person                             POST: assign, release
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.collect.campaigns.reserving import DAYS
from qrowd.collect.campaigns.review import MOST_SHOWN
from qrowd.collect.campaigns.state import protocols_of, read_settings
from qrowd.collect.protocols.messages import Message
from qrowd.collect.store.messages import asked, count_asked
from qrowd.collect.store.reservations import reserved_units
from qrowd.collect.web.forms import Form, query_of
from qrowd.collect.web.owner.context import OWNER_OF, REVIEWER, OwnerContext, choose_one, form, page
from qrowd.collect.web.owner.review import address, review_of
from qrowd.errors import ArgumentError


async def questions(context: OwnerContext) -> Response:
    """What assessors asked the organisers: without a reply, oldest first; with one, newest first."""
    fields, row, names = query_of(context.request), context.campaign, context.may(OWNER_OF)  # others see pseudonyms
    open_ones, number = fields.get("replied") != "1", fields.get("page", "1")
    current = int(number[:9]) if number.isascii() and number.isdigit() else 1

    def work(connection: Connection) -> dict[str, Any]:
        n_open, n_replied = count_asked(connection, row.id)
        n_pages = max(-(-(n_open if open_ones else n_replied) // MOST_SHOWN), 1)
        now = max(min(current, n_pages), 1)
        part = asked(connection, row.id, open=open_ones, n=MOST_SHOWN, skipped=(now - 1) * MOST_SHOWN, names=names)
        return {"rows": part, "n_open": n_open, "n_replied": n_replied, "n_pages": n_pages, "current": now}

    values = await context.read(work)
    taken = read_settings(row).journey.ask_organisers
    return context.render(
        "questions",
        tab="review",
        open_ones=open_ones,
        taken=taken,
        address=lambda path="", **query: address(context, path, **query),
        **values,
    )


async def reply(context: OwnerContext, fields: Form) -> Response:
    """Answer a question."""
    who, number = fields.get("assessor", ""), fields.get("number", "")
    try:
        assessor = int(who, 16)
    except ValueError:
        assessor = -1
    if not 0 <= assessor < 2**63 or not (number.isascii() and number.isdigit() and len(number) <= 9):
        raise ArgumentError(Message("question: there is none of this number"))
    await review_of(context).reply(context.campaign.name, assessor, int(number), fields.get("reply", ""))
    return RedirectResponse(f"{context.base}/questions", 303)


async def assigned(context: OwnerContext) -> Response:
    """Units that are kept for a person."""
    row = context.campaign
    kept = await context.read(lambda connection: reserved_units(connection, row.id))
    possible = row.settings.get("question") is None and len(protocols_of(row)) == 1
    return context.render("assigned", tab="review", kept=kept, possible=possible, days=DAYS)


async def assign(context: OwnerContext, fields: Form) -> Response:
    """Keep units for a person, or let everybody have one again."""
    review, name = review_of(context), context.campaign.name
    match fields.get("do", ""):
        case "assign":
            units = fields.get("units", "").replace(",", " ").split()
            try:
                days = float(fields.get("days", "") or DAYS)
            except ValueError:
                raise ArgumentError(Message("%(name)s: expected a number", name="days")) from None
            await review.assign(name, fields.get("name", "").strip(), units, days=days)
        case "release" if all(
            fields.get(key, "").isascii() and fields.get(key, "").isdigit() for key in ("unit", "slot")
        ):
            await review.release(name, int(fields["unit"][:18]), int(fields["slot"][:9]))
        case _:
            raise choose_one("do", fields.get("do", ""), "assign", "release")
    context.memory.forget(name)
    return RedirectResponse(f"{context.base}/assigned", 303)


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/questions", questions, needs=REVIEWER),
    form("/owner/c/{campaign}/questions", reply, questions, needs=REVIEWER),
    page("/owner/c/{campaign}/assigned", assigned, needs=OWNER_OF),
    form("/owner/c/{campaign}/assigned", assign, assigned, needs=OWNER_OF),
]

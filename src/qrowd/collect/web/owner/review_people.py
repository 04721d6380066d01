"""What assessors asked the organisers, and the replies.

GET  /owner/c/{campaign}/questions   what assessors asked; ?replied=1 shows those with a reply    POST: reply
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from qrowd.collect.campaigns.review import MOST_SHOWN
from qrowd.collect.campaigns.state import read_settings
from qrowd.collect.protocols.messages import Message
from qrowd.collect.store.messages import asked, count_asked
from qrowd.collect.web.forms import Form, query_of
from qrowd.collect.web.owner.context import OWNER_OF, REVIEWER, OwnerContext, form, page
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


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/questions", questions, needs=REVIEWER),
    form("/owner/c/{campaign}/questions", reply, questions, needs=REVIEWER),
]

"""Results of a campaign: which system is better, agreement, what to settle, and files.

GET  /owner/c/{campaign}/results                  ?arm=, topic=, all=1, page=2
GET  /owner/c/{campaign}/export/{what}/{format}   a file; ?everything=1 adds what does not count, ?arm= takes one arm
POST /owner/c/{campaign}/export                   a file with names, which the log of the campaign keeps
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from sqlalchemy import Connection
from starlette.responses import Response
from starlette.routing import BaseRoute

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.results.exports import DESIGN, EXPORTS, note_names
from qrowd_server.campaigns.results.review_decisions import summaries
from qrowd_server.campaigns.running.collected import final_answers
from qrowd_server.campaigns.running.question_batches import question_progress
from qrowd_server.store import materials
from qrowd_server.web.downloads import collected, download
from qrowd_server.web.forms import Form, query_of
from qrowd_server.web.owner.assessors import quality_of
from qrowd_server.web.owner.context import OWNER_OF, VIEWER, OwnerContext, form, page
from qrowd_server.web.owner.decision import decision_of
from qrowd_server.web.problems import not_found

MOST_SHOWN = 5  # documents to settle


async def results(context: OwnerContext) -> Response:
    """All that a campaign has found out."""
    fields, row, arm = query_of(context.request), context.campaign, context.arm
    every, topic = fields.get("all") == "1", fields.get("topic", "")

    def work(connection: Connection) -> dict[str, Any]:
        topics = materials.topics_of(connection, row.id)
        titles = {one.label: one.title for one in topics}
        of = topic if topic in titles else ""
        return {
            "titles": titles,
            "topic": of,
            "keeps_runs": any(one.systems for one in topics),
            "rows": summaries(connection, row.name, arm=arm, topic=of, open=not every),
            "final": final_answers(connection, row.id),
            "question": question_progress(connection, row),
        }

    values = await context.read(work)
    judged = values.pop("rows")
    rows = judged if every else [one for one in judged if one.disagreement > 0]
    current, n_pages = context.page_of(len(rows), MOST_SHOWN)
    return context.render(
        "results",
        q=await quality_of(context),
        decision=await decision_of(context),
        rows=rows[(current - 1) * MOST_SHOWN :][:MOST_SHOWN],
        n=len(judged),
        n_listed=len(rows),
        n_pages=n_pages,
        current=current,
        every=every,
        unwritten=() if find_spec("pyarrow") else ("parquet",),
        answers=collected(row, arm)[0],
        files={kind: EXPORTS[kind] for kind in collected(row)},
        **values,
    )


async def export_file(context: OwnerContext) -> Response:
    """A file, streamed from the store."""
    what, format = context.request.path_params["what"], context.request.path_params["format"]
    fields, name = query_of(context.request), context.campaign.name
    arm = context.arm if fields.get("arm") else ""
    if what not in collected(context.campaign, arm):
        raise not_found()
    of, everything = f"{name}/{arm}".rstrip("/"), fields.get("everything") == "1"
    try:
        return await download(context.server, of, what, format, everything=everything)
    except ArgumentError as error:
        return await results(replace(context, problem=str(error)))


async def export_names(context: OwnerContext, fields: Form) -> Response:
    """A file with names and ids of platforms."""
    what, _, format = fields.get("file", "").partition("/")
    if what == DESIGN or what not in collected(context.campaign):
        raise ArgumentError("file: choose one of the list")
    server, name, account = context.server, context.campaign.name, context.owner.name
    at = server.clock()
    await server.write(note_names, name, what, format or what, at, account=account)
    return await download(server, name, what, format, names=True)


ROUTES: list[BaseRoute] = [
    page("/owner/c/{campaign}/results", results, needs=VIEWER),
    page("/owner/c/{campaign}/export/{what}/{format}", export_file, needs=VIEWER),
    form("/owner/c/{campaign}/export", export_names, results, needs=OWNER_OF),
]

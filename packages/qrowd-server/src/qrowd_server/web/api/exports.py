"""Exports: what was collected, as files that are streamed from one moment of the store."""

from __future__ import annotations

from starlette.responses import Response

from qrowd_server.campaigns.results.adjudication import CHOICES, Adjudicated
from qrowd_server.campaigns.results.exports import ARCHIVE, DESIGN, EXPORTS, FORMATS, JUDGMENTS, kinds_of, note_names
from qrowd_server.campaigns.running.state import protocols_of
from qrowd_server.protocols.schema import Schema
from qrowd_server.web.api.bodies import invalid
from qrowd_server.web.api.keys import Caller
from qrowd_server.web.api.operations import Answer, Operation, operation
from qrowd_server.web.downloads import download
from qrowd_server.web.problems import Problem

EVERYTHING: Schema = {
    "type": "boolean",
    "default": False,
    "description": "Also what does not count: units not finished or failed, excluded assessors; further columns say "
    "which. Tables only",
}


ARM: Schema = {
    "type": "string",
    "pattern": "^([a-z0-9][a-z0-9_-]{0,63})?$",
    "default": "",
    "description": "Only this arm of a campaign that has several; otherwise all, and a further column names the arm",
}


NAMES: Schema = {
    "type": "boolean",
    "default": False,
    "description": "People by name and with their ids on platforms, not by pseudonym; the log of the campaign says so",
}


ADJUDICATED: Schema = {
    "type": "string",
    "enum": list(CHOICES),
    "default": CHOICES[0],
    "description": "Final answers of owners: left out, added as one more assessor of the kind adjudicator, or in place "
    "of what assessors said of the same documents",
}


def _table(what: str, summary: str, **query: Schema) -> Operation:
    kind, formats = EXPORTS[what], list(EXPORTS[what].formats)
    media_types = tuple(dict.fromkeys(FORMATS[one].media_type for one in formats))
    format: Schema = {"type": "string", "enum": formats, "default": "jsonl", "description": "How it is written"}

    async def handler(
        caller: Caller,
        format: str,
        everything: bool = False,
        arm: str = "",
        names: bool = False,
        adjudicated: Adjudicated = "without",
    ) -> Response:
        return await _file(caller, what, format, everything, arm, names=names, adjudicated=adjudicated)

    return Operation(
        what,
        "GET",
        f"/campaigns/{{campaign}}/{what}",
        summary,
        handler,
        (Answer(f"The columns are {', '.join(kind.columns)}", files=media_types),),
        "Streamed, all of it as it stood at one moment; asked for again, the same bytes unless something was added.",
        {
            "format": format,
            **query,
            **({"arm": ARM} if kind.of_arms else {}),
            "names": NAMES,
            **({"adjudicated": ADJUDICATED} if what == JUDGMENTS else {}),
        },
        problems=(409,),
    )


async def _file(
    caller: Caller,
    what: str,
    format: str,
    everything: bool,
    arm: str = "",
    *,
    names: bool = False,
    adjudicated: Adjudicated = "without",
) -> Response:
    arms, name = protocols_of(caller.campaign), caller.campaign.name
    if arm and arm not in arms:
        raise invalid("arm", f"choose one of {', '.join(arms)}" if "" not in arms else "this campaign has no arms")
    question = caller.campaign.settings.get("question") is not None
    gold = caller.campaign.settings.get("gold") is not None
    kinds = kinds_of([arms[arm]] if arm else arms.values(), question=question, gold=gold)
    name = f"{name}/{arm}" if arm else name
    if what not in kinds:
        raise Problem(409, "protocol", f"{name}: this campaign collects {kinds[0]}; ask for those.")
    if names:
        store, at, account = caller.server.store, caller.server.clock(), caller.account
        await store.write_async(lambda c: note_names(c, name, what, format or what, at, account=account))
    return await download(
        caller.server.store, name, what, format, everything=everything, names=names, adjudicated=adjudicated
    )


@operation(
    "GET",
    "/campaigns/{campaign}/design",
    Answer("What was drawn for the campaign's question, as qrowd next reads it", files=("application/json",)),
    problems=(409,),
)
async def design(caller: Caller) -> Response:
    """The documents that a question drew so far, in order, with the probability of each.

    Together with the judgments it gives the same statement as the campaign, by `qrowd next`.
    """
    return await _file(caller, DESIGN, "", False)


@operation(
    "GET",
    "/campaigns/{campaign}/archive",
    Answer("One JSON object a line: the plan, then every event", files=("application/jsonl",)),
    query={"names": NAMES},
)
async def archive(caller: Caller, names: bool = False) -> Response:
    """The whole campaign, to keep it or to take it into another database.

    POST /archives reads it. Documents, settings with completion codes, and everybody's answers are in it; take it with
    names where assessors are to go on elsewhere, since otherwise whoever comes again is a new person there.
    """
    return await _file(caller, ARCHIVE, "", False, names=names)


OPERATIONS = (
    _table(
        JUDGMENTS,
        "Judgments that count, as qrowd.read_judgments reads them; qrels name the assessor in column 2",
        everything=EVERYTHING,
    ),
    _table(
        "preferences",
        "Preferences and Bad marks that count, as qrowd.read_preferences reads them; prefs know no strength",
        everything=EVERYTHING,
    ),
    _table("duplicates", "Pairs of documents that were called the same", everything=EVERYTHING),
    _table(
        "units", "Units: one row per assignment, whatever became of it, with its answers, time, steps back and ratings"
    ),
    _table("gold", "Answers to gold questions, which are no judgments, and whether they are right"),
    _table("payment", "One row per assessor: units, answers, accuracy on gold questions with its interval, bonus"),
    _table("revisions", "All that ever happened, oldest first"),
    design,
    archive,
)

"""Review: the documents with most disagreement, and final answers of owners for them.

An adjudication is an event of the campaign and belongs to no assignment, so it counts in no agreement, progress or
quality; exports have all of a campaign as one more assessor of its own kind, where that is asked for. Who gave each is
in the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import Connection

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.running.campaign_settings import find, find_arms, only_arm, protocols_of, read_settings
from qrowd_server.protocols import PREFERENCE
from qrowd_server.protocols.events import MAX_REASON, Refusal
from qrowd_server.protocols.grades import parse_grade
from qrowd_server.protocols.magnitude_protocol import parse_magnitude
from qrowd_server.protocols.protocol import storable
from qrowd_server.protocols.settings import GradesSettings
from qrowd_server.store import event_log as events
from qrowd_server.store import materials
from qrowd_server.store import state_rows as state
from qrowd_server.store.accounts import COMMAND_LINE
from qrowd_server.store.review_rows import Summary, document_summaries

ADJUDICATED, ADJUDICATOR = "adjudicated", "adjudicator"  # name and kind of the assessor in exports
Adjudicated = Literal["without", "add", "replace"]
CHOICES: tuple[Adjudicated, ...] = get_args(Adjudicated)

Place = tuple[str, str, str]  # topic, document, arm


@dataclass(frozen=True)
class Adjudication:
    """The final answer for a document.

    text : as typed. value : what it stands for. account : who gave it. time : seconds since 1970. n : how often an
    answer was given, this one included.
    """

    topic: str
    document: str
    arm: str
    text: str
    value: float
    reason: str
    account: str
    time: float
    n: int = 1


def adjudications(connection: Connection, campaign_id: int) -> dict[Place, Adjudication]:
    """The final answers of a campaign as they stand, by topic, document and arm."""
    last: dict[Place, Adjudication] = {}
    for entry in events.of_kind(connection, campaign_id, "adjudicated"):
        data = entry.data
        place = data["item"][0], data["item"][1], data["arm"]
        if data["value"] is None:
            last.pop(place, None)
            continue
        n = last[place].n + 1 if place in last else 1
        account = entry.account or ""
        last[place] = Adjudication(*place, data["text"], data["value"], data["reason"], account, entry.time, n)
    return last


def adjudicate(
    connection: Connection,
    campaign: str,
    topic: str,
    document: str,
    text: str,
    reason: str,
    at: float,
    *,
    account: str = COMMAND_LINE,
) -> Adjudication | None:
    """Give the final answer for a document; a later one replaces it, and "" takes it back.

    Parameters
    ----------
    campaign : its name, or CAMPAIGN/ARM for one of several arms that could be meant.
    topic, document : labels. text : a grade of the scale, or a magnitude. reason : needed. at : now, in seconds since
        1970. account : who gives it, for the log.
    """
    row, arms = find_arms(connection, campaign)
    judged = {arm: protocol for arm, protocol in arms.items() if protocol != PREFERENCE}
    if not judged:
        raise ArgumentError(f"{campaign}: it collects preferences; final answers are for documents")
    arm = only_arm(row.name, judged)
    has_topic = materials.topic_of(connection, row.id, topic) is not None
    if not has_topic or materials.document_of(connection, row.id, document) is None:
        raise ArgumentError(f"the campaign {row.name} has no document {document[:80]!r} of a topic {topic[:80]!r}")
    text, reason, value = text.strip(), reason.strip(), None
    place = topic, document, arm
    if text:
        settings = read_settings(row).arms[arm].settings
        try:
            value = (
                parse_grade(text, settings.labels) if isinstance(settings, GradesSettings) else parse_magnitude(text)
            )
        except Refusal as error:
            raise ArgumentError(f"answer: {error}") from None
        if not reason or len(reason) > MAX_REASON or not storable(reason):
            raise ArgumentError(f"reason: say why in at most {MAX_REASON:,} characters; it is exported as the comment")
    elif place not in adjudications(connection, row.id):
        return None
    data = {"item": [topic, document], "arm": arm, "text": text, "value": value, "reason": reason if text else ""}
    events.note(connection, row.id, "adjudicated", data, at, account=account)
    return adjudications(connection, row.id).get(place)


# ---- exports


def adjudicator_name(connection: Connection, campaign_id: int) -> str:
    """The name of the adjudicated answers in exports, which no assessor of the campaign has."""
    name, n = ADJUDICATED, 1
    while state.find_named(connection, campaign_id, name) is not None:
        n += 1
        name = f"{ADJUDICATED}-{n}"
    return name


def with_adjudications(
    connection: Connection,
    campaign_id: int,
    rows: Iterator[tuple[Any, ...]],
    columns: tuple[str, ...],
    *,
    adjudicated: Adjudicated,
    arms: Iterable[str],
) -> Iterator[tuple[Any, ...]]:
    """Rows of judgments, with the final answers after them, topic by topic.

    columns : of the rows. adjudicated : "add", or "replace" to leave out what assessors said of these documents. arms :
    those whose final answers follow.
    """
    wanted, places = set(arms), [columns.index(name) for name in ("topic", "document")]
    final = {place: one for place, one in adjudications(connection, campaign_id).items() if place[2] in wanted}
    of_arm = columns.index("arm") if "arm" in columns else None
    for cells in rows:
        topic, document = (cells[i] for i in places)
        arm = "" if of_arm is None else cells[of_arm]
        if adjudicated == "add" or (topic, document, arm) not in final:
            yield cells
    name = adjudicator_name(connection, campaign_id)
    for (topic, document, arm), one in sorted(final.items()):
        known = {
            "topic": topic, "document": document, "value": one.value, "assessor": name, "time": one.time,
            "comment": one.reason, "raw": one.text, "revisions": one.n - 1, "kind": ADJUDICATOR, "arm": arm,
            "counted": True, "status": ADJUDICATED,
        }  # fmt: skip
        yield tuple(known.get(column) for column in columns)


# ---- what is to be reviewed


def summaries(
    connection: Connection, campaign: str, *, arm: str = "", topic: str = "", open: bool = False
) -> list[Summary]:
    """The documents that a page can list, most disagreement first; none of an arm with preferences.

    arm : "" without arms. topic : only of the one with this label. open : only those without a final answer.
    """
    row = find(connection, campaign)
    protocols = protocols_of(row)
    if arm not in protocols:
        raise ArgumentError(f"choose one of {', '.join(protocols)}", "arm", arm[:40])
    if topic and materials.topic_of(connection, row.id, topic) is None:
        raise ArgumentError(f"the campaign {campaign} has none of this name", "topic", topic[:40])
    if protocols[arm] == PREFERENCE:
        return []
    final = adjudications(connection, row.id)
    documents = [
        one
        for one in document_summaries(connection, row.id, arm=arm, ratios=protocols[arm] == "magnitude")
        if topic in ("", one.topic) and not (open and (one.topic, one.document, arm) in final)
    ]
    return sorted(documents, key=lambda one: -one.disagreement)  # stable: otherwise as in the campaign

"""Review: the documents with most disagreement, and final answers of owners for them.

A final answer is an event of the campaign and belongs to no assignment, so it counts in no progress or quality; in
judgments it replaces the answers that it settles (`running.collected`). Who gave each is in the log.
"""

from __future__ import annotations

from sqlalchemy import Connection

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.running.campaign_settings import find, find_arms, only_arm, protocols_of, read_settings
from qrowd_server.campaigns.running.collected import FinalAnswer, final_answers
from qrowd_server.protocols import PREFERENCE
from qrowd_server.protocols.events import MAX_REASON, Refusal
from qrowd_server.protocols.grades import parse_grade
from qrowd_server.protocols.protocol import storable
from qrowd_server.protocols.settings import GradesSettings
from qrowd_server.store import event_log as events
from qrowd_server.store import materials
from qrowd_server.store.accounts import COMMAND_LINE
from qrowd_server.store.review_rows import Summary, document_summaries


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
) -> FinalAnswer | None:
    """Give the final answer for a document; a later one replaces it, and "" takes it back.

    Parameters
    ----------
    campaign : its name, or CAMPAIGN/ARM for one of several arms that could be meant.
    topic, document : labels. text : a grade of the scale. reason : needed. at : now, in seconds since
        1970. account : who gives it, for the log.
    """
    row, arms = find_arms(connection, campaign)
    graded = {arm: protocol for arm, protocol in arms.items() if protocol == "grades"}
    if not graded:
        raise ArgumentError(f"{campaign}: it collects {', '.join(arms.values())}; final answers are grades")
    arm = only_arm(row.name, graded)
    topic_row = materials.labelled(connection, "topic", row.id, topic)
    if topic_row is None or materials.labelled(connection, "document", row.id, document) is None:
        raise ArgumentError(f"the campaign {row.name} has no document {document[:80]!r} of a topic {topic[:80]!r}")
    text, reason, value = text.strip(), reason.strip(), None
    place = topic, document, arm
    if text:
        settings = read_settings(row).arms[arm].settings
        assert isinstance(settings, GradesSettings)  # says the arm's protocol
        try:
            value = parse_grade(text, settings.labels)
        except Refusal as error:
            raise ArgumentError(f"answer: {error}") from None
        if not reason or len(reason) > MAX_REASON or not storable(reason):
            raise ArgumentError(f"reason: say why in at most {MAX_REASON:,} characters; it is exported as the comment")
    elif place not in final_answers(connection, row.id):
        return None
    data = {"item": [topic, document], "arm": arm, "text": text, "value": value, "reason": reason if text else ""}
    events.note(connection, row.id, "adjudicated", data, at, account=account)
    return final_answers(connection, row.id).get(place)


# ---- what is to be reviewed


def summaries(
    connection: Connection, campaign: str, *, arm: str = "", topic: str = "", open: bool = False
) -> list[Summary]:
    """The documents that a page can list, most disagreement first; none of an arm with preferences.

    arm : "" without arms. topic : only of the one with this label. open : only those without a final answer.
    """
    row = find(connection, campaign)
    protocols = protocols_of(row)
    if protocols[arm] == PREFERENCE:
        return []
    final = final_answers(connection, row.id)
    documents = [
        one
        for one in document_summaries(connection, row.id, arm=arm, ratios=protocols[arm] == "magnitude")
        if topic in ("", one.topic) and not (open and (one.topic, one.document, arm) in final)
    ]
    return sorted(documents, key=lambda one: -one.disagreement)  # stable: otherwise as in the campaign

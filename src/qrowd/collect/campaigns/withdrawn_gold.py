"""Gold questions that an owner withdraws, because the known answer turned out to be wrong: they count for nobody.

A withdrawn question stays where it is in units, since the places of all others depend on it, and what was answered
stays in the log and in its table. From then on no accuracy, no bonus and no exclusion takes it into account.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qrowd.collect.campaigns.lookup import find
from qrowd.collect.campaigns.membership import record
from qrowd.collect.campaigns.state import WITHDRAWN_GOLD, read_settings, withdrawn_gold
from qrowd.collect.protocols.asking import storable
from qrowd.collect.protocols.events import MAX_REASON, Event
from qrowd.collect.protocols.gold import GoldAnswer, is_below
from qrowd.collect.store import coding, materials, state
from qrowd.collect.store import gold as gold_store
from qrowd.collect.store.accounts import COMMAND_LINE
from qrowd.collect.store.gold import GoldPlace
from qrowd.collect.store.materials import CampaignRow
from qrowd.collect.store.review import owner_entries
from qrowd.collect.store.state import AssessorRow
from qrowd.errors import ArgumentError

KIND = "gold_withdrawn"


@dataclass(frozen=True)
class GoldState:
    """Whether a gold question counts. reason, account, time : of the last decision about it, if there was one."""

    is_withdrawn: bool
    reason: str = ""
    account: str = ""
    time: float | None = None


def gold_state(connection: Connection, row: CampaignRow, topic: str, documents: Sequence[str]) -> GoldState | None:
    """Whether the gold question of a document, or of the better and the worse one of a pair, counts; None for no such.

    topic, documents : labels.
    """
    if _place(connection, row.id, topic, documents) is None:
        return None
    last = GoldState(False)
    for time, account, data in owner_entries(connection, row.id, KIND):
        if data["item"] == [topic, *documents]:
            last = GoldState(data["withdrawn"], data["reason"], account, time)
    return last


def withdraw_gold(
    connection: Connection,
    campaign: str,
    topic: str,
    documents: Sequence[str],
    reason: str,
    at: float,
    *,
    withdrawn: bool = True,
    account: str = COMMAND_LINE,
) -> None:
    """Withdraw a gold question, or let it count again.

    Parameters
    ----------
    topic, documents : labels; of a pair the better and the worse document. reason : needed to withdraw. at : now, in
        seconds since 1970. withdrawn : if False, it counts again. account : who does it, for the log.

    Raises
    ------
    ArgumentError
        There is no such campaign or gold question, or no reason is given.
    """
    state.lock_campaign(connection, find(connection, campaign).id)  # its settings are changed as a whole
    row, reason = find(connection, campaign), reason.strip()
    before = gold_state(connection, row, topic, documents)
    if before is None:
        raise ArgumentError(f"the campaign {row.name} has no such gold question of a topic {topic[:80]!r}")
    if (withdrawn and not reason) or len(reason) > MAX_REASON or not storable(reason):
        raise ArgumentError(f"reason: say why, in at most {MAX_REASON:,} characters")
    if before.is_withdrawn != withdrawn:
        data = {"item": [topic, *documents], "withdrawn": withdrawn, "reason": reason}
        record(connection, row.id, Event(KIND, data), at, account)
        restore_withdrawn(connection, row)


def restore_withdrawn(connection: Connection, row: CampaignRow) -> None:
    """Write which gold questions count for nobody into the settings of a campaign, as the log has it."""
    places: dict[GoldPlace, bool] = {}
    for _, _, data in owner_entries(connection, row.id, KIND):
        if (place := _place(connection, row.id, data["item"][0], data["item"][1:])) is not None:
            places[place] = data["withdrawn"]
    settings = {key: value for key, value in row.settings.items() if key != WITHDRAWN_GOLD}
    settings |= kept_withdrawn({WITHDRAWN_GOLD: sorted(list(place) for place, gone in places.items() if gone)})
    if settings != row.settings:
        materials.change_campaign(connection, row.id, {"settings": settings})


def kept_withdrawn(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the settings of a campaign say of withdrawn gold questions; nothing without any."""
    return {WITHDRAWN_GOLD: settings[WITHDRAWN_GOLD]} if settings.get(WITHDRAWN_GOLD) else {}


def no_longer_excluded(connection: Connection, row: CampaignRow) -> list[AssessorRow]:
    """Assessors who are excluded, and whom the rule would exclude by all their answers, but not by those that count."""
    gold, withdrawn = read_settings(row).gold, withdrawn_gold(row.settings)
    if gold is None or not withdrawn:
        return []
    rule = gold.rule
    of_all, counted = (
        gold_store.gold_answers_by_assessor(connection, row.id, without=without)
        for without in (frozenset[GoldPlace](), withdrawn)
    )

    def below(answers: Sequence[gold_store.Answered]) -> bool:
        return is_below([GoldAnswer(*one) for one in answers], **rule)

    return [
        one
        for one in state.assessors_of(connection, row.id)
        if one.excluded is not None and below(of_all.get(one.id, [])) and not below(counted.get(one.id, []))
    ]


def _place(connection: Connection, campaign_id: int, topic: str, documents: Sequence[str]) -> GoldPlace | None:
    """The numbers of a gold question by its labels; None where there is none."""
    of_topic = coding.topic_of(connection, campaign_id, topic)
    rows = [coding.document_of(connection, campaign_id, label) for label in documents]
    numbers = [one.id for one in rows if one is not None]
    if of_topic is None or len(numbers) < len(rows):
        return None
    known = ((one.document_id, one.other_id or 0) for one in materials.gold_of_topic(connection, of_topic.id))
    pair = numbers[0], numbers[1] if len(numbers) > 1 else 0
    return (of_topic.id, *pair) if pair in known else None

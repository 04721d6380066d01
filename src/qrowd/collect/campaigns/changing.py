"""A campaign is changed after its start, in one transaction with one event `changed`; see `changes` for what may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from qrowd.collect.campaigns.cache import GOLD_EVERY
from qrowd.collect.campaigns.changes import Changes, Judged, changes_between
from qrowd.collect.campaigns.creation import gold_rows, plan_of, settings_table, topic_row
from qrowd.collect.campaigns.document_rows import add_documents, add_pictures, change_document
from qrowd.collect.campaigns.lookup import find
from qrowd.collect.campaigns.plan import Plan
from qrowd.collect.campaigns.versions import CHANGED, history_of
from qrowd.collect.protocols.assembly import slots_of
from qrowd.collect.store import events, materials, state
from qrowd.collect.store.accounts import COMMAND_LINE
from qrowd.collect.store.events import LogEntry
from qrowd.collect.store.schema import assignment, gold, image, slot, topic
from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance

CHANGED_MEANWHILE = "Somebody else has changed this campaign meanwhile. Check the folder once more."


class NothingChangedError(ArgumentError):
    """The folder and the campaign say the same."""


def planned_changes(connection: Connection, plan: Plan) -> Changes:
    """What `change_campaign` would change; nothing is written.

    Raises
    ------
    ArgumentError
        There is no campaign of this name, or what cannot change any more, one line each.
    """
    row = find(connection, plan.name)
    return changes_between(plan_of(connection, row.id), plan, _judged(connection, row.id), row.version + 1)


def change_campaign(
    connection: Connection, plan: Plan, at: float, *, account: str = COMMAND_LINE, version: int | None = None
) -> Changes:
    """Make the campaign of the plan's name what the plan says, in the connection's transaction.

    Pages that are on a screen stay good: an answer on one counts, and its event has the version that was shown. Only
    the consent is asked for again where its text changed.

    account : who does it, for the log. version : of the campaign that this was checked against; None for any.

    Raises
    ------
    ArgumentError
        There is no campaign of this name, what cannot change any more, nothing is different, or somebody else changed
        the campaign meanwhile.
    """
    state.lock_campaign(connection, find(connection, plan.name).id)
    row = find(connection, plan.name)
    if version is not None and row.version != version:
        raise ArgumentError(CHANGED_MEANWHILE)
    _hold_slots(connection, row.id)
    changes = changes_between(plan_of(connection, row.id), plan, _judged(connection, row.id), row.version + 1)
    if changes.is_empty:
        raise NothingChangedError(f"{plan.name}: the folder and the campaign say the same, so nothing was changed")
    n_slots = _write_material(connection, row.id, changes)
    data: dict[str, Any] = {
        **counts_of(changes),
        "slots": n_slots,
        "version": changes.version,
        "reworded": [what for what, _, _ in changes.reworded],
        "words": [list(one) for one in changes.reworded],
        "topics_reworded": list(changes.topics_reworded),
        "documents_reworded": list(changes.documents_reworded),
        "gold": list(changes.gold),
        "lease_minutes": list(changes.lease_minutes),
    }
    earlier = [one.data for one in events.of_kind(connection, row.id, CHANGED)]
    events.append(connection, [LogEntry(at, row.id, None, None, None, "owner", CHANGED, data, account=account)])
    settings = {**settings_table(changes.plan), "history": history_of([*earlier, data])}
    values = {"title": changes.plan.title, "settings": settings, "version": changes.version}
    materials.change_campaign(connection, row.id, values)
    return changes


def counts_of(changes: Changes) -> dict[str, int]:
    """How much is new."""
    return {"topics": len(changes.topics), "documents": len(changes.documents), "units": len(changes.units)}


def _judged(connection: Connection, campaign_id: int) -> Judged:
    """What assessors have had so far."""
    c = assignment.c
    labels = {one.id: one.label for one in materials.topics_of(connection, campaign_id)}
    n_of_topic = select(c.topic_id, func.count(c.assessor_id.distinct())).where(c.campaign_id == campaign_id)
    per_topic = connection.execute(n_of_topic.group_by(c.topic_id))
    n_assessors = {labels[number]: n for number, n in per_topic}
    with_gold = connection.scalars(
        select(c.topic_id).distinct().where(c.campaign_id == campaign_id, c.state[GOLD_EVERY].as_integer() > 0)
    )
    gold_topics = frozenset(labels[number] for number in with_gold)
    had = set(connection.scalars(select(c.unit_id).distinct().where(c.campaign_id == campaign_id)))
    numbers: set[int] = set()
    for one in materials.units_of(connection, campaign_id):
        if one.id in had:
            numbers.update(one.documents)
    for row in materials.gold_of(connection, campaign_id):
        if labels[row.topic_id] in gold_topics:
            numbers |= {row.document_id, row.other_id} - {None}
    documents = {number: label for label, number in materials.ids_by_label(connection, "document", campaign_id).items()}
    return Judged(frozenset(n_assessors), frozenset(documents[one] for one in numbers), gold_topics, n_assessors)


def _hold_slots(connection: Connection, campaign_id: int) -> None:
    """Nobody begins a unit meanwhile; one that is being begun is waited for. SQLite has one writer anyway."""
    connection.execute(select(slot.c.unit_id).where(slot.c.campaign_id == campaign_id).with_for_update()).all()


# ---- rows


def _write_material(connection: Connection, campaign_id: int, changes: Changes) -> int:
    """Write what is new and what reads otherwise; how many slots are new."""
    plan = changes.plan
    written = set(connection.scalars(select(image.c.digest).where(image.c.campaign_id == campaign_id)))
    new, reworded = set(changes.documents), set(changes.documents_reworded)
    add_documents(connection, campaign_id, [one for one in plan.documents if one.label in new], written)
    for one in plan.documents:
        if one.label in reworded:
            change_document(connection, campaign_id, one, written)
    add_pictures(connection, campaign_id, plan.pictures, written)
    documents = materials.ids_by_label(connection, "document", campaign_id)
    rows = (topic_row(each, documents) for each in plan.topics if each.label in set(changes.topics))
    materials.add_material(connection, "topic", campaign_id, rows)
    topics = materials.ids_by_label(connection, "topic", campaign_id)
    for each in plan.topics:
        if each.label in changes.topics_reworded:
            values = {key: value for key, value in topic_row(each, documents).items() if key != "label"}
            connection.execute(update(topic).where(topic.c.id == topics[each.label]).values(**values))
        if each.label in changes.gold:
            connection.execute(delete(gold).where(gold.c.topic_id == topics[each.label]))
        if each.label in changes.gold or each.label in changes.topics:
            materials.add_material(connection, "gold", campaign_id, gold_rows(each, topics[each.label], documents))
    return _add_units(connection, campaign_id, changes, topics, documents)


def _add_units(
    connection: Connection,
    campaign_id: int,
    changes: Changes,
    topics: Mapping[str, int],
    documents: Mapping[str, int],
) -> int:
    """Write new units, their slots, and further slots of the units that there are; how many slots."""
    arms, chance = changes.plan.arms, Chance.of(changes.plan.seed)
    before = list(materials.units_of(connection, campaign_id))
    following = Counter(one.topic_id for one in before)
    rows: list[dict[str, Any]] = []
    for one in changes.units:
        topic_id = topics[one.topic]
        held = [documents[label] for label in one.documents]
        rows.append({"topic_id": topic_id, "arm": one.arm, "number": following[topic_id], "documents": held})
        following[topic_id] += 1
    materials.add_material(connection, "unit", campaign_id, rows)
    numbers = {(one.topic_id, one.number): one.id for one in materials.units_of(connection, campaign_id)}
    slots = [
        {"unit_id": numbers[row["topic_id"], row["number"]], "number": number, "topic_id": row["topic_id"]}
        | {"arm": row["arm"], "latin_row": one.latin_row}
        for row, one in zip(rows, changes.units, strict=True)
        for number in range(slots_of(arms[row["arm"]]))
    ]
    slots += _further_slots(connection, campaign_id, changes, before)
    lottery = chance.stream(f"slots of version {changes.version}").random(len(slots)).tolist()
    drawn = ({**one, "lottery": place} for one, place in zip(slots, lottery, strict=True))
    materials.add_material(connection, "slot", campaign_id, drawn)
    return len(slots)


def _further_slots(
    connection: Connection, campaign_id: int, changes: Changes, before: list[Any]
) -> list[dict[str, Any]]:
    """Slots of units that were there, where more assessors are wanted; magnitudes get further units instead."""
    c = slot.c
    rows = connection.execute(
        select(c.unit_id, func.count(), func.min(c.latin_row)).where(c.campaign_id == campaign_id).group_by(c.unit_id)
    )
    had = {unit_id: (n, latin_row) for unit_id, n, latin_row in rows}
    slots = []
    for one in before:
        if one.arm not in changes.redundancy or one.id not in had:
            continue
        n, latin_row = had[one.id]
        common = {"unit_id": one.id, "topic_id": one.topic_id, "arm": one.arm, "latin_row": latin_row}
        slots += [{**common, "number": number} for number in range(n, slots_of(changes.plan.arms[one.arm]))]
    return slots

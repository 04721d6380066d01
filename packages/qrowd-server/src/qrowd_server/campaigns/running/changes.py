"""Changing a campaign after its start: a plan of the same name adds topics, documents and assessors, or corrects texts.

Whatever would change the meaning of answers that were given is refused. What is left is written in one transaction,
with one event `changed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlalchemy import Connection, func, select, update

from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance
from qrowd.model.labels import plural
from qrowd_server.campaigns.plan.plan import Plan, TopicPlan, table_of
from qrowd_server.campaigns.running.campaign_settings import find
from qrowd_server.campaigns.running.creation import (
    add_documents,
    add_pictures,
    assembled_units,
    change_document,
    gold_rows,
    plan_of,
    settings_table,
    topic_row,
)
from qrowd_server.protocols.assembly import slots_of
from qrowd_server.protocols.setting_fields import path
from qrowd_server.protocols.settings import GradesSettings, MagnitudeSettings, PreferenceSettings, to_table
from qrowd_server.store import event_log as events
from qrowd_server.store import materials
from qrowd_server.store.accounts import COMMAND_LINE
from qrowd_server.store.schema import assignment, image, slot
from qrowd_server.store.schema import topic as topic_table

CHANGED = "changed"
LISTED = 20  # problems
TEXTS = ("title", "instructions", "practice_instructions", "guidelines")  # of a campaign, which may be corrected
TEXTS_OF_TOPIC = ("title", "description", "narrative")  # as long as nobody has had it
MATERIAL = ("topics", "documents", "pictures", "settings", "seed")  # looked at one by one, or not at all
INSTEAD = "make a campaign of another name"


@dataclass(frozen=True)
class Changes:
    """What is to be written. plan : the campaign afterwards, what was there before first.

    topics, documents : labels of new ones. units : (topic, arm, documents, row of the Latin square) of new ones.
    redundancy : {arm: (assessors of each unit before, and afterwards)} where units get more. texts : of the campaign,
    that read otherwise. topics_reworded, documents_reworded : labels.
    """

    plan: Plan
    topics: tuple[str, ...]
    documents: tuple[str, ...]
    units: tuple[tuple[str, str, list[str], int], ...]
    redundancy: Mapping[str, tuple[int, int]]
    texts: tuple[str, ...]
    topics_reworded: tuple[str, ...]
    documents_reworded: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        """What changes, a line each; none where nothing does."""
        added = ((len(self.topics), "topic"), (len(self.documents), "document"), (len(self.units), "unit"))
        lines = [f"{plural(n, noun)} added" for n, noun in added if n]
        for arm, (before, after) in self.redundancy.items():
            lines.append(f"{f'arm {arm}: ' if arm else ''}{after} assessors of each unit, not {before}")
        reworded = [f"topic {label}" for label in self.topics_reworded]
        reworded += [f"document {label}" for label in self.documents_reworded]
        return lines + [f"{name}: another text" for name in (*reworded, *self.texts)]


def planned_changes(connection: Connection, plan: Plan) -> Changes:
    """What `change_campaign` would change; nothing is written."""
    row = find(connection, plan.name)
    old = plan_of(connection, row.id)
    problems = list(_problems(old, plan, *_had(connection, row.id)))
    if problems:
        more = [f"... and {len(problems) - LISTED} more"] if len(problems) > LISTED else []
        raise ArgumentError("\n".join([*(f"{old.name}: {problem}" for problem in problems[:LISTED]), *more]))
    new = _merged(old, plan)
    topics = {topic.label: topic for topic in old.topics}
    documents = {document.label: document for document in old.documents}
    redundancy = {arm: (settings.redundancy, new.arms[arm].redundancy) for arm, settings in old.arms.items()}
    return Changes(
        plan=new,
        topics=tuple(topic.label for topic in new.topics if topic.label not in topics),
        documents=tuple(document.label for document in new.documents if document.label not in documents),
        units=tuple(_new_units(old, new)),
        redundancy={arm: counts for arm, counts in redundancy.items() if counts[0] != counts[1]},
        texts=tuple(name for name in (*TEXTS, "pictures") if getattr(old, name) != getattr(new, name)),
        topics_reworded=tuple(t.label for t in new.topics if _words(topics.get(t.label, t)) != _words(t)),
        documents_reworded=tuple(d.label for d in new.documents if documents.get(d.label, d) != d),
    )


def change_campaign(connection: Connection, plan: Plan, at: float, *, account: str = COMMAND_LINE) -> Changes:
    """Make the campaign of the plan's name what the plan says, in the connection's transaction.

    account : who does it, for the log.
    """
    row = find(connection, plan.name)
    changes = planned_changes(connection, plan)
    if not changes.lines:
        raise ArgumentError(f"{plan.name}: the folder and the campaign say the same, so nothing was changed")
    _write_material(connection, row.id, changes)
    events.note(connection, row.id, CHANGED, {"lines": changes.lines}, at, account=account)
    values = {"title": changes.plan.title, "settings": settings_table(changes.plan)}
    materials.change_campaign(connection, row.id, values)
    return changes


def _had(connection: Connection, campaign_id: int) -> tuple[set[str], set[str]]:
    """Labels of topics and of documents that somebody has had a unit of."""
    had = set(connection.scalars(select(assignment.c.unit_id).where(assignment.c.campaign_id == campaign_id)))
    units = [unit for unit in materials.units_of(connection, campaign_id) if unit.id in had]
    topics = {row.id: row.label for row in materials.topics_of(connection, campaign_id)}
    labels = {number: label for label, number in materials.ids_by_label(connection, "document", campaign_id).items()}
    numbers = {number for unit in units for number in unit.documents}
    for row in materials.gold_of(connection, campaign_id):
        numbers |= {row.document_id, row.other_id} - {None}
    return {topics[unit.topic_id] for unit in units}, {labels[number] for number in numbers}


# ---- what may change


def _problems(old: Plan, new: Plan, topics_had: set[str], documents_had: set[str]) -> Iterator[str]:
    if old.in_short != new.in_short:
        yield f"the protocol cannot change: {old.in_short} became {new.in_short}; {INSTEAD}"
        return
    before, after = _fixed_settings(old), _fixed_settings(new)
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key):
            yield f"{key} cannot change, because assessors are on their way; {INSTEAD}"
    for arm, settings in old.arms.items():
        if new.arms[arm].redundancy < settings.redundancy:
            yield f"{path(table_of(arm, settings))}.redundancy can only become larger"
    topics = {topic.label: topic for topic in new.topics}
    for topic in old.topics:
        if topic.label not in topics:
            yield f"topic {topic.label!r} is missing; topics cannot be removed, so put it back"
        else:
            yield from _topic_problems(old, topic, topics[topic.label], topic.label in topics_had)
    documents = {document.label: document for document in new.documents}
    for document in old.documents:
        if document.label in documents_had and documents.get(document.label, document) != document:
            yield f"document {document.label!r} reads otherwise, but somebody has had it; give the text another label"


def _fixed_settings(plan: Plan) -> dict[str, Any]:
    """All settings by name that stay as they are: the assessors of each unit of grades and pairs may become more."""
    names = (field.name for field in fields(Plan) if field.name not in (*MATERIAL, *TEXTS))
    fixed = {name: getattr(plan, name) for name in names}
    for arm, settings in plan.arms.items():
        for key, value in to_table(settings).items():
            if key != "redundancy" or isinstance(settings, MagnitudeSettings):
                fixed[f"{path(table_of(arm, settings))}.{key}"] = value
    return fixed


def _topic_problems(plan: Plan, old: TopicPlan, new: TopicPlan, had: bool) -> Iterator[str]:
    where = f"topic {old.label!r}"
    free = ["pool"]
    if not any(isinstance(settings, PreferenceSettings) for settings in plan.arms.values()):
        free.append("systems")  # they decide the order of pairs alone
    for name in (field.name for field in fields(TopicPlan) if field.name not in free):
        if getattr(old, name) != getattr(new, name) and (had or name not in TEXTS_OF_TOPIC):
            reason = ", because somebody has had a unit of it" if name in TEXTS_OF_TOPIC else ""
            yield f"{where}: its {name} cannot change{reason}"
    if missing := [label for label in old.pool if label not in set(new.pool)]:
        yield f"{where}: document {missing[0]!r} is not in its pool any more; documents cannot be removed"
    further = [label for label in new.pool if label not in set(old.pool)]
    for settings in plan.arms.values() if further else ():
        if not isinstance(settings, GradesSettings):
            yield f"{where}: document {further[0]!r} is new, but only grades take further documents; add a topic"


# ---- what changes


def _merged(old: Plan, new: Plan) -> Plan:
    """The new plan with the seed of the old one, and with what was there before first, in its order."""
    documents = {document.label: document for document in (*old.documents, *new.documents)}
    topics = {topic.label: topic for topic in (*old.topics, *new.topics)}
    return replace(new, seed=old.seed, documents=tuple(documents.values()), topics=tuple(topics.values()))


def _words(topic: TopicPlan) -> tuple[str, ...]:
    return tuple(getattr(topic, name) for name in TEXTS_OF_TOPIC)


def _new_units(old: Plan, plan: Plan) -> Iterator[tuple[str, str, list[str], int]]:
    """Units of new topics, and of new documents of topics that were there."""
    chance, pools = Chance.of(plan.seed), {topic.label: set(topic.pool) for topic in old.topics}
    for i, topic in enumerate(plan.topics):
        further = tuple(label for label in topic.pool if label not in pools.get(topic.label, ()))
        for j, (arm, settings) in enumerate(plan.arms.items()) if further else ():
            rng = chance.stream(f"further units {arm} {len(further)}", i)
            for labels in assembled_units(replace(topic, pool=further), settings, rng):
                yield topic.label, arm, labels, (j - i) % len(plan.arms)


# ---- rows


def _write_material(connection: Connection, campaign_id: int, changes: Changes) -> None:
    """Write what is new and what reads otherwise."""
    plan = changes.plan
    written = set(connection.scalars(select(image.c.digest).where(image.c.campaign_id == campaign_id)))
    new = set(changes.documents)
    add_documents(connection, campaign_id, [one for one in plan.documents if one.label in new], written)
    for document in plan.documents:
        if document.label in changes.documents_reworded:
            change_document(connection, campaign_id, document, written)
    add_pictures(connection, campaign_id, plan.pictures.values(), written)
    documents = materials.ids_by_label(connection, "document", campaign_id)
    rows = (topic_row(one, documents) for one in plan.topics if one.label in changes.topics)
    materials.add_material(connection, "topic", campaign_id, rows)
    topics = materials.ids_by_label(connection, "topic", campaign_id)
    for each in plan.topics:
        id = topics[each.label]
        if each.label in changes.topics:
            materials.add_material(connection, "gold", campaign_id, gold_rows(each, id, documents))
        else:
            row = topic_row(each, documents)
            values = {key: row[key] for key in (*TEXTS_OF_TOPIC, "systems")}
            connection.execute(update(topic_table).where(topic_table.c.id == id).values(**values))
    _add_units(connection, campaign_id, changes, topics, documents)


def _add_units(
    connection: Connection, campaign_id: int, changes: Changes, topics: Mapping[str, int], documents: Mapping[str, int]
) -> None:
    """Write new units, their slots, and further slots of the units that there are."""
    n_slots = {arm: slots_of(settings) for arm, settings in changes.plan.arms.items()}
    columns = slot.c.unit_id, slot.c.topic_id, slot.c.arm, slot.c.latin_row
    before = select(*columns, func.count()).where(slot.c.campaign_id == campaign_id).group_by(*columns)
    had = connection.execute(before.order_by(slot.c.unit_id)).all()
    planned = [
        (topics[label], arm, [documents[one] for one in labels], latin_row)
        for label, arm, labels, latin_row in changes.units
    ]
    slots = materials.add_units(connection, campaign_id, planned, n_slots)
    for id, topic_id, arm, latin_row, n in had:
        slots += materials.slot_rows(id, topic_id, arm, latin_row, range(n, n_slots[arm]))
    rng = Chance.of(changes.plan.seed).stream(f"further slots {sum(n for *_, n in had)}")
    materials.add_slots(connection, campaign_id, slots, rng)

"""Changing a campaign after its start: a plan of the same name adds topics, documents and assessors, or corrects texts.

Whatever would change the meaning of answers that were given is refused. What is left is written in one transaction,
with one event `changed`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlalchemy import Connection, func, select, update

from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance
from qrowd_server.campaigns.plan.plan import Plan, TopicPlan, table_of
from qrowd_server.campaigns.running.creation import gold_rows, plan_of, settings_table, topic_row
from qrowd_server.campaigns.running.lookup import find
from qrowd_server.campaigns.running.material import add_documents, add_pictures, change_document
from qrowd_server.protocols.assembly import slots_of, units_of_topic
from qrowd_server.protocols.schema import LISTED, listed, path
from qrowd_server.protocols.settings import GradesSettings, MagnitudeSettings, Settings
from qrowd_server.store import events, materials
from qrowd_server.store.accounts import COMMAND_LINE
from qrowd_server.store.events import LogEntry
from qrowd_server.store.schema import assignment, image, slot, topic

CHANGED = "changed"
TEXTS = ("title", "instructions", "practice_instructions", "guidelines")  # of a campaign, which may be corrected
TEXTS_OF_TOPIC = ("title", "description", "narrative")  # as long as nobody has had it
MATERIAL = ("topics", "documents", "pictures", "settings", "seed", "n_flattened")  # looked at one by one, or not at all
INSTEAD = "make a campaign of another name, or, as long as there is no answer, qrowd campaign create --replace"


@dataclass(frozen=True)
class NewUnit:
    """A unit that is added. latin_row : as for slots."""

    topic: str
    arm: str
    documents: tuple[str, ...]
    latin_row: int


@dataclass(frozen=True)
class Changes:
    """What is to be written. plan : the campaign afterwards, what was there before first.

    topics, documents : labels of new ones. units : new ones, in this order. redundancy : {arm: (assessors of each unit
    before, and afterwards)} where units get more. texts : of the campaign, that read otherwise. topics_reworded,
    documents_reworded : labels.
    """

    plan: Plan
    topics: tuple[str, ...]
    documents: tuple[str, ...]
    units: tuple[NewUnit, ...]
    redundancy: Mapping[str, tuple[int, int]]
    texts: tuple[str, ...]
    topics_reworded: tuple[str, ...]
    documents_reworded: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        """What changes, a line each; none where nothing does."""
        added = ((len(self.topics), "topic"), (len(self.documents), "document"), (len(self.units), "unit"))
        lines = [f"{n} {noun}{'s' * (n != 1)} added" for n, noun in added if n]
        for arm, (before, after) in self.redundancy.items():
            lines.append(f"{f'arm {arm}: ' if arm else ''}{after} assessors of each unit, not {before}")
        for what, labels in (("topic", self.topics_reworded), ("document", self.documents_reworded)):
            lines += [f"{what} {label}: another text" for label in labels]
        return lines + [f"{name}: another text" for name in self.texts]


def planned_changes(connection: Connection, plan: Plan) -> Changes:
    """What `change_campaign` would change; nothing is written.

    Raises
    ------
    ArgumentError
        There is no campaign of this name, or what cannot change any more, one line each.
    """
    row = find(connection, plan.name)
    return _changes_between(plan_of(connection, row.id), plan, *_had(connection, row.id))


def change_campaign(connection: Connection, plan: Plan, at: float, *, account: str = COMMAND_LINE) -> Changes:
    """Make the campaign of the plan's name what the plan says, in the connection's transaction.

    account : who does it, for the log.

    Raises
    ------
    ArgumentError
        As `planned_changes`, or nothing is different.
    """
    row = find(connection, plan.name)
    changes = planned_changes(connection, plan)
    if not changes.lines:
        raise ArgumentError(f"{plan.name}: the folder and the campaign say the same, so nothing was changed")
    _write_material(connection, row.id, changes)
    entry = LogEntry(at, row.id, None, None, None, "owner", CHANGED, {"lines": changes.lines}, account=account)
    events.append(connection, [entry])
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


def _changes_between(old: Plan, new: Plan, topics_had: set[str], documents_had: set[str]) -> Changes:
    problems = list(_problems(old, new, topics_had, documents_had))
    if problems:
        raise ArgumentError(listed([f"{old.name}: {one}" for one in problems[:LISTED]], len(problems)))
    plan = _merged(old, new)
    topics = {one.label: one for one in old.topics}
    documents = {one.label: one for one in old.documents}
    more = {arm: (one.redundancy, plan.arms[arm].redundancy) for arm, one in old.arms.items()}
    texts = [name for name in TEXTS if getattr(old, name) != getattr(plan, name)]
    return Changes(
        plan=plan,
        topics=tuple(one.label for one in plan.topics if one.label not in topics),
        documents=tuple(one.label for one in plan.documents if one.label not in documents),
        units=tuple(_new_units(old, plan)),
        redundancy={arm: (before, after) for arm, (before, after) in more.items() if after > before},
        texts=(*texts, *(["pictures"] if dict(old.pictures) != dict(plan.pictures) else [])),
        topics_reworded=tuple(
            one.label for one in plan.topics if one.label in topics and _words(one) != _words(topics[one.label])
        ),
        documents_reworded=tuple(one.label for one in plan.documents if documents.get(one.label, one) != one),
    )


def _problems(old: Plan, new: Plan, topics_had: set[str], documents_had: set[str]) -> Iterator[str]:
    for name in (one.name for one in fields(Plan)):
        if name not in (*MATERIAL, *TEXTS) and getattr(old, name) != getattr(new, name):
            yield f"{name} is not what it was, and cannot change: assessors are on their way; {INSTEAD}"
    if list(old.arms) != list(new.arms):
        yield f"[arms] cannot change: the arms are {', '.join(filter(None, old.arms)) or 'none'}; {INSTEAD}"
    else:
        for arm, settings in old.arms.items():
            yield from _arm_problems(arm, settings, new.arms[arm])
    topics = {one.label: one for one in new.topics}
    for one in old.topics:
        if one.label not in topics:
            yield f"topic {one.label!r} is missing; topics cannot be removed, so put it back"
        else:
            yield from _topic_problems(old, one, topics[one.label], one.label in topics_had)
    documents = {one.label: one for one in new.documents}
    for document in old.documents:
        if document.label in documents_had and documents.get(document.label, document) != document:
            yield f"document {document.label!r} reads otherwise, but somebody has had it; give the text another label"


def _arm_problems(arm: str, old: Settings, new: Settings) -> Iterator[str]:
    where = path(table_of(arm, old))
    if type(old) is not type(new):
        yield f"the protocol cannot change: {where} became {path(table_of(arm, new))}; {INSTEAD}"
        return
    for name in (one.name for one in fields(old)):
        before, after = getattr(old, name), getattr(new, name)
        if before == after or (name == "redundancy" and after > before and not isinstance(old, MagnitudeSettings)):
            continue
        yield f"{where}.{name} is {before!r} and cannot become {after!r}; {INSTEAD}"


def _topic_problems(plan: Plan, old: TopicPlan, new: TopicPlan, had: bool) -> Iterator[str]:
    where, changeable = f"topic {old.label!r}", ("pool", *TEXTS_OF_TOPIC)
    for name in (one.name for one in fields(TopicPlan)):
        if name not in changeable and getattr(old, name) != getattr(new, name):
            yield f"{where}: its {name} cannot change"
        elif had and name in TEXTS_OF_TOPIC and getattr(old, name) != getattr(new, name):
            yield f"{where}: its {name} cannot change, because somebody has had a unit of it"
    if missing := [label for label in old.pool if label not in set(new.pool)]:
        yield f"{where}: document {missing[0]!r} is not in its pool any more; documents cannot be removed"
    further = [label for label in new.pool if label not in set(old.pool)]
    for settings in plan.arms.values() if further else ():
        if not isinstance(settings, GradesSettings) or settings.compares:
            yield f"{where}: document {further[0]!r} is new, but only grades take further documents; add a topic"


# ---- what changes


def _merged(old: Plan, new: Plan) -> Plan:
    """The new plan with the seed of the old one, and with what was there before first, in its order."""
    documents = {one.label: one for one in new.documents}
    topics = {one.label: one for one in new.topics}
    before, labels = {one.label for one in old.documents}, {one.label for one in old.topics}
    return replace(
        new,
        seed=old.seed,
        documents=(
            *(documents.get(one.label, one) for one in old.documents),
            *(one for one in new.documents if one.label not in before),
        ),
        topics=(*(topics[one.label] for one in old.topics), *(one for one in new.topics if one.label not in labels)),
    )


def _words(one: TopicPlan) -> tuple[str, ...]:
    return tuple(getattr(one, name) for name in TEXTS_OF_TOPIC)


def _new_units(old: Plan, plan: Plan) -> Iterator[NewUnit]:
    """Units of new topics, and of new documents of topics that were there."""
    chance, pools = Chance.of(plan.seed), {one.label: set(one.pool) for one in old.topics}
    for i, one in enumerate(plan.topics):
        further = tuple(label for label in one.pool if label not in pools.get(one.label, ()))
        for j, (arm, settings) in enumerate(plan.arms.items()) if further else ():
            has_checks = isinstance(settings, MagnitudeSettings) and one.checks is not None
            places = tuple(map(further.index, one.checks)) if has_checks and one.checks is not None else ()
            rng = chance.stream(f"further units {arm} {len(further)}", i)
            try:
                checks = (places[0], places[1]) if places else None
                units = units_of_topic(range(len(further)), checks, settings, rng)
            except ArgumentError as error:
                raise ArgumentError(f"topic {one.label!r}: {error}") from None
            for unit in units:
                yield NewUnit(one.label, arm, tuple(further[place] for place in unit), (j - i) % len(plan.arms))


# ---- rows


def _write_material(connection: Connection, campaign_id: int, changes: Changes) -> None:
    """Write what is new and what reads otherwise."""
    plan = changes.plan
    written = set(connection.scalars(select(image.c.digest).where(image.c.campaign_id == campaign_id)))
    new = set(changes.documents)
    add_documents(connection, campaign_id, [one for one in plan.documents if one.label in new], written)
    for one in plan.documents:
        if one.label in changes.documents_reworded:
            change_document(connection, campaign_id, one, written)
    add_pictures(connection, campaign_id, plan.pictures, written)
    documents = materials.ids_by_label(connection, "document", campaign_id)
    rows = (topic_row(one, documents) for one in plan.topics if one.label in changes.topics)
    materials.add_material(connection, "topic", campaign_id, rows)
    topics = materials.ids_by_label(connection, "topic", campaign_id)
    for each in plan.topics:
        if each.label in changes.topics_reworded:
            values = {name: getattr(each, name) for name in TEXTS_OF_TOPIC}
            connection.execute(update(topic).where(topic.c.id == topics[each.label]).values(**values))
        if each.label in changes.topics:
            materials.add_material(connection, "gold", campaign_id, gold_rows(each, topics[each.label], documents))
    _add_units(connection, campaign_id, changes, topics, documents)


def _add_units(
    connection: Connection,
    campaign_id: int,
    changes: Changes,
    topics: Mapping[str, int],
    documents: Mapping[str, int],
) -> None:
    """Write new units, their slots, and further slots of the units that there are."""
    arms = changes.plan.arms
    before = list(materials.units_of(connection, campaign_id))
    following = Counter(one.topic_id for one in before)
    rows: list[dict[str, Any]] = []
    for one in changes.units:
        held = [documents[label] for label in one.documents]
        topic_id = topics[one.topic]
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
    c = slot.c
    n_slots = select(c.unit_id, func.count(), func.min(c.latin_row)).where(c.campaign_id == campaign_id)
    had = {unit_id: (n, latin_row) for unit_id, n, latin_row in connection.execute(n_slots.group_by(c.unit_id))}
    for unit in before:
        if unit.arm in changes.redundancy:
            n, latin_row = had[unit.id]
            common = {"unit_id": unit.id, "topic_id": unit.topic_id, "arm": unit.arm, "latin_row": latin_row}
            slots += [{**common, "number": number} for number in range(n, slots_of(arms[unit.arm]))]
    lottery = Chance.of(changes.plan.seed).stream(f"further slots {sum(n for n, _ in had.values())}").random(len(slots))
    drawn = ({**one, "lottery": float(place)} for one, place in zip(slots, lottery, strict=True))
    materials.add_material(connection, "slot", campaign_id, drawn)

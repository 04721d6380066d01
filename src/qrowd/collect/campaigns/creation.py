"""A plan becomes a campaign: rows for its topics, documents, units and slots, and the first event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from qrowd.collect.campaigns.plan import DocumentPlan, Plan, TopicPlan
from qrowd.collect.campaigns.plan_tables import question_table
from qrowd.collect.campaigns.state import question_of, read_settings
from qrowd.collect.campaigns.web_pages import image_from_text, image_to_text, sites_of
from qrowd.collect.protocols.assembly import slots_of, units_of_topic
from qrowd.collect.protocols.settings import to_table
from qrowd.collect.store import events, materials
from qrowd.collect.store.events import LogEntry
from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance, Rng

Assembled = Mapping[str, Sequence[Sequence[str]]]


def create_campaign(connection: Connection, plan: Plan, at: float, *, units: Assembled | None = None) -> int:
    """Write the campaign, running, in the connection's transaction.

    units : {topic: [documents of a unit, ...]} by label, where they have been assembled before (an archive).

    All that chance decides comes from the plan's seed: the same plan makes the same units and slots everywhere.

    Returns
    -------
    The number of the campaign.

    Raises
    ------
    ArgumentError
        A name that is taken; a topic of which no units can be made; units that do not fit their topic.
    """
    row = {
        "name": plan.name,
        "title": plan.title,
        "protocol": plan.protocol,
        "settings": _settings_table(plan),
        "status": "running",
        "seed": plan.seed,
        "created": at,
    }
    campaign_id = materials.add_campaign(connection, row)
    if campaign_id is None:
        raise ArgumentError(f"campaign.name: {plan.name!r} is taken by another campaign; choose another")
    images = {d.label: image_from_text(d.image) for d in plan.documents if d.image}
    rows = ({**vars(d), "image": images[d.label].digest if d.image else ""} for d in plan.documents)
    materials.add_material(connection, "document", campaign_id, rows)
    for image in {image.digest: image for image in images.values()}.values():  # one at a time: they are large
        content = {"digest": image.digest, "media_type": image.media_type, "content": image.content}
        materials.add_material(connection, "image", campaign_id, [content])
    documents = materials.ids_by_label(connection, "document", campaign_id)
    materials.add_material(connection, "topic", campaign_id, (_topic_row(t, documents) for t in plan.topics))
    topics = materials.ids_by_label(connection, "topic", campaign_id)
    n_units, n_slots = _add_units(connection, plan, campaign_id, topics, documents, units)
    counts = {"topics": len(topics), "documents": len(documents), "units": n_units, "slots": n_slots}
    events.append(connection, [LogEntry(at, campaign_id, None, None, None, "owner", "created", counts)])
    return campaign_id


def plan_of(connection: Connection, campaign_id: int) -> Plan:
    """The plan a campaign was created from, to write it into another database.

    Raises
    ------
    ArgumentError
        A campaign that does not exist.
    """
    row = materials.find_campaign(connection, campaign_id)
    if row is None:
        raise ArgumentError(f"there is no campaign {campaign_id}; list those there are")
    settings = read_settings(row)
    labels: dict[int, str] = {}
    documents = []
    for d in materials.documents_of(connection, campaign_id):
        labels[d.id] = d.label
        found = materials.find_image(connection, campaign_id, d.image) if d.image else None
        image = "" if found is None else image_to_text(found[1])
        documents.append(DocumentPlan(d.label, d.text, d.title, d.html, d.language, d.url, image, d.frame))
    pools: dict[int, set[int]] = {}
    for unit in materials.units_of(connection, campaign_id):
        pools.setdefault(unit.topic_id, set()).update(unit.documents)
    topics = tuple(
        TopicPlan(
            t.label,
            t.title,
            tuple(labels[d] for d in sorted(pools[t.id])),
            t.description,
            t.narrative,
            question_of(t.question),
            None if t.checks is None else (labels[t.checks[0]], labels[t.checks[1]]),
            tuple(t.context or ()),
            {name: tuple(labels[d] for d in ranking) for name, ranking in (t.systems or {}).items()},
        )
        for t in materials.topics_of(connection, campaign_id)
    )
    return Plan(
        name=row.name,
        title=row.title,
        protocol=row.protocol,
        settings=settings.settings,
        topics=topics,
        documents=tuple(documents),
        seed=row.seed,
        journey=settings.journey,
        lease_minutes=row.settings["lease_minutes"],
        consent=settings.consent,
        instructions=settings.instructions,
        practice_instructions=settings.practice_instructions,
        checks=row.settings["checks"],
        questions=row.settings["questions"],
        preset=row.settings["preset"],
        crowd=settings.crowd,
    )


# ---- rows


def _settings_table(plan: Plan) -> dict[str, Any]:
    return {
        "protocol": to_table(plan.settings),
        "journey": to_table(plan.journey),
        "lease_minutes": plan.lease_minutes,
        "consent": plan.consent,
        "instructions": plan.instructions,
        "practice_instructions": plan.practice_instructions,
        "checks": plan.checks,
        "questions": plan.questions,
        "preset": plan.preset,
        "crowd": {name: dict(part) for name, part in plan.crowd.items()},
        "frames": list(sites_of(document.url for document in plan.documents if document.frame)),
    }


def _topic_row(t: TopicPlan, documents: Mapping[str, int]) -> dict[str, Any]:
    return {
        "label": t.label,
        "title": t.title,
        "description": t.description,
        "narrative": t.narrative,
        "question": question_table(t.question),
        "checks": None if t.checks is None else [documents[label] for label in t.checks],
        "context": list(t.context) or None,
        "systems": {name: [documents[label] for label in ranking] for name, ranking in t.systems.items()} or None,
    }


def _assembled(plan: Plan, t: TopicPlan, rng: Rng) -> list[list[str]]:
    """A topic's units; made of places in its pool, so that no database's numbers have a say."""
    checks = None if t.checks is None else (t.pool.index(t.checks[0]), t.pool.index(t.checks[1]))
    try:
        units = units_of_topic(range(len(t.pool)), checks, plan.settings, rng)
    except ArgumentError as error:
        raise ArgumentError(f"topic {t.label!r}: {error}") from None
    return [[t.pool[place] for place in places] for places in units]


def _known_units(t: TopicPlan, units: Any) -> list[list[str]]:
    """A topic's units as they were assembled before, if they can be its."""
    of_texts = isinstance(units, list | tuple) and all(
        isinstance(labels, list | tuple) and all(isinstance(label, str) for label in labels) for labels in units
    )
    if of_texts and all(len(set(labels)) == len(labels) > 0 for labels in units):
        members = {label for labels in units for label in labels}
        if members == set(t.pool) and all(set(t.checks or ()) <= set(labels) for labels in units):
            return [list(labels) for labels in units]
    raise ArgumentError(
        f"units of topic {t.label!r}: they do not fit its pool; give lists of its documents that hold each, none twice "
        "in one, and both check documents in all"
    )


def _add_units(
    connection: Connection,
    plan: Plan,
    campaign_id: int,
    topics: Mapping[str, int],
    documents: Mapping[str, int],
    units: Assembled | None,
) -> tuple[int, int]:
    """Write units and their slots; how many of each."""
    chance = Chance.of(plan.seed)
    rows: list[dict[str, Any]] = []
    for i, t in enumerate(plan.topics):
        assembled = (
            _assembled(plan, t, chance.stream("units", i)) if units is None else _known_units(t, units.get(t.label))
        )
        rows += [
            {"topic_id": topics[t.label], "number": number, "documents": [documents[label] for label in labels]}
            for number, labels in enumerate(assembled)
        ]
    materials.add_material(connection, "unit", campaign_id, rows)
    numbers = {(one.topic_id, one.number): one.id for one in materials.units_of(connection, campaign_id)}
    n_slots = slots_of(plan.settings)
    lottery = chance.stream("slots").random((len(rows), n_slots)).tolist()
    slots = (
        {
            "unit_id": numbers[row["topic_id"], row["number"]],
            "number": number,
            "topic_id": row["topic_id"],
            "lottery": ticket,
        }
        for row, tickets in zip(rows, lottery, strict=True)
        for number, ticket in enumerate(tickets)
    )
    materials.add_material(connection, "slot", campaign_id, slots)
    return len(rows), len(rows) * n_slots

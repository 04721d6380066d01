"""A plan becomes a campaign: rows for its topics, documents, units and slots, and the first event; and its removal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance, Rng
from qrowd_server.campaigns.plan.documents import DocumentPlan, image_from_text, image_to_text
from qrowd_server.campaigns.plan.gold_questions import GoldQuestion
from qrowd_server.campaigns.plan.plan import Plan, TopicPlan
from qrowd_server.campaigns.plan.plan_notes import effort_of, plan_notes
from qrowd_server.campaigns.plan.plan_tables import question_table
from qrowd_server.campaigns.running.campaign_reader import question_of
from qrowd_server.campaigns.running.campaign_settings import find, read_settings
from qrowd_server.campaigns.running.question_batches import add_first_batch
from qrowd_server.campaigns.running.question_batches import question_of as question_of_campaign
from qrowd_server.protocols.assembly import slots_of, units_of_topic
from qrowd_server.protocols.setting_fields import plain
from qrowd_server.protocols.settings import GoldSettings, MagnitudeSettings, Settings, protocol_of, to_table
from qrowd_server.store import event_log as events
from qrowd_server.store import materials
from qrowd_server.store.accounts import COMMAND_LINE
from qrowd_server.store.base import ERASE
from qrowd_server.store.materials import DocumentRow
from qrowd_server.store.schema import assignment, campaign, event, metadata, question
from qrowd_server.store.schema import document as document_table

Assembled = tuple[str, str, int, Sequence[str]]  # topic, arm, number of a unit in its topic, its documents
STORED = (  # settings that the row of a campaign has as the plan has them
    "lease_minutes", "consent", "instructions", "practice_instructions", "checks", "questions", "preset", "guidelines",
    "language", "retention_days",
)  # fmt: skip


def create_campaign(
    connection: Connection,
    plan: Plan,
    at: float,
    *,
    units: Sequence[Assembled] | None = None,
    account: str = COMMAND_LINE,
) -> int:
    """Write the campaign, running, in the connection's transaction.

    units : by labels, where they have been assembled before (an archive).
    account : who creates it, for the log.

    All that chance decides comes from the plan's seed: the same plan makes the same units and slots everywhere.

    Returns
    -------
    The number of the campaign.
    """
    row = {
        "name": plan.name,
        "title": plan.title,
        "settings": settings_table(plan),
        "status": "running",
        "seed": plan.seed,
        "created": at,
    }
    campaign_id = materials.add_campaign(connection, row)
    if campaign_id is None:
        raise ArgumentError(
            f"campaign.name: {plan.name!r} is taken by another campaign; choose another, or change or delete that one"
        )
    written: set[str] = set()
    add_documents(connection, campaign_id, plan.documents, written)
    add_pictures(connection, campaign_id, plan.pictures.values(), written)
    documents = materials.ids_by_label(connection, "document", campaign_id)
    materials.add_material(connection, "topic", campaign_id, (topic_row(t, documents) for t in plan.topics))
    topics = materials.ids_by_label(connection, "topic", campaign_id)
    rows_of_gold = (row for t in plan.topics for row in gold_rows(t, topics[t.label], documents))
    materials.add_material(connection, "gold", campaign_id, rows_of_gold)
    n_units = n_slots = 0
    if plan.question is not None:
        connection.execute(insert(question), {"campaign_id": campaign_id, "content": plan.question.content})
    if plan.question is None or units is not None:
        n_units, n_slots = _add_units(connection, plan, campaign_id, topics, documents, units)
    n_rows = {"topics": len(topics), "documents": len(documents), "units": n_units, "slots": n_slots}
    events.note(connection, campaign_id, "created", n_rows, at, account=account)
    if plan.question is not None and units is None:
        add_first_batch(connection, find(connection, plan.name), plan.question, at)
    return campaign_id


def plan_of(connection: Connection, campaign_id: int) -> Plan:
    """The plan a campaign was created from, to write it into another database."""
    row = materials.find_campaign(connection, campaign_id)
    assert row is not None  # its number is from a row
    settings = read_settings(row)
    settings_by_arm = {name: arm.settings for name, arm in settings.arms.items()}
    labels: dict[int, str] = {}
    documents = []
    for d in materials.documents_of(connection, campaign_id):
        labels[d.id] = d.label
        documents.append(document_of(connection, campaign_id, d))
    pools: dict[int, set[int]] = {}
    for unit in materials.units_of(connection, campaign_id):
        pools.setdefault(unit.topic_id, set()).update(unit.documents)
    gold: dict[int, list[GoldQuestion]] = {}
    for g in materials.gold_of(connection, campaign_id):
        worse = "" if g.other_id is None else labels[g.other_id]
        known = GoldQuestion(labels[g.document_id], tuple(g.accepted), worse, g.reason)
        gold.setdefault(g.topic_id, []).append(known)
    question = question_of_campaign(connection, row)
    drawn: dict[str, list[str]] = {}
    for topic, document in () if question is None else question.pairs:
        drawn.setdefault(topic, []).append(document)
    topics = tuple(
        TopicPlan(
            t.label,
            t.title,
            tuple(labels[d] for d in sorted(pools[t.id])) if question is None else tuple(drawn[t.label]),
            t.description,
            t.narrative,
            question_of(t.question),
            None if t.checks is None else (labels[t.checks[0]], labels[t.checks[1]]),
            tuple(t.context or ()),
            {name: tuple(labels[d] for d in ranking) for name, ranking in (t.systems or {}).items()},
            tuple(gold.get(t.id, ())),
        )
        for t in materials.topics_of(connection, campaign_id)
    )
    return Plan(
        name=row.name,
        title=row.title,
        settings=settings_by_arm.pop("", settings_by_arm),
        topics=topics,
        documents=tuple(documents),
        seed=row.seed,
        journey=settings.journey,
        panel=settings.panel,
        question=question,
        gold=settings.gold,
        pictures=pictures_of(connection, campaign_id, settings.pictures),
        **{key: row.settings[key] for key in STORED},
    )


# ---- rows


def settings_table(plan: Plan) -> dict[str, Any]:
    """The settings of a campaign, as its row has them."""
    question = plan.question and {**plan.question.short(), "n_documents": len(plan.question.pairs)}
    return {
        "arms": [
            {
                "name": arm,
                "protocol": protocol_of(settings),
                "settings": to_table(settings),
                "instructions": plan.built_in_instructions(settings),
            }
            for arm, settings in plan.arms.items()
        ],
        "journey": to_table(plan.journey),
        **{key: getattr(plan, key) for key in STORED},
        "pictures": {name: image_from_text(content).digest for name, content in plan.pictures.items()},
        "effort": effort_of(plan),
        "notes": plan_notes(plan),
        "panel": None if plan.panel is None else vars(plan.panel),
        "gold": None if plan.gold is None else plain(GoldSettings, plan.gold),
        "question": question,
    }


def topic_row(t: TopicPlan, documents: Mapping[str, int]) -> dict[str, Any]:
    """The row of a topic. documents : their numbers by label."""
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


def gold_rows(t: TopicPlan, topic_id: int, documents: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """The rows of the gold questions of a topic. documents : their numbers by label."""
    for one in t.gold:
        other = documents[one.worse] if one.worse else None
        row = {"topic_id": topic_id, "document_id": documents[one.document], "other_id": other}
        yield {**row, "accepted": list(one.accepted), "reason": one.reason}


def _checks(t: TopicPlan, settings: Settings) -> tuple[str, ...]:
    """The check documents of a topic, in an arm that has them."""
    return t.checks or () if isinstance(settings, MagnitudeSettings) else ()


def assembled_units(t: TopicPlan, settings: Settings, rng: Rng) -> list[list[str]]:
    """A topic's units in one arm; made of places in its pool, so that no database's numbers have a say."""
    places = tuple(map(t.pool.index, _checks(t, settings)))
    try:
        units = units_of_topic(range(len(t.pool)), (places[0], places[1]) if places else None, settings, rng)
    except ArgumentError as error:
        raise ArgumentError(f"topic {t.label!r}: {error}") from None
    return [[t.pool[place] for place in places] for places in units]


def _planned_units(plan: Plan) -> Iterator[Assembled]:
    chance = Chance.of(plan.seed)
    for i, t in enumerate(plan.topics):
        units = (
            (arm, labels)
            for arm, settings in plan.arms.items()
            for labels in assembled_units(t, settings, chance.stream(f"units {arm}".strip(), i))
        )
        for number, (arm, labels) in enumerate(units):
            yield t.label, arm, number, labels


def _check_units(plan: Plan, units: Sequence[Assembled]) -> None:
    """Refuse units that were assembled before and cannot be of their topics."""
    topics, following = {t.label: t for t in plan.topics}, Counter[str]()
    for label, arm, number, labels in units:
        t, members = topics[label], set(labels)
        fits = set(_checks(t, plan.arms[arm])) <= members <= set(t.pool) and number == following[label]
        if not labels or len(members) < len(labels) or not fits:
            raise ArgumentError(f"units of topic {label!r}: they do not fit its pool; export the archive once more")
        following[label] += 1


def _add_units(
    connection: Connection,
    plan: Plan,
    campaign_id: int,
    topics: Mapping[str, int],
    documents: Mapping[str, int],
    units: Sequence[Assembled] | None,
) -> tuple[int, int]:
    """Write units and their slots; how many of each.

    In a campaign with several arms the slots are laid out as a Latin square: in each of its rows a topic has one arm,
    and the arms take turns over the topics. `transaction` gives each assessor a row.
    """
    if units is None:
        units = list(_planned_units(plan))
    else:
        _check_units(plan, units)
    arms = list(plan.arms)
    places = {t.label: i for i, t in enumerate(plan.topics)}
    planned = [
        (topics[label], arm, [documents[one] for one in labels], (arms.index(arm) - places[label]) % len(arms))
        for label, arm, _, labels in units
    ]
    n_slots = {arm: slots_of(settings) for arm, settings in plan.arms.items()}
    slots = materials.add_units(connection, campaign_id, planned, n_slots)
    materials.add_slots(connection, campaign_id, slots, Chance.of(plan.seed).stream("slots"))
    return len(units), len(slots)


# ---- documents and pictures


def add_documents(
    connection: Connection, campaign_id: int, documents: Iterable[DocumentPlan], written: set[str]
) -> None:
    """Write documents, and what they show beside their text. written : digests that are there; further ones join."""
    documents = tuple(documents)
    materials.add_material(connection, "document", campaign_id, map(_row, documents))
    images = (image for document in documents for image in document.images)
    add_pictures(connection, campaign_id, images, written)


def change_document(connection: Connection, campaign_id: int, document: DocumentPlan, written: set[str]) -> None:
    """Write a document in the place of the one with its label; arguments as for `add_documents`."""
    values = {key: value for key, value in _row(document).items() if key != "label"}
    which = document_table.c.campaign_id == campaign_id, document_table.c.label == document.label
    connection.execute(update(document_table).where(*which).values(**values))
    add_pictures(connection, campaign_id, document.images, written)


def add_pictures(connection: Connection, campaign_id: int, pictures: Iterable[str], written: set[str]) -> None:
    """Write pictures, one at a time, because they are large; arguments as for `add_documents`."""
    for image in map(image_from_text, pictures):
        if image.digest not in written:
            written.add(image.digest)
            row = {"digest": image.digest, "media_type": image.media_type, "content": image.content}
            materials.add_material(connection, "image", campaign_id, [row])


def document_of(connection: Connection, campaign_id: int, row: DocumentRow) -> DocumentPlan:
    """The document that a row was written from."""
    plan = DocumentPlan(row.label, row.text, row.title, row.html, row.language, row.url)
    image = _content(connection, campaign_id, row.image)
    pages = tuple(_content(connection, campaign_id, digest) for digest in row.pages or ())
    return replace(plan, layout=row.layout or "", image=image, pages=pages)


def pictures_of(connection: Connection, campaign_id: int, digests: Mapping[str, str]) -> dict[str, str]:
    """Pictures as a plan holds them, by name."""
    return {name: _content(connection, campaign_id, digest) for name, digest in digests.items()}


def _row(document: DocumentPlan) -> dict[str, Any]:
    return {
        **vars(document),
        "image": image_from_text(document.image).digest if document.image else "",
        "layout": document.layout or None,
        "pages": [image_from_text(page).digest for page in document.pages] or None,
    }


def _content(connection: Connection, campaign_id: int, digest: str) -> str:
    found = materials.find_image(connection, campaign_id, digest) if digest else None
    return "" if found is None else image_to_text(found[1])


# ---- removal


def check_stopped(connection: Connection, name: str) -> None:
    """Refuse a campaign in which somebody may be judging."""
    status = find(connection, name).status
    if status != "stopped":
        raise ArgumentError(f"{name} is {status}; stop it first: qrowd campaign status {name} --set stopped")


def newest_event(connection: Connection, campaign_id: int) -> int:
    """The number of the newest event of a campaign."""
    return int(connection.execute(select(func.max(event.c.id)).where(event.c.campaign_id == campaign_id)).scalar_one())


def delete_campaign(connection: Connection, name: str, *, newest: int | None = None) -> None:
    """Remove a stopped campaign with all its events, assessors, invitations and keys.

    newest : the newest event when its archive was written; default: whatever is the newest now.
    """
    check_stopped(connection, name)
    number = find(connection, name).id
    if newest is not None and newest_event(connection, number) != newest:
        raise ArgumentError(f"{name}: something happened after the archive was written; write it again, then delete")
    own_assignments = select(assignment.c.id).where(assignment.c.campaign_id == number)
    for table in reversed(metadata.sorted_tables):
        if "campaign_id" in table.c:
            connection.execute(delete(table).where(table.c.campaign_id == number))
        elif "assignment_id" in table.c:
            connection.execute(delete(table).where(table.c.assignment_id.in_(own_assignments)))
    connection.execute(delete(campaign).where(campaign.c.id == number))
    materials.note_deleted(connection, number)
    connection.info[ERASE] = True

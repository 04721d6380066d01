"""What units are made of, from the rows of the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from qrowd_server.protocols.gold import Gold
from qrowd_server.protocols.protocol import Material, Question
from qrowd_server.protocols.settings import MagnitudeSettings, PreferenceSettings, Settings
from qrowd_server.store import materials
from qrowd_server.store.materials import TopicRow, UnitRow


def material_of(unit: UnitRow, topic: TopicRow, settings: Settings, gold: tuple[Gold, ...] = ()) -> Material:
    """What a unit of an arm is made of, from its row and its topic's. gold : of the topic, of documents and pairs."""
    high, low = (topic.checks if isinstance(settings, MagnitudeSettings) else None) or (None, None)
    rankings = tuple(map(tuple, (topic.systems or {}).values()))
    n_documents = 2 if isinstance(settings, PreferenceSettings) else 1
    return Material(
        tuple(unit.documents),
        high,
        low,
        question_of(topic.question),
        rankings,
        len(topic.context or ()),
        tuple(one for one in gold if len(one.documents) == n_documents),
    )


def gold_of_topic(connection: Connection, topic_id: int) -> tuple[Gold, ...]:
    """The gold questions of a topic."""
    return tuple(
        Gold(
            (row.document_id,) if row.other_id is None else (row.document_id, row.other_id),
            tuple(row.accepted),
            row.reason,
        )
        for row in materials.gold_of_topic(connection, topic_id)
    )


def question_of(table: Mapping[str, Any] | None) -> Question | None:
    """The question about a topic, from its row."""
    return None if table is None else Question(table["text"], tuple(table["options"]), table["correct"])

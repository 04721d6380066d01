"""What units are made of, to and from the rows of the database: documents, pictures, questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from qrowd_server.campaigns.plan.document_images import Image, image_from_text, image_to_text
from qrowd_server.campaigns.plan.documents import DocumentPlan
from qrowd_server.campaigns.running.pages import DocumentText
from qrowd_server.protocols.gold import Gold
from qrowd_server.protocols.protocol import Material, Question
from qrowd_server.protocols.settings import MagnitudeSettings, PreferenceSettings, Settings
from qrowd_server.store import materials
from qrowd_server.store.materials import DocumentRow, TopicRow, UnitRow


def add_documents(
    connection: Connection, campaign_id: int, documents: Iterable[DocumentPlan], written: set[str]
) -> None:
    """Write documents, and what they show beside their text. written : digests that are there; further ones join."""
    documents = tuple(documents)
    materials.add_material(connection, "document", campaign_id, map(_row, documents))
    for document in documents:
        for content in _contents(document):
            _add_content(connection, campaign_id, content, written)


def change_document(connection: Connection, campaign_id: int, document: DocumentPlan, written: set[str]) -> None:
    """Write a document in the place of the one with its label; arguments as for `add_documents`."""
    values = {key: value for key, value in _row(document).items() if key != "label"}
    materials.change_document(connection, campaign_id, document.label, values)
    for content in _contents(document):
        _add_content(connection, campaign_id, content, written)


def add_pictures(connection: Connection, campaign_id: int, pictures: Mapping[str, str], written: set[str]) -> None:
    """Write the pictures of guidelines; arguments as for `add_documents`."""
    for content in pictures.values():
        _add_content(connection, campaign_id, image_from_text(content), written)


def document_of(connection: Connection, campaign_id: int, row: DocumentRow) -> DocumentPlan:
    """The document that a row was written from."""
    plan = DocumentPlan(row.label, row.text, row.title, row.html, row.language, row.url)
    image = _content(connection, campaign_id, row.image)
    pages = tuple(_content(connection, campaign_id, digest) for digest in row.pages or ())
    return replace(plan, layout=row.layout or "", image=image, pages=pages)


def document_text(row: DocumentRow) -> DocumentText:
    """The words of a document as a page has them."""
    layout: Any = row.layout or ""
    return DocumentText(row.title, row.text, row.html, row.language, row.url, row.image, layout, tuple(row.pages or ()))


def document_texts(connection: Connection, ids: Iterable[int]) -> dict[int, DocumentText]:
    """The words of documents, by number."""
    return {row.id: document_text(row) for row in materials.find_documents(connection, ids)}


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


def _contents(document: DocumentPlan) -> Iterator[Image]:
    yield from map(image_from_text, document.images)


def _add_content(connection: Connection, campaign_id: int, content: Image, written: set[str]) -> None:
    """One at a time: they are large."""
    if content.digest not in written:
        written.add(content.digest)
        row = {"digest": content.digest, "media_type": content.media_type, "content": content.content}
        materials.add_material(connection, "image", campaign_id, [row])


def _content(connection: Connection, campaign_id: int, digest: str) -> str:
    found = materials.find_image(connection, campaign_id, digest) if digest else None
    return "" if found is None else image_to_text(found[1])


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

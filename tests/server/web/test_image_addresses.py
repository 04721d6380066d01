"""Addresses of documents' images: signed, the same for a day, and good for no longer than two."""

import asyncio
from base64 import b64encode
from dataclasses import replace

from sqlalchemy import Connection, select

from qrowd_server.campaigns.plan.plan import DocumentPlan, Plan, TopicPlan
from qrowd_server.campaigns.running.campaign_reader import document_texts
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.protocols.settings import GradesSettings
from qrowd_server.store.schema import document
from qrowd_server.web.server import DAY
from server.pictures import png
from server.web.siege import Fort
from webserver import Browser


def number_of(connection: Connection) -> int:
    """The document that is an image."""
    return int(connection.execute(select(document.c.id).where(document.c.image != "")).scalar_one())


def test_the_address_of_an_image_stays_for_a_day_and_expires_within_two(place: Fort) -> None:
    """It needs no cookie: pages in a platform's frame may have none."""
    documents = (DocumentPlan("d1", title="A page", image=b64encode(png()).decode()),)
    topic = TopicPlan("t", "swallows", ("d1",))
    plan = Plan("pictures", "Pictures", GradesSettings(), (topic,), documents, 1)
    place.store.write(lambda connection: create_campaign(connection, plan, place.clock()))
    page = asyncio.run(place.service.preview("pictures"))
    texts = place.store.read(lambda connection: document_texts(connection, [number_of(connection)]))
    page = replace(page, documents=texts)
    server = place.app.state.server
    place.clock.now = (place.clock.now // DAY) * DAY + 10
    begun = place.clock.now

    def address() -> str:
        (text,) = server.with_image_addresses(page).documents.values()
        return str(text.image)

    first, stranger = address(), Browser(place.app, place.base)
    assert stranger.get(first).body == png()
    place.clock.now = begun + DAY - 20
    assert address() == first
    place.clock.now = begun + DAY
    assert address() != first
    assert stranger.get(first).status == 200
    place.clock.now = begun + 2 * DAY
    assert stranger.get(first).status == 404
    assert stranger.get(address()).status == 200

"""The owner's pages of a campaign with gold questions: accuracy and bonus beside each assessor."""

import asyncio
from collections.abc import Iterator
from random import Random
from threading import Thread

import pytest
from sqlalchemy import Connection

from judging import created, seeded, work
from qrowd_server.store.answer_rows import GOLD, gold_rows
from qrowd_server.store.materials import find_campaign
from server.campaigns.test_gold import gold_plan
from server.web.owner.estate import Estate, estate, text_of

BASE = "/owner/c/pilot"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    with estate(tmp_path_factory.mktemp("gold")) as place:
        created(place.store, gold_plan("grades", every=3, bonus=[{"accuracy": 0.0, "amount": 1.5}]), place.clock.now)
        service = seeded(place.store, place.clock, 3)

        async def judge() -> None:
            for i in range(2):
                await work(service, await service.arrive("pilot", "link", f"person-{i}"), Random(i), steps=60)

        filling = Thread(target=lambda: asyncio.run(judge()))
        filling.start()
        filling.join()
        yield place


def test_pages_show_accuracy_with_its_interval_and_the_bonus_by_its_rule(made: Estate) -> None:
    owner = made.owner()
    text = text_of(owner.get(BASE).text)
    assert "person-0" in text
    assert " % to " in text, "the interval"
    payment = owner.get(f"{BASE}/export/payment/csv").text
    assert payment.count(",1.5,") == 2
    exports = owner.get(f"{BASE}/results").text
    assert "gold" in exports
    assert "payment" in exports
    assert "As assessors see them, without gold questions; nothing" in text_of(owner.get(f"{BASE}/setup").text)
    assert "As assessors see them; nothing" in text_of(owner.get("/owner/c/small/setup").text)


def test_the_page_of_an_assessor_shows_gold_answers_and_after_a_deletion_that_it_was_one(made: Estate) -> None:
    owner, page = made.owner(), made.assessor("person-1", "pilot")
    rows = [dict(zip(GOLD, row, strict=True)) for row in made.store.read(lambda c: list(gold_rows(c, number(c))))]
    mine = [row["right"] for row in rows if row["assessor"] == "a2"]
    text = text_of(owner.get(page).text)
    assert (text.count("gold question: right"), text.count("gold question: wrong")) == (mine.count(1), mine.count(0))
    assert len(mine) > 3
    assert "Reinstate" not in text
    form = {"csrf": owner.get(page).field("csrf"), "do": "delete", "answers": "withdraw", "sure": "1"}
    assert owner.post(page, form).status == 303
    text = text_of(owner.get(page).text)
    assert "This person was deleted. The answers are those of a2." in text
    assert "Excluded: answers withdrawn when the person was deleted" in text
    for button in ("Reinstate", "Begin again", "Delete this person", "I want to delete"):
        assert button not in text


def number(connection: Connection) -> int:
    row = find_campaign(connection, "pilot")
    assert row is not None
    return int(row.id)

"""The owner's pages of a campaign with gold questions: accuracy and bonus beside each assessor."""

import asyncio
from collections.abc import Iterator
from random import Random
from threading import Thread

import pytest

from judging import created, seeded, work
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
    for path in ("assessors", "assessors?sort=accuracy"):
        text = text_of(owner.get(f"{BASE}/{path}").text)
        assert "person-0" in text
        assert " % to " in text, "the interval"
    payment = owner.get(f"{BASE}/export/payment/csv").text
    assert payment.count(",1.5,") == 2
    exports = owner.get(f"{BASE}/export").text
    assert "gold" in exports
    assert "payment" in exports

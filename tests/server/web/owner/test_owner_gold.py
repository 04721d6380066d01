"""The owner's pages of a campaign with gold questions: accuracy and bonus beside each assessor."""

import asyncio
import re
from collections.abc import Iterator
from decimal import Decimal
from random import Random
from threading import Thread
from types import SimpleNamespace

import pytest
from sqlalchemy import Connection

from judging import created, seeded, work
from qrowd.reports.document import Table
from qrowd_server.campaigns.results.campaign_progress import progress
from qrowd_server.campaigns.results.quality import accuracy_of, quality
from qrowd_server.cli.campaign_tables import _accuracy as one_accuracy
from qrowd_server.cli.campaign_tables import one_campaign
from qrowd_server.protocols.settings import GoldSettings
from qrowd_server.store.answer_rows import GOLD, gold_rows
from qrowd_server.store.materials import find_campaign
from server.campaigns.test_gold import gold_plan
from server.web.owner.estate import Estate, estate, text_of

BASE = "/owner/c/pilot"
SHARES = ((30, 29), (10, 9), (10, 10), (5, 0))  # gold answers, and those that are right


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
    payment = owner.get(f"{BASE}/export/payment/csv").text
    assert payment.count(",1.5,") == 2
    exports = owner.get(f"{BASE}/results").text
    assert "gold" in exports
    assert "payment" in exports
    assert "As assessors see them, without gold questions; nothing" in text_of(owner.get(f"{BASE}/setup").text)
    assert "As assessors see them; nothing" in text_of(owner.get("/owner/c/small/setup").text)


def test_pages_and_the_command_print_the_same_accuracy_with_the_same_interval(made: Estate) -> None:
    def command(c: Connection) -> Table:
        return one_campaign(progress(c, "pilot", 0.0), [quality(c, "pilot", bootstrap=0)]).tables[-1]

    table = made.store.read(command)
    page = " ".join(text_of(made.owner().get(BASE).text).split())
    rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    assert len(rows) == 2
    for row in rows:
        share, low, high = (100 * Decimal(number) for number in re.findall(r"[\d.]+", row["accuracy"]))
        assert f"{share:.1f} % {row['gold']}, {low:.1f} % to {high:.1f} %" in page


def test_an_interval_reaches_complete_accuracy_only_where_all_answers_are_right() -> None:
    cells = [one_accuracy(SimpleNamespace(accuracy=accuracy_of(n, right, GoldSettings()))) for n, right in SHARES]
    assert cells == ["0.967 [0.828, 0.999]", "0.900 [0.555, 0.997]", "1.000 [0.692, 1.000]", "0.000 [0.000, 0.522]"]


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

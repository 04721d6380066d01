"""What the owner's pages say about a person is what `qrowd assessors --campaign` says."""

import asyncio
import re
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

from judging import created, seeded
from qrowd_server.campaigns.results.review_decisions import adjudicate
from qrowd_server.protocols.events import GoOn, Judge
from qrowd_server.protocols.views import DocumentView
from server.campaigns.test_gold import gold_plan, label, labels
from server.web.owner.estate import Estate, estate

BASE = "/owner/c/pilot"
CARE = {"ann": 0.95, "bob": 0.95, "cleo": 0.95, "fay": 0.95, "dan": 0.0, "eve": 0.0}


async def judge(made: Estate, service: Any, name: str, n: int) -> None:
    """So many judgments: of the careful mostly the last digit of the document modulo 4; of dan always 2, in haste."""
    names, rng = labels(made.store), Random(name)
    who = await service.arrive("pilot", "link", name, name=name)
    page = await service.page(who)
    for _ in range(n):
        action: Any = GoOn()
        if isinstance(page.view, DocumentView):
            made.clock.now += 0.3 if name == "dan" else rng.uniform(10, 30)
            right = int(names[page.view.document][3:]) % 4
            grade = right if rng.random() < CARE[name] else 2 if name == "dan" else rng.randrange(4)
            action = Judge(page.view.position, str(grade))
        await service.act(who, action, shown=page.shown, key=page.key)
        page = await service.page(who)


def everybody(made: Estate, n: int) -> None:
    """All who may judge so many documents more."""
    service = seeded(made.store, made.clock, n)

    async def work() -> None:
        for name in CARE:
            await judge(made, service, name, n)

    asyncio.run(work())


def on_pages(made: Estate) -> dict[str, str]:
    """{person: remark} of the page of all; a person's page says the same."""
    made.clock.now += 60  # what pages show is a few seconds old at most
    owner = made.owner()
    page = owner.get(BASE).text
    addresses = {name: address for address, name in re.findall(r'<a href="([^"]+)" dir="auto">([^<]+)</a>', page)}
    remarks = dict(re.findall(r'<span class="unseen">([^<]+): </span><span class="flag">([^<]+)</span>', page))
    for name, remark in remarks.items():
        assert f"Stands out: {remark}." in owner.get(addresses[name]).text
    return {name: unescape(remark) for name, remark in remarks.items()}


def test_remarks_on_pages_are_those_of_the_command_whatever_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exit_status: Any
) -> None:
    monkeypatch.chdir(tmp_path)

    def of_command() -> dict[str, str]:
        options = ("--database", "judgments.db", "--names", "-o", "people.csv")
        assert exit_status("assessors", "--campaign", "pilot", *options) == 0
        rows = pd.read_csv("people.csv", keep_default_na=False)
        return {row.assessor: row.reasons for row in rows.itertuples() if row.reasons}

    with estate(tmp_path) as made:
        created(made.store, gold_plan("grades", topics=1, every=3, first=5), made.clock.now)
        everybody(made, 25)
        begun = on_pages(made)
        assert begun == of_command()
        assert "fast: 0.3 s" in begun["dan"]
        everybody(made, 20)
        for number in range(5, 20):
            document = label(0, "d", number)
            made.store.write(lambda c, d=document: adjudicate(c, "pilot", "t0", d, "2", "So it is.", 1.0))
        settled = on_pages(made)
        assert settled == of_command()
        assert "low agreement" in settled["dan"], "what he said, not the grade 2 that an owner decided on"
        owner, page = made.owner(), made.assessor("dan", "pilot")
        form = {"csrf": owner.get(page).field("csrf"), "do": "exclude", "reason": "always the same grade"}
        assert owner.post(page, form).status == 303
        without = on_pages(made)
        assert without == of_command()
        assert "dan" not in without

"""Twenty people judge a question over HTTP: the server looks again by itself, closes the interval and stops."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

import numpy as np
import pytest

import qrowd
from qrowd.collect.campaigns.collected import judgments
from qrowd.collect.campaigns.folder import read_folder
from qrowd.collect.campaigns.looking import design_of, look_at
from qrowd.collect.campaigns.lookup import find
from qrowd.collect.campaigns.progress import progress
from qrowd.collect.store import draws
from qrowd.collect.store.engine import open_store
from questions import make_world, write_world
from servers import postgres_server
from soak import made
from soak.checks import violations
from soak.client import Assessor, Log, Screen
from webserver import Servers

PEOPLE = 20


async def judge(servers: Servers, people: list[made.Invited], world, log: Log) -> None:  # type: ignore[no-untyped-def]
    """Everybody says the true grade of what is shown, and 5 in 100 times another, until nothing more is handed out."""

    def choosing(seed: int):  # type: ignore[no-untyped-def]
        rng = random.Random(seed)

        def choose(screen: Screen) -> dict[str, str]:
            name = screen.titles[0]
            grade = world.grades[name.partition("d")[0]][name] if rng.random() > 0.05 else rng.randrange(4)
            return {"do": "judge", "text": str(grade), "reason": "", "active": "1.0"}

        return choose

    clients = []
    for i, one in enumerate(people):
        clients.append(Assessor(one.campaign, servers.addresses, choosing(i), log, first=i))
        clients[-1].cookie = one.cookie

    async def work(client: Assessor, rng: random.Random) -> None:
        while await client.step():
            await asyncio.sleep(rng.uniform(0.2, 0.4))  # so that looks come in between

    await asyncio.gather(*(work(client, random.Random(i)) for i, client in enumerate(clients)))
    for client in clients:
        client.close()


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_twenty_people_decide_a_question_and_the_server_stops_by_itself(dialect: str, tmp_path: Path) -> None:
    world = make_world(topics=15, documents=60)
    folder = write_world(tmp_path / "f", world, consent=True)
    with postgres_server() as postgres:
        url = f"sqlite:///{tmp_path / 'q.db'}" if dialect == "sqlite" else postgres.database()
        with open_store(url) as store:
            store.write(lambda connection: made.create(connection, [read_folder(folder)]))
            people = store.write(lambda c: made.invite(c, "live", [f"p{i}" for i in range(PEOPLE)]))
        log = Log()
        with Servers(url, 1 if dialect == "sqlite" else 2, log=tmp_path / "log") as servers:
            asyncio.run(asyncio.wait_for(judge(servers, people, world, log), 120))
        assert not log.failed
        assert set(log.refused) <= {"ended"}  # the decision came between a page and its button
        with open_store(url) as store:
            number = store.read(lambda connection: find(connection, "live").id)
            live = store.read(lambda connection: look_at(connection, number))
            design = store.read(lambda connection: design_of(connection, number))
            given = store.read(lambda connection: judgments(connection, "live"))
            p = store.read(lambda connection: progress(connection, "live", time.time()))
            assert store.read(violations) == []
            decisions = store.read(lambda connection: draws.events_of_kind(connection, number, "decided"))
    assert p.status == "decided"
    assert len(decisions) == 1
    assert p.question is not None
    assert len(p.question.looks) > 3
    assert p.question.n_judged < p.question.n_documents
    runs, models = qrowd.read_runs(folder / "runs"), qrowd.read_judgments(folder / "llm.qrels")
    result = qrowd.next_judgments(runs, given, question="sys0 > sys1", models=models, design=design)
    assert result.sentence == live.statement.sentence
    np.testing.assert_allclose(result.statement.low, live.statement.low, rtol=1e-9)
    np.testing.assert_allclose(result.statement.high, live.statement.high, rtol=1e-9)

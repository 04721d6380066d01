"""Twenty people judge a question over HTTP: the server looks again by itself, closes the interval and stops."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import qrowd
from qrowd.collect.campaigns.collected import judgments
from qrowd.collect.campaigns.folder import read_folder
from qrowd.collect.campaigns.looking import design_of, look_at
from qrowd.collect.campaigns.lookup import find
from qrowd.collect.campaigns.progress import progress
from qrowd.collect.store import draws
from qrowd.collect.store.engine import open_store
from questions import make_world, write_world
from soak import made
from soak.checks import violations
from soak.client import Assessor, Log, Screen
from webserver import Servers

PEOPLE = 20
AT_ONCE = 4  # people who answer, and then wait for a look, however long the machine takes for it
LONGEST = 10.0  # seconds: a look that says nothing new is not written


async def judge(  # type: ignore[no-untyped-def]
    servers: Servers, people: list[made.Invited], world, log: Log, n_looks: Callable[[], int]
) -> None:
    """Everybody says the true grade of what is shown, and 5 in 100 times another, until nothing more is handed out.

    n_looks : of the server so far.
    """

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

    turn = asyncio.Semaphore(AT_ONCE)

    def n_judged() -> int:
        return sum(form["do"] == "judge" for form in log.acknowledged.values())

    async def work(client: Assessor) -> None:
        goes_on = True
        while goes_on:
            async with turn:
                looks, judged = n_looks(), n_judged()
                goes_on = await client.step()
                until = time.monotonic() + LONGEST
                while n_judged() > judged and n_looks() == looks and time.monotonic() < until:
                    await asyncio.sleep(0.02)

    await asyncio.gather(*map(work, clients))
    for client in clients:
        client.close()


def test_twenty_people_decide_a_question_and_the_server_stops_by_itself(tmp_path: Path) -> None:
    world = make_world(topics=15, documents=60)
    folder = write_world(tmp_path / "f", world, consent=True)
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with open_store(url) as store:
        store.write(lambda connection: made.create(connection, [read_folder(folder)]))
        people = store.write(lambda c: made.invite(c, "live", [f"p{i}" for i in range(PEOPLE)]))
        number = store.read(lambda connection: find(connection, "live").id)
    log = Log()
    with (
        open_store(url, read_only=True) as store,
        Servers(url, log=tmp_path / "log") as servers,
    ):

        def n_looks() -> int:
            return len(store.read(lambda connection: draws.events_of_kind(connection, number, "looked")))

        asyncio.run(asyncio.wait_for(judge(servers, people, world, log, n_looks), 120))
    assert not log.failed
    assert set(log.refused) <= {"ended"}  # the decision came between a page and its button
    with open_store(url) as store:
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

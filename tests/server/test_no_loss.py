"""What was acknowledged is there, once, whoever is killed meanwhile and however full the disk is.

The same with a hundred kills: `make soak`.
"""

import asyncio
import random
import resource
from pathlib import Path

import pytest
from sqlalchemy import text

from qrowd_server.store.engine import open_store
from server.soak import checks, kills, made
from server.soak.client import Assessor, Form, Log, at_random, next_form
from servers import PostgresServer
from webserver import ServerProcess


@pytest.mark.parametrize(("kills_", "answers"), [(1, 40), pytest.param(2, 60, marks=pytest.mark.nightly)])
def test_killed_servers_lose_nothing_and_double_nothing(tmp_path: Path, kills_: int, answers: int) -> None:
    url = f"sqlite:///{tmp_path / 'judgments.db'}"
    found = kills.run(url, tmp_path, kills=kills_, clients=8, answers=answers, postgres=None)
    assert found.wrong == []
    assert (found.kills, len(found.log.acknowledged) >= answers) == (kills_, True)
    assert found.log.broken


@pytest.mark.nightly
@pytest.mark.parametrize(("clients", "answers"), [(8, 50), pytest.param(16, 300, marks=pytest.mark.nightly)])
def test_killed_servers_and_backends_of_postgresql_lose_nothing_and_double_nothing(
    postgres: PostgresServer, tmp_path: Path, clients: int, answers: int
) -> None:
    found = kills.run(postgres.database(), tmp_path, kills=3, clients=clients, answers=answers, postgres=postgres)
    assert found.wrong == []
    assert (found.kills, len(found.log.acknowledged) >= answers) == (3, True)
    assert found.log.broken


# ---- a full disk


@pytest.mark.nightly
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs Linux, to limit another process")
def test_a_full_disk_acknowledges_nothing_and_the_same_form_is_taken_once_there_is_space(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'judgments.db'}"
    with open_store(url) as store:
        store.write(lambda c: made.create(c, [made.plan("grades", topics=4, documents=20, redundancy=4)]))
        people = store.write(lambda c: made.invite(c, "grades", [f"g{i}" for i in range(4)]))
    log = Log()
    with ServerProcess(url, log=tmp_path / "log") as server:
        refused = asyncio.run(_fill(server, people, log, tmp_path))
    assert len(refused) == 4
    with open_store(url) as store:
        assert store.read(checks.violations) == []
        assert store.read(lambda c: checks.unsaved(c, log.acknowledged)) == []
        assert checks.rebuilt_differently(store, ["grades"]) == []
        assert checks.intact(store)


async def _fill(server: ServerProcess, people: list[made.Invited], log: Log, folder: Path) -> dict[str, Form]:
    """Judge until nothing can be written any more, make space, and send again what was refused."""
    clients = [Assessor("grades", [server.address], at_random(random.Random(i)), log) for i in range(len(people))]
    for client, one in zip(clients, people, strict=True):
        client.cookie = one.cookie
        assert await client.step()
    largest = max(file.stat().st_size for file in folder.glob("judgments.db*"))
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (largest + 2**16, resource.RLIM_INFINITY))
    refused: dict[str, Form] = {}

    async def until_full(client: Assessor) -> tuple[Assessor, Form]:
        while True:
            form = next_form(client.screen or await client.look(), client.choose)
            assert form is not None
            answer = await client.send(form)
            if answer.status == 503:
                assert float(answer.headers["retry-after"]) > 0
                assert b"not_saved" in answer.body
                return client, form
            assert answer.status == 200
            log.acknowledged[form["key"]] = form
            client.screen = None

    waiting = await asyncio.gather(*map(until_full, clients))
    # Where many forms did not fit into one commit, a single one may; now nothing does.
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    for client, form in waiting:
        refused[form["key"]] = form
        assert (await client.look()).view == "document"  # reading goes on
        assert (await client.send(form)).status == 503
    stored = _keys(folder)
    assert not stored & set(refused)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for client, form in waiting:
        answer = await client.send(form)
        assert answer.status == 200, answer
        log.acknowledged[form["key"]] = form
        client.screen = None
        assert await client.step()
        client.close()
    assert set(refused) <= _keys(folder)
    return refused


def _keys(folder: Path) -> set[str]:
    """The keys of all forms that are stored."""
    with open_store(folder / "judgments.db", read_only=True) as store:
        rows = store.read(lambda c: c.execute(text("select idem_key from event where idem_key is not null")).fetchall())
    return {key.partition(":")[2] for (key,) in rows}

"""Probes: /health says that the process lives, /ready that answers can be stored."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from qrowd_server.store.base import StoreBusyError, StoreFullError
from qrowd_server.web import health
from qrowd_server.web.health import SECONDS, Readiness
from server.web.fakes import World, world


@pytest.fixture
def served(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


def ready(served: World) -> tuple[int, dict[str, str]]:
    answer = served.browser().get("/ready")
    return answer.status, json.loads(answer.text)


def test_a_server_that_can_store_answers_is_ready(served: World) -> None:
    assert ready(served) == (200, {"status": "ready"})
    assert json.loads(served.browser().get("/health").text) == {"status": "ok"}


@pytest.mark.parametrize("host", ["10.1.2.3:8000", "judge-5f9", "", "evil.test"])
def test_probes_ask_under_any_host_and_learn_nothing_else(served: World, host: str) -> None:
    for path, status in (("/health", 200), ("/ready", 200), ("/c/one", 400), ("/", 400), ("/healthy", 400)):
        assert served.browser().get(path, {"host": host}).status == status, path


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (StoreFullError("/data/judgments.db: disk full"), "disk"),
        (StoreBusyError("lost"), "store"),
        (OSError(), "store"),
    ],
)
def test_a_store_that_cannot_write_is_not_ready_and_only_the_log_says_where(
    served: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception, problem: str
) -> None:
    async def broken(work: object) -> None:
        raise error

    assert ready(served)[0] == 200
    with monkeypatch.context() as patch:
        patch.setattr(served.store, "write_async", broken)
        assert ready(served)[0] == 200  # looked at a moment ago
        served.clock.now += SECONDS
        assert ready(served) == (503, {"status": "not ready", "problem": problem})
        assert json.loads(served.browser().get("/health").text) == {"status": "ok"}
    assert str(error) in caplog.text
    served.clock.now += SECONDS
    assert ready(served)[0] == 200


def test_the_store_is_looked_at_once_in_five_seconds_however_many_ask(
    served: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = []
    write = served.store.write_async

    async def counted(work: object) -> None:
        writes.append(work)
        await write(work)

    monkeypatch.setattr(served.store, "write_async", counted)
    readiness = Readiness(served.store, clock=served.clock)

    async def many() -> list[str]:
        return [*await asyncio.gather(*(readiness.state() for _ in range(50))), await readiness.state()]

    assert set(asyncio.run(many())) == {"ready"}
    assert len(writes) == 1


def test_a_store_that_does_not_answer_is_not_ready(served: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(work: object, long: bool = False) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(health, "PATIENCE", 0.01)
    monkeypatch.setattr(served.store, "read_async", never)
    assert ready(served) == (503, {"status": "not ready", "problem": "store"})
